"""Text files of any size: lines, of which only `\\n` ends one, and the kind that a name tells."""

import io
import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headway.errors import text_files as refused
from headway.text.gzipped import unpacked

LINES_AT_ONCE = 2000
"""Lines sorted by length together; more would hold back the first output for longer."""
CHARACTERS_AT_ONCE = 1 << 18
"""About how many of them are held at once: sub-words take a hundred times as much memory."""
MAX_LINE_BYTES = 1 << 20
"""A longer line is never held in memory: it is passed over and given as None."""

_BUFFER_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_NOT_LANGUAGES = frozenset(
    "txt tsv tok raw src tgt trg ref hyp bpe out low lc gz bz xz zip csv tab json srt vtt".split()
)
KEYED = tuple(".json .arb .properties .strings .resx .srt .vtt .xml .yml .yaml".split())
"""Kinds of files that hold texts of one language by their keys: see `headway.text.keyed`."""
PAIRED = tuple(".csv .tsv .jsonl .po .ts .tmx .xlf .xliff .sdlxliff .mqxliff".split())
"""Kinds of files that hold both sides of pairs: see `headway.text.readers`."""


def check_file(path: Path) -> None:
    """Refuse what cannot be read twice as a file of text.

    Raises:
        DataError: `path` is missing, a directory, a pipe, unreadable, or empty.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise refused.no_file(path)
        with path.open("rb") as file:
            if not file.read(1):
                raise refused.empty(path, "is empty")
    except (OSError, ValueError) as error:
        raise refused.unusable(path, error) from None


@contextmanager
def open_bytes(path: Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked if its name ends in `.gz`.

    Raises:
        DataError: the file cannot be opened.
    """
    check_file(path)
    with io.FileIO(path) as file:
        packed = path.suffix.lower() == ".gz"
        raw = unpacked(io.BufferedReader(file, _BUFFER_BYTES)) if packed else file
        yield io.BufferedReader(raw, _BUFFER_BYTES)


def read_lines(path: Path, mended: Counter[str] | None = None) -> Iterator[str | None]:
    """Each line of a UTF-8 file without its line end; None for one of more than 1 MiB.

    `\\r\\n` ends a line as `\\n` does, and a byte order mark at the start is removed; `mended`
    counts both. No other character ends a line, so that line 7 here is line 7 of every other tool.

    Raises:
        DataError: not a readable file, not UTF-8 (with line and byte), or a damaged `.gz`.
    """
    for line, raw in enumerate(raw_lines(path), start=1):
        if line == 1 and raw and raw.count(0) > max(2, len(raw) // 3):
            raise refused.holds_zeros(path, raw)
        yield None if raw is None else _decode(raw, line, path, mended)


def raw_lines(path: Path) -> Iterator[bytes | None]:
    """Each line of a file of any encoding, without its `\\n`; None for one of more than 1 MiB.

    Raises:
        DataError: not a readable file, nothing in it, or a damaged `.gz`.
    """
    n_read = 0
    with damage_told(path, lambda: f" after line {n_read:,}"):
        with open_bytes(path) as file:
            for n_read, raw in enumerate(bounded_lines(file), start=1):  # noqa: B007
                yield raw
        if not n_read:
            raise refused.empty(path, "unpacks to nothing")


@contextmanager
def damage_told(path: Path, place: Callable[[], str] = str) -> Iterator[None]:
    """Make a DataError of whatever goes wrong while `path` is read; `place` says how far it was."""
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise refused.damaged(path, place(), error) from None


def shown(path: Path) -> str:
    """A name that can be written as UTF-8, whatever bytes it holds."""
    return printable(str(path))


def printable(text: str) -> str:
    """A text that can be written as UTF-8, whatever names it holds."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_language(name: str) -> bool:
    """Whether a suffix or a column's name looks like the code of a language."""
    return bool(_LANGUAGE.fullmatch(name)) and name.lower() not in _NOT_LANGUAGES


def suffix_of(path: Path) -> str:
    """What tells the kind of a file: its suffix in lower case, without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def is_plain_text(path: Path) -> bool:
    """Whether a file is of no kind that is known, and so translated line by line."""
    return suffix_of(path) not in {*KEYED, *PAIRED, *refused.NO_TEXT}


def bounded_lines(file: io.BufferedIOBase) -> Iterator[bytes | None]:
    """Lines without `\\n`; None stands for one of more than `MAX_LINE_BYTES`."""
    read = file.readline
    while raw := read(MAX_LINE_BYTES + 1):
        if raw[-1] == 0x0A or len(raw) <= MAX_LINE_BYTES:  # the last one may have no line end
            yield raw.removesuffix(b"\n")
        else:
            while raw and raw[-1] != 0x0A:
                raw = read(MAX_LINE_BYTES)
            yield None


def in_chunks(lines: Iterable[str | None]) -> Iterator[list[str]]:
    """The lines of a file, many at a time; those that are too long to be held count as blank."""
    texts: list[str] = []
    n_characters, too_long = 0, []
    for number, line in enumerate(lines, start=1):
        if line is None:
            too_long.append(number)
        texts.append(line or "")
        n_characters += len(texts[-1])
        if len(texts) == LINES_AT_ONCE or n_characters >= CHARACTERS_AT_ONCE:
            yield texts
            texts, n_characters = [], 0
    if texts:
        yield texts
    tell_too_long(too_long)


def tell_too_long(lines: Sequence[int]) -> None:
    """Say which lines, by number, were never held; nothing where there are none."""
    if lines:
        print(
            f"{len(lines)} of the lines had more than {MAX_LINE_BYTES:,} bytes and count as "
            f"blank (the first is line {lines[0]:,})",
            file=sys.stderr,
        )


def _decode(raw: bytes, line: int, path: Path, mended: Counter[str] | None) -> str:
    removed = 0
    if line == 1 and raw.startswith(_BYTE_ORDER_MARK):
        raw, removed = raw[3:], 3
        if mended is not None:
            mended["byte_order_mark"] += 1
    if raw.endswith(b"\r"):
        raw = raw[:-1]
        if mended is not None:
            mended["crlf"] += 1
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        whole = _BYTE_ORDER_MARK[:removed] + raw
        raise refused.not_utf8(path, line, whole, error.start + removed + 1) from None
