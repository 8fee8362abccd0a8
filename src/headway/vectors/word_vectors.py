"""Words and their vectors, and what is asked of them: neighbours, similarity, analogies."""

import re
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headway.core.errors import DataError
from headway.languages.scripts import UNSPACED
from headway.vectors.nearest import CHUNK, RankedRows, by_sums, nonzero, ranked

if TYPE_CHECKING:  # that library takes as long to load as numpy
    from jaxtyping import Float, Int
    from numpy.typing import NDArray

_QUERIES = 256
"""That are asked at a time."""
_ALIKE_AMONG, _TOLD_BY = 500_000, 5_000
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Neighbour(NamedTuple):
    """A word near some vector."""

    word: str
    cosine: float


class WordVectors:
    """Some words, each once, with a vector each."""

    def __init__(self, words: Sequence[str], matrix: "Float[NDArray, 'words size']") -> None:
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
        """The row of what is spelled so to the letter; None where there is none."""
        return self._rows.get(word)

    def find_word(self, word: str) -> int | None:
        """The row of a word; of sub-words that of the piece which begins a word, `▁apple`, and none
        that is spelled alike inside of words, but in scripts without spaces. None where there is no
        such word."""
        same = self.find(word)
        is_whole = word.startswith("▁") or (same is not None and _UNSPACED.search(word))
        return same if is_whole or not self._are_sub_words else self.find(f"▁{word}")

    @cached_property
    def _are_sub_words(self) -> bool:
        return any(len(one) > 1 and one[0] == "▁" for one in islice(self.words, _TOLD_BY))

    def __contains__(self, word: str) -> bool:
        return self.find_word(word) is not None

    def row(self, word: str) -> int:
        """That of `find_word`, or else of what is spelled so.

        Raises DataError where there is neither, which names those that are spelled alike.
        """
        found = self.find_word(word)
        found = self.find(word) if found is None else found
        if found is None:
            alike = ", ".join(self.spelled_alike(word))
            remedy = f"Spelled alike: {alike}." if alike else "Ask for a word of the corpus."
            raise DataError(f"only words that were learned have vectors; got {word!r}. {remedy}")
        return found

    def vector(self, word: str) -> "Float[NDArray, ' size']":
        """That of a word; raises DataError as `row`."""
        return np.asarray(self.matrix[self.row(word)], np.float32)

    def spelled_alike(self, word: str, most: int = 5) -> list[str]:
        """The words that take the fewest changes of letters to be spelled as some other, for their
        length: at most half as many as they have letters. Of equals the first come first, and of
        large files only those among the first words are looked at."""
        from rapidfuzz import process  # a side room
        from rapidfuzz.distance import OSA

        alike = OSA.normalized_similarity
        some = list(islice(self.words, _ALIKE_AMONG))
        found = process.extract(word, some, scorer=alike, limit=most, score_cutoff=0.5)
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
        self, vector: "Float[NDArray, ' size']", top: int = 10, without: Collection[int] = ()
    ) -> list[Neighbour]:
        """The words nearest to a vector by cosine, the nearest first, some rows left out."""
        found = self.nearest_rows(np.asarray(vector)[None], top, [without])
        pairs = zip(found.rows[0].tolist(), found.cosines[0].tolist(), strict=True)
        return [Neighbour(self.words[row], cosine) for row, cosine in pairs]

    def nearest_rows(
        self,
        queries: "Float[NDArray, 'queries size']",
        top: int = 1,
        without: Sequence[Collection[int]] = (),
    ) -> RankedRows:
        """The rows nearest to each of many vectors by cosine, the nearest first, equal ones in
        their order; `without` has for each query the rows that are left out. Where that leaves
        fewer than `top` for one of the queries, as many for all."""
        n_without = max((len({*rows}) for rows in without), default=0)
        wanted = min(len(self), top + n_without)
        top = max(0, min(top, len(self) - n_without))
        ranks = RankedRows(
            np.zeros((len(queries), top), np.int64), np.zeros((len(queries), top), np.float32)
        )
        for begin in range(0, len(queries) if top else 0, _QUERIES):
            some = np.asarray(queries[begin : begin + _QUERIES], np.float64)
            some = some / nonzero(np.linalg.norm(some, axis=1))[:, None]
            asked = some.any(1)
            of_asked = iter(self._candidates(some[asked].astype(np.float32), wanted))
            for place, (query, is_asked) in enumerate(zip(some, asked, strict=True), begin):
                # to what is zero, all are as near
                found = next(of_asked) if is_asked else np.arange(wanted)
                rows, cosines = ranked(self.matrix, found, query, wanted)
                kept = ~np.isin(rows, [*without[place]] if without else [])
                ranks.rows[place], ranks.cosines[place] = rows[kept][:top], cosines[kept][:top]
        return ranks

    def _candidates(
        self, queries: "Float[NDArray, 'queries size']", wanted: int
    ) -> "list[Int[NDArray, ' some']]":
        """For each query of length 1 the rows that may be among the `wanted` nearest."""
        return by_sums(self.matrix, self.lengths, queries, wanted)

    @cached_property
    def lengths(self) -> "Float[NDArray, ' words']":
        """Of all vectors."""
        some = (self.matrix[at : at + CHUNK] for at in range(0, len(self), CHUNK))
        return np.concatenate([lengths_of(one) for one in some])


def unit(vectors: "Float[NDArray, '*rows size']") -> "Float[NDArray, '*rows size']":
    """With length 1; what is zero stays zero."""
    whole = np.asarray(vectors, np.float32)
    return whole / nonzero(lengths_of(whole))[..., None]


def lengths_of(vectors: "Float[NDArray, '*rows size']") -> "Float[NDArray, '*rows']":
    """Of some vectors; squares of large ones would have no place in float32."""
    return np.linalg.norm(vectors.astype(np.float64), axis=-1).astype(np.float32)
