"""Counts of n-grams of every order, as they lie on disk.

An n-gram has a number in its order: the place that it has when all are sorted by their words. It is
written as one key: the number of its first words in the order below, times the size of the
vocabulary, plus its last word. Keys are sorted as the n-grams are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.corpora.cache import read_sealed

FORMAT = 1
"""Raised whenever the files change their meaning."""

_READ = 1 << 20  # numbers held at a time

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


class KeysAndCounts(NamedTuple):
    """Some n-grams of one order."""

    keys: NDArray[np.int64]
    counts: Counts


class NgramCounts:
    """Counts of n-grams, sorted: a key and a count each."""

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

    def unigrams(self) -> NDArray[np.int64]:
        """The count of each word: [vocabulary]."""
        return np.fromfile(self._directory / "counts.1", self._kind).astype(np.int64)

    def keys_file(self, order: int) -> Path:
        """The keys of an order, 64-bit integers end to end."""
        return self._directory / f"keys.{order}"

    def contexts(self, order: int) -> Iterator[KeysAndCounts]:
        """Keys and counts of an order from 2, some at a time; no context is cut apart."""
        keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        with (
            self.keys_file(order).open("rb") as keys_file,
            (self._directory / f"counts.{order}").open("rb") as counts_file,
        ):
            while True:
                more = np.fromfile(keys_file, np.int64, _READ)
                more_counts = np.fromfile(counts_file, self._kind, _READ)
                keys = np.concatenate([keys, more])
                counts = np.concatenate([counts, more_counts.astype(np.int64)])
                if not len(more):
                    break
                last = keys[-1] // self.counting.vocabulary_size * self.counting.vocabulary_size
                cut = int(np.searchsorted(keys, last))
                yield KeysAndCounts(keys[:cut], counts[:cut])
                keys, counts = keys[cut:], counts[cut:]
        yield KeysAndCounts(keys, counts)
