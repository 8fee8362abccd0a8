"""Words and their vectors, and what is asked of them: neighbours, similarity, analogies."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.errors import DataError

CHUNK = 100_000
"""Rows that are looked at at a time."""


class Neighbour(NamedTuple):
    """A word near some vector."""

    word: str
    cosine: float


class WordVectors:
    """Some words, each once, with a vector each."""

    def __init__(self, words: Sequence[str], matrix: Float[NDArray, "words size"]) -> None:
        """Take words and the rows of a matrix in float32, which may lie on a disk."""
        self.words = words
        self.matrix = matrix

    def __len__(self) -> int:
        return len(self.words)

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def find(self, word: str) -> int | None:
        """The row of a word; None where there is no such word."""
        return self._rows.get(word)

    def __contains__(self, word: str) -> bool:
        return self.find(word) is not None

    def row(self, word: str) -> int:
        """The row of a word.

        Raises DataError where there is no such word, which names those that are spelled alike.
        """
        found = self.find(word)
        if found is None:
            alike = ", ".join(self.spelled_alike(word))
            remedy = f"Spelled alike: {alike}." if alike else "Ask for a word of the corpus."
            raise DataError(f"only words that were learned have vectors; got {word!r}. {remedy}")
        return found

    def vector(self, word: str) -> Float[NDArray, " size"]:
        """That of a word; raises DataError as `row`."""
        return np.asarray(self.matrix[self.row(word)], np.float32)

    def spelled_alike(self, word: str, most: int = 5) -> list[str]:
        """The words that take the fewest changes of letters to be spelled as some other, for their
        length: at most half as many as they have letters. Of equals the first come first."""
        from rapidfuzz import process  # a side room
        from rapidfuzz.distance import OSA

        alike = OSA.normalized_similarity
        found = process.extract(word, self.words, scorer=alike, limit=most, score_cutoff=0.5)
        return [str(one[0]) for one in found]

    def similarity(self, one: str, other: str) -> float:
        """The cosine of two words; raises DataError as `row`."""
        return float(unit(self.vector(one)) @ unit(self.vector(other)))

    def neighbours(self, word: str, top: int = 10) -> list[Neighbour]:
        """The words nearest to a word by cosine, itself left out; raises DataError as `row`."""
        return self.near(self.vector(word), top, without=[self.row(word)])

    def analogy(self, one: str, other: str, third: str, top: int = 10) -> list[Neighbour]:
        """What is to `third` as `other` is to `one`: the nearest to other - one + third, each of
        length 1, the three left out (3CosAdd; Mikolov et al. 2013c). Raises DataError as `row`."""
        rows = [self.row(word) for word in (one, other, third)]
        first, second, base = (unit(self.matrix[row]) for row in rows)
        return self.near(second - first + base, top, without=rows)

    def near(
        self, vector: Float[NDArray, " size"], top: int = 10, without: Collection[int] = ()
    ) -> list[Neighbour]:
        """The words nearest to a vector by cosine, the nearest first, some rows left out."""
        cosines = np.concatenate([some @ unit(vector) for some in self.units()])
        cosines[list(without)] = -np.inf
        top = min(top, len(cosines) - len({*without}))
        rows = np.argpartition(-cosines, max(0, top - 1))[:top]
        rows = rows[np.lexsort((rows, -cosines[rows]))]
        return [Neighbour(self.words[row], float(cosines[row])) for row in rows]

    def units(self) -> Iterable[Float[NDArray, "some size"]]:
        """All vectors with length 1, some at a time."""
        for begin in range(0, len(self), CHUNK):
            yield unit(self.matrix[begin : begin + CHUNK])


def unit(vectors: Float[NDArray, "*rows size"]) -> Float[NDArray, "*rows size"]:
    """With length 1; what is zero stays zero."""
    whole = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(whole, axis=-1, keepdims=True).astype(np.float32)
    return whole / np.where(lengths, lengths, np.float32(1))
