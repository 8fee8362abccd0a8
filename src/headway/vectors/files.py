"""Files of word vectors: any is opened; word2vec's two formats and GloVe's text are written."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from gzip import GzipFile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from headway.core.disk import written_aside
from headway.corpora.cache_place import silent
from headway.operations.locks import Say
from headway.vectors.cache import WordIndex, cached_vectors, without_words
from headway.vectors.reading import VectorLayout, look_at, read_rows
from headway.vectors.word_vectors import WordVectors

if TYPE_CHECKING:
    from jaxtyping import Float

LARGE_BYTES = 50_000_000
"""A larger file is kept in the cache, for which it is read once."""
REMARKS = {
    "twice": "words that stand in the file a second time are left out",
    "empty": "vectors without a word are left out",
    "not_utf8": "words are not UTF-8: their odd bytes are written \\xe9",
}
"""What is said of what was put right, behind how often."""


def open_vectors(path: str | Path, say: Say = silent) -> WordVectors:
    """The word vectors of a file: word2vec's text or binary format or GloVe's text, packed or not,
    told from what is in it. Of a word that stands there twice the first vector counts; what is left
    out is said.

    Raises:
        DataError: there is no such file, it is something else (a pickle is never opened), or it is
            damaged.
    """
    path, found = Path(path), Counter[str]()
    layout = look_at(path)
    opened: WordVectors
    if layout.n_bytes > LARGE_BYTES:
        opened = cached_vectors(path, layout, say)
        found.update(opened.found)
    else:
        opened = _in_memory(path, layout, found)
    for what, n in found.items():
        if n:
            say(f"{n:,}: {REMARKS[what]}")
    return opened


def _in_memory(path: Path, layout: VectorLayout, found: Counter[str]) -> WordVectors:
    index, words, parts = WordIndex(), list[str](), list[NDArray[np.float32]]()
    for some in read_rows(path, layout, found):
        kept = index.new(some.words)
        found["twice"] += len(some.words) - len(kept)
        words += [some.words[place] for place in kept.tolist()]
        parts.append(some.vectors[kept])
    if not words:
        raise without_words(path)
    return WordVectors(words, np.concatenate(parts))


def write_word2vec(
    path: Path,
    words: Sequence[str],
    vectors: "Float[NDArray, 'words size']",
    *,
    binary: bool = False,
    header: bool = True,
) -> int:
    """Write word vectors in one of word2vec's two formats (Mikolov et al. 2013), in one instant,
    packed where the name ends in .gz.

    Both begin with a `header`, a line `words size`. In the text format each line is a word and its
    numbers; in the binary one the word, a blank, the numbers as little-endian float32, and a line
    end. Words that are empty or hold white space have no place in either: how many is returned.
    """
    kept = [row for row, word in enumerate(words) if word and not any(map(str.isspace, word))]
    with _whole(path) as file:
        file.write(f"{len(kept)} {vectors.shape[1]}\n".encode() * header)
        for row in kept:
            exact = vectors[row].astype("<f4")
            numbers = exact.tobytes()
            if not binary:
                numbers = " ".join(f"{x:.9g}" for x in exact.tolist()).encode()
            file.write(words[row].encode("utf-8", "backslashreplace") + b" " + numbers + b"\n")
    return len(words) - len(kept)


def write_glove(path: Path, words: Sequence[str], vectors: "Float[NDArray, 'words size']") -> int:
    """Write word vectors as GloVe does (Pennington et al. 2014): word2vec's text without its first
    line. As `write_word2vec`."""
    return write_word2vec(path, words, vectors, header=False)


def exporters(
    vectors_of: Callable[[Path], WordVectors],
) -> Iterator[Callable[[Path, Path, Say], None]]:
    """What writes the vectors of a run into a file, and says how many, in word2vec's text format,
    in its binary format and in GloVe's. Each raises as `vectors_of`."""

    def export(run: Path, path: Path, say: Say, *, write: Callable[..., int]) -> None:
        vectors = vectors_of(run)
        n_left_out = write(path, vectors.words, vectors.matrix)
        n = len(vectors) - n_left_out
        say(f"vectors of {n:,} words written to {path}, {n_left_out:,} left out")

    for write in (write_word2vec, partial(write_word2vec, binary=True), write_glove):
        yield partial(export, write=write)


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    with written_aside(path) as aside, aside.open("wb") as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield cast(IO[bytes], packed)
