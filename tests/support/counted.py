"""Models of n-grams counted on a few rows of ids, all the way through files; and by brute force."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from headway.core.tensor_files import save_tensors
from headway.language_models import counting
from headway.language_models.estimation import Counting, NgramCounts, count_ngrams, smoothed
from headway.language_models.ngram import Ngram, NgramConfig

PADDING, UNKNOWN, BEGIN, END = range(4)

Rows = Sequence[Sequence[int]]
Gram = tuple[int, ...]


class Text:
    """Rows of ids, as a store has them: each ends with the end marker."""

    def __init__(self, rows: Rows) -> None:
        self._rows = [np.array([*row, END], np.uint32) for row in rows]
        self.lengths = np.array([len(row) for row in self._rows], np.int32)

    def read(self, begin: int, end: int) -> NDArray[np.unsignedinteger]:
        return np.concatenate(self._rows[begin:end])


def silent(_message: str) -> None:
    """Say nothing."""


def counts_of(
    rows: Rows, order: int, vocabulary_size: int, *, continuations: bool = False
) -> NgramCounts:
    return count_ngrams(Text(rows), Counting(order, vocabulary_size, BEGIN, continuations))


def model_of(
    rows: Rows, vocabulary_size: int, folder: Path, *, order: int, smoothing: str, k: float = 1.0
) -> Ngram:
    """Counted, smoothed, written, and laid over the file."""
    config = NgramConfig(order, smoothing, k)  # type: ignore[arg-type]
    name = f"{smoothing}-{order}-{vocabulary_size}-{k}"
    kneser_ney = smoothing.endswith("kneser-ney")
    counts = counts_of(rows, order, vocabulary_size, continuations=kneser_ney)
    arrays = smoothed(counts, config, padding=PADDING, say=silent)
    config = replace(config, n_grams=counts.n_grams)
    file = folder / f"{name}.safetensors"
    save_tensors({name: torch.from_numpy(array) for name, array in arrays.items()}, file)
    model = Ngram(config, vocabulary_size=vocabulary_size, padding=PADDING, begin=BEGIN, end=END)
    counting.load(model, file)
    return model.eval()


def all_grams(rows: Rows, order: int, begin: int = BEGIN, end: int = END) -> list[Counter[Gram]]:
    """Counts by brute force: of order 1, 2, .."""
    counts = [Counter[Gram]() for _ in range(order)]
    for row in rows:
        line = (begin, *row, end)
        for n in range(1, order + 1):
            counts[n - 1].update(line[i : i + n] for i in range(len(line) - n + 1))
    return counts


def adjusted(counts: list[Counter[Gram]], begin: int = BEGIN) -> list[Counter[Gram]]:
    """Kneser-Ney's: of all but the longest, and those that begin a line, after how many words."""
    found = []
    for shorter, longer in pairwise(counts):
        before = Counter(gram[1:] for gram in longer)
        found.append(Counter({g: n if g[0] == begin else before[g] for g, n in shorter.items()}))
    return [*found, counts[-1]]


class BruteForce:
    """Modified Kneser-Ney word by word, from dictionaries: nothing is shared with the real one."""

    def __init__(self, rows: Rows, order: int, n_predictable: int) -> None:
        self.n_predictable = n_predictable
        self.counts = adjusted(all_grams(rows, order))
        del self.counts[0][(BEGIN,)]
        self.after: list[dict[Gram, dict[int, int]]] = []
        for counts in self.counts:
            after: dict[Gram, dict[int, int]] = {}
            for gram, n in counts.items():
                after.setdefault(gram[:-1], {})[gram[-1]] = n
            self.after.append(after)
        self.discounts = [self._discounts(counts) for counts in self.counts]

    @staticmethod
    def _discounts(counts: Counter[Gram]) -> list[float]:
        n1, n2, n3, n4 = (sum(1 for n in counts.values() if n == c) for c in (1, 2, 3, 4))
        if min(n1, n2, n3, n4):
            y = n1 / (n1 + 2 * n2)
            found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
            if all(0 < d <= c for c, d in enumerate(found, 1)):
                return found
        return [0.5, 1.0, 1.5]

    def probability(self, word: int, context: Gram) -> float:
        below = self.probability(word, context[1:]) if context else 1 / self.n_predictable
        following = self.after[len(context)].get(context, {})
        if not following:
            return below
        discount = [0.0, *self.discounts[len(context)]]
        taken = {w: discount[min(n, 3)] for w, n in following.items()}
        total = sum(following.values())
        own = (following[word] - taken[word]) / total if word in following else 0.0
        return own + sum(taken.values()) / total * below
