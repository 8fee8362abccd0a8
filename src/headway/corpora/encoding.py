"""The store of a corpus of several pieces: encoded one by one, by several processes, and joined."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Report
from headway.corpora.cache import reopened, sealed_folder
from headway.corpora.many_pieces import in_order
from headway.corpora.pieces import Piece, add_report, report_from
from headway.corpora.store import Store

WriteStore = Callable[[Piece, Path], Store]
"""Writes the store of a piece into a folder; picklable."""


class StorePiece(NamedTuple):
    """A store of some rows that stand one after the other."""

    directory: Path
    n_before: int
    """How many were offered before those of this piece."""
    content: dict[str, Any]


def join_stores(pieces: Sequence[StorePiece], directory: Path, known: dict[str, Any]) -> Store:
    """One store of all rows of some stores, which have the same sides, files and encoders.

    `known` is what else should be kept in `Store.content`.

    Raises:
        DataError: a piece is damaged, the disk is full, or the folder cannot be written.
    """
    n_tokens = dict.fromkeys(pieces[0].content["sides"], 0)
    with sealed_folder(directory) as (part, content):
        for name in n_tokens:
            append(part / f"{name}.offsets", np.zeros(1, np.int64))
        for piece in pieces:
            store = Store(piece.directory)
            append(part / "rows", store.rows + piece.n_before)
            append(part / "file_numbers", store.file_numbers)
            for name in n_tokens:
                side = store[name]
                append(part / f"{name}.ids", side.ids)
                append(part / f"{name}.lengths", side.lengths)
                append(part / f"{name}.offsets", side.offsets[1:] + n_tokens[name])
                n_tokens[name] += len(side.ids)
        contents = [piece.content for piece in pieces]
        content.update({name: contents[0][name] for name in ("format", "sides", "files")})
        content.update({name: sum(of[name] for of in contents) for name in ("n_rows", "unknown")})
        content.update({"n_tokens": n_tokens, **known})
    return Store(directory)


def append(path: Path, values: NDArray[Any]) -> None:
    """Write the bytes of an array behind what a file holds."""
    with path.open("ab") as file:
        file.write(values.tobytes())


@dataclass(frozen=True)
class _PieceEncoder:
    """Makes the store of one piece, or finds it made and whole."""

    work: Path
    write: WriteStore

    def __call__(self, task: tuple[Piece, int]) -> StorePiece:
        """The store of a piece before which so many pairs stand."""
        piece, n_before = task
        directory = self.work / f"encoded-{piece.name}"
        store = reopened(directory, lambda: Store(directory))
        if store is None:
            store = self.write(piece, directory)
        return StorePiece(directory, n_before, store.content)


def encode_pieces(
    pieces: Sequence[Piece],
    write: WriteStore,
    work: Path,
    directory: Path,
    n_workers: int,
    progress: Callable[[int], None],
) -> Store:
    """One store of all pieces in their order; those that are done in `work` are used.

    Each says in `content["dropped"]` what was dropped, as a report; `progress` hears how many pairs
    were done before the piece that was done last.

    Raises:
        DiskError: the disk is full or cannot be written to.
    """
    n_before = accumulate((piece.n_kept for piece in pieces), initial=0)
    tasks = zip(pieces, n_before, strict=False)
    dropped = Report()
    stores = []
    with closing(in_order(_PieceEncoder(work, write), tasks, n_workers)) as done:
        for store in done:
            add_report(dropped, report_from(store.content["dropped"]))
            stores.append(store)
            progress(store.n_before)
    return join_stores(stores, directory, {"dropped": dropped.as_dict()})
