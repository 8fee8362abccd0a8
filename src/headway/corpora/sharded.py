"""A corpus that `headway prepare --shards` left on disk, read in memory of a group of its rows.

A shard is a `headway.corpora.store.Store`. Rows are numbered from shard to shard. A pass over all
of them is made of groups: blocks of `BLOCK_ROWS` rows from everywhere, drawn without replacement.
"""

import json
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from headway.core.batching import TokenBatches
from headway.core.disk import checksum, digest
from headway.core.errors import DataError
from headway.core.rows import SIDES, Indices, StoredIds
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus
from headway.corpora.in_memory import PairRows
from headway.corpora.mixing import Use
from headway.corpora.pieces import report_from
from headway.corpora.prepared import Prepared
from headway.corpora.store import Store
from headway.localization.placeholders.own_codes import compiled
from headway.tokenizers import tokenizer_files

NAME = "prepared.json"
"""What is written last: where it is, all shards are."""
PREPARED = 1
"""Its format: raised whenever it changes its meaning."""
BLOCK_ROWS = 1 << 12
"""Rows of one shard that are read one after the other."""
GROUP_ROWS = 1 << 20
"""Rows that are sorted by length and put into batches together; a smaller corpus is one group."""


class ShardedRows:
    """Rows of several stores, one behind the other: a `headway.corpora.in_memory.PairRows`."""

    def __init__(self, stores: Sequence[Store], files: Sequence[str]) -> None:
        """Take the stores, and the file that the rows of each are from."""
        self.stores = stores
        self.starts = np.cumsum([0, *map(len, stores)], dtype=np.int64)
        """Where each store begins, and where the last one ends."""
        self.files = list(dict.fromkeys(files))
        self._file_of = np.array([self.files.index(file) for file in files], np.uint32)
        self.lengths: Mapping[str, Any] = {side: ShardedLengths(self, side) for side in SIDES}
        """Of each side in ids, as an array of all rows would tell it."""
        self._sides = {side: ShardedSide(self, side) for side in SIDES}

    @property
    def file_numbers(self) -> NDArray[np.uint32]:
        """Which of `files` each row is from, four bytes a row: [rows]."""
        return np.repeat(self._file_of, np.diff(self.starts))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, side: str) -> "ShardedSide":
        return self._sides[side]


class ShardedSide:
    """One side of all rows."""

    def __init__(self, rows: ShardedRows, side: str) -> None:
        self._starts, self._stores = rows.starts.tolist(), [store[side] for store in rows.stores]

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, i: int) -> StoredIds:
        """The ids of row i: [length]."""
        store = bisect_right(self._starts, i) - 1
        if not 0 <= store < len(self._stores):
            raise IndexError(f"row {i} of {len(self)}")
        return self._stores[store][i - self._starts[store]]


class ShardedLengths:
    """The lengths of one side, of which those are read that are asked for."""

    def __init__(self, rows: ShardedRows, side: str) -> None:
        self._starts, self._stores = rows.starts, [store.lengths[side] for store in rows.stores]
        self._total = sum(store.content["n_tokens"][side] for store in rows.stores)
        self._longest = max((store.content["longest"][side] for store in rows.stores), default=0)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, rows: Indices) -> NDArray[np.int32]:
        """Of some rows: [rows]."""
        store = np.searchsorted(self._starts, rows, side="right") - 1
        order = np.argsort(store, kind="stable")
        ends = np.cumsum(np.bincount(store, minlength=len(self._stores)))
        found = np.empty(len(rows), np.int32)
        for number in np.unique(store):
            own = order[ends[number - 1] if number else 0 : ends[number]]
            found[own] = self._stores[number][rows[own] - self._starts[number]]
        return found

    def max(self, initial: int = 0) -> int:
        return max(self._longest, initial)

    def sum(self) -> int:
        return int(self._total)


class GroupRounds:
    """A pass in groups of blocks: a `headway.core.batching.Rounds`, whose epoch is one group.

    Which blocks a group has depends on (seed, pass) alone; each row is in one group of a pass.
    """

    def __init__(self, starts: NDArray[np.int64]) -> None:
        """Take where each shard begins, and where the last one ends."""
        shards = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
        self._blocks = [
            (begin, min(begin + BLOCK_ROWS, end))
            for first, end in shards
            for begin in range(first, end, BLOCK_ROWS)
        ]
        self.n_groups = max(1, round(int(starts[-1]) / GROUP_ROWS))
        self.identity = zlib.crc32(starts.tobytes()) + self.n_groups

    def __call__(self, batches: TokenBatches, n: int, random: np.random.Generator) -> list[Indices]:
        """The rows of group `n % n_groups` of pass `n // n_groups`."""
        number, group = divmod(n, self.n_groups)
        order = np.arange(len(self._blocks))
        if self.n_groups > 1:
            drawn = np.random.Generator(np.random.PCG64([batches.seed, number, 2]))
            order = drawn.permutation(order)
        some = np.array_split(order, self.n_groups)[group]
        return [np.concatenate([np.arange(*self._blocks[block]) for block in some])]


@dataclass(frozen=True)
class PreparedShards(Prepared):
    """What `headway prepare --shards` left, as training asks for it."""

    known: Mapping[str, Any] = field(default_factory=dict)
    """What prepared.json says."""

    @property
    def rounds(self) -> GroupRounds:
        return GroupRounds(self.train.starts)  # type: ignore[attr-defined]


def read_known(directory: Path) -> dict[str, Any]:
    """What prepared.json says.

    Raises:
        DataError: it is missing, as the folder is not finished or another, or of another version.
    """
    try:
        known: dict[str, Any] = json.loads((directory / NAME).read_text("utf-8"))
        if known["format"] == PREPARED:
            return known
        why = f"it is of format {known['format']}, and this version reads {PREPARED}"
    except FileNotFoundError:
        unfinished = (directory / "plan.json").exists()
        why = "it is not finished" if unfinished else f"there is no {NAME} in it"
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = f"{NAME} cannot be read ({error})"
    raise DataError(
        f"--prepared names a folder that headway prepare --shards has finished; {directory}: "
        f"{why}. Prepare it (again)."
    )


def open_shards(directory: Path) -> PreparedShards:
    """Open all shards after checking every byte of them.

    Raises:
        DataError: one is missing, damaged, or not the one that was made with the others.
    """
    known = read_known(directory)
    stores = []
    for number, told in enumerate(known["shards"]):
        stores.append(Store(directory / f"train-{number:05}"))
        _refuse_other(stores[-1], told["digest"])
    valid = Store(directory / "valid")
    _refuse_other(valid, known["valid"])
    subwords = Subwords.load(directory, foreign=tokenizer_files.load)
    if subwords.fingerprint() != known["tokenizer"]:
        raise DataError(
            f"{directory / 'tokenizer.json'} is not the one that its shards were written with. Put "
            "that back, or prepare it again."
        )
    source, target = known["source_language"], known["target_language"]
    uses = {name: Use(1.0, "", *of) for name, of in known["languages"].items()}
    named = Use(1.0, "", source, target)
    return PreparedShards(
        corpus=Corpus(source_language=source, target_language=target),
        train=cast(PairRows, ShardedRows(stores, [told["file"] for told in known["shards"]])),
        valid=valid,
        valid_texts=[tuple(valid.content["texts"][row]) for row in valid.rows.tolist()],
        valid_uses=[uses.get(valid.files[n], named) for n in valid.file_numbers.tolist()],
        subwords=subwords,
        report=report_from(known["report"]),
        valid_report=report_from(known["valid_report"]),
        checksums={str(directory / NAME): checksum(directory / NAME)},
        weights=None,
        codes=known["codes"],
        own_codes=compiled(tuple(known["text"]["own_codes"])),
        known=known,
    )


def _refuse_other(store: Store, expected: str) -> None:
    if digest(store.content) != expected:
        raise DataError(
            f"{store.directory} is not the shard that was made with the others. Put that back, or "
            "prepare the corpus again."
        )
