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
from functools import partial
from pathlib import Path
from typing import Any

from headway.data.workers import shared
from headway.disk import digest, write_text
from whys import lessons, norms, probes, training

FORMAT = 1
"""Raised whenever figures change their meaning: all is measured anew."""
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
        return digest([FORMAT, self.work, self.settings])[:24]

    def file(self, root: Path) -> Path:
        """Where its figures are, once it is done."""
        return root / "cells" / f"{self.key}.json"


def found(cell: Cell, root: Path) -> Figures | None:
    """The figures of a cell; None where it is not done, or its file is not whole."""
    try:
        stored = json.loads(cell.file(root).read_text(encoding="utf-8"))
        figures: Figures = stored["figures"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return figures


def do(cell: Cell, root: Path, threads: int) -> float:
    """Do a cell and keep its figures; returns the seconds it took."""
    began = time.monotonic()
    figures = without_infinities(WORK[cell.work](cell.settings, root, threads))
    seconds = time.monotonic() - began
    record = {
        "work": cell.work,
        "settings": cell.settings,
        "seconds": round(seconds, 2),
        "figures": figures,
    }
    write_text(cell.file(root), json.dumps(record, ensure_ascii=False, allow_nan=False))
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


def seconds_of(cells: Iterable[Cell], root: Path) -> float:
    """What the cells that are done took together."""
    files = [file for cell in distinct(cells) if (file := cell.file(root)).exists()]
    return sum(json.loads(file.read_text(encoding="utf-8"))["seconds"] for file in files)


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Each once, in their order."""
    return list({cell.key: cell for cell in cells}.values())


def do_all(
    cells: Sequence[Cell],
    root: Path,
    *,
    jobs: int,
    threads: int,
    budget_s: float | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Do what is not done, in `jobs` processes; returns how many are left.

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

    n_done = 0
    work = partial(attempt, root=root, threads=threads)
    results = shared(work, in_time(), jobs) if jobs > 1 else map(work, in_time())
    n_failed = 0
    for number, (cell, (seconds, error)) in enumerate(zip(missing, results, strict=False), 1):
        n_failed += bool(error)
        spent = f"{(time.monotonic() - began) / 60:.1f} min"
        told = f"failed: {error}" if error else f"{seconds:.0f} s"
        say(f"{number} of {len(missing)}  {spent}  {cell.work} {told}")
        n_done = number - n_failed
    return len(missing) - n_done
