"""Which sub-words translate which: IBM's model 1 (Brown et al. 1993) over training pairs."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from headway.corpora.store import Store

Integers = Int[np.ndarray, " cooccurrences"]
ROUNDS = 4
"""Of expectation and maximization: more change the order of translations hardly."""
MOST_COOCCURRENCES = 60_000_000
"""Of a source and a target token in one pair; of more, pairs are left out evenly."""
AT_ONCE = 4_000_000


class Cooccurrences(NamedTuple):
    """Every token of a source beside every token of its target, for some pairs."""

    key: Integers
    """Source token times vocabulary plus target token."""
    place: Integers
    """Of the target's token, counted over all pairs."""


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


def learned(store: Store, n_tokens: int) -> Lexicon:
    """From a store of pairs of ids without markers."""
    rows = _some_rows(store)
    blocks = [np.asarray(block) for block in _blocks(store, rows)]
    keys = np.zeros(0, np.int64)
    for block in blocks:
        keys = np.union1d(keys, _cooccurrences(store, block, n_tokens).key)
    source = keys // n_tokens
    probability = np.ones(len(keys))  # every translation alike: the first round counts
    for _ in range(ROUNDS):
        expected = np.zeros(len(keys))
        for block in blocks:
            cooccurrences = _cooccurrences(store, block, n_tokens)
            entry = np.searchsorted(keys, cooccurrences.key)
            share = probability[entry]
            share /= np.bincount(cooccurrences.place, share)[cooccurrences.place]
            expected += np.bincount(entry, share, len(keys))
        probability = expected / np.bincount(source, expected)[source]
    return Lexicon(source, keys % n_tokens, probability)


def _some_rows(store: Store) -> Any:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    step = max(1, -(-int(lengths.sum()) // MOST_COOCCURRENCES))
    return np.flatnonzero(lengths)[::step]


def _blocks(store: Store, rows: Any) -> list[Any]:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    number = lengths[rows].cumsum() // AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def _cooccurrences(store: Store, rows: Any, n_tokens: int) -> Cooccurrences:
    """The empty word stands before every source."""
    sources = [np.concatenate([[n_tokens], store["source"][int(row)]]) for row in rows]
    targets = [store["target"][int(row)] for row in rows]
    widths = np.array([len(source) for source in sources])
    heights = np.array([len(target) for target in targets])
    target, width = np.concatenate(targets), np.repeat(widths, heights)
    place = np.repeat(np.arange(len(target)), width)
    first = np.repeat(np.repeat(widths.cumsum() - widths, heights), width)
    within = np.arange(len(place)) - np.repeat(width.cumsum() - width, width)
    source = np.concatenate(sources).astype(np.int64)[first + within]
    return Cooccurrences(source * n_tokens + target[place], place)
