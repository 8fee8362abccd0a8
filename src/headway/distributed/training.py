"""From files to a finished run folder, by several processes.

Process 0 reads, fits and begins the run as one process does; the others open its folder as if they
went on with it. All learn; process 0 writes what is written, and scores the model at the end.
"""

import os
from contextlib import redirect_stderr, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.core.runtime import set_threads
from headway.distributed.trainer import DistributedTrainer, LearnedError
from headway.distributed.world import ProcessGroup
from headway.runs import train as alone
from headway.runs.console import forgiving_stderr
from headway.runs.gradient import GRADIENT
from headway.runs.resuming import stopped_run
from headway.runs.settings import task_of
from headway.runs.task_spec import Request, Run, Say, TaskSpec


def train(spec: TaskSpec, request: Request, say: Say) -> RunFolder:
    """Process 0: as `headway.runs.train.train`."""
    whole_machine()
    world = ProcessGroup()
    say(f"{world.size} processes share each batch")
    with forgiving_stderr(), world.watch.until_the_end(request.folder):
        if not request.resume and os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0":
            raise ConfigError(
                "What torchrun's --max-restarts starts again goes on by --resume; it is not given. "
                "Add it: where --out is empty, a run begins."
            )
        again = request.resume and request.folder.config.exists()
        if not again:
            request.folder.refuse_taken()
        world.watch.at("reading the data")
        begin = stopped_run if again else alone.begun_run
        run = begin(spec, request, say)
        world.tell("begun", {"again": again, "finished": run is None})
        if run is None:
            return request.folder
        refuse_other_learners(run)
        finished = alone.finish(together(run, world), again=again)
        world.tell("finished", True)
        return finished


def join_in(out: Path, spec_of: Any) -> Path:
    """Every other process: what process 0 does, in silence."""
    whole_machine()
    world = ProcessGroup()
    with world.watch.until_the_end(RunFolder(out)):
        world.watch.at("waiting for process 0 to read the data")
        told = world.hear("begun")
        if told["finished"]:
            return out
        folder = seen(out, world)
        spec = spec_of(task_of(folder.settings()))
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
            run = stopped_run(spec, Request({}, folder, resume=True), lambda _: None)
            assert run is not None, "process 0 has said that it is not finished"
            with suppress(LearnedError):
                GRADIENT.learn(together(run, world), told["again"])
        world.watch.at("waiting for process 0 to score the model")
        world.hear("finished")  # else nobody would be there where process 0 must start again
    return out


def whole_machine() -> None:
    """torchrun says how many threads each process is to have; settings speak of all of them."""
    if each := os.environ.get("OMP_NUM_THREADS"):
        total = int(each) * int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        os.environ["OMP_NUM_THREADS"] = str(total)


def together(run: Run, world: ProcessGroup) -> Run:
    """The run, learned by all: each process has its share of this machine's threads."""
    threads = set_threads(max(1, run.settings.runtime.threads // world.local_size))
    run.runtime = replace(run.runtime, threads=threads)
    assert run.request, "a run that is begun or gone on with has one"
    trainer = partial(DistributedTrainer, world=world, seed=run.settings.runtime.seed)
    run.request = replace(run.request, trainer=trainer)
    return run


def seen(out: Path, world: ProcessGroup) -> RunFolder:
    """The folder that process 0 has begun. Raises RunError where it is not to be seen here."""
    folder = RunFolder(out)
    if not folder.config.exists():
        raise RunError(
            f"every process reads the run folder; process {world.rank} does not see {out} as "
            "process 0 has written it. Put --out on a disk that all machines share."
        )
    return folder


def refuse_other_learners(run: Run) -> None:
    """Raise ConfigError for what is not learned by gradient."""
    if alone.learner(run.spec, run.settings) is not GRADIENT:
        raise ConfigError(
            f"several processes share what is learned by gradient; {run.spec.name} by "
            f"{run.settings.model_type} is not. Leave torchrun and --processes out: it uses the "
            "threads of this machine by itself."
        )
