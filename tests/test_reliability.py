"""A few of each of the faults of benchmarks/faults.py: what a run must survive, in a minute."""

import errno
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import faults
import pytest
from faults import Ground
from faulty_disk import compiler

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
    first = [place.n_calls * share // 8 for share in (1, 3, 3)]  # each of what is left
    last = [[place.n_calls - back] for back in (60, 20, 5, 2, 0)]  # the weights are chosen
    for number, deaths in enumerate([first, *last]):
        out = place.folder / f"killed{number}"
        trial = faults.killed(place, out, [{"at": at} for at in deaths])
        assert not trial.wrong, trial


def test_a_run_that_is_asked_to_stop_leaves_in_the_end_what_one_left_alone_leaves(
    place: Ground,
) -> None:
    stops = [{"at": place.n_calls // 8, "error": -signal.SIGTERM}] * 3  # each of what is left
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
        ends = place.nursery.at_once(*verbs)
        assert sorted(end.status for end in ends) == [0, 2], ends
        assert "is at it" in max(ends).said
    assert faults.difference(run, place.reference) == ""
    lines = new.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 300
    assert len(set(lines)) == 1
