"""From files to a finished run folder, by several processes.

Process 0 reads, fits and begins the run as one process does; the others open its folder as if they
went on with it. All learn; process 0 writes what is written, and scores the model at the end.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from headway.core.config import Sections, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError, HeadwayError, RunError, StoppedError, UserError
from headway.core.run_folder import RunFolder
from headway.core.runtime import RuntimeSettings, chosen_device, set_threads
from headway.distributed.trainer import DistributedTrainer, LearnedError
from headway.distributed.world import ProcessGroup
from headway.runs import train as alone
from headway.runs.console import forgiving_stderr
from headway.runs.gradient import GRADIENT
from headway.runs.resuming import stopped_run
from headway.runs.settings import preset, task_of, type_of
from headway.runs.task_spec import Request, Run, Say, TaskSpec


def train(spec: TaskSpec, request: Request, say: Say) -> RunFolder:
    """Process 0: as `headway.runs.train.train`."""
    whole_machine()
    world = ProcessGroup()
    with forgiving_stderr(), world.watch.until_the_end(request.folder):
        if not request.resume and os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") != "0":
            raise ConfigError(
                "What torchrun's --max-restarts starts again goes on by --resume; it is not given. "
                "Add it: where --out is empty, a run begins."
            )
        refuse_other_learners(spec, request, world)
        again = request.resume and request.folder.config.exists()
        if not again:
            request.folder.refuse_taken()
        world.watch.at("reading the data")
        begin = stopped_run if again else alone.begun_run
        run = begin(spec, request, say)
        world.tell("begun", {"again": again, "finished": run is None, **likeness(request.folder)})
        if run is None:
            return request.folder
        say(f"{world.size} processes share each batch")
        finished = alone.finish(together(run, world), again=again)
        world.tell("finished", True)
        return finished


def join_in(request: Request) -> Path:
    """Every other process: what process 0 does, in silence."""
    whole_machine()
    world = ProcessGroup()
    out, spec_of = request.folder.path, request.spec_of
    with world.watch.until_the_end(request.folder):
        world.watch.at("waiting for process 0 to read the data")
        told = world.hear("begun")
        if told["finished"]:
            return out
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
            try:
                folder = seen(out, told)
                assert spec_of, "who joins in knows every task"
                spec = spec_of(task_of(folder.settings()))
                run = stopped_run(spec, request, lambda _: None)
            except HeadwayError as error:
                kinds = UserError, StoppedError, HeadwayError  # each is made of a sentence
                kind = next(one for one in kinds if isinstance(error, one))
                raise kind(f"{world.watch.name(world.rank)}: {error}") from error
            assert run is not None, "process 0 has said that it is not finished"
            with suppress(LearnedError, StoppedError):
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


def likeness(folder: RunFolder) -> dict[str, Any]:
    """What all processes must have in common, beside the versions."""
    return {"command": sys.argv[1:], "settings": checksum(folder.config)}


def seen(out: Path, told: Mapping[str, Any]) -> RunFolder:
    """The folder that process 0 has begun. Raises RunError where it is another here, or something
    else is."""
    folder = RunFolder(out)
    if not folder.config.exists():
        raise RunError(
            f"every process reads the run folder; {out} is not there as process 0 has written it. "
            "Put --out on a disk that all machines share."
        )
    for name, here in likeness(folder).items():
        if here != told[name]:
            raise RunError(
                f"all processes are started alike; {name} is {told[name]} for process 0, here it "
                f"is {here}. {REMEDIES[name]}"
            )
    return folder


REMEDIES = {
    "command": "Give every machine the same command.",
    "settings": "Put --out on a disk that all machines share: this is another folder.",
}


def refuse_other_learners(spec: TaskSpec, request: Request, world: ProcessGroup) -> None:
    """Raise ConfigError for what is not learned by gradient, or where GPUs are too few."""
    given = request.sections
    below = preset(spec, request.preset, given) if request.preset else Sections()
    stored = request.folder.settings() if request.folder.config.exists() else Sections()
    told = merge(below, stored, given)
    model_type = type_of(spec, told)
    if spec.task is None or model_type in spec.counted:
        raise ConfigError(
            f"several processes share what is learned by gradient; {spec.name} by {model_type} is "
            "not. Leave torchrun and --processes out: it uses the threads of this machine by "
            "itself."
        )
    runtime = RuntimeSettings(device=told.get("runtime", {}).get("device", "auto"))
    if chosen_device(runtime).type == "cuda" and world.without_gpu:
        raise ConfigError(
            f"each process needs a GPU of its own; {world.watch.name(world.without_gpu[0])} has "
            "none. Start fewer there, or add --runtime.device cpu."
        )
