"""Counts of n-grams of every order: windows of words are sorted, and told from one another.

An n-gram has a number in its order: the place that it has when all are sorted by their words. It is
written as one key: the number of its first words in the order below, times the size of the
vocabulary, plus its last word. Keys are sorted as the n-grams are. Counting takes some 100 bytes of
memory for each word of the text.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.corpora.cache import made_once, read_sealed, sealed_folder
from headway.language_models.ngram_windows import (
    Column,
    Packing,
    Words,
    firsts,
    levels,
    lines_from_begin,
    windows,
)
from headway.operations.locks import Say

FORMAT = 1
"""Raised whenever the files change their meaning."""
AT_ONCE = 1 << 21
"""Windows that are sorted at a time, before all are."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Counting:
    """What is counted, and how."""

    order: int
    vocabulary_size: int
    begin: int
    """The id that is put before each line; no line has it."""
    continuations: bool
    """Of all n-grams but the longest, and those at the beginning of a line, count not how often
    they come but after how many different words, N1+(. w1 .. wn): Kneser-Ney's counts."""


class NgramCounts:
    """Counts of n-grams, sorted, as they lie on the disk: a key and a count each."""

    def __init__(self, directory: Path) -> None:
        """Open what was counted, after checking every byte of it.

        Raises:
            DataError: the folder is missing, damaged, or of another version.
        """
        self._directory = directory
        content = read_sealed(directory)
        if content.get("format") != FORMAT:
            raise DataError(
                f"counts of format {FORMAT} are needed; {directory} has format "
                f"{content.get('format')}. Delete it; they are made anew."
            )
        self.counting = Counting(**content["counting"])
        self.n_grams: tuple[int, ...] = tuple(content["n_grams"])
        """How many there are of each order; of order 1, the size of the vocabulary."""
        self.n_tokens: int = content["n_tokens"]
        """Words and ends of lines."""
        self._kind = np.dtype(content["counts"])

    def keys(self, order: int) -> NDArray[np.int64]:
        """Of each n-gram of an order from 2."""
        return np.fromfile(self._directory / f"keys.{order}", np.int64)

    def counts(self, order: int) -> Counts:
        """Of each n-gram; of order 1, of each word of the vocabulary."""
        return np.fromfile(self._directory / f"counts.{order}", self._kind).astype(np.int64)


@runtime_checkable
class IdRows(Protocol):
    """Rows of ids, each with its end marker, as a side of a `headway.corpora.store.Store`."""

    lengths: NDArray[np.int32]

    def read(self, begin: int, end: int) -> NDArray[np.unsignedinteger]:
        """The ids of some rows, end to end."""
        ...


class _Windows(NamedTuple):
    """Different windows in their order, and how often each came."""

    columns: list[Column]
    counts: Counts


def count_ngrams(text: IdRows, directory: Path, counting: Counting, say: Say) -> NgramCounts:
    """The counts of a text, which are in `directory` or are put there.

    Raises:
        DiskError: the disk is full or cannot be written to.
    """
    return made_once(
        directory,
        lambda: NgramCounts(directory),
        lambda _: _count(text, directory, counting, say),
        say,
    )


def _count(text: IdRows, directory: Path, counting: Counting, say: Say) -> None:
    """Write what `NgramCounts` reads."""
    size, begin = counting.vocabulary_size, counting.begin
    packing = Packing.of(counting.order, size)
    each = list(_windows_of_some_lines(text, packing, counting, say))
    found = _told_apart(packing, each)
    del each
    words = packing.words(found.columns)
    level = levels(words)
    unigrams = np.bincount(words[0], weights=found.counts, minlength=size).astype(np.int64)
    n_lines, n_windows = int(unigrams[begin]), int(unigrams.sum())
    kind = np.dtype(np.uint32 if n_windows < 1 << 32 else np.uint64)
    contexts: dict[int, Counts] = {}
    if counting.continuations and counting.order > 1:
        contexts = _continuations(words, level, size, begin)
        unigrams = contexts[1]
        unigrams[begin] = n_lines
    n_grams, ids = [size], words[0].astype(np.int64)
    with sealed_folder(directory) as (part, content):
        unigrams.astype(kind).tofile(part / "counts.1")
        for n in range(2, counting.order + 1):
            inside = words[n - 1] != begin  # the others end before their line has so many words
            new = (level <= n) & inside
            keys = ids[new] * size + words[n - 1][new]
            ids = np.cumsum(new) - 1
            counts = sums_between(np.where(inside, found.counts, 0), new)
            if n in contexts:
                counts[words[0][new] != begin] = contexts[n]
            n_grams.append(len(keys))
            keys.tofile(part / f"keys.{n}")
            counts.astype(kind).tofile(part / f"counts.{n}")
        content |= {
            "format": FORMAT,
            "counting": asdict(counting),
            "n_grams": n_grams,
            "n_tokens": n_windows - n_lines,
            "counts": kind.name,
        }


def _windows_of_some_lines(
    text: IdRows, packing: Packing, counting: Counting, say: Say
) -> Iterator[_Windows]:
    """Those of about `AT_ONCE` words at a time, sorted."""
    ends = np.cumsum(text.lengths + np.int64(1))
    row = 0
    while row < len(ends):
        first = int(ends[row - 1]) if row else 0
        behind = max(row + 1, int(np.searchsorted(ends, first + AT_ONCE, side="right")))
        ids, lengths = text.read(row, behind), text.lengths[row:behind]
        sequence = lines_from_begin(ids, lengths, counting.begin)
        columns = packing.pack(windows(sequence, counting.order, counting.begin))
        yield _told_apart(packing, [_Windows(columns, np.ones(len(sequence), np.int64))])
        if behind < len(ends):
            say(f"sorted the windows of {behind:,} of {len(ends):,} lines")
        row = behind


def _told_apart(packing: Packing, each: list[_Windows]) -> _Windows:
    """Some windows as one sequence of different ones."""
    columns = [np.concatenate(some) for some in zip(*(one.columns for one in each), strict=True)]
    counts = np.concatenate([one.counts for one in each])
    order, numbers = packing.order(columns)
    starts = firsts(numbers)
    return _Windows(
        [column[order[starts]] for column in columns], np.add.reduceat(counts[order], starts)
    )


def _continuations(
    words: list[Words], level: NDArray[np.uint8], size: int, begin: int
) -> dict[int, Counts]:
    """After how many different words each n-gram stands, N1+(. w1 .. wn), by order but the highest.

    Those that begin with the begin marker stand after no word, and are not there.
    """
    inside = words[1] != begin
    packing = Packing.of(len(words) - 1, size)
    columns = packing.pack([column[inside] for column in words[1:]])
    order, _ = packing.order(columns)
    before = level[inside][order]  # whose first n + 1 words came before tells nothing new
    after = packing.words([column[order] for column in columns])
    own = levels(after)
    found = {1: np.bincount(after[0][before <= 2], minlength=size).astype(np.int64)}
    for n in range(2, packing.length + 1):
        long = after[n - 1] != begin
        found[n] = sums_between(long & (before <= n + 1), (own <= n) & long)
    return found


def sums_between(values: NDArray[np.generic], new: NDArray[np.bool_]) -> Counts:
    """The sum from each place that is marked to the next; before the first there is nothing."""
    cumulated = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=cumulated[1:])
    return np.diff(cumulated[np.flatnonzero(new)], append=cumulated[-1])
