"""Files of word vectors: any is opened; word2vec's two formats and GloVe's text are written."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gzip import GzipFile
from pathlib import Path
from typing import IO, cast

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.disk import written_aside
from headway.core.errors import DataError
from headway.core.lines import shown
from headway.corpora.cache_place import silent
from headway.operations.locks import Say
from headway.vectors.reading import VectorLayout, look_at, read_rows
from headway.vectors.word_vectors import WordVectors

REMARKS = {
    "twice": "words that stand in the file a second time are left out",
    "empty": "vectors without a word are left out",
    "not_utf8": "words are not UTF-8: their odd bytes are written \\xe9",
}
"""What is said of what was put right, behind how often."""


def open_vectors(path: Path, say: Say = silent) -> WordVectors:
    """The word vectors of a file: word2vec's text or binary format or GloVe's text, packed or not,
    told from what is in it. Of a word that stands there twice the first vector counts; what is left
    out is said.

    Raises:
        DataError: there is no such file, it is something else (a pickle is never opened), or it is
            damaged.
    """
    found = Counter[str]()
    opened = _in_memory(path, look_at(path), found)
    for what, n in found.items():
        if n:
            say(f"{n:,}: {REMARKS[what]}")
    return opened


def _in_memory(path: Path, layout: VectorLayout, found: Counter[str]) -> WordVectors:
    rows, parts = dict[str, int](), list[NDArray[np.float32]]()
    for words, vectors in read_rows(path, layout, found):
        before = len(rows)
        new = [i for i, word in enumerate(words) if rows.setdefault(word, len(rows)) >= before]
        first = {rows[words[i]]: i for i in reversed(new)}
        kept = [first[row] for row in range(before, len(rows))]
        found["twice"] += len(words) - len(kept)
        parts.append(vectors if len(kept) == len(words) else vectors[kept])
    if not rows:
        raise DataError(
            f"a file of word vectors has words; those of {shown(path)} are all empty. Name another."
        )
    return WordVectors(list(rows), np.concatenate(parts))


def write_word2vec(
    path: Path,
    words: Sequence[str],
    vectors: Float[NDArray, "words size"],
    *,
    binary: bool = False,
) -> int:
    """Write word vectors in one of word2vec's two formats (Mikolov et al. 2013), in one instant,
    packed where the name ends in .gz.

    Both begin with a line `words size`. In the text format each line is a word and its numbers; in
    the binary one the word, a blank, the numbers as little-endian float32, and a line end. Words
    that are empty or hold white space have no place in either: how many is returned.
    """
    kept = _writable(words)
    with _whole(path) as file:
        file.write(f"{len(kept)} {vectors.shape[1]}\n".encode())
        for row in kept:
            file.write(_row(words[row], vectors[row], binary=binary))
    return len(words) - len(kept)


def write_glove(path: Path, words: Sequence[str], vectors: Float[NDArray, "words size"]) -> int:
    """Write word vectors as GloVe does (Pennington et al. 2014): word2vec's text without its first
    line. As `write_word2vec`."""
    kept = _writable(words)
    with _whole(path) as file:
        for row in kept:
            file.write(_row(words[row], vectors[row], binary=False))
    return len(words) - len(kept)


def _writable(words: Sequence[str]) -> list[int]:
    return [row for row, word in enumerate(words) if word and not any(map(str.isspace, word))]


def _row(word: str, vector: Float[NDArray, " size"], *, binary: bool) -> bytes:
    exact = vector.astype("<f4")
    numbers = exact.tobytes() if binary else " ".join(f"{x:.9g}" for x in exact.tolist()).encode()
    return word.encode("utf-8", "backslashreplace") + b" " + numbers + b"\n"


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    with written_aside(path) as aside, aside.open("wb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast(IO[bytes], packed)
