"""A memory's texts and the ways to find them, as arrays that are kept in files."""

from array import array
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from headway.localization.memory.index import NONE, Index, Keys, digest64
from headway.localization.memory.units import MemoryUnit
from headway.localization.memory.words import as_word, normal, written_words

VERSION = 6
"""Raised whenever the arrays are others, or hold other things of the same files."""

_ROW = np.dtype(
    [("file", "<u4"), ("line", "<i8"), ("date", "<i8")]
    + [(name, "<u8") for name in ("key", "before", "after", "form")]
)
"""What is known of an entry: which of the memory's files it stands in, and when it was changed
last; digests of the unit's key, the sources before and behind it, and its plural form, 0 for what
is not known."""
_PACKED = Struct("<IqqQQQQ")


class MemoryEntry(NamedTuple):
    """A text with its translation, and where they stand."""

    source: str
    target: str
    file: int
    line: int


@dataclass(frozen=True)
class Entries:
    """What was read: [entries] each, in the order of reading."""

    texts: NDArray[np.uint8]
    """Source, target, source, .. in UTF-8, without anything between them."""
    bounds: NDArray[np.int64]
    """Where each text begins, and the end of the last: [2 entries + 1]."""
    rows: NDArray[np.void]
    """Of each entry a `_ROW`."""
    digests: NDArray[np.uint64]
    """Of the sources, in order."""
    by_digest: NDArray[np.uint32]
    """Entries in the order of `digests`."""
    by_key: NDArray[np.uint32]
    """Entries by the keys of their words, those of one key in the order of reading."""
    key_starts: NDArray[np.int64]
    """Where the entries of each key begin in `by_key`, and the end of the last: [keys + 1]."""

    def __len__(self) -> int:
        return len(self.rows)

    def entry(self, number: int) -> MemoryEntry:
        first, middle, last = (int(self.bounds[2 * number + i]) for i in range(3))
        source, target = (
            bytes(self.texts[start:end]).decode("utf-8", "surrogatepass")
            for start, end in ((first, middle), (middle, last))
        )
        row = self.rows[number]
        return MemoryEntry(source, target, int(row["file"]), int(row["line"]))

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
        return numbers[self.rows["form"][numbers] == np.uint64(text_digest(form))]

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
        self._rows, self._digests = bytearray(), array("Q")
        self._keys = Keys(as_word)

    def add(self, unit: MemoryUnit, file: int) -> None:
        source, label = normal(unit.source), unit.label
        for text in (source, (unit.target or "").strip()):
            self._texts += text.encode("utf-8", "surrogatepass")
            self._bounds.append(len(self._texts))
        context = context_digests(label.key, unit.before, unit.after)
        self._rows += _PACKED.pack(file, unit.line, label.date, *context, text_digest(label.form))
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
            np.frombuffer(self._rows, _ROW),
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
