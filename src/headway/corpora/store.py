"""Encoded text in memory-mapped files: as many rows as the disk holds, none of them in memory.

A row has one sequence of ids for each side. Which sides there are is for the caller to say:
`("source", "target")` for translation, `("text",)`, `("text", "label")`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import DataError
from headway.core.rows import StoredIds, id_type, refusal
from headway.corpora.cache import Say, made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import cache_root, key_of, silent

FORMAT = 5
"""Raised whenever the files change their meaning."""

_CHUNK = 2_000  # rows encoded at a time
_FILES_OF_SIDE = ("ids", "lengths", "offsets")

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
        """What was known when it was written: `n_rows`, `n_tokens`, counts."""
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
        self.files: list[str] = content["files"]
        """The files that rows are from."""
        self.rows = _mapped(directory / "rows", np.dtype(np.int64), n_rows)
        """Which of those offered each row was, from 0: [rows]."""
        self.file_numbers = _mapped(directory / "file_numbers", np.dtype(np.uint32), n_rows)
        """Which of `files` each row came from: [rows]."""

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
        self.lengths = _mapped(directory / f"{name}.lengths", np.dtype(np.int32), n_rows)

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


class EncodedRows(NamedTuple):
    """Some rows as ids, without those that were left out."""

    n_offered: int
    places: NDArray[np.int64]
    """Which of those offered each row was: [rows]."""
    file_numbers: NDArray[np.uint32]
    """[rows]"""
    lengths: list[NDArray[np.int32]]
    """Of each side: [rows]."""
    ids: list[StoredIds]
    """Of each side, end to end: [ids]."""
    n_unknown: int


def encode_rows(
    items: Iterable[Item],
    encoders: Mapping[str, SideEncoder],
    *,
    texts: Callable[[Item], Sequence[str]],
    file_of: Callable[[Item], str] = lambda _item: "",
    files: Sequence[str] = ("",),
    max_length: int = 0,
    on_drop: Callable[[str, Item], None] = lambda _reason, _item: None,
) -> Iterator[EncodedRows]:
    """Items as ids, some at a time.

    `encoders` name the sides; `texts` gives an item's text for each of them, in their order. An
    item with more than `max_length` ids on a side (0 for any), or with none, is left out: `on_drop`
    gets the reason (`too_many_tokens`, `no_tokens`) and the item. `files` are those that items come
    from.
    """
    number = {file: number for number, file in enumerate(files)}
    remaining = iter(items)
    while chunk := list(islice(remaining, _CHUNK)):
        sides = zip(encoders.values(), zip(*map(texts, chunk), strict=True), strict=True)
        rows = list(zip(*(side.encode(list(some)) for side, some in sides), strict=True))
        places = []
        for place, row in enumerate(rows):
            if reason := refusal(list(map(len, row)), max_length):
                on_drop(reason, chunk[place])
            else:
                places.append(place)
        lengths, ids, n_unknown = [], [], 0
        for n, encoder in enumerate(encoders.values()):
            column = [rows[place][n] for place in places]
            lengths.append(np.fromiter(map(len, column), np.int32, len(column)))
            kind = id_type(encoder.n_ids)
            ids.append(np.fromiter(chain.from_iterable(column), kind, int(lengths[-1].sum())))
            if encoder.unknown is not None:
                n_unknown += int((ids[-1] == encoder.unknown).sum())
        of = np.array([number[file_of(chunk[place])] for place in places], np.uint32)
        yield EncodedRows(len(chunk), np.array(places, np.int64), of, lengths, ids, n_unknown)


def write_store(
    rows: Iterable[EncodedRows],
    directory: Path,
    encoders: Mapping[str, SideEncoder],
    *,
    files: Sequence[str] = (),
    known: Callable[[], dict[str, Any]] = dict,
) -> Store:
    """Write rows into a new folder, in memory that does not grow with their number.

    `known` is asked at the end for what else should be kept in `Store.content`.

    Raises:
        DataError: the disk is full or the folder cannot be written.
    """
    n_offered = n_rows = n_unknown = 0
    n_tokens = dict.fromkeys(encoders, 0)
    with sealed_folder(directory) as (part, content), ExitStack() as opened:
        out = {
            name: opened.enter_context((part / name).open("wb"))
            for side in encoders
            for name in ("rows", "file_numbers", *(f"{side}.{of}" for of in _FILES_OF_SIDE))
        }
        for side in encoders:
            out[f"{side}.offsets"].write(np.zeros(1, np.int64).tobytes())
        for some in rows:
            out["rows"].write((n_offered + some.places).tobytes())
            out["file_numbers"].write(some.file_numbers.tobytes())
            for side, lengths, ids in zip(encoders, some.lengths, some.ids, strict=True):
                offsets = n_tokens[side] + np.cumsum(lengths, dtype=np.int64)
                for of, array in zip(_FILES_OF_SIDE, (ids, lengths, offsets), strict=True):
                    out[f"{side}.{of}"].write(array.tobytes())
                n_tokens[side] += len(ids)
            n_offered, n_rows = n_offered + some.n_offered, n_rows + len(some.places)
            n_unknown += some.n_unknown
        content |= {
            "format": FORMAT,
            "sides": {side: id_type(encoder.n_ids).name for side, encoder in encoders.items()},
            "n_rows": n_rows,
            "n_tokens": n_tokens,
            "unknown": n_unknown,
            "files": list(files),
            **known(),
        }
    return Store(directory)


def cached_store(
    rows: Callable[[], Iterable[Sequence[str]]],
    encoders: Mapping[str, SideEncoder],
    depends_on: dict[str, Any],
    *,
    max_length: int = 0,
    root: Path | None = None,
    say: Say = silent,
    known: Callable[[], dict[str, Any]] = dict,
) -> Store:
    """The store of any rows of texts, one text for each side, made once and found in the cache.

    `depends_on` is everything that rows and ids depend on (checksums, fingerprints, settings). What
    was dropped is counted by reason in `Store.content["dropped"]`; `known` as in `write_store`.

    Raises:
        DataError: the disk is full or the cache cannot be written.
    """
    key = {"format": FORMAT, "sides": list(encoders), "max_length": max_length, **depends_on}
    directory = (cache_root() if root is None else root) / f"encoded-{key_of(key)}"
    dropped = {"no_tokens": 0, "too_many_tokens": 0}

    def drop(reason: str, _row: Sequence[str]) -> None:
        dropped[reason] += 1

    def make(_work: Path) -> None:
        found = encode_rows(
            rows(), encoders, texts=lambda row: row, max_length=max_length, on_drop=drop
        )
        write_store(found, directory, encoders, known=lambda: {"dropped": dropped, **known()})

    return made_once(directory, lambda: Store(directory), make, say)
