"""Whoever does which part, whenever it is killed: the same bytes."""

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shard_cases import TEXT, in_shards, written

from headway.cli import main
from headway.core.errors import ConfigError
from headway.corpora.cache_place import silent
from headway.corpora.pieces import unseen
from headway.corpora.sharded import open_shards
from headway.large_corpora.learn_subwords import sample_unit
from headway.large_corpora.plan import ShardPlan
from headway.large_corpora.stages import SHARED_STAGES, STAGES, prepare_shards
from headway.operations.locks import only_writer_of_folder
from headway.operations.processes import JobPart
from headway.translation.pairs import TranslationData


def test_parts_in_any_order_give_the_same_bytes_and_no_stage_begins_too_early(
    tmp_path: Path,
) -> None:
    data = TranslationData(pairs=written(tmp_path, 3, 300), workers=1)
    in_shards(tmp_path / "whole", data)
    parted = ShardPlan(tmp_path / "parted", data, TEXT)
    parted.begin()
    with pytest.raises(ConfigError, match="needs all of stage clean; 3 of its 3"):
        prepare_shards(parted, silent, unseen, only="repeats")
    for name in STAGES:
        parts = [JobPart(2, 2), JobPart(1, 2)] if name in SHARED_STAGES else [JobPart(1, 1)]
        for part in parts:
            prepare_shards(parted, silent, unseen, only=name, part=part)
    for folder in ("train-00000", "train-00002", "valid"):
        for file in (tmp_path / "whole" / folder).iterdir():
            assert file.read_bytes() == (tmp_path / "parted" / folder / file.name).read_bytes()
    assert not parted.work.exists()


def test_a_unit_is_sampled_without_opening_the_files_of_all_units(tmp_path: Path) -> None:
    data = TranslationData(pairs=written(tmp_path, 3, 100), workers=1)
    shards = ShardPlan(tmp_path / "shards", data, TEXT)
    shards.begin()
    for name in ("clean", "repeats", "split"):
        prepare_shards(shards, silent, unseen, only=name)
    for file in data.pairs:
        Path(file).unlink()
    for unit in shards.units[1:]:
        shards.place("unit", unit.number).unlink()
    sample_unit(shards, 0)
    assert (shards.place("sample", 0) / "kept").stat().st_size


def n_entries(folder: Path) -> int:
    """Files and folders below one, some of which may just go."""
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


def test_killed_at_any_time_and_called_again_it_comes_to_the_same_bytes(tmp_path: Path) -> None:
    """Killed each time when more is there than before, until it comes to its end."""
    files, killed = written(tmp_path, 4, 400), tmp_path / "killed"
    in_shards(tmp_path / "whole", TranslationData(pairs=files, workers=1))
    command = [sys.executable, "-m", "headway", "prepare", "--shards", str(killed)]
    command += ["--text.vocabulary-size", "400", "--data.workers", "2", "--pairs", *files]
    draw, n_kills, ends = random.Random(1), 0, time.monotonic() + 100
    while True:
        wanted = n_entries(killed) + draw.randint(9, 30) if n_kills < 3 else sys.maxsize
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            while process.poll() is None and n_entries(killed) < wanted:
                assert time.monotonic() < ends
                time.sleep(0.01)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=20)
        if process.returncode >= 0:
            break
        n_kills += 1
    assert process.returncode == 0
    assert n_kills >= 2
    assert sorted(os.listdir(killed)) == sorted(os.listdir(tmp_path / "whole"))
    for folder in ("train-00000", "train-00003", "valid"):
        for file in (tmp_path / "whole" / folder).iterdir():
            assert file.read_bytes() == (killed / folder / file.name).read_bytes()


def test_all_stages_at_once_are_refused_while_a_job_is_at_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the job has begun would be swept."""
    files, shards = written(tmp_path, 2, 100), tmp_path / "shards"
    command = ["prepare", "--shards", str(shards), "--text.vocabulary-size", "400"]
    command += ["--data.workers", "1", "--pairs", *files]
    assert main([*command, "--stage", "clean", "--part", "1/2"]) == 0
    begun = shards / "work" / ".unit.part"
    begun.mkdir()
    with only_writer_of_folder(shards / "work" / "locks" / "clean-2", silent):
        assert main(command) != 0
        assert "clean-2" in (said := capsys.readouterr().err)
        assert "Wait until it has ended" in said
        assert begun.exists()
    assert main(command) == 0
    assert not begun.exists()


def test_the_printed_jobs_do_all_stages_each_after_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a `sbatch` that notes what it is given: done in that order, it makes the shards."""
    files, shards = written(tmp_path, 3, 200), tmp_path / "shards"
    command = ["prepare", "--shards", str(shards), "--text.vocabulary-size", "400", "--on=slurm"]
    command += ["--part", "1/2", "--data.workers", "1", "--pairs", *files]
    monkeypatch.setattr("sys.argv", ["headway", *command])
    assert main(command) == 0
    script, noted = capsys.readouterr().out, tmp_path / "noted"
    submit = tmp_path / "sbatch"
    submit.write_text(f'#!/bin/sh\nfor a; do echo "$a"; done >> {noted}; wc -l < {noted}\n')
    submit.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh"], input=script, env=environment, text=True, timeout=30, check=True)
    jobs = [job.split("\n") for job in noted.read_text().split("--parsable\n")[1:]]
    assert len(jobs) == len(STAGES)
    n_lines = 0
    for place, job in enumerate(jobs):
        waits = [word for word in job if word.startswith("--dependency")]
        assert waits == ([f"--dependency=afterok:{n_lines}"] if place else [])
        n_lines += len(job)
        called = job[job.index("--wrap") + 1]
        assert ("--array=1-2" in job) == ("$SLURM_ARRAY_TASK_ID/2" in called)
        for task in "21" if "--array=1-2" in job else "1":
            words = shlex.split(called.replace("$SLURM_ARRAY_TASK_ID", task))
            assert main(words[1:]) == 0
    assert len(open_shards(shards).train) > 200
