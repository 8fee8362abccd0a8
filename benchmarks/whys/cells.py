"""Cells: the pieces of work that the questions are made of, each kept as a file once it is done.

A cell is known by a digest of its settings, so two questions that ask for the same training share
it, and a cell whose settings change is measured anew. Whoever is killed loses what was being
measured then and nothing else.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import record

from headway.core.disk import digest, write_text
from headway.operations.processes import shared
from headway.runs.train import machine
from whys import lessons, norms, probes, training

FORMATS = {"train": 1, "scores": 2, "gradients": 2, "norm": 2}
"""By the work: raised whenever its figures change their meaning, so that they are measured anew."""
Figures = Mapping[str, Any]

WORK: dict[str, Callable[[Mapping[str, Any], Path, int], dict[str, Any]]] = {
    "train": training.train,
    "scores": probes.scores,
    "gradients": probes.gradients,
    "norm": norms.compare,
}
"""What a cell may do: each takes settings, the cache and a number of threads."""


@dataclass(frozen=True)
class Cell:
    """One piece of work; `settings` is what JSON can hold."""

    work: str
    settings: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What its file is called."""
        return digest([FORMATS[self.work], self.work, self.settings])[:24]

    def file(self, root: Path) -> Path:
        """Where its figures are, once it is done."""
        return root / "cells" / f"{self.key}.json"


def stored(cell: Cell, root: Path) -> Mapping[str, Any] | None:
    """All that is kept of a cell; None where it is not done, or its file is not whole."""
    try:
        kept: Mapping[str, Any] = json.loads(cell.file(root).read_text(encoding="utf-8"))
        return kept if kept["figures"] is not None else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def found(cell: Cell, root: Path) -> Figures | None:
    """The figures of a cell; None where it is not done."""
    kept = stored(cell, root)
    return None if kept is None else kept["figures"]


@cache
def here() -> dict[str, Any]:
    """The machine and the versions that this process measures on and with."""
    return {"machine": machine(), "versions": record.versions()}


def do(cell: Cell, root: Path, threads: int) -> float:
    """Do a cell and keep its figures; returns the seconds it took."""
    began = time.monotonic()
    figures = without_infinities(WORK[cell.work](cell.settings, root, threads))
    seconds = time.monotonic() - began
    kept = {
        "work": cell.work,
        "settings": cell.settings,
        "seconds": round(seconds, 2),
        "threads": threads,
        **here(),
        "figures": figures,
    }
    write_text(cell.file(root), json.dumps(kept, ensure_ascii=False, allow_nan=False))
    return seconds


def without_infinities(figures: Any) -> Any:
    """The same with None for what is not finite: JSON has no word for it."""
    if isinstance(figures, Mapping):
        return {name: without_infinities(one) for name, one in figures.items()}
    if isinstance(figures, list):
        return [without_infinities(one) for one in figures]
    if isinstance(figures, float) and not math.isfinite(figures):
        return None
    return figures


def attempt(cell: Cell, root: Path, threads: int) -> tuple[float, str]:
    """`do`, and why it could not be done if so: one cell that fails must not keep the others."""
    try:
        return do(cell, root, threads), ""
    except Exception as error:
        return 0.0, f"{type(error).__name__}: {error}"


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Each once, in their order."""
    return list({cell.key: cell for cell in cells}.values())


class Left(NamedTuple):
    """How many cells are not done."""

    failed: int
    waiting: int
    """Not begun: the budget was spent."""


def do_all(
    cells: Sequence[Cell],
    root: Path,
    *,
    jobs: int,
    threads: int,
    budget_s: float | None = None,
    say: Callable[[str], None] = print,
) -> Left:
    """Do what is not done, in `jobs` processes; returns how much is left.

    After `budget_s` no further cell is begun.
    """
    began = time.monotonic()
    missing = [cell for cell in distinct(cells) if found(cell, root) is None]
    say(f"{len(missing)} of {len(distinct(cells))} cells are to be measured")
    for name in dict.fromkeys(c.settings["lesson"] for c in missing if "lesson" in c.settings):
        lessons.prepare(name, root)

    def in_time() -> Iterator[Cell]:
        for cell in missing:
            if budget_s is not None and time.monotonic() - began > budget_s:
                say("the budget is spent: no further cell is begun")
                return
            yield cell

    n_begun = 0
    work = partial(attempt, root=root, threads=threads)
    done = shared(work, in_time(), jobs) if jobs > 1 else enumerate(map(work, in_time()))
    n_failed = 0
    for n_begun, (number, (seconds, error)) in enumerate(done, 1):
        cell = missing[number]
        n_failed += bool(error)
        spent = f"{(time.monotonic() - began) / 60:.1f} min"
        told = f"failed: {error}" if error else f"{seconds:.0f} s"
        say(f"{n_begun} of {len(missing)}  {spent}  {cell.work} {told}")
    return Left(n_failed, len(missing) - n_begun)
