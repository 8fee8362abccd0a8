"""Run folders that version 0.1.0 wrote (tests/fixtures/runs-0.1.0) are as good as new ones.

They were written by the commit before a run said its task: `finished` as it is published, and
`stopped` by a signal after update 5 of 8, with the paper's schedule. Paths are `@FOLDER@` there.
"""

import json
import shutil
from pathlib import Path

import pytest
import torch
from everyday_run import command
from safetensors.torch import load_file

from headway.core.run_folder import RunFolder
from headway.core.schedules import paper_peak
from headway.runs.settings import Settings, upgraded
from headway.translation.spec import SPEC
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
STORED = Path(__file__).parent.parent / "fixtures" / "runs-0.1.0"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A copy that may be changed, in which paths are true."""
    folder = tmp_path / "runs"
    shutil.copytree(STORED, folder)
    for file in (*folder.glob("*/config.toml"), *folder.glob("*/data.json")):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("@FOLDER@", str(folder)), encoding="utf-8")
    return folder


def test_its_settings_are_read_and_its_task_is_translation(runs):
    stored = RunFolder(runs / "finished").settings()
    assert "run" not in stored
    settings = Settings.of(upgraded(stored), SPEC)
    assert settings.task == "translation"
    assert settings.training.learning_rate == paper_peak(8, 4)
    assert RunFolder(runs / "finished").finished
    assert not RunFolder(runs / "stopped").finished


@pytest.mark.parametrize(
    ("attention", "kept"), [("additive", True), ("none", True), ("dot", False)]
)
def test_a_setting_that_changed_nothing_there_and_is_refused_today_is_let_go(attention, kept):
    model = {"type": "recurrent", "attention": attention, "input_feeding": False}
    stored = {"run": {"task": "translation"}, "model": model}
    assert Settings.of(upgraded(stored), SPEC).model.input_feeding == kept
    assert model["input_feeding"] is False


def test_it_translates_as_it_did(runs):
    expected = json.loads((runs / "translations.json").read_text(encoding="utf-8"))
    translator = Translator.load(runs / "finished", device="cpu")
    sources = [line["source"] for line in expected]
    found = translator.plain(
        sources, translator.plain.request(translator.settings.decoding)
    )  # loops are none of a text's
    assert [one.target for one in found] == [line["target"] for line in expected]
    for one, line in zip(found, expected, strict=True):
        assert one.n_best[0].score == pytest.approx(line["score"], abs=1e-4)


def test_stopped_there_and_resumed_here_it_ends_as_it_would_have_there(runs):
    resumed = command("train", "--out", str(runs / "stopped"), "--resume")
    assert resumed.status == 0, resumed.err
    assert "goes on from step 5" in resumed.err
    expected = load_file(runs / "finished" / "model.safetensors")
    folders = (runs / "stopped" / "checkpoints" / name for name in ("step-4", "step-8"))
    last = [load_file(folder / "weights.safetensors") for folder in folders]
    found = {name: (last[0][name] + last[1][name]) / 2 for name in last[0]}  # as it chose there
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        # The gradient of a key's bias is zero: it adds the same to all scores of a query. What Adam
        # makes of the rounding errors in its place is another processor's own.
        if not name.endswith("to_key.bias"):
            torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-6)
    logs = [RunFolder(runs / name).read_log() for name in ("stopped", "finished")]
    for here, there in zip(*logs, strict=True):
        assert here["step"] == there["step"]
        assert here["target_tokens"] == there["target_tokens"]
    again = command("train", "--out", str(runs / "stopped"), "--resume")
    assert "is finished; nothing to resume" in again.err


def test_its_own_files_may_be_named_again_and_no_others(runs):
    """Its data.json does not say what was asked for: what came of it counts."""
    again = ("train", "--out", str(runs / "finished"), "--resume", "--text.vocabulary-size=320")
    files = ("--source", str(runs / "corpus.en"), "--target", str(runs / "corpus.zh"))
    assert "nothing to resume" in command(*again, *files).err
    refused = command(*again, "--source", str(runs / "corpus.zh"))
    assert refused.status == 2
    assert "[data] source is" in refused.err


def test_it_can_be_gone_on_from(runs):
    files = ("--source", str(runs / "corpus.en"), "--target", str(runs / "corpus.zh"))
    flags = (
        "--training.max-steps=2", "--training.checkpoint-every=1", "--data.valid-size=20",
        "--training.valid-sentences=5", "--runtime.threads=1", "--runtime.device=cpu",
    )  # fmt: skip
    run = runs / "tuned"
    tuned = command(
        "train", "--out", str(run), "--init-from", str(runs / "finished"), *files, *flags
    )
    assert tuned.status == 0, tuned.err
    stored = RunFolder(run).settings()
    assert (stored["run"]["task"], stored["run"]["finished"]) == ("translation", True)
    assert stored["training"]["learning_rate"] == pytest.approx(paper_peak(8, 4) / 3)
