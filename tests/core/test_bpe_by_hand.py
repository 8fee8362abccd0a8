"""Byte-pair encoding against its definition, with lists (Sennrich et al. 2016, algorithm 1)."""

from collections import Counter
from itertools import pairwise

import pytest

from headway.core.subwords import Subwords

WORDS = {"low": 5, "lower": 3, "lo": 5, "newest": 6, "widest": 3, "es": 1}
"""Near the paper's; counts are such that no two pairs tie for the first place."""
LEAST = 260
"""Markers and bytes, with no merge."""


def merged(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    pieces: list[str] = []
    for piece in word:
        if pieces and (pieces[-1], piece) == pair:
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return tuple(pieces)


def by_hand(n_merges: int) -> dict[str, tuple[str, ...]]:
    """Each word in pieces after so many merges, each of the commonest neighbours."""
    pieces = {word: tuple(word) for word in WORDS}
    for _ in range(n_merges):
        counts: Counter[tuple[str, str]] = Counter()
        for word, times in WORDS.items():
            for pair in pairwise(pieces[word]):
                counts[pair] += times
        (best, most), (_, second) = counts.most_common(2)
        assert most > second
        pieces = {word: merged(split, best) for word, split in pieces.items()}
    return pieces


@pytest.mark.parametrize("n_merges", range(5))
def test_merges_are_the_commonest_pairs_one_after_another(n_merges: int) -> None:
    lines = [word for word, times in WORDS.items() for _ in range(times)]
    subwords = Subwords.train(lines, vocabulary_size=LEAST + n_merges)
    for word, pieces in by_hand(n_merges).items():
        assert subwords.pieces(subwords.encode(word)) == list(pieces), word
