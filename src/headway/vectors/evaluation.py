"""How good word vectors are: analogies answered, and pairs ranked as people rank them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.lines import read_lines
from headway.vectors.word_vectors import WordVectors, unit

UNNAMED = "(no section)"
"""Of analogies that stand before any line with the name of a section."""
AT_ONCE = 1024
"""Analogies that are answered at a time."""
TWO_SIDED_95 = 1.959964
"""Standard errors on either side of a normal variable that hold 95 % of it."""

Analogy = tuple[str, str, str, str]
"""What is to the third as the second is to the first? The fourth."""


class SectionScores(NamedTuple):
    """How many of some analogies are answered right."""

    section: str
    n_questions: int
    n_covered: int
    """Those whose four words all have vectors."""
    n_right: int

    @property
    def of_covered(self) -> float | None:
        """The share of right answers; None where nothing is covered."""
        return self.n_right / self.n_covered if self.n_covered else None

    @property
    def of_all(self) -> float:
        """The same, where what is not covered counts as wrong."""
        return self.n_right / self.n_questions


class AnalogyScores(NamedTuple):
    """Those of one file."""

    sections: list[SectionScores]
    n_lowered: int
    """Words that have a vector only in lower case, which was taken."""

    @property
    def total(self) -> SectionScores:
        """All sections as one."""
        _, *counts = zip(*self.sections, strict=True)
        return SectionScores("all", *(sum(column) for column in counts))


class SimilarityScores(NamedTuple):
    """How cosines rank pairs of words, beside how people do."""

    n_pairs: int
    n_covered: int
    """Those whose two words have vectors; the others do not count in `rho`."""
    n_lowered: int
    """As in `AnalogyScores`."""
    rho: float | None
    """Spearman's; None where there are fewer than two ranks on either side."""
    interval: tuple[float, float] | None
    """95 % of it (`fisher_interval`); None for fewer than four pairs."""


def read_analogies(path: Path) -> dict[str, list[Analogy]]:
    """Analogies by section: lines of four words, under lines such as `: family`, as in word2vec's
    questions-words.txt and in CA8. Raises DataError with the number of a line that is neither."""
    sections: dict[str, list[Analogy]] = {}
    name = UNNAMED
    for number, line in _lines(path):
        if line.startswith(":"):
            name = line[1:].strip() or UNNAMED
            continue
        words = line.split()
        if len(words) != 4:
            raise DataError(
                "an analogy is four words on a line, and a section a line such as ': family'; "
                f"line {number:,} of {path} has {len(words)}: {line[:80]!r}. Put it right or "
                "leave it out."
            )
        sections.setdefault(name, []).append((words[0], words[1], words[2], words[3]))
    if not sections:
        raise DataError(f"a file of analogies has some; {path} has none. Give another one.")
    return sections


def read_similarities(path: Path) -> list[tuple[str, str, float]]:
    """Pairs of words and how near people find them, one a line, with tabs, commas or spaces
    between: the larger the nearer, on any scale. A first line that has no number in the third place
    is a header. Raises DataError with the number of any other line that is no such pair."""
    pairs: list[tuple[str, str, float]] = []
    for number, line in _lines(path):
        between = next((one for one in ("\t", ",") if one in line), None)
        fields = [field.strip() for field in line.split(between)]
        try:
            one, other, given = fields
            score = float(given)
            if not (one and other and math.isfinite(score)):
                raise ValueError(line)
        except ValueError:
            if number == 1 and len(fields) == 3:
                continue
            raise DataError(
                "a pair is two words and a number on a line, such as 'king<tab>queen<tab>8.6'; "
                f"line {number:,} of {path} is {line[:80]!r}. Put it right or leave it out."
            ) from None
        pairs.append((one, other, score))
    if not pairs:
        raise DataError(f"a file of similarities has pairs; {path} has none. Give another one.")
    return pairs


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Those with something on them, in NFC, with their numbers."""
    for number, line in enumerate(read_lines(path), 1):
        if line is None:
            raise DataError(f"a line of words is short; line {number:,} of {path} is not.")
        if line := normalize("NFC", line).strip():
            yield number, line


def rows_of(vectors: WordVectors, words: Iterable[str]) -> tuple[dict[str, int], int]:
    """The rows of those words that have one, in lower case where they have none as written; and how
    many were taken in lower case."""
    rows, n_lowered = dict[str, int](), 0
    for word in dict.fromkeys(words):
        found = vectors.find_word(word)
        if found is None and (lower := word.lower()) != word:
            found = vectors.find_word(lower)
            n_lowered += found is not None
        if found is not None:
            rows[word] = found
    return rows, n_lowered


def score_analogies(
    vectors: WordVectors,
    sections: Mapping[str, Sequence[Analogy]],
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> AnalogyScores:
    """Accuracy by section, where only the first answer counts and the three words that are given
    are none (Mikolov et al. 2013a, section 4.1). `advance` hears how much of all is done."""
    rows, n_lowered = rows_of(
        vectors, (word for some in sections.values() for four in some for word in four)
    )
    covered = {
        name: np.array(
            [[rows[word] for word in four] for four in some if rows.keys() >= {*four}], np.int64
        ).reshape(-1, 4)
        for name, some in sections.items()
    }
    four = np.concatenate([*covered.values()])
    right = answers(vectors, four[:, :3], advance) == four[:, 3]
    ends = np.cumsum([len(some) for some in covered.values()])
    return AnalogyScores(
        [
            SectionScores(name, len(sections[name]), len(some), int(some.sum()))
            for name, some in zip(sections, np.split(right, ends[:-1]), strict=True)
        ],
        n_lowered,
    )


def answers(
    vectors: WordVectors,
    three: Int[NDArray, "questions 3"],
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Int[NDArray, " questions"]:
    """The row that is the first answer to each analogy, given its first three: as
    `WordVectors.analogy`, many at a time; -1 where there are no words but those three."""
    found = np.full(len(three), -1, np.int64)
    for begin in range(0, len(three), AT_ONCE):
        some = three[begin : begin + AT_ONCE]
        first, second, base = (unit(vectors.matrix[rows]) for rows in some.T)
        nearest = vectors.nearest_rows(second - first + base, 1, some.tolist())
        if nearest.rows.shape[1]:
            found[begin : begin + AT_ONCE] = nearest.rows[:, 0]
        advance(min(begin + AT_ONCE, len(three)), len(three))
    return found


def score_similarities(
    vectors: WordVectors, pairs: Sequence[tuple[str, str, float]]
) -> SimilarityScores:
    """Spearman's rho between cosines and what people say, over the pairs that are covered."""
    rows, n_lowered = rows_of(vectors, (word for pair in pairs for word in pair[:2]))
    covered = [pair for pair in pairs if rows.keys() >= {*pair[:2]}]
    first = unit(vectors.matrix[[rows[one] for one, _, _ in covered]])
    second = unit(vectors.matrix[[rows[other] for _, other, _ in covered]])
    cosines = (first * second).sum(1)
    rho = spearman(cosines, np.array([score for *_, score in covered]))
    interval = None if rho is None else fisher_interval(rho, len(covered))
    return SimilarityScores(len(pairs), len(covered), n_lowered, rho, interval)


def spearman(one: Float[NDArray, " n"], other: Float[NDArray, " n"]) -> float | None:
    """The correlation of ranks, where equal values share the mean of theirs; None where either side
    has one value only."""
    if min(len({*one.tolist()}), len({*other.tolist()})) < 2:
        return None
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ranks(values: Float[NDArray, " n"]) -> Float[NDArray, " n"]:
    """From 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)


def fisher_interval(rho: float, n: int) -> tuple[float, float] | None:
    """95 % for Spearman's rho of n pairs: Fisher's z with the standard error of Bonett and Wright
    (2000), sqrt((1 + rho^2 / 2) / (n - 3)); None for fewer than four pairs."""
    if n < 4:
        return None
    if abs(rho) >= 1:
        return (rho, rho)
    reach = TWO_SIDED_95 * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return (math.tanh(math.atanh(rho) - reach), math.tanh(math.atanh(rho) + reach))
