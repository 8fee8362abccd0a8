"""Second stage: pairs that were there before, found over all units in one range of keys each."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.dedup_split import Marks, repeats
from headway.corpora.cache import read_sealed, sealed_folder
from headway.large_corpora.plan import ShardPlan

RANGE_PAIRS = 1 << 22
"""Pairs whose keys are sorted in memory at once, in 30 bytes each."""
_ROW_BYTES = 4


def n_clean(plan: ShardPlan) -> int:
    """Pairs that are clean by themselves."""
    return sum(n for unit in plan.units for _, n in plan.known(unit.number)["pieces"])


def n_repeated(plan: ShardPlan) -> int:
    """How many of them were there before, once all repeats are found; none where they may stay."""
    if not plan.data.deduplicate:
        return 0
    found = sum(read_sealed(one, only=())["ends"][-1] for one in plan.work.glob("repeats-*"))
    files = (plan.place("keys", unit.number) / "later" for unit in plan.units)
    return int(found) + sum(file.stat().st_size // _ROW_BYTES for file in files)


def n_ranges(plan: ShardPlan) -> int:
    """Into how many ranges keys are parted: a power of two; none where repeats may stay."""
    if not plan.data.deduplicate:
        return 0
    return 1 << (max(0, n_clean(plan) - 1) // RANGE_PAIRS).bit_length()


def find_repeats(plan: ShardPlan, number: int) -> None:
    """Leave in work/repeats-NUMBER which rows of each unit stand further up too, or in an earlier
    unit, of the pairs whose key is in this range."""
    width = (1 << 64) // n_ranges(plan)
    edges = number * width, (number + 1) * width
    keys, rows, n_rows = [], [], [0]
    for unit in plan.units:
        folder = plan.place("keys", unit.number)
        known = read_sealed(folder, only=())
        of_unit, row_of = _mapped(folder / "keys", np.uint64), _mapped(folder / "rows", np.uint32)
        for begin, end in zip([0, *known["ends"]], known["ends"], strict=False):
            low, high = (begin + _below(of_unit[begin:end], edge) for edge in edges)
            keys.append(np.array(of_unit[low:high]))
            rows.append(np.array(row_of[low:high]))
        n_rows.append(sum(map(len, rows)))
    later = repeats(np.concatenate([np.zeros(0, np.uint64), *keys])).later
    ends = np.concatenate([[0], np.cumsum(later)])[n_rows]
    with sealed_folder(plan.place("repeats", number)) as (folder, content):
        np.concatenate([np.zeros(0, np.uint32), *rows])[later].tofile(folder / "rows")
        content["ends"] = ends.tolist()


def _below(run: NDArray[np.uint64], edge: int) -> int:
    """How many keys of a sorted run are below `edge`."""
    return len(run) if edge >= 1 << 64 else int(np.searchsorted(run, np.uint64(edge)))


def _mapped(file: Path, kind: Any) -> NDArray[Any]:
    return np.memmap(file, kind, "r") if file.stat().st_size else np.zeros(0, kind)


def repeated(plan: ShardPlan, unit: int, n_rows: int) -> Marks:
    """Which pairs of a unit were there before: [rows]."""
    marks = np.zeros(n_rows, np.bool_)
    for folder in sorted(plan.work.glob("repeats-*")):
        begin, end = read_sealed(folder, only=())["ends"][unit : unit + 2]
        place = _ROW_BYTES * begin
        marks[np.fromfile(folder / "rows", np.uint32, end - begin, offset=place)] = True
    if plan.data.deduplicate:
        marks[np.fromfile(plan.place("keys", unit) / "later", np.uint32)] = True
    return marks


def remove_keys(plan: ShardPlan) -> None:
    """Once all repeats are found."""
    for name in ("keys", "rows"):
        for file in plan.work.glob(f"keys-*/{name}"):
            file.unlink(missing_ok=True)
