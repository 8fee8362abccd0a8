"""`benchmarks/equal_time.py` gives everybody the same time, and goes on where it was stopped."""

import json
import random
import re
import sys
import time

import equal_time
import equal_time_peers
import pytest
import record
import torch

from headway.core.errors import HeadwayError

CELL = equal_time.Cell("tatoeba-en-zh", "eole", 1, 30.0)


def line_of(cell, *bleu):
    scores = [{"test": f"test{i}", "bleu": {"score": score}} for i, score in enumerate(bleu)]
    return {"benchmark": "equal_time", **cell._asdict(), "scores": scores}


def test_cells_of_the_record_are_known_again_and_their_seeds_averaged(tmp_path):
    file = tmp_path / "record.jsonl"
    assert equal_time.measured(file) == {}
    lines = [
        {"benchmark": "another"},
        line_of(CELL, 10.0, 20.0),
        line_of(CELL._replace(seed=2), 12.0, 21.0),
        line_of(CELL._replace(toolkit="headway", minutes=5.0), 99.0),
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = equal_time.measured(file)
    assert set(found) == {
        CELL,
        CELL._replace(seed=2),
        CELL._replace(toolkit="headway", minutes=5.0),
    }
    rows = [line.split("|")[1:-1] for line in equal_time.report(found, 30.0).splitlines()[4:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["tatoeba-en-zh", "test0", "-", "-", "-", "11.00 (2)"],
        ["tatoeba-en-zh", "test1", "-", "-", "-", "20.50 (2)"],
    ]


def toolkit_that(says, tmp_path, monkeypatch):
    """Marian's command is a script that does this."""
    command = [sys.executable, "-uc", says]
    monkeypatch.setattr(equal_time, "helper", lambda what, job: command)
    return {"folder": str(tmp_path)}


COUNTING = """
import itertools, time
for step in itertools.count(1):
    print("Step", step, flush=True)
    time.sleep(0.01)
"""


def test_a_trial_ends_by_itself_and_measures_the_pace(tmp_path, monkeypatch):
    job = toolkit_that(COUNTING, tmp_path, monkeypatch)
    began = time.monotonic()
    pace = equal_time.run("marian", job, "trial", 0.5)
    assert time.monotonic() - began > 0.5
    assert pace.updates > 1
    assert 0.01 <= pace.step_s < 1


SAVING_ONCE = """
import itertools, time
end, saved = time.monotonic() + 4, False
for step in itertools.count(1):
    print("Step", step, flush=True)
    time.sleep(0.01)
    if time.monotonic() > end and not saved:
        saved = print("saved", step, flush=True) is None
"""


def test_a_training_goes_on_to_the_checkpoint_after_its_time(tmp_path, monkeypatch):
    monkeypatch.setitem(equal_time.SAVED, "marian", "saved")
    job = toolkit_that(SAVING_ONCE, tmp_path, monkeypatch)
    pace = equal_time.run("marian", job, "model", 3)
    saved = int(re.findall(r"saved (\d+)\nStep", (tmp_path / "model.log").read_text())[0])
    assert saved < pace.updates < saved + 100


def test_a_toolkit_that_ends_badly_is_no_result(tmp_path, monkeypatch):
    job = toolkit_that("print('Step 5'); raise SystemExit(3)", tmp_path, monkeypatch)
    with pytest.raises(HeadwayError, match="marian must train; .*model.log says why"):
        equal_time.run("marian", job, "model", 60)


def test_batches_hold_each_pair_once_and_no_more_than_the_tokens():
    draw = random.Random(1)
    pairs = [[[0] * draw.randint(1, 30), [0] * draw.randint(1, 30)] for _ in range(300)]
    found = equal_time_peers.batches(pairs, 128, draw)
    kept = [id(pair) for batch in found for pair in batch]
    assert sorted(kept) == sorted(map(id, pairs))
    assert all(len(b) * max(max(map(len, pair)) for pair in b) <= 128 for b in found)


def test_the_mean_of_checkpoints_leaves_symbolic_ones_and_whole_numbers_alone(tmp_path):
    for step, value in ((10, 1.0), (20, 4.0)):
        state = {"weight": torch.full((2,), value), "steps": torch.tensor(7)}
        torch.save({"model_state": state}, tmp_path / f"{step}.ckpt")
    (tmp_path / "latest.ckpt").symlink_to("20.ckpt")
    equal_time.average(tmp_path)
    mean = torch.load(tmp_path / "mean.ckpt")["model_state"]
    assert mean["weight"].tolist() == [2.5, 2.5]
    assert mean["steps"].item() == 7


def test_what_other_programs_do_is_not_what_we_do(tmp_path):
    stat = tmp_path / "stat"
    stat.write_text("cpu  9 9 9 9\ncpu0 100 0 100 900 50 0 0 0 0 0\ncpu1 7 7 7 7 7 7 7 7\n")
    watched = record.OtherPrograms([0], stat)
    ticks = 200 + 10**6
    stat.write_text(f"cpu0 {ticks} 0 100 1000 60 0 0 0 0 0\n")
    busy, clock = watched.now()
    assert busy - watched.before[0] == pytest.approx((10**6 + 100) / 100, rel=0.01)
    assert clock > watched.before[1]
