"""Which sub-words translate which: IBM's model 1 (Brown et al. 1993) over training pairs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from headway.core.translation_task import Rows
from headway.corpora.model_1 import Integers, cooccurrences, expected_counts

MOST_COOCCURRENCES = 60_000_000
"""Of a source and a target token in one pair; of more, pairs are left out evenly."""
AT_ONCE = 4_000_000


class Lexicon(NamedTuple):
    """How likely each token of a source is translated by each one beside which it stood."""

    source: Int[np.ndarray, " entries"]
    """In order; the vocabulary's size stands for the empty word."""
    target: Int[np.ndarray, " entries"]
    probability: Float[np.ndarray, " entries"]

    def likeliest(self, n: int, n_tokens: int, otherwise: int) -> Int[np.ndarray, "n_tokens n"]:
        """Of each token its `n` likeliest translations; `otherwise` where there are fewer."""
        order = np.lexsort((self.target, -self.probability, self.source))
        source = self.source[order]
        rank = np.arange(len(order)) - np.searchsorted(source, source)
        kept = (rank < n) & (source < n_tokens)
        found = np.full((n_tokens, n), otherwise, np.int32)
        found[source[kept], rank[kept]] = self.target[order[kept]]
        return found


def learned(store: Rows, n_tokens: int) -> Lexicon:
    """From a store of pairs of ids without markers."""
    blocks = [np.asarray(block) for block in _blocks(store, _some_rows(store))]
    keys = np.zeros(0, np.int64)
    for block in blocks:
        keys = np.union1d(keys, _cooccurrences(store, block, n_tokens)[0])

    def entries() -> Iterator[tuple[Integers, Integers]]:
        for block in blocks:
            key, place = _cooccurrences(store, block, n_tokens)
            yield np.searchsorted(keys, key), place

    source = keys // n_tokens
    _, probability = expected_counts(entries, source, np.ones(len(keys)))
    return Lexicon(source, keys % n_tokens, probability)


def _some_rows(store: Rows) -> Any:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    step = max(1, -(-int(lengths.sum()) // MOST_COOCCURRENCES))
    return np.flatnonzero(lengths)[::step]


def _blocks(store: Rows, rows: Any) -> list[Any]:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    number = lengths[rows].cumsum() // AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def _cooccurrences(store: Rows, rows: Any, n_tokens: int) -> tuple[Integers, Integers]:
    """Source token times vocabulary plus target token, and place; the empty word stands before
    every source."""
    sources = [np.concatenate([[n_tokens], store["source"][int(row)]]) for row in rows]
    targets = [store["target"][int(row)] for row in rows]
    sizes = (np.array([len(one) for one in side]) for side in (sources, targets))
    widths, heights = sizes
    ends = (np.concatenate(side).astype(np.int64) for side in (sources, targets))
    source, target = ends
    found = cooccurrences(source, widths, target, heights)
    return found.source * n_tokens + found.target, found.place
