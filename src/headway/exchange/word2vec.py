"""Word vectors in the two formats of word2vec (Mikolov et al. 2013), which most tools read.

Both begin with a line `words size`. In the text format each line is a word and its numbers; in the
binary one the word, a blank, the numbers as little-endian float32, and a line end.
"""

from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from headway.core.disk import written_aside
from headway.core.errors import DataError
from headway.core.lines import open_bytes

_LONGEST_WORD = 1 << 16
_LARGEST = 1 << 20
"""Bytes of a word and numbers of a vector beyond which a file is none of word vectors."""


class WordVectors(NamedTuple):
    """A vector for each word."""

    words: list[str]
    vectors: Float[np.ndarray, "words size"]
    """float32."""


def write_word2vec(
    path: Path,
    words: Sequence[str],
    vectors: Float[np.ndarray, "words size"],
    *,
    binary: bool = False,
) -> int:
    """Write a file in one instant. Words that are empty or hold white space have no place in either
    format: they are left out, and how many is returned."""
    kept = [row for row, word in enumerate(words) if word and not any(c.isspace() for c in word)]
    with written_aside(path) as aside, aside.open("wb") as file:
        file.write(f"{len(kept)} {vectors.shape[1]}\n".encode())
        for row in kept:
            vector = vectors[row].astype("<f4")
            numbers = " ".join(f"{x:.9g}" for x in vector.tolist()).encode()  # float32, exactly
            file.write(words[row].encode() + b" " + (vector.tobytes() if binary else numbers))
            file.write(b"\n")
    return len(words) - len(kept)


def read_word2vec(path: Path) -> WordVectors:
    """Read either format, also gzipped; which one it is shows in the first vector.

    Raises:
        DataError: the file cannot be read, is in neither format, or ends early.
    """
    with open_bytes(path) as file:
        _, size = _header(path, file.readline(_LONGEST_WORD))
        in_text = next(_text_entries(file, size), None) is not None
    with open_bytes(path) as file:
        n_words, size = _header(path, file.readline(_LONGEST_WORD))
        entries = _text_entries(file, size) if in_text else _binary_entries(file, size)
        words, rows = _gathered(path, entries, n_words)
    vectors = np.stack(rows) if rows else np.zeros((0, size), np.float32)
    return WordVectors(words, vectors)


def _header(path: Path, line: bytes) -> tuple[int, int]:
    """How many words, and how long their vectors are."""
    parts = line.split()
    if len(parts) != 2 or not all(part.isdigit() and len(part) < 12 for part in parts):
        raise DataError(
            f"A file of word vectors begins with a line of two whole numbers, words and size; "
            f"{path} begins with {line[:40]!r}. Give a file in word2vec's format; to one of GloVe, "
            "which has no such line, add it."
        )
    n_words, size = map(int, parts)
    if not 0 < size <= _LARGEST:
        raise DataError(f"Vectors have 1 to {_LARGEST:,} numbers; {path} says {size:,}.")
    return n_words, size


def _gathered(
    path: Path, entries: Iterable[tuple[bytes, np.ndarray] | None], n_words: int
) -> tuple[list[str], list[np.ndarray]]:
    """As many entries as there must be, checked."""
    words: list[str] = []
    rows: list[np.ndarray] = []
    for entry in entries:
        if len(words) == n_words:
            break
        if entry is None or not np.isfinite(entry[1]).all():
            raise _damaged(path, len(words), n_words, "is no word with its numbers")
        try:
            words.append(entry[0].decode("utf-8"))
        except UnicodeDecodeError:
            raise _damaged(path, len(words), n_words, "has a word that is not UTF-8") from None
        rows.append(entry[1])
    if len(words) < n_words:
        raise _damaged(path, len(words), n_words, "is missing: the file ends before it")
    return words, rows


def _damaged(path: Path, n_read: int, n_words: int, why: str) -> DataError:
    return DataError(
        f"{path} must hold {n_words:,} word vectors; number {n_read + 1:,} {why}. "
        "Get the whole file again, or write it again."
    )


def _text_entry(line: bytes, size: int) -> tuple[bytes, np.ndarray] | None:
    """A word and its numbers; None where a line is something else."""
    word, *numbers = line.rstrip().split(b" ")
    if len(numbers) != size or not word:
        return None
    try:
        return word, np.array([float(number) for number in numbers], np.float32)
    except ValueError:
        return None


def _text_entries(file: BufferedReader, size: int) -> Iterator[tuple[bytes, np.ndarray] | None]:
    longest = _LONGEST_WORD + 64 * size
    while line := file.readline(longest):
        yield _text_entry(line, size)


def _binary_entries(file: BufferedReader, size: int) -> Iterator[tuple[bytes, np.ndarray] | None]:
    """Some writers put no line end behind the numbers, so it is taken off the next word."""
    while True:
        word = bytearray()
        while (byte := file.read(1)) not in (b" ", b"") and len(word) < _LONGEST_WORD:
            word += byte
        numbers = file.read(4 * size)
        if len(numbers) < 4 * size:
            return
        yield bytes(word).removeprefix(b"\n"), np.frombuffer(numbers, "<f4").astype(np.float32)
