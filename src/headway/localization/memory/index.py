"""Sequences of words that are near to another one, found among a million of them in milliseconds.

Two sequences that are alike to p percent share at least ceil(p n / 100) words, n those of the
longer one. So when the words of both are sorted, the rarest first, their first words (as many as
may be missing, and one more) have one in common: prefix filtering (Chaudhuri et al. 2006, Bayardo
et al. 2007). Only sequences that share such a word are looked at; none that is near is missed.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.localization.memory.words import most_edits

LEAST = 50
"""Percent: what is less alike is not found."""

MAX_WORDS = 2_000
"""A longer sequence is found by nothing but itself."""

NONE = 0xFFFF_FFFF
"""The key of what has no words, or more than `MAX_WORDS`."""

_CHUNK = 100_000
_LAST_POSITION = 255

Integers = NDArray[np.integer]


def digest64(data: bytes) -> int:
    """64 bits that hardly any two of a million texts share: the first of BLAKE2b."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


class NearMatch(NamedTuple):
    """A sequence that is near to a query."""

    key: int
    n_edits: int
    n_words: int
    """Of the longer of the two."""


@dataclass(frozen=True)
class Index:
    """Different sequences of words, each with a number, its key: the shorter, the lower.

    A word's rank is its number from the rarest on.
    """

    hashes: NDArray[np.uint64]
    """Of each word, in order: [words]."""
    ranks: NDArray[np.uint32]
    """Of the words in the order of `hashes`: [words]."""
    starts: NDArray[np.int64]
    """Where each key's words begin in `words`, and the end of the last one: [keys + 1]."""
    words: NDArray[np.uint32]
    """The ranks of all keys' words, in their order: [words of all keys]."""
    lengths: NDArray[np.uint16]
    """Words of each key: [keys]."""
    posting_starts: NDArray[np.int64]
    """Where the postings of each rank begin, and the end of the last: [words + 1]."""
    postings: NDArray[np.uint32]
    """The keys that have a word among their rarest ones, by rank, then by key: [postings]."""
    positions: NDArray[np.uint8]
    """How many words of that key are rarer, 255 for all above: [postings]."""

    def near(self, words: Sequence[str], at_least: int) -> list[NearMatch]:
        """Every key that is alike to at least so many percent, the nearest first.

        `at_least` is `LEAST` to 100; see `words.percent`, of which this is the
        part that counts words.
        """
        n_words = len(words)
        if not 0 < n_words <= MAX_WORDS or not len(self.lengths):
            return []
        ranks = np.sort(self._ranks_of(words))
        rarest = np.unique(ranks[: _n_rarest(n_words, at_least)])
        keys = self._sharing(rarest[rarest >= 0], n_words, at_least)
        found = self._measured(keys, words, at_least)
        return sorted(found, key=lambda one: (one.n_edits / one.n_words, one.key))

    def _ranks_of(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The rank of each word; -1, rarer than all others, where no key has it."""
        wanted = np.array([digest64(word.encode()) for word in words], np.uint64)
        places = np.searchsorted(self.hashes, wanted)
        places[places == len(self.hashes)] = 0
        known = self.hashes[places] == wanted
        return np.where(known, self.ranks[places].astype(np.int64), -1)

    def _sharing(self, ranks: Integers, n_words: int, at_least: int) -> Integers:
        """Keys of a fitting length that have one of these words among their own rarest ones."""
        shortest, longest = -(-n_words * at_least // 100), n_words * 100 // at_least
        bounds = np.array((shortest, longest + 1), self.lengths.dtype)
        first, end = np.searchsorted(self.lengths, bounds)
        n_rarest = _n_rarest(np.arange(longest + 1), at_least)
        found = []
        for rank in ranks:
            start, stop = self.posting_starts[rank], self.posting_starts[rank + 1]
            keys = self.postings[start:stop]
            low, high = np.searchsorted(keys, np.array((first, end), keys.dtype))
            keys = keys[low:high]
            positions = self.positions[start + low : start + high]
            found.append(keys[positions < n_rarest[self.lengths[keys]]])
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint32)

    def _measured(self, keys: Integers, words: Sequence[str], at_least: int) -> Iterator[NearMatch]:
        """Those that are near indeed. Words that the query lacks are all the same to it."""
        from rapidfuzz.distance import Levenshtein

        numbers = {word: number for number, word in enumerate(dict.fromkeys(words), start=1)}
        query = "".join(chr(numbers[word]) for word in words)
        ranks = self._ranks_of(list(numbers))
        order = np.argsort(ranks)[np.count_nonzero(ranks < 0) :]
        ranks, own_numbers = ranks[order], order + 1
        for some in np.split(keys, range(_CHUNK, len(keys), _CHUNK)):
            lengths = self.lengths[some].astype(np.int64)
            flat = self.words[ragged(self.starts[some], lengths)]
            places = np.searchsorted(ranks, flat)
            places[places == len(ranks)] = 0
            own = np.where(ranks[places] == flat, own_numbers[places], 0).astype("<u4")
            ends = np.cumsum(lengths)
            shared = np.add.reduceat(own > 0, ends - lengths, dtype=np.int64) if len(some) else ends
            n_words = np.maximum(lengths, len(query))
            most = most_edits(n_words, at_least)
            text = own.tobytes().decode("utf-32-le")
            near = np.flatnonzero(shared >= n_words - most)
            columns = (some, ends - lengths, ends, n_words, most)
            for key, start, end, longer, limit in zip(
                *(one[near].tolist() for one in columns), strict=True
            ):
                n_edits = Levenshtein.distance(query, text[start:end], score_cutoff=limit)
                if n_edits <= limit:
                    yield NearMatch(key, n_edits, longer)


class _Numbers(dict[str, int]):
    """A number for each way in which a word is written; ways of the same word share it."""

    def __init__(self, as_word: Callable[[str], str]) -> None:
        super().__init__()
        self.words: dict[str, int] = {}
        self._as_word = as_word

    def __missing__(self, written: str) -> int:
        self[written] = number = self.words.setdefault(self._as_word(written), len(self.words))
        return number


class Keys:
    """Gathers sequences of words; equal ones get the same key in the end."""

    def __init__(self, as_word: Callable[[str], str] = str) -> None:
        """`as_word` makes the same of what counts as the same word."""
        self._numbers = _Numbers(as_word)
        self._words, self._lengths, self._digests = array("I"), array("I"), array("q")

    def add(self, words: Sequence[str]) -> None:
        if len(words) > MAX_WORDS:
            words = ()
        numbers = tuple(map(self._numbers.__getitem__, words))
        self._words.extend(numbers)
        self._lengths.append(len(words))
        self._digests.append(hash(numbers))  # of whole numbers: the same in every process

    def index(self) -> tuple[Index, NDArray[np.uint32]]:
        """The index, and the key of every sequence in the order of adding."""
        all_lengths = np.frombuffer(self._lengths, np.uint32).astype(np.int64)
        all_starts = np.cumsum(all_lengths) - all_lengths
        words = np.frombuffer(self._words, np.uint32)
        digests = np.frombuffer(self._digests, np.int64)
        _, first, same = np.unique(digests, return_index=True, return_inverse=True)
        by_length = np.argsort(all_lengths[first], kind="stable")
        by_length = by_length[np.searchsorted(all_lengths[first][by_length], 1) :]  # not the empty
        key_of = np.full(len(first), NONE, np.uint32)
        key_of[by_length] = np.arange(len(by_length))
        first = first[by_length]
        lengths = all_lengths[first]
        numbers = _gathered(words, all_starts[first], lengths)
        counts = np.bincount(numbers, minlength=len(self._numbers.words))
        by_count = np.argsort(counts, kind="stable")
        rank_of = np.empty(len(counts), np.uint32)
        rank_of[by_count] = np.arange(len(counts))
        hashes = np.array([digest64(word.encode()) for word in self._numbers.words], np.uint64)
        by_hash = np.argsort(hashes)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        ranked = rank_of[numbers]
        index = Index(
            hashes[by_hash],
            rank_of[by_hash],
            starts,
            ranked,
            lengths.astype(np.uint16),
            *_postings(ranked, starts, len(rank_of)),
        )
        return index, key_of[same]


def ragged(starts: Integers, lengths: Integers) -> NDArray[np.int64]:
    """Places of all items of several stretches, one stretch after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def _gathered(words: Integers, starts: Integers, lengths: Integers) -> NDArray[np.uint32]:
    chunks = range(0, len(starts), _CHUNK)
    parts = (words[ragged(starts[c : c + _CHUNK], lengths[c : c + _CHUNK])] for c in chunks)
    return np.concatenate([np.zeros(0, np.uint32), *parts])


def _n_rarest(n_words: Any, at_least: int) -> Any:
    """How many of the rarest words of a text one must share with every other one that is near."""
    return most_edits(n_words, at_least) + 1


def _postings(
    words: NDArray[np.uint32], starts: NDArray[np.int64], n_ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
    """Starts by rank, keys, and positions, of the words of every key that `LEAST` asks for."""
    ranks, keys = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
    positions = [np.zeros(0, np.uint8)]
    for chunk in range(0, len(starts) - 1, _CHUNK):
        bounds = starts[chunk : chunk + _CHUNK + 1]
        lengths = np.diff(bounds)
        key = np.repeat(np.arange(chunk, chunk + len(lengths), dtype=np.uint64), lengths)
        both = np.sort(key << np.uint64(32) | words[bounds[0] : bounds[-1]])
        position = np.arange(len(both)) - np.repeat(bounds[:-1] - bounds[0], lengths)
        rare = position < np.repeat(_n_rarest(lengths, LEAST), lengths)
        rare[1:] &= both[1:] != both[:-1]  # a word that is there twice: its first place
        ranks.append((both[rare] & np.uint64(0xFFFF_FFFF)).astype(np.uint32))
        keys.append(key[rare].astype(np.uint32))
        positions.append(np.minimum(position[rare], _LAST_POSITION).astype(np.uint8))
    all_ranks = np.concatenate(ranks)
    order = np.argsort(all_ranks, kind="stable")
    counts = np.bincount(all_ranks, minlength=n_ranks)
    posting_starts = np.concatenate(([0], np.cumsum(counts)))
    return posting_starts, np.concatenate(keys)[order], np.concatenate(positions)[order]
