"""`headway train` by the compiled engine: said, refused, shared by processes."""

from pathlib import Path

import labelled
import pytest
import torch
from everyday_run import FLAGS, command, train, write_corpus
from random_models import needs_engine
from safetensors.torch import load_file
from several_processes import by_processes

pytestmark = [needs_engine, pytest.mark.usefixtures("torch_settings_restored")]

FP32 = ["--runtime.engine=native", "--runtime.precision=fp32"]


def test_it_is_said_once_and_stands_in_the_card(tmp_path):
    files, run = write_corpus(tmp_path), tmp_path / "run"
    fitted = [flag for flag in FLAGS if "max-steps" not in flag and "checkpoint-every" not in flag]
    names = ["--source", str(files[0]), "--target", str(files[1]), "--out", str(run)]
    done = command("train", *names, *fitted, "--budget=1s", "--runtime.precision=fp32")
    assert done.status == 0, done.err
    assert done.err.count("learns by") == 1
    assert "learns by the compiled engine, fp32, 1 thread\n" in done.err
    assert "by the compiled engine, fp32, 1 thread" in (run / "README.md").read_text("utf-8")
    few = ("--training.max-steps=2", "--training.checkpoint-every=2")
    left = train(files, tmp_path / "torch", "--runtime.engine=torch", *few)
    assert left.status == 0
    assert "learns by" not in left.err


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--model.positions=rotary"], "its positions are rotary"),
        (["--training.layer-decay=0.9"], "not all weights learn alike"),
        (["--training.pack-length=128"], "its batches have a loss of their own"),
    ],
)
def test_native_refuses_what_it_cannot_do_before_anything_is_written(tmp_path, flags, reason):
    refused = train(write_corpus(tmp_path), tmp_path / "run", "--runtime.engine=native", *flags)
    assert refused.status == 2
    assert reason in refused.err
    assert refused.err.rstrip().endswith("Use --runtime.engine auto.")
    assert not (tmp_path / "run").exists()


def test_native_refuses_other_tasks(tmp_path):
    texts, run = labelled.write_labelled(tmp_path / "texts.tsv", 60), tmp_path / "run"
    refused = labelled.train(texts, run, "--runtime.engine=native")
    assert (refused.status, run.exists()) == (2, False)
    assert "it trains translators alone. Use --runtime.engine auto." in refused.err


@pytest.mark.usefixtures("without_a_gpu")
def test_two_processes_learn_what_one_learns(tmp_path):
    files, flags = write_corpus(tmp_path), [*FP32, "--model.dropout=0"]

    def learn(run: str) -> int:
        return train(files, tmp_path / run, *flags).status

    assert learn("one") == 0
    assert by_processes(2, lambda rank: learn("two")) == [0, 0]
    for run in ("one", "two"):
        assert "by the compiled engine" in (tmp_path / run / "README.md").read_text("utf-8")
    last = Path("checkpoints", "step-12", "weights.safetensors")
    one, two = (load_file(tmp_path / run / last) for run in ("one", "two"))
    for name, weight in one.items():
        if "to_key.bias" not in name:  # no gradient but rounding: softmax does not see it
            torch.testing.assert_close(two[name], weight, rtol=0, atol=1e-3, msg=name)
