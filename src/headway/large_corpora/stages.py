"""The stages of preparing: what each process does, in which order, and what is there then.

A part of a stage is written beside its place and renamed, so that a call that was killed is gone
on with by the next one, on this machine or another that sees the same folder.
"""

import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.errors import ConfigError
from headway.core.runtime import available_cores
from headway.corpora.pieces import Progress
from headway.large_corpora.clean_units import clean_unit
from headway.large_corpora.held_out import hold_out
from headway.large_corpora.learn_subwords import encode_unit, learn_subwords, sample_unit
from headway.large_corpora.plan import ShardPlan
from headway.large_corpora.repeated_pairs import find_repeats, n_ranges
from headway.large_corpora.summary import finish
from headway.operations.locks import Say
from headway.operations.processes import JobPart, may_fork, shared


class Stage(NamedTuple):
    """Work that may be shared out; no stage begins before all of the one before it is done."""

    n_tasks: Callable[[ShardPlan], int]
    work: Callable[[ShardPlan, int], None]
    place: Callable[[ShardPlan, int], Path]
    """What is there when a task is done."""
    starts_others: bool = False
    """Whether it has processes of its own; any other is done in one that ends, and its memory with
    it."""


WHOLE = JobPart()


def _units(plan: ShardPlan) -> int:
    return len(plan.units)


def _one(_plan: ShardPlan) -> int:
    return 1


def _valid(plan: ShardPlan, _number: int) -> Path:
    return plan.directory / "valid"


def _in_work(kind: str) -> Callable[[ShardPlan, int], Path]:
    return lambda plan, number: plan.place(kind, number)


def stages(say: Say, n_processes: int) -> dict[str, Stage]:
    """All of them, in their order; those of one task start processes of their own."""

    def share(work: Callable[[int], Any], n_tasks: int) -> Iterator[Any]:
        found = dict(_shared(work, range(n_tasks), n_processes))
        return (found[number] for number in range(n_tasks))

    return {
        "clean": Stage(_units, clean_unit, _in_work("unit")),
        "repeats": Stage(n_ranges, find_repeats, _in_work("repeats")),
        "split": Stage(
            _one, lambda plan, _: hold_out(plan, share), _in_work("split"), starts_others=True
        ),
        "sample": Stage(_units, sample_unit, _in_work("sample")),
        "learn": Stage(_one, lambda plan, _: learn_subwords(plan, say), _valid),
        "encode": Stage(_units, encode_unit, ShardPlan.shard),
        "finish": Stage(_one, lambda plan, _: finish(plan), lambda plan, _: plan.finished),
    }


STAGES = tuple(stages(print, 1))
"""Their names."""
SHARED_STAGES = ("clean", "repeats", "sample", "encode")
"""Those of several tasks."""


def prepare_shards(
    plan: ShardPlan, say: Say, progress: Progress, *, only: str = "", part: JobPart = WHOLE
) -> None:
    """Do what is left of all stages, or of `only` one, or of a part of it.

    Raises:
        ConfigError: the stage before is not done yet.
        DataError, DiskError: a file cannot be used, or written.
    """
    if plan.finished.exists():
        say(f"{plan.directory} is finished; nothing is left to do")
        shutil.rmtree(plan.work, ignore_errors=True)
        return
    n_processes = plan.data.workers or available_cores()
    if not only:
        plan.sweep()
    for name, stage in stages(say, n_processes).items():
        left = [n for n in range(stage.n_tasks(plan)) if not stage.place(plan, n).exists()]
        if only and name != only:
            if left:
                raise ConfigError(
                    f"stage {only} needs all of stage {name}; {len(left):,} of its "
                    f"{stage.n_tasks(plan):,} parts of work are missing in {plan.work}. Do that "
                    f"first: --stage {name}."
                )
            continue
        own = list(filter(part.has, left))
        n_done = 0
        n_apart = 0 if stage.starts_others else n_processes
        with closing(_shared(partial(stage.work, plan), own, n_apart)) as done:
            for _ in done:
                n_done += 1
                progress(f"stage {name}", n_done, len(own))
        if only:
            return


def _shared(
    work: Callable[[int], Any], numbers: Any, n_processes: int
) -> Generator[tuple[int, Any], None, None]:
    """Each number with what `work` made of it, as they are done; for 0 processes by this one."""
    tasks = list(numbers)
    if not (n_processes and tasks and may_fork()):
        yield from ((number, work(number)) for number in tasks)
        return
    for place, found in shared(work, tasks, n_processes):
        yield tasks[place], found
