"""A process that is killed or stopped is named, all end, and going on equals never harmed."""

import gc
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from everyday_run import FLAGS, write_corpus
from several_processes import command_by_processes
from torch.distributed import TCPStore

from headway.cli import main
from headway.distributed.trainer import DistributedTrainer
from headway.distributed.watch import START_AGAIN

HARMED_AT = 4


def words_of(place: Path, name: str) -> list[str]:
    files = ["--source", str(place / "train.en"), "--target", str(place / "train.zh")]
    short = ["--training.max-steps=6", "--training.checkpoint-every=3"]
    return ["train", "--resume", "--out", str(place / name), *files, *FLAGS, *short]


def harmed(words: list[str], said: Path, number: int) -> list[int | None]:
    """Two processes of which the second is sent a signal before an update; their statuses."""
    fork = multiprocessing.get_context("fork")
    ports = fork.SimpleQueue()

    def work(rank: int) -> None:
        gc.freeze()
        os.environ |= {
            "MASTER_ADDR": "localhost", "MASTER_PORT": ports.get(), "RANK": str(rank),
            "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
            "TORCHELASTIC_USE_AGENT_STORE": "True", "OMP_NUM_THREADS": "1",
            "HEADWAY_LOST_AFTER": "4",
        }  # fmt: skip
        learn = DistributedTrainer.add_own_gradients

        def suffer(self: Any, batches: Any) -> Any:
            if rank == 1 and self.progress.step == HARMED_AT:
                os.kill(os.getpid(), number)
            return learn(self, batches)

        DistributedTrainer.add_own_gradients = suffer  # type: ignore[method-assign]
        with open(f"{said}.{rank}", "w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 2)
            os._exit(main(words))

    gc.collect()
    two = [fork.Process(target=work, args=(rank,), daemon=True) for rank in range(2)]
    try:
        for one in two:
            one.start()
        # Only now, as in `by_processes`.
        store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        for _ in two:
            ports.put(str(store.port))
        two[0].join(60)
        two[1].join(20)  # a stopped one is killed by the first, as both have one parent
        return [one.exitcode for one in two]
    finally:
        for one in two:
            one.kill()
            one.join()


def told(said: Path) -> str:
    """What process 0 says of the other."""
    lines = said.with_name(f"{said.name}.0").read_text(encoding="utf-8").splitlines()
    (words,) = [line for line in lines if line.startswith("headway: ")]
    return words


@pytest.mark.usefixtures("torch_settings_restored")
def test_a_killed_one_is_named_and_going_on_equals_never_harmed(tmp_path: Path) -> None:
    write_corpus(tmp_path, 80)
    statuses = harmed(words_of(tmp_path, "harmed"), tmp_path / "said", signal.SIGKILL)
    assert statuses == [START_AGAIN, -signal.SIGKILL]
    words = told(tmp_path / "said")
    assert words.startswith("headway: process 1 on ")
    assert " is gone; last, it was at " in words
    assert words.endswith(": start the same command again with --resume.")
    for name in ("harmed", "alone"):
        assert command_by_processes(2, words_of(tmp_path, name), tmp_path / name) == [0, 0]
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("harmed", "alone")]
    assert models[0] == models[1]


@pytest.mark.usefixtures("torch_settings_restored")
def test_a_stopped_one_is_missed_after_the_seconds_that_are_set_and_ended(tmp_path: Path) -> None:
    write_corpus(tmp_path, 80)
    statuses = harmed(words_of(tmp_path, "stopped"), tmp_path / "said", signal.SIGSTOP)
    assert statuses == [START_AGAIN, -signal.SIGKILL]
    assert " has not been heard of for 4 s; last, it was at " in told(tmp_path / "said")
