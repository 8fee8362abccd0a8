"""A few of each of the faults of benchmarks/faults.py: what a run must survive, in a minute."""

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import faults
import pytest
from faults import Ground
from faulty_disk import SOURCE, compiler

pytestmark = pytest.mark.skipif(
    compiler() is None, reason="a disk fails on purpose where there is a C compiler, on Linux"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """Text, and a finished run that nothing has happened to."""
    folder = tmp_path_factory.mktemp("faults")
    in_memory = Path("/dev/shm")  # a real disk takes its time for every fsync
    parent = in_memory if os.access(in_memory, os.W_OK) else folder
    with TemporaryDirectory(dir=parent) as name, faults.ground(Path(name)) as ground:
        yield ground


def test_a_run_that_is_killed_at_any_call_ends_as_if_left_alone(place: Ground) -> None:
    first = [place.n_calls * share // 8 for share in (1, 3, 5)]
    last = [place.n_calls - back for back in (60, 20, 5, 2, 0)]  # the weights are chosen
    deaths = [{"at": at} for at in (*first, *last)]
    for number in range(2):  # four deaths of each run
        trial = faults.killed(place, place.folder / f"killed{number}", deaths[number::2])
        assert not trial.wrong, trial


def test_a_run_that_is_asked_to_stop_leaves_in_the_end_what_one_left_alone_leaves(
    place: Ground,
) -> None:
    stops = [
        {"at": place.n_calls * share // 12, "error": -signal.SIGTERM} for share in range(2, 12, 2)
    ]
    trial = faults.killed(place, place.folder / "stopped", stops)
    assert not trial.wrong, trial


def test_a_failing_call_costs_no_checkpoint_and_is_no_bug(place: Ground) -> None:
    kinds = [(error, lasting) for error in (errno.EIO, errno.ENOSPC) for lasting in (False, True)]
    for number in range(5):
        out = place.folder / f"failing{number}"
        error, lasting = kinds[number % 4]
        if number % 3 == 2:  # the cache, made anew
            shutil.rmtree(place.folder / "cache")
            below, at = place.folder / "cache", 3 + 11 * number
        else:
            below, at = out, 1 + number * (place.n_calls - 1) // 4
        trial = faults.failing(place, out, below, at, error, lasting)
        assert not trial.wrong, trial


def test_a_flipped_bit_changes_no_model_and_no_text_without_a_word(place: Ground) -> None:
    rng = random.Random(5)
    classes: dict[tuple[str, str], Path] = {}
    for file in faults.files_to_flip(place):  # one of each class, such as cleaned-../meta.json
        classes[file.parent.name.partition("-")[0], file.name] = file
    files = list(classes.values())
    assert len(files) >= 20
    for file in rng.sample(files, 10):
        trial = faults.flipped(place, file, rng)
        assert not trial.wrong, trial


def test_of_two_commands_at_once_one_is_refused_and_nothing_is_mixed(place: Ground) -> None:
    text, new = place.folder / "b.en", place.folder / "b.zh"
    text.write_text("The dog runs.\n" * 300, encoding="utf-8")
    run = place.folder / "both"
    translation = ["translate", str(place.reference), str(text), "--out", str(new)]
    for verbs in ([place.train(run)] * 2, [translation, [*translation, "--beam", "2"]]):
        status, said = at_once(place, verbs)
        assert sorted(status) == [0, 2], said
        assert "is at it" in said
    assert faults.difference(run, place.reference) == ""
    lines = new.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 300
    assert len(set(lines)) == 1


def at_once(place: Ground, verbs: list[list[str]]) -> tuple[list[int], str]:
    """How commands that begin at the same moment end, and what they say."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1",
                   "HEADWAY_CACHE": str(place.folder / "cache")}  # fmt: skip
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "headway", *verb], env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for verb in verbs
    ]  # fmt: skip
    said = [process.communicate()[1] for process in started]
    return [process.returncode for process in started], "\n".join(said)
