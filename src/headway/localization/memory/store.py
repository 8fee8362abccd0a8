"""A memory's texts and the ways to find them, as arrays that are kept in files."""

from array import array
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from headway.localization.memory.index import NONE, Index, Keys, digest64
from headway.localization.memory.units import MemoryUnit
from headway.localization.memory.words import as_word, normal, written_words

VERSION = 4
"""Raised whenever the arrays are others, or hold other things of the same files."""


class MemoryEntry(NamedTuple):
    """A text with its translation, and where they stand."""

    number: int
    source: str
    target: str
    file: int
    """Which of the memory's files."""
    line: int


@dataclass(frozen=True)
class Entries:
    """What was read: [entries] each, in the order of reading."""

    texts: NDArray[np.uint8]
    """Source, target, source, .. in UTF-8, without anything between them."""
    bounds: NDArray[np.int64]
    """Where each text begins, and the end of the last: [2 entries + 1]."""
    files: NDArray[np.uint32]
    lines: NDArray[np.int64]
    dates: NDArray[np.int64]
    contexts: NDArray[np.uint64]
    """Digests of the unit's key, and of the sources before and behind it: [entries, 3]."""
    forms: NDArray[np.uint64]
    """Digests of the plural forms that the translations are; 0 where that is unknown."""
    digests: NDArray[np.uint64]
    """Of the sources, in order."""
    by_digest: NDArray[np.uint32]
    """Entries in the order of `digests`."""
    by_key: NDArray[np.uint32]
    """Entries by the keys of their words, those of one key in the order of reading."""
    key_starts: NDArray[np.int64]
    """Where the entries of each key begin in `by_key`, and the end of the last: [keys + 1]."""

    def __len__(self) -> int:
        return len(self.files)

    def entry(self, number: int) -> MemoryEntry:
        first, middle, last = (int(self.bounds[2 * number + i]) for i in range(3))
        source, target = (
            bytes(self.texts[start:end]).decode("utf-8", "surrogatepass")
            for start, end in ((first, middle), (middle, last))
        )
        return MemoryEntry(number, source, target, int(self.files[number]), int(self.lines[number]))

    def same_source(self, source: str) -> NDArray[np.uint32]:
        """Entries of that source text, in the order of reading."""
        source = normal(source)
        wanted = np.uint64(text_digest(source))
        start, end = (np.searchsorted(self.digests, wanted, side) for side in ("left", "right"))
        found = self.by_digest[start:end]
        is_there = len(found) > 0 and self.entry(int(found[0])).source == source
        return found if is_there else found[:0]

    def of_form(self, numbers: NDArray[np.uint32], form: str) -> NDArray[np.uint32]:
        """Those of the entries whose translation is known to be that plural form."""
        return numbers[self.forms[numbers] == np.uint64(text_digest(form))]

    def of_key(self, key: int) -> NDArray[np.uint32]:
        return self.by_key[self.key_starts[key] : self.key_starts[key + 1]]


@dataclass(frozen=True)
class MemoryStore:
    entries: Entries
    index: Index

    def save(self, folder: Path) -> None:
        for name, values in {**vars(self.entries), **vars(self.index)}.items():
            np.save(folder / f"{name}.npy", values)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Map the arrays of a folder into memory."""

        def mapped(kind: type[Any]) -> Any:
            names = [field.name for field in fields(kind)]
            files = [np.load(folder / f"{one}.npy", "r", allow_pickle=False) for one in names]
            return kind(*map(np.asarray, files))  # plain arrays: a memory map is slow to be cut

        return cls(mapped(Entries), mapped(Index))


class StoreBuilder:
    def __init__(self) -> None:
        self._texts = bytearray()
        self._bounds = array("q", [0])
        self._files, self._lines, self._dates = array("I"), array("q"), array("q")
        self._contexts, self._forms, self._digests = array("Q"), array("Q"), array("Q")
        self._keys = Keys(as_word)

    def add(self, unit: MemoryUnit, file: int) -> None:
        source = normal(unit.source)
        for text in (source, (unit.target or "").strip()):
            self._texts += text.encode("utf-8", "surrogatepass")
            self._bounds.append(len(self._texts))
        self._files.append(file)
        self._lines.append(unit.line)
        self._dates.append(unit.label.date)
        self._contexts.extend(context_digests(unit.label.key, unit.before, unit.after))
        self._forms.append(text_digest(unit.label.form))
        self._digests.append(text_digest(source))
        self._keys.add(written_words(source))

    def built(self) -> MemoryStore:
        index, key_of = self._keys.index()
        digests = np.frombuffer(self._digests, np.uint64)
        by_digest = np.argsort(digests, kind="stable")
        by_key = np.argsort(key_of, kind="stable")
        n_keyed = int(np.searchsorted(key_of[by_key], NONE))
        n_keys = len(index.lengths)
        of_keys = np.bincount(key_of[by_key[:n_keyed]], minlength=n_keys)
        entries = Entries(
            np.frombuffer(self._texts, np.uint8),
            np.frombuffer(self._bounds, np.int64),
            np.frombuffer(self._files, np.uint32),
            np.frombuffer(self._lines, np.int64),
            np.frombuffer(self._dates, np.int64),
            np.frombuffer(self._contexts, np.uint64).reshape(-1, 3),
            np.frombuffer(self._forms, np.uint64),
            digests[by_digest],
            by_digest.astype(np.uint32),
            by_key[:n_keyed].astype(np.uint32),
            np.concatenate(([0], np.cumsum(of_keys))),
        )
        return MemoryStore(entries, index)


def text_digest(text: str) -> int:
    """What a text is found by; 0 for none."""
    return digest64(text.encode("utf-8", "surrogatepass")) if text else 0


@lru_cache(maxsize=16)  # a unit's text is looked at again as its neighbours' neighbour
def _digest_beside(text: str) -> int:
    return text_digest(normal(text))


def context_digests(key: str, before: str | None, after: str | None) -> tuple[int, int, int]:
    """What a context is compared by; 0 for what is not known, or is not there."""
    return text_digest(key), _digest_beside(before or ""), _digest_beside(after or "")
