"""Whatever happens to one of the processes, all decide alike; the end is that of one process."""

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from regression import everything
from several_processes import by_processes
from shared_rows import SETTINGS, SharedRows, trainer_in, weights
from torch import Tensor

from headway.core import trainer as core_trainer
from headway.core.disk import DiskError
from headway.core.training_interfaces import ALONE
from headway.distributed.world import ProcessGroup
from headway.operations import recovery

Scenario = Callable[[Any, Path], dict[str, Any]]


def never() -> bool:
    return False


def outcome(trainer: Any) -> dict[str, Any]:
    progress = trainer.progress
    return {
        "weights": weights(trainer),
        "said": trainer.reporter.said,
        "step": progress.step,
        "parts": progress.parts,
        "share": progress.rate_share,
        "validated": progress.validated,
        "plans": trainer.settings.plans,
        "carried": trainer.task.carried.tolist(),
    }


def finished(trainer: Any) -> dict[str, Any]:
    trainer.train(never)
    return outcome(trainer)


def not_a_number(world: Any, path: Path) -> dict[str, Any]:
    """One row of batch 6 is, once: only the process that has it sees that."""
    spoilt: list[int] = []

    def on_loss(n: int, rows: Tensor) -> float | None:
        if n == 6 and not spoilt:
            spoilt.append(n)
            return float("nan") if world.rank == world.size - 1 else 1.0
        return None

    return finished(trainer_in(path, world, SharedRows(on_loss=on_loss)))


def too_little_memory(world: Any, path: Path) -> dict[str, Any]:
    """In the last process alone, from batch 5 on, for more than two rows."""

    def on_loss(n: int, rows: Tensor) -> None:
        if n >= 5 and len(rows) > 2 and world.rank == world.size - 1:
            raise MemoryError("9 GB")

    return finished(trainer_in(path, world, SharedRows(on_loss=on_loss)))


def full_disk(world: Any, path: Path) -> dict[str, Any]:
    """For process 0, when it writes its first checkpoint."""
    refused: list[Path] = []

    def refuse_full(place: Path, n_bytes: int) -> None:
        if n_bytes > 2000 + core_trainer.MARGIN_BYTES and len(refused) < 3:
            refused.append(place)
            raise DiskError(place, OSError(errno.ENOSPC, "No space left on device"))

    before = core_trainer.refuse_full, recovery.LOOK_AGAIN_S
    try:
        core_trainer.refuse_full, recovery.LOOK_AGAIN_S = refuse_full, 0.3
        return finished(trainer_in(path, world)) | {"refused": len(refused)}
    finally:
        core_trainer.refuse_full, recovery.LOOK_AGAIN_S = before


def patience(world: Any, path: Path) -> dict[str, Any]:
    """What each finds of the weights is another thing: that of process 0 is meant."""
    scores = (lambda n: -float(n)) if world.rank == 0 else float
    settings = replace(SETTINGS, patience=2, schedule="inverse-square-root")
    return finished(trainer_in(path, world, SharedRows(score=scores), settings))


def budget(world: Any, path: Path) -> dict[str, Any]:
    """The other's clock runs faster."""
    settings = replace(SETTINGS, within_s=0.5, max_steps=12)
    trainer = trainer_in(path, world, settings=settings)
    count_time = trainer.count_time

    def faster() -> float:
        trainer.clock -= 0.2 * world.rank
        return count_time()

    trainer.count_time = faster  # type: ignore[method-assign]
    return finished(trainer)


def stopped(world: Any, path: Path) -> dict[str, Any]:
    """Asked of the last process alone; then all go on, with dropout."""
    whole = trainer_in(path / "whole", world, dropout=0.3)
    whole.train(never)
    first = trainer_in(path / "run", world, dropout=0.3)
    asked = world.rank == world.size - 1
    first.train(lambda: asked and first.progress.step >= 5)
    again = trainer_in(path / "run", world, dropout=0.3)
    assert again.resume()
    began = again.progress.step
    again.train(never)
    found = {"stopped": first.progress.step, "began": began, "whole": weights(whole)}
    return outcome(again) | found


SCENARIOS: dict[str, Scenario] = {
    one.__name__: one
    for one in (not_a_number, too_little_memory, full_disk, patience, budget, stopped)
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each scenario came to in each of two processes: all in one start."""
    place = tmp_path_factory.mktemp("together")

    def work(rank: int) -> dict[str, Any]:
        world = ProcessGroup()
        with world.watch.until_the_end(core_trainer.RunFolder(place)):
            return {name: one(world, place / name) for name, one in SCENARIOS.items()}

    each = by_processes(2, work)
    return {name: [one[name] for one in each] for name in SCENARIOS} | {"place": [place]}  # type: ignore[dict-item]


def assert_same(one: dict[str, Any], other: dict[str, Any], *, exactly: bool) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        if exactly:
            np.testing.assert_array_equal(other[name], array, err_msg=name)
        else:
            np.testing.assert_allclose(other[name], array, rtol=2e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", SCENARIOS)
def test_all_processes_come_to_the_same(found, name):
    first, second = found[name]
    assert_same(first["weights"], second["weights"], exactly=True)
    for key in ("step", "parts", "share", "validated", "plans"):
        assert first[key] == second[key], key


@pytest.mark.parametrize("name", ["not_a_number", "too_little_memory", "full_disk", "patience"])
def test_it_is_what_one_process_comes_to(found, tmp_path, name):
    alone = SCENARIOS[name](ALONE_TOO, tmp_path / name)
    first = found[name][0]
    assert_same(alone["weights"], first["weights"], exactly=False)
    assert alone["validated"] == first["validated"]
    np.testing.assert_allclose(first["carried"], alone["carried"], rtol=1e-5)


class OneProcess(type(ALONE)):  # type: ignore[misc]
    """Stands for no world at all."""

    def __bool__(self) -> bool:
        return False


ALONE_TOO = OneProcess()


def test_a_loss_that_is_not_finite_in_one_process_sends_all_back(found):
    first, second = found["not_a_number"]
    assert first["share"] == second["share"] == 0.5
    assert "goes back to step 4, with half the learning rate" in first["said"][0]


def test_memory_that_one_process_lacks_halves_for_all(found):
    first, second = found["too_little_memory"]
    assert first["parts"] == second["parts"] == 2
    assert ["out of memory" in text for text in first["said"]] == [True]


def test_a_full_disk_is_waited_for(found):
    first, second = found["full_disk"]
    assert (first["refused"], second["refused"]) == (3, 0)
    assert first["step"] == second["step"] == SETTINGS.max_steps


def test_patience_is_that_of_process_0(found):
    assert found["patience"][0]["validated"] == [4, 8, 12]


def test_plans_follow_the_clock_of_process_0(found):
    first, second = found["budget"]
    assert first["plans"] == second["plans"]
    assert first["plans"]


def test_asked_to_stop_one_process_stops_all_and_nothing_is_lost(found):
    first, second = found["stopped"]
    assert first["stopped"] == second["stopped"] == first["began"] == second["began"]
    assert 5 <= first["stopped"] < SETTINGS.max_steps
    assert_same(first["whole"], first["weights"], exactly=True)
    place = found["place"][0] / "stopped"
    assert everything(place / "run") == everything(place / "whole")
