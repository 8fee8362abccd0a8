"""Which words translate which, learned from some pairs of the corpus itself in a second or two.

IBM model 1 (Brown et al. 1993, section 4.5) on half of the sample says which words go together.
How often a word then finds one of its partners in its own pair, and in a pair drawn at random, is
measured on the other half. So every word of every pair says something, in nats, for or against its
belonging there.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from headway.core.dedup_split import Hashes, Marks
from headway.corpora.model_1 import cooccurrences, expected_counts
from headway.doctor.batches import HashedTokens

_MOST_LINKS = 6_000_000
"""Of a word and one of the other side: 60 bytes each while learning."""
_LEAST_SEEN = 4  # texts that a word stands in
_MOST_WORDS = 50_000
_TOO_COMMON = 0.3  # of the texts
_PARTNERS = 6
_LEAST_SHARE = 0.06  # of a word's occurrences that a partner explains
_LEAST_TIMES = 1.5  # expected
_SURE = 0.02  # no word says more than log(0.98 / 0.02)
_DOUBT = 4.0  # occurrences whose weight the mean over all words has
_MEMBERS_BITS = 22

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class FrequentWords(NamedTuple):
    """The words of one side that occur often enough to say something."""

    hashes: Hashes
    """Ascending: [words]."""

    @classmethod
    def of(cls, found: HashedTokens, n_rows: int) -> Self:
        """Those in at least `_LEAST_SEEN` texts of `n_rows`, but not in nearly a third of them."""
        hashes, number = np.unique(found.hashes, return_inverse=True)
        once = distinct(found.rows * max(len(hashes), 1) + number)
        n_texts = np.bincount(once % max(len(hashes), 1), minlength=len(hashes))
        chosen = (n_texts >= _LEAST_SEEN) & (n_texts <= _TOO_COMMON * n_rows)
        if np.count_nonzero(chosen) > _MOST_WORDS:
            least = np.sort(n_texts[chosen])[-_MOST_WORDS]
            chosen &= n_texts >= least
        return cls(hashes[chosen])

    def ids(self, hashes: Hashes) -> Ids:
        """The number of each word, -1 for one that is not known: [tokens]."""
        if not len(self.hashes):
            return np.full(len(hashes), -1, np.int64)
        places = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[places] == hashes, places, -1)


class _SideCounts(NamedTuple):
    """What is known of the words of one side."""

    words: FrequentWords
    partners: Ids
    """Words of the other side, -1 for none: [words, partners]."""
    found: Floats
    """What it says for a pair that one of them is there, in nats: [words]."""
    missed: Floats
    """What it says that none is; negative: [words]."""


class Evidence(NamedTuple):
    """What the known words of one side say of each pair."""

    rows: Ids
    """Which pair: [tokens]."""
    places: Ids
    """How many words stand before it in its text: [tokens]."""
    nats: Floats
    """For the sides' belonging together, if above 0: [tokens]."""

    def total(self, n_rows: int) -> Floats:
        """[pairs]."""
        return np.bincount(self.rows, self.nats, minlength=n_rows).astype(np.float64)

    def n_words(self, n_rows: int) -> Ids:
        return np.bincount(self.rows, minlength=n_rows)


class CooccurrenceLexicon:
    """What translates what in one corpus and direction."""

    def __init__(self, sides: tuple[_SideCounts, _SideCounts]) -> None:
        self._sides = sides

    def evidence(self, both: tuple[HashedTokens, HashedTokens]) -> tuple[Evidence, Evidence]:
        """What the words of the sources, and those of the targets, say of each pair."""
        known = [side.words.ids(one.hashes) for side, one in zip(self._sides, both, strict=True)]
        said = []
        for n, side in enumerate(self._sides):
            mine = known[n] >= 0
            ids, rows = known[n][mine], both[n].rows[mine]
            there = _found(ids, rows, side.partners, known[1 - n], both[1 - n].rows)
            nats = np.where(there, side.found[ids], side.missed[ids])
            said.append(Evidence(rows, both[n].places[mine], nats))
        return said[0], said[1]


def distinct(numbers: Ids) -> Ids:
    """Each number once, ascending; by sorting, which here is quicker than `np.unique`."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def learned(
    sides: tuple[HashedTokens, HashedTokens], n_rows: int, seed: int = 1
) -> CooccurrenceLexicon | None:
    """Learn from pairs in random order; None if they are too few or too much alike."""
    half = n_rows // 2
    words = [FrequentWords.of(side, n_rows) for side in sides]
    if not all(len(one.hashes) for one in words) or half < _LEAST_SEEN:
        return None
    texts = [_Texts(w.ids(side.hashes), side.rows) for w, side in zip(words, sides, strict=True)]
    sizes = len(words[0].hashes), len(words[1].hashes)
    partners = _partners(texts[0].before(half), texts[1].before(half), *sizes)
    rest = [one.since(half) for one in texts]
    others = np.random.default_rng(seed).permutation(n_rows - half) + half
    known = [
        _measured(words[n], partners[n], rest[n], rest[1 - n], others[rest[n].rows - half])
        for n in (0, 1)
    ]
    return CooccurrenceLexicon((known[0], known[1]))


def _measured(
    words: FrequentWords, partners: Ids, mine: "_Texts", theirs: "_Texts", others: Ids
) -> _SideCounts:
    """What the words of one side say; `others` are texts drawn at random to go with each."""
    true = _found(mine.ids, mine.rows, partners, theirs.ids, theirs.rows)
    chance = _found(mine.ids, others, partners, theirs.ids, theirs.rows)
    good, random = (_rates(mine.ids, marks, len(words.hashes)) for marks in (true, chance))
    silent = (partners < 0).all(axis=1)
    found, missed = np.log(good / random), np.log((1 - good) / (1 - random))
    found, missed = (np.where(silent, 0.0, nats) for nats in (found, missed))
    return _SideCounts(words, partners, np.maximum(found, 0), np.minimum(missed, 0))


class _Texts(NamedTuple):
    """The known words of some texts, each once, in the order of the texts."""

    ids: Ids
    rows: Ids

    def before(self, row: int) -> "_Texts":
        return self._chosen((self.ids >= 0) & (self.rows < row))

    def since(self, row: int) -> "_Texts":
        return self._chosen((self.ids >= 0) & (self.rows >= row))

    def _chosen(self, marks: Marks) -> "_Texts":
        n_words = int(self.ids.max(initial=0)) + 1
        rows, ids = np.divmod(distinct(self.rows[marks] * n_words + self.ids[marks]), n_words)
        return _Texts(ids, rows)


def _partners(source: _Texts, target: _Texts, n_source: int, n_target: int) -> tuple[Ids, Ids]:
    """The best partners of each word, by what model 1 expects: [words, partners] of both sides."""
    n_rows = int(max(source.rows.max(initial=-1), target.rows.max(initial=-1))) + 1
    sizes = (np.bincount(side.rows, minlength=n_rows) for side in (source, target))
    n_words, n_others = sizes
    rows = int(np.searchsorted(np.cumsum(n_words * n_others), _MOST_LINKS))
    n_words, n_others = n_words[:rows], n_others[:rows]
    left, right, token = cooccurrences(source.ids, n_words, target.ids[: n_others.sum()], n_others)
    keys, place, often = np.unique(left * n_target + right, return_inverse=True, return_counts=True)
    key_source, key_target = keys // n_target, keys % n_target
    chance = often / np.bincount(key_source, often)[key_source]
    empty = 1 / n_target  # so that a word need not be explained
    expected, _ = expected_counts(lambda: [(place, token)], key_source, chance, empty)
    n_of_source = np.bincount(source.ids, minlength=n_source)
    n_of_target = np.bincount(target.ids, minlength=n_target)
    kept = expected >= _LEAST_TIMES
    key_source, key_target, expected = key_source[kept], key_target[kept], expected[kept]
    return (
        _best(key_source, key_target, expected / n_of_source[key_source], n_source),
        _best(key_target, key_source, expected / n_of_target[key_target], n_target),
    )


def _best(words: Ids, others: Ids, share: Floats, n_words: int) -> Ids:
    """The partners with the highest shares: [words, partners]."""
    chosen = share >= _LEAST_SHARE
    words, others, share = words[chosen], others[chosen], share[chosen]
    order = np.lexsort((-share, words))
    words, others = words[order], others[order]
    rank = np.arange(len(words)) - np.searchsorted(words, words)
    best = np.full((n_words, _PARTNERS), -1, np.int64)
    fits = rank < _PARTNERS
    best[words[fits], rank[fits]] = others[fits]
    return best


def _found(ids: Ids, rows: Ids, partners: Ids, others: Ids, other_rows: Ids) -> Marks:
    """Whether one of a word's partners stands in the text beside it: [tokens].

    Words are looked up in a table of bits by hash, which one in some hundred times is wrong.
    """
    members = np.zeros(1 << _MEMBERS_BITS, np.bool_)
    known = others >= 0
    members[_bucket(other_rows[known], others[known])] = True
    there = np.zeros(len(ids), np.bool_)
    for n in range(partners.shape[1]):
        partner = partners[ids, n]
        there |= (partner >= 0) & members[_bucket(rows, partner)]
    return there


def _bucket(rows: Ids, ids: Ids) -> Ids:
    mixed = (rows.astype(np.uint64) << np.uint64(32)) + ids.astype(np.uint64)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(64 - _MEMBERS_BITS)).astype(np.int64)


def _rates(ids: Ids, there: Marks, n_words: int) -> Floats:
    """How often each word finds a partner, drawn to the mean where it was rarely seen: [words]."""
    mean = there.mean() if len(there) else 0.5
    n_seen = np.bincount(ids, minlength=n_words)
    n_there = np.bincount(ids, there, minlength=n_words)
    rates = (n_there + _DOUBT * mean) / (n_seen + _DOUBT)
    return np.clip(rates, _SURE, 1 - _SURE)
