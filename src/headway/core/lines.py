"""Text files of any size, plain or gzipped: lines, of which only `\\n` ends one."""

import gzip
import io
import os
import stat
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.core.errors import DataError

MAX_LINE_BYTES = 1 << 20
"""A longer line is never held in memory: it is passed over and given as None."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = "UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"
_OTHER_ENCODINGS = {
    b"\x1f\x8b": ("gzip data", "name it with the suffix .gz"),
    b"PK": ("a zip archive", "unpack it first"),
    b"%P": ("a PDF", "copy its text out, or convert the document that it was made of"),
    b"\xff\xfe": _UTF_16,
    b"\xfe\xff": _UTF_16,
}
_UNKNOWN_ENCODING = "not", "convert it: iconv -f ENCODING -t UTF-8 (GB18030, LATIN1, ..)"


def check_file(path: Path) -> None:
    """Refuse what cannot be read twice as a file of text. Raises DataError: `path` is missing, a
    directory, a pipe, unreadable, or empty."""
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            what = "a directory" if path.is_dir() else "a pipe or a device"
            raise DataError(
                f"text is read from a file, and more than once; {path} is {what}. "
                "Name a file, or write it to one first."
            )
        with path.open("rb") as file:
            if not file.read(1):
                raise _empty(path, "is empty")
    except FileNotFoundError:
        other = path.with_suffix("") if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
        hint = f"There is {other}" if os.path.exists(other) else "Check the name and the folder"
        raise DataError(f"no such file: {path}. {hint}.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}. Check its name and permissions.") from None


@contextmanager
def open_bytes(path: Path, packed: bool | None = None) -> Iterator[io.BufferedReader]:
    """A file's bytes, unpacked if `packed`, as `.gz` is. Raises DataError: it cannot be read."""
    check_file(path)
    try:
        with io.FileIO(path) as file:
            packed = path.suffix.lower() == ".gz" if packed is None else packed
            yield io.BufferedReader(gzip.GzipFile(fileobj=file) if packed else file, 1 << 20)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"a .gz file must be whole; {path} is damaged or cut off ({error}). Copy or download "
            "it again."
        ) from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}. Check the disk.") from None


def read_lines(
    path: Path, mended: Counter[str] | None = None, *, parted: bool = False
) -> Iterator[str | None]:
    """Each line of a UTF-8 file without its line end; None for one of more than 1 MiB, or, where it
    may be `parted`, one piece after the other, parted at spaces.

    `\\r\\n` ends a line as `\\n` does, and a byte order mark at the start is removed; `mended`
    counts both. No other character ends a line, so that line 7 here is line 7 of every other tool.
    Raises DataError: not a readable file, not UTF-8 (with line and byte), or a damaged `.gz`.
    """
    mended = Counter() if mended is None else mended
    for line, raw in enumerate(raw_lines(path, parted=parted), start=1):
        yield None if raw is None else _decode(raw, line, path, mended)


def raw_lines(path: Path, *, parted: bool = False) -> Iterator[bytes | None]:
    """Each line of a file of any encoding, without its `\\n`; of one of more than 1 MiB the same.
    Raises DataError: not a readable file, nothing in it, or a damaged `.gz`."""
    with open_bytes(path) as file:
        yield from bounded_lines(file, parted=parted)
        if not file.tell():
            raise _empty(path, "unpacks to nothing")


def shown(path: Path) -> str:
    """A name that can be written as UTF-8, whatever bytes it holds."""
    return printable(str(path))


def printable(text: str) -> str:
    """A text that can be written as UTF-8, whatever names it holds."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def bounded_lines(file: io.BufferedIOBase, *, parted: bool = False) -> Iterator[bytes | None]:
    """Lines without `\\n`; None for one over `MAX_LINE_BYTES`, which may be `parted` at spaces."""
    rest = b""
    while raw := rest + file.readline(MAX_LINE_BYTES + 1 - len(rest)):
        rest = b""
        if raw[-1] == 0x0A or len(raw) <= MAX_LINE_BYTES:  # the last one may have no line end
            yield raw.removesuffix(b"\n")
        elif parted and b" " in raw:
            piece, _, rest = raw.rpartition(b" ")
            yield piece
        else:
            while raw and raw[-1] != 0x0A:
                raw = file.readline(MAX_LINE_BYTES)
            yield None


def _decode(raw: bytes, line: int, path: Path, mended: Counter[str]) -> str:
    marked = 3 if line == 1 and raw.startswith(_BYTE_ORDER_MARK) else 0
    text = raw[marked:].removesuffix(b"\r")
    if marked:
        mended["byte_order_mark"] += 1
    if len(text) < len(raw) - marked:
        mended["crlf"] += 1
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, line, raw, error.start + marked) from None


def _empty(path: Path, does: str) -> DataError:
    return DataError(f"a text file needs at least one line; {path} {does}.")


def _not_utf8(path: Path, line: int, raw: bytes, byte: int) -> DataError:
    with path.open("rb") as file:
        start = raw[:2] if line == 1 else file.read(2)
    what, remedy = _OTHER_ENCODINGS.get(start, _UNKNOWN_ENCODING)
    return DataError(
        f"text must be UTF-8; {path} is {what} "
        f"(line {line:,}, byte {byte + 1}: 0x{raw[byte]:02x}). Please {remedy}."
    )
