"""What is drawn by chance while word vectors are learned, and the tree of hierarchical softmax."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EVERY = 1 << 31
"""What stands for "always" among the numbers of `kept_of_2_to_31`."""


def kept_of_2_to_31(counts: NDArray[np.int64], thin: float) -> NDArray[np.uint32]:
    """How many of 2^31 occurrences of each word stay: sqrt(t/f) + t/f of them, at most all.

    f is a word's share of the text and t is `thin`; 0 keeps everything. As in word2vec's program;
    Mikolov et al. 2013b, eq. 5, has sqrt(t/f) alone. Words that never occurred stay out.
    """
    if not thin:
        return np.where(counts > 0, EVERY, 0).astype(np.uint32)
    relative = thin * counts.sum(dtype=np.float64) / np.maximum(counts, 1)
    kept = np.minimum(np.sqrt(relative) + relative, 1.0)
    return np.where(counts > 0, np.rint(EVERY * kept), 0).astype(np.uint32)


class AliasTable(NamedTuple):
    """Words drawn in two reads, however many there are (Walker 1977; Vose 1991).

    A word i is drawn evenly, and is i if 32 random bits are below `threshold[i]`, else `other[i]`.
    """

    threshold: NDArray[np.uint32]
    other: NDArray[np.uint32]


def noise_table(counts: NDArray[np.int64], power: float = 0.75) -> AliasTable:
    """The noise of negative sampling: words by count^0.75 (Mikolov et al. 2013b, section 2.2)."""
    weights = np.where(counts > 0, counts.astype(np.float64) ** power, 0.0)
    shares = weights * (len(weights) / weights.sum())
    other = np.arange(len(weights), dtype=np.uint32)
    descending = np.argsort(-shares, kind="stable")  # so words that never occurred come first
    n_large = int((shares >= 1).sum())
    large, small = descending[:n_large].tolist(), descending[n_large:].tolist()
    while small and large:
        little, much = small.pop(), large[-1]
        other[little] = much
        shares[much] -= 1 - shares[little]
        if shares[much] < 1:
            small.append(large.pop())
    shares[[*small, *large]] = 1  # as they are but for rounding
    return AliasTable(np.minimum(np.rint(shares * 2**32), 2**32 - 1).astype(np.uint32), other)


class HuffmanTree(NamedTuple):
    """The way from the root to each word; word i's are places `starts[i]` to `starts[i + 1]`."""

    starts: NDArray[np.int64]
    nodes: NDArray[np.uint32]
    """Inner nodes, from 0 for the first that was made; of n words there are n - 1."""
    turns: NDArray[np.float32]
    """1 for the frequent side, -1 for the other."""


def huffman_tree(counts: NDArray[np.int64]) -> HuffmanTree:
    """The binary tree in which frequent words have short ways; words of count 0 have none."""
    words = np.flatnonzero(counts)
    words = words[np.argsort(counts[words], kind="stable")]
    n = len(words)
    weights = [*counts[words].tolist(), *[0] * (n - 1)]
    parent = np.zeros(2 * n, dtype=np.int64)
    turn = np.ones(2 * n, dtype=np.float32)
    leaf, inner = 0, n
    for made in range(n, 2 * n - 1):  # both queues are in order, so the smallest are in front
        for side in (-1, 1):
            if leaf < n and (inner == made or weights[leaf] <= weights[inner]):
                least, leaf = leaf, leaf + 1
            else:
                least, inner = inner, inner + 1
            weights[made] += weights[least]
            parent[least], turn[least] = made, side
    root, at, ways = 2 * n - 2, np.arange(n), []
    while (going := np.flatnonzero(at < root)).size:  # one step up for all words at once
        ways.append((words[going], parent[at[going]] - n, turn[at[going]]))
        at[going] = parent[at[going]]
    return _in_order(ways[::-1], len(counts))


def _in_order(
    ways: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]], n_words: int
) -> HuffmanTree:
    """Steps by level, from the root down, as steps by word."""
    if not ways:
        return HuffmanTree(
            np.zeros(n_words + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.float32)
        )
    word, node, turn = (np.concatenate(column) for column in zip(*ways, strict=True))
    order = np.argsort(word, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=n_words))])
    return HuffmanTree(starts, node[order].astype(np.uint32), turn[order])
