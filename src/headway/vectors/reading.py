"""Files of word vectors as streams of words and rows: word2vec's two formats, and GloVe's text.

What a file is, is told from its bytes, not from its name; packed ones (.gz) are unpacked on the
way. Nothing that a file claims is believed: no memory is taken for what has not been read.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.lines import bounded_lines, check_file, open_bytes, shown

if TYPE_CHECKING:
    from jaxtyping import Float

MOST_NUMBERS = 1 << 16
"""In a vector: far beyond any use."""
MOST_WORD_BYTES = 1 << 16
HEAD_BYTES = 1 << 20
"""So much is looked at to tell what a file is."""

_CHUNK_BYTES = 1 << 23
_DEFLATE_RATIO = 1032
"""Nothing is packed smaller by gzip."""
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r")
_GENSIM = (
    "If you trust it, convert it with gensim, which made it:\n"
    "  from gensim.models import KeyedVectors  # of a whole model: Word2Vec.load(..).wv\n"
    '  KeyedVectors.load({path!r}).save_word2vec_format("vectors.bin", binary=True)'
)
_REFUSED = {
    **{bytes([0x80, n]): ("a pickle, which can run anything", _GENSIM) for n in range(2, 6)},
    b"PK\x03\x04": ("a zip archive", "Unpack it first."),
    b"\xba\x16\x4f\x2f": ("a model of fastText", "Take its .vec, which is text."),
}

Kind = Literal["word2vec", "word2vec-binary", "glove"]


class VectorLayout(NamedTuple):
    """What a file is, by its first bytes."""

    kind: Kind
    size: int
    """Numbers in a vector."""
    n_rows: int | None
    """As its header says; GloVe's text has none."""
    first: int
    """The byte at which the first row begins, unpacked."""
    n_bytes: int
    """About how many there are, unpacked."""


class VectorRows(NamedTuple):
    """Some words as they stand in a file, and their vectors: the same word may come again."""

    words: list[str]
    vectors: "Float[NDArray, 'words size']"


def _is_packed(path: Path) -> bool:
    check_file(path)
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def look_at(path: Path) -> VectorLayout:
    """What a file of word vectors is.

    Raises:
        DataError: it is none, or one that is never opened (a pickle), or its header says what
            cannot be.
    """
    with open_bytes(path, packed := _is_packed(path)) as file:
        head = file.read(HEAD_BYTES)
        ended = not file.peek(1)
    for start, (what, remedy) in _REFUSED.items():
        if head.startswith(start):
            raise DataError(
                f"word vectors are read from word2vec's text or binary format, or GloVe's text; "
                f"{shown(path)} is {what}. {remedy.format(path=shown(path))}"
            )
    n_bytes = path.stat().st_size
    first = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    header = _HEADER.match(head, first)
    if not header:
        sizes = _sizes(head[first:], ended)
        most = max(sizes.values(), default=0)
        size = min((one for one, times in sizes.items() if times == most), default=0)
        if not (size and _some_fit(head[first:], size)):
            raise _unlike(path)
        return VectorLayout("glove", size, None, first, n_bytes * (3 if packed else 1))
    n_rows, size = int(header[1]), int(header[2])
    body = head[header.end() :]
    kind: Kind = "word2vec" if _is_text(body, size, ended) else "word2vec-binary"
    least = n_rows * (2 * size if kind == "word2vec" else 4 * size + 1)
    if not (n_rows and 1 <= size <= MOST_NUMBERS):
        raise DataError(
            f"a file of word vectors has words, and vectors of 1 to {MOST_NUMBERS:,} numbers; "
            f"{shown(path)} says {n_rows:,} of {size:,}. Write or download it again."
        )
    if least > n_bytes * (_DEFLATE_RATIO if packed else 1):
        raise DataError(
            f"{n_rows:,} vectors of {size:,} numbers, as {shown(path)} says at its beginning, take "
            f"at least {least:,} bytes; it has {n_bytes:,}. It is cut off, or its first line is "
            "wrong: copy or download it again."
        )
    if kind == "word2vec" and size not in (sizes := _sizes(body, ended)):
        found = sizes.most_common(1)[0][0] if sizes else 0
        raise DataError(
            f"{shown(path)} says at its beginning that a vector has {size:,} numbers; its lines "
            f"have {found:,}. Put the first line right, or download it again."
        )
    return VectorLayout(kind, size, n_rows, header.end(), max(n_bytes, least))


def _unlike(path: Path) -> DataError:
    return DataError(
        "a file of word vectors has a word and its numbers in each line (or is word2vec's binary "
        f"format); {shown(path)} has not. Name another file."
    )


def _sizes(body: bytes, ended: bool) -> Counter[int]:
    """How many numbers lines may have, at least one word before them, and how many lines do."""
    lines = body.split(b"\n")
    if not ended:
        lines.pop()  # it may go on
    lines = [line for line in lines if line.strip()]
    return Counter(len(line.split()) - (not line[:1].isspace()) for line in lines)


def _some_fit(body: bytes, size: int) -> bool:
    """Whether one of the first lines ends in so many numbers."""
    lines = (line.split() for line in body.split(b"\n", 100)[:100])
    return any(len(line) >= size and _numbers(line[-size:]) is not None for line in lines)


def _is_text(body: bytes, size: int, ended: bool) -> bool:
    """Whether rows are lines, told from the first one; where it is damaged, from some more."""
    line, end, _ = body.partition(b"\n")
    fields = line.split()
    if (end or ended) and len(fields) > size and _numbers(fields[-size:]) is not None:
        return True
    return _CONTROLS.isdisjoint(body[:4096]) and _some_fit(body, size)


def _numbers(fields: list[bytes]) -> "Float[NDArray, ' size'] | None":
    """None where one is no number."""
    try:
        with np.errstate(over="ignore"):  # infinite numbers are refused later
            return np.fromiter(map(float, fields), np.float32, len(fields))
    except ValueError:
        return None


def read_rows(path: Path, layout: VectorLayout, found: Counter[str]) -> Iterator[VectorRows]:
    """All rows of a file, some at a time; `found` counts words that are `empty` (they are left
    out), and those that are `not_utf8` (what is none becomes `\\xe9`).

    Raises:
        DataError: it is damaged, has more or fewer rows than it says, or a number that is none.
    """
    rows = _binary_rows if layout.kind == "word2vec-binary" else _text_rows
    n_read = 0
    with open_bytes(path, _is_packed(path)) as file:
        file.read(layout.first)
        for words, vectors in rows(file, layout, path):
            if not np.isfinite(vectors).all():
                row = int(np.flatnonzero(~np.isfinite(vectors).all(1))[0])
                raise DataError(
                    f"vectors have finite numbers; that of {_decoded(words[row], Counter())!r}, "
                    f"row {n_read + row + 1:,} of {shown(path)}, has others. Train it again, or "
                    "leave the row out."
                )
            n_read += len(words)
            kept = [row for row, word in enumerate(words) if word]
            found["empty"] += len(words) - len(kept)
            texts = [_decoded(words[row], found) for row in kept]
            yield VectorRows(texts, vectors if len(kept) == len(words) else vectors[kept])


def _decoded(word: bytes, found: Counter[str]) -> str:
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        found["not_utf8"] += 1
        return word.decode("utf-8", "backslashreplace")


Raw = Iterator[tuple[list[bytes], NDArray[np.float32]]]


def _binary_rows(file: io.BufferedReader, layout: VectorLayout, path: Path) -> Raw:
    """Each a word, a blank, the numbers in little-endian float32, and perhaps a line end."""
    size, n_rows, rest = layout.size, layout.n_rows or 0, b""
    n_left = n_rows
    while n_left:
        new = file.read(_CHUNK_BYTES)
        data, at = rest + new, 0
        words, places = list[bytes](), list[int]()
        while len(words) < n_left:
            blank = data.find(b" ", at, at + MOST_WORD_BYTES)
            if blank < 0 and len(data) - at >= MOST_WORD_BYTES:
                raise _miscounted(path, layout, n_rows - n_left + len(words))
            if blank < 0 or blank + 1 + 4 * size > len(data):
                break
            words.append(data[at:blank].lstrip(b"\r\n"))
            places.append(blank + 1)
            at = blank + 1 + 4 * size
        vectors = np.empty((len(words), size), np.float32)
        for row, place in enumerate(places):
            vectors[row] = np.frombuffer(data, "<f4", size, place)
        n_left, rest = n_left - len(words), data[at:]
        yield words, vectors
        if n_left and not new:
            raise _miscounted(path, layout, n_rows - n_left)
    if (rest + file.read(1 << 10)).strip():
        raise _miscounted(path, layout, n_rows)


def _text_rows(file: io.BufferedReader, layout: VectorLayout, path: Path) -> Raw:
    """Each a line: the word, in which there may be blanks, and the numbers behind it."""
    size, n_read = layout.size, 0
    words, rows = list[bytes](), list[NDArray[np.float32]]()
    most = max(1, _CHUNK_BYTES // (4 * size))
    for number, line in enumerate(bounded_lines(file), start=1 if layout.n_rows is None else 2):
        if line is not None and not line.strip():
            continue
        fields = [] if line is None else line.rsplit(None, size)
        row = _numbers(fields[-size:]) if len(fields) >= size else None
        if row is None:
            raise DataError(
                f"each line has a word and {size:,} numbers; line {number:,} of {shown(path)} has "
                "not. It is cut off or damaged: copy or download it again."
            )
        words.append(fields[0].strip() if len(fields) > size else b"")
        rows.append(row)
        n_read += 1
        if layout.n_rows is not None and n_read > layout.n_rows:
            raise _miscounted(path, layout, layout.n_rows)
        if len(words) == most:
            yield words, np.stack(rows)
            words, rows = [], []
    if words:
        yield words, np.stack(rows)
    if layout.n_rows is not None and n_read < layout.n_rows:
        raise _miscounted(path, layout, n_read)


def _miscounted(path: Path, layout: VectorLayout, n_whole: int) -> DataError:
    has = f"only {n_whole:,} are whole. It is cut off or damaged: copy or download it again."
    if n_whole == layout.n_rows:
        has = (
            "more follow. Put the first line right, or download it again (words with blanks in "
            "them have no place in the binary format: write such as text)."
        )
    return DataError(
        f"{shown(path)} says at its beginning that it has {layout.n_rows:,} vectors of "
        f"{layout.size:,} numbers; {has}"
    )
