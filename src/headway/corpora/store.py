"""Encoded text in memory-mapped files: as many rows as the disk holds, none of them in memory.

A row has one sequence of ids for each side. Which sides there are is for the caller to say:
`("source", "target")` for translation, `("text",)`, `("text", "label")`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.core.batching import StoredIds, id_type, refusal
from headway.core.errors import DataError
from headway.corpora.cache import (
    Say,
    cache_root,
    key_of,
    made_once,
    read_sealed,
    sealed_folder,
    silent,
)

FORMAT = 5
"""Raised whenever the files change their meaning."""

_CHUNK = 2_000  # rows encoded at a time

Item = TypeVar("Item")


class SideEncoder(NamedTuple):
    """How the texts of one side become ids."""

    encode: Callable[[list[str]], Sequence[Sequence[int]]]
    """The ids of each text, without markers."""
    n_ids: int
    """Every id is below it."""
    unknown: int | None = None
    """The id that is counted as unknown, where there is one."""


class Store:
    """Rows of id sequences, without markers, read from disk as they are asked for."""

    def __init__(self, directory: Path) -> None:
        """Open what `write_store` wrote, after checking every byte of it.

        Raises:
            DataError: the folder is missing, damaged, or of another version.
        """
        self.directory = directory
        self.content = content = read_sealed(directory)
        """What was known when it was written: `n_rows`, `n_tokens`, `files`, counts."""
        if content.get("format") != FORMAT:
            raise DataError(
                f"encoded text of format {FORMAT} is needed; {directory} has format "
                f"{content.get('format')}. Delete it; it is made anew."
            )
        n_rows = content["n_rows"]
        self._sides = {
            name: _Side(directory, name, np.dtype(kind), n_rows)
            for name, kind in content["sides"].items()
        }
        self.sides = tuple(self._sides)
        self.lengths = {name: side.lengths for name, side in self._sides.items()}
        """Of each side in ids: [rows]."""
        self.rows = _mapped(directory / "rows", np.dtype(np.int64), n_rows)
        """Which of those offered each row was, from 0: [rows]."""
        self.file_numbers = _mapped(directory / "file_numbers", np.dtype(np.uint32), n_rows)
        """Which file of `content["files"]` each row came from: [rows]."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, side: str) -> "_Side":
        """One side: `store["source"][i]` are the source ids of row i, without markers: [length]."""
        return self._sides[side]


class _Side:
    """One side of all rows: ids end to end, and where each row begins."""

    def __init__(self, directory: Path, name: str, kind: np.dtype[Any], n_rows: int) -> None:
        self.offsets = _mapped(directory / f"{name}.offsets", np.dtype(np.int64), n_rows + 1)
        self._file = directory / f"{name}.ids"
        self.ids = _mapped(self._file, kind, int(self.offsets[-1]))
        self.lengths: NDArray[np.int32] = np.fromfile(directory / f"{name}.lengths", np.int32)

    def __len__(self) -> int:
        return len(self.lengths)

    def read(self, begin: int, end: int) -> StoredIds:
        """The ids of rows `begin` up to `end`, end to end, in memory of their own.

        To be read once from front to back: pages of a mapped file would stay in memory.
        """
        first, behind = int(self.offsets[begin]), int(self.offsets[end])
        ids: StoredIds = np.fromfile(
            self._file, self.ids.dtype, count=behind - first, offset=first * self.ids.itemsize
        )
        return ids

    def __getitem__(self, i: int) -> StoredIds:
        if not 0 <= i < len(self.lengths):
            raise IndexError(f"row {i} of {len(self.lengths)}")
        ids: StoredIds = self.ids[self.offsets[i] : self.offsets[i + 1]]
        return ids


def _mapped(path: Path, kind: np.dtype[Any], length: int) -> NDArray[Any]:
    if not length:
        return np.zeros(0, kind)  # an empty file cannot be mapped
    return np.memmap(path, dtype=kind, mode="r", shape=(length,)).view(np.ndarray)


def write_store(
    items: Iterable[Item],
    directory: Path,
    encoders: Mapping[str, SideEncoder],
    *,
    texts: Callable[[Item], Sequence[str]],
    file_of: Callable[[Item], str] = lambda _item: "",
    files: Sequence[str] = (),
    max_length: int = 0,
    on_drop: Callable[[str, Item], None] = lambda _reason, _item: None,
    known: Callable[[], dict[str, Any]] = dict,
) -> Store:
    """Encode items into a new folder, in memory that does not grow with their number.

    `encoders` name the sides; `texts` gives an item's text for each of them, in their order. An
    item with more than `max_length` ids on a side (0 for any), or with none, is left out: `on_drop`
    gets the reason (`too_many_tokens`, `no_tokens`) and the item. `files` are the files that items
    come from, which are numbered in this order; one that is not named comes after them. `known` is
    asked at the end for what else should be kept in `Store.content`.

    Raises:
        DataError: the disk is full or the folder cannot be written.
    """
    file_number = {file: number for number, file in enumerate(dict.fromkeys(files))}
    remaining = iter(items)
    n_offered = n_rows = 0
    with sealed_folder(directory) as (part, content), ExitStack() as opened:

        def new(name: str) -> BinaryIO:
            return opened.enter_context((part / name).open("wb"))

        row_file, number_file = new("rows"), new("file_numbers")
        sides = [_SideWriter(name, encoder, new) for name, encoder in encoders.items()]
        while chunk := list(islice(remaining, _CHUNK)):
            by_side = zip(*map(texts, chunk), strict=True)
            rows = [side.encode(list(some)) for side, some in zip(sides, by_side, strict=True)]
            kept = []
            for place, sequences in enumerate(zip(*rows, strict=True)):
                if reason := refusal(list(map(len, sequences)), max_length):
                    on_drop(reason, chunk[place])
                else:
                    kept.append(place)
            for side, column in zip(sides, rows, strict=True):
                side.append([column[place] for place in kept])
            row_file.write((n_offered + np.array(kept, np.int64)).tobytes())
            origins = (file_of(chunk[place]) for place in kept)
            numbers = [file_number.setdefault(file, len(file_number)) for file in origins]
            number_file.write(np.array(numbers, np.uint32).tobytes())
            n_offered += len(chunk)
            n_rows += len(kept)
        content |= {
            "format": FORMAT,
            "sides": {side.name: side.kind.name for side in sides},
            "n_rows": n_rows,
            "n_tokens": {side.name: side.n_tokens for side in sides},
            "unknown": sum(side.n_unknown for side in sides),
            "files": list(file_number),
            **known(),
        }
    return Store(directory)


class _SideWriter:
    """Encodes one side and writes what is kept to its files."""

    def __init__(self, name: str, encoder: SideEncoder, new: Callable[[str], BinaryIO]) -> None:
        self.name = name
        self.encode, n_ids, self._unknown = encoder
        self.kind = id_type(n_ids)
        self._ids, self._lengths = new(f"{name}.ids"), new(f"{name}.lengths")
        self._offsets = new(f"{name}.offsets")
        self._offsets.write(np.zeros(1, np.int64).tobytes())
        self.n_tokens = self.n_unknown = 0

    def append(self, rows: Sequence[Sequence[int]]) -> None:
        lengths = np.fromiter(map(len, rows), np.int32, len(rows))
        ids = np.fromiter(chain.from_iterable(rows), self.kind, int(lengths.sum()))
        self._ids.write(ids.tobytes())
        self._lengths.write(lengths.tobytes())
        offsets = self.n_tokens + np.cumsum(lengths, dtype=np.int64)
        self._offsets.write(offsets.tobytes())
        self.n_tokens += len(ids)
        if self._unknown is not None:
            self.n_unknown += int((ids == self._unknown).sum())


def cached_store(
    rows: Callable[[], Iterable[Sequence[str]]],
    encoders: Mapping[str, SideEncoder],
    depends_on: dict[str, Any],
    *,
    max_length: int = 0,
    root: Path | None = None,
    say: Say = silent,
) -> Store:
    """The store of any rows of texts, one text for each side, made once and found in the cache.

    `depends_on` is everything that rows and ids depend on (checksums, fingerprints, settings). What
    was dropped is counted by reason in `Store.content["dropped"]`.

    Raises:
        DataError: the disk is full or the cache cannot be written.
    """
    key = {"format": FORMAT, "sides": list(encoders), "max_length": max_length, **depends_on}
    directory = (cache_root() if root is None else root) / f"encoded-{key_of(key)}"
    dropped = {"no_tokens": 0, "too_many_tokens": 0}

    def drop(reason: str, _row: Sequence[str]) -> None:
        dropped[reason] += 1

    def make(_work: Path) -> None:
        write_store(
            rows(),
            directory,
            encoders,
            texts=lambda row: row,
            max_length=max_length,
            on_drop=drop,
            known=lambda: {"dropped": dropped},
        )

    return made_once(directory, lambda: Store(directory), make, say)
