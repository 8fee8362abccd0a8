"""What is shown of a checkpoint is what its weights do; the run's model is left as it was."""

import shutil
from dataclasses import replace

import pytest
import torch
from analyses import TARGET, TEXT
from everyday_run import train
from safetensors.torch import load_file, save_file

from headway.core.optimizer import load_weights, saved_tensors
from headway.inspection import learning as learning_file
from headway.inspection.inspected_model import open_subject
from headway.inspection.learning import drawn, learning
from headway.inspection.packing import unpacked
from headway.inspection.passage_analysis import PassageAnalysis

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def analysis_of(run):
    subject = open_subject(run, device="cpu")
    return PassageAnalysis(subject, subject.passage_of(TEXT, TARGET))


@pytest.fixture
def run(everyday_run, tmp_path):
    """A copy that may be changed."""
    return shutil.copytree(everyday_run, tmp_path / "run")


def test_every_kept_checkpoint_is_there_between_the_first_weights_and_the_model(everyday_run):
    found = learning(analysis_of(everyday_run))
    kept = sorted(int(path.name[5:]) for path in (everyday_run / "checkpoints").iterdir())
    assert len(kept) > 1
    moments = [(moment["kind"], moment["updates"]) for moment in found["moments"]]
    assert moments == [("drawn", 0), *(("checkpoint", n) for n in kept), ("model", None)]
    assert found["left_out"] == 0


@torch.inference_mode()
def test_maps_and_probabilities_are_those_of_the_checkpoints_weights(everyday_run):
    analysis = analysis_of(everyday_run)
    found = learning(analysis)
    model, passage = analysis.subject.model, analysis.passage
    source, fed = torch.tensor([passage.source]), torch.tensor([passage.fed])
    written = torch.tensor([*passage.fed[1:], analysis.subject.special.end])
    folder = everyday_run / "checkpoints"
    for number, moment in enumerate(found["moments"]):
        if moment["kind"] != "checkpoint":
            continue
        load_weights(model, load_file(folder / f"step-{moment['updates']}" / "weights.safetensors"))
        looked = model.look(source, fed)
        for kind, expected in zip(found["kinds"], looked, strict=True):
            shown = unpacked(kind["maps"])[number] / 255
            assert abs(shown - expected[:, 0].numpy()).max() <= 0.5 / 255 + 1e-6
        log_probs = model(source, fed)[0].log_softmax(-1)[torch.arange(len(written)), written]
        assert moment["probabilities"] == pytest.approx(log_probs.exp().tolist(), rel=1e-3)
        assert moment["loss"] == pytest.approx(-float(log_probs.mean()), abs=1e-3)


def test_at_a_checkpoint_it_writes_what_a_run_of_these_weights_writes(run, tmp_path):
    found = learning(analysis_of(run))
    alone = shutil.copytree(run, tmp_path / "alone")
    for moment in found["moments"][1:-1]:
        kept = run / "checkpoints" / f"step-{moment['updates']}" / "weights.safetensors"
        shutil.copy(kept, alone / "model.safetensors")
        assert moment["writes"] == open_subject(alone, device="cpu").write(TEXT)
    first = alone / "model.safetensors"
    save_file({name: t.detach() for name, t in drawn(open_subject(run)).items()}, first)
    assert found["moments"][0]["writes"] == open_subject(alone, device="cpu").write(TEXT)
    assert found["moments"][0]["writes"] != found["moments"][-1]["writes"]


def test_of_a_model_of_text_alone_nothing_is_said_to_be_written_by_itself(everyday_run):
    analysis = analysis_of(everyday_run)
    analysis.subject = replace(analysis.subject, task="language-model")
    now = learning_file.Snapshot("model", None, {})
    assert learning_file._moment(now, analysis, {})["writes"] is None


def test_the_model_is_as_it_was_behind_it(everyday_run):
    analysis = analysis_of(everyday_run)
    before = {name: t.clone() for name, t in saved_tensors(analysis.subject.model).items()}
    learning(analysis)
    for name, tensor in saved_tensors(analysis.subject.model).items():
        assert torch.equal(tensor, before[name])


def test_the_first_weights_are_those_that_training_began_with(everyday_files, tmp_path):
    still = ("--training.max-steps=1", "--training.learning-rate=1e-9", "--runtime.seed=7")
    finished = train(everyday_files, tmp_path / "run", *still)
    assert finished.status == 0, finished.err
    after_one = load_file(tmp_path / "run" / "checkpoints" / "step-1" / "weights.safetensors")
    first = drawn(open_subject(tmp_path / "run", device="cpu"))
    assert first.keys() == after_one.keys()
    for name, tensor in first.items():
        torch.testing.assert_close(tensor.detach(), after_one[name], rtol=0, atol=1e-8)


def test_a_damaged_checkpoint_is_left_out_and_counted(run):
    analysis = analysis_of(run)
    oldest = min((run / "checkpoints").iterdir(), key=lambda path: int(path.name[5:]))
    weights = oldest / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    found = learning(analysis)
    assert found["left_out"] == 1
    assert int(oldest.name[5:]) not in [moment["updates"] for moment in found["moments"]]


def test_a_run_without_checkpoints_says_so(run):
    shutil.rmtree(run / "checkpoints")
    found = learning(analysis_of(run))
    assert "--training.keep-all" in found["missing"]["en"]
    assert "--training.keep-all" in found["missing"]["zh"]


def test_of_too_many_checkpoints_some_are_taken_evenly_the_ends_among_them(run, monkeypatch):
    for n in range(100, 200, 10):
        shutil.copytree(run / "checkpoints" / "step-12", run / "checkpoints" / f"step-{n}")
    monkeypatch.setattr(learning_file, "MOST_MOMENTS", 6)
    found = learning(analysis_of(run))
    steps = [moment["updates"] for moment in found["moments"][1:-1]]
    assert steps == sorted(steps)
    assert len(steps) == 4
    assert steps[0] <= 8
    assert steps[-1] == 190
    assert found["left_out"] == len([*(run / "checkpoints").iterdir()]) - 4
