"""The whole way: trained, stopped, gone on with, asked, scored, begun with another's weights."""

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from drawn_pictures import KINDS, drawn, idx_bytes, write_folders, write_idx
from everyday_run import Finished, check_stopped_and_resumed, command, left_behind
from PIL import Image
from safetensors.torch import load_file

from headway.core.run_folder import RunFolder
from headway.images.predicting import PictureClassifier
from headway.images.spec import MOST_PASSES, SPEC
from headway.labelling.task import ExamplesTask
from headway.runs.settings import Settings

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

SMALL = {
    "transformer": ("--model.d-model=16", "--model.d-ff=32", "--model.heads=2", "--model.layers=2"),
    "cnn": ("--model.type=cnn", "--model.channels=6,8", "--model.kernel=3"),
}
FLAGS = ("--runtime.threads=1", "--runtime.device=cpu", "--training.learning-rate=0.01")


def train(run: Path, corpus: Path, *flags: str, model: str = "cnn") -> Finished:
    given = ("--task", "images", "--corpus", str(corpus), "--out", str(run))
    return command("train", *given, *SMALL[model], *FLAGS, *flags)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_idx(tmp_path_factory.mktemp("corpus"), n=240)


@pytest.fixture(scope="module")
def test_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_idx(tmp_path_factory.mktemp("test"), n=90, seed=2)


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run") / "cnn"
    finished = train(place, corpus, "--training.max-steps=120")
    assert finished.status == 0, finished.err
    return place


def test_pictures_that_are_learned_from_and_validated_on_are_said(tmp_path):
    learned, held = ({one.tobytes() for one in drawn(n, 12, 1)[0]} for n in (30, 20))
    files = [write_idx(tmp_path / str(n), n=n) for n in (30, 20)]
    flags = ("--training.max-steps=1", "--valid-corpus", str(files[1]))
    said = train(tmp_path / "run", files[0], *flags).err
    n = len(learned & held)
    assert n > 1
    assert f"WARNING: {n} pictures to validate on are among those to learn from" in said


def test_a_run_learns_and_is_scored_with_its_confusions(run, test_set):
    evaluated = command("evaluate", str(run), "--corpus", str(test_set), "--json")
    assert evaluated.status == 0, evaluated.err
    told = json.loads(evaluated.out)
    assert told["accuracy"]["score"] > 90
    assert told["n"] == 90
    assert sum(map(sum, told["confusion"]["counts"])) == 90
    assert sorted(told["confusion"]["labels"]) == ["0", "1", "2"]
    shown = command("evaluate", str(run), "--corpus", str(test_set))
    assert "accuracy" in shown.out


def test_the_card_says_that_what_it_is_measured_on_chose_the_checkpoint(run):
    assert "The checkpoint was chosen by them" in (run / "README.md").read_text(encoding="utf-8")


def test_a_picture_a_folder_and_an_idx_file_are_told_alike(run, test_set, tmp_path):
    folder = write_folders(tmp_path, n=90, seed=2)
    of_folder = command("predict", str(run), str(folder), "--json", "--top", "1")
    assert of_folder.status == 0, of_folder.err
    told = {
        Path(one["picture"]).name: one["labels"] for one in json.loads(of_folder.out)["predictions"]
    }
    assert len(told) == 90
    of_idx = json.loads(command("predict", str(run), str(test_set), "--json", "--top", "1").out)
    for number, one in enumerate(of_idx["predictions"]):
        assert one["labels"][0]["label"] == told[f"{number:04}.png"][0]["label"]
        assert one["labels"][0]["prob"] == pytest.approx(told[f"{number:04}.png"][0]["prob"])
    single = command("predict", str(run), str(folder / "spot" / "0002.png"))
    assert single.out.split("\t")[0].split()[0] == told["0002.png"][0]["label"]
    assert single.out.count("\t") == 3, "all classes, and the name"


def test_a_blank_name_is_no_picture_and_stays_blank(run, tmp_path, monkeypatch):
    folder = write_folders(tmp_path, n=3, seed=2)
    monkeypatch.chdir(folder)  # an empty path is this folder
    assert command("predict", str(run), "").out == "\n"
    names = io.BytesIO(b"\n" + str(folder).encode() + b"\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(names, "utf-8"))
    assert [bool(line) for line in command("predict", str(run)).out.split("\n")] == [
        False, True, True, True, False,
    ]  # fmt: skip


def test_the_model_is_not_told_what_a_batch_is_made_of(run):
    classifier = PictureClassifier.load(run)
    pictures = [*drawn(70)[0][..., None]]
    together = classifier.probabilities(pictures)
    alone = np.concatenate([classifier.probabilities([one]) for one in pictures])
    np.testing.assert_allclose(together, alone, atol=1e-6)


@pytest.mark.parametrize("model", SMALL)
def test_resuming_equals_never_stopping_with_pictures_changed_each_time(
    model, corpus, tmp_path, monkeypatch
):
    flags = ("--training.max-steps=12", "--training.checkpoint-every=4")
    check_stopped_and_resumed(
        lambda run: train(run, corpus, *flags, model=model), tmp_path, monkeypatch, ExamplesTask
    )
    plain = tmp_path / "plain"
    same = ("--training.shift=0", "--training.rotation=0", "--training.scale=0")
    assert train(plain, corpus, *flags, *same, model=model).status == 0
    assert left_behind(plain) != left_behind(tmp_path / "whole"), "the pictures were changed"


@pytest.mark.parametrize("model", SMALL)
def test_ten_pictures_of_noise_are_learned_by_heart(model, tmp_path):
    random = np.random.default_rng(3)
    pictures = random.integers(0, 256, (10, 12, 12), dtype=np.uint8)
    classes = (np.arange(10) % 3).astype(np.uint8)
    for name in ("train", "valid"):
        (tmp_path / f"{name}-images-idx3-ubyte").write_bytes(idx_bytes(pictures))
        (tmp_path / f"{name}-labels-idx1-ubyte").write_bytes(idx_bytes(classes))
    corpus, same = (tmp_path / f"{name}-images-idx3-ubyte" for name in ("train", "valid"))
    run, still = tmp_path / "run", ("--training.shift=0", "--training.rotation=0")
    flags = ("--valid-corpus", str(same), "--training.max-steps=90", "--model.dropout=0")
    finished = train(run, corpus, *flags, *still, "--training.scale=0", model=model)
    assert finished.status == 0, finished.err
    evaluated = json.loads(command("evaluate", str(run), "--corpus", str(same), "--json").out)
    assert evaluated["accuracy"]["score"] == 100


def test_a_run_of_some_classes_lends_its_trunk_to_one_of_others(corpus, test_set, tmp_path):
    parent, child = tmp_path / "parent", tmp_path / "child"
    flags = ("--training.max-steps=20", "--data.only=0,1")
    assert train(parent, corpus, *flags).status == 0
    labels = json.loads((parent / "labels.json").read_text("utf-8"))
    assert labels["labels"] == ["0", "1"]
    evaluated = command("evaluate", str(parent), "--corpus", str(test_set), "--json")
    told = json.loads(evaluated.out)
    assert told["n"] == 60
    assert any("30 pictures are of classes" in note for note in told["notes"])
    begun = ("--init-from", str(parent), "--reinit", "head", "--freeze", "encoder")
    refused(train(child, corpus, "--data.size=16", *begun), "of its size, 12 x 12; got --data.size")
    finished = train(child, corpus, "--data.only=1,2", "--training.max-steps=10", *begun)
    assert finished.status == 0, finished.err
    of_parent, of_child = (load_file(one / "model.safetensors") for one in (parent, child))
    for name, weight in of_parent.items():
        assert weight.equal(of_child[name]) == name.startswith("encoder."), name
    again = json.loads((child / "labels.json").read_text("utf-8"))
    assert again["labels"] == ["1", "2"]
    for key in ("size", "mean", "deviation"):
        assert again[key] == labels[key], "pictures become numbers as they did"


def refused(finished: Finished, *words: str) -> None:
    assert finished.status == 2, finished.err
    for one in words:
        assert one in finished.err


def test_what_cannot_be_learned_is_refused_and_leaves_no_run(corpus, tmp_path):
    run, place = tmp_path / "run", write_folders(tmp_path / "folders")
    refused(train(run, corpus, "--data.only=0,7"), "--data.only", "'7'")
    refused(train(run, corpus, "--data.only=0"), "all are '0'")
    refused(train(run, corpus, "--data.size=-1"), "size must be at least 0")
    refused(train(run, corpus, "--valid-corpus", str(corpus)), "must not be learned from")
    refused(train(run, corpus, "--model.patch=5", model="transformer"), "got 12 x 12")
    refused(train(run, tmp_path / "none"), "no such file")
    flags = ("--data.only=down,spot", "--valid-corpus", str(tmp_path / "beside"))
    write_folders(tmp_path / "beside", n=1)
    refused(train(run, place, *flags), "are of the classes down, spot; ", "beside has none. Name")
    for kind in KINDS[1:]:
        for file in (place / kind).iterdir():
            file.unlink()
    refused(train(run, place), f"all are {KINDS[0]!r}")
    other = write_folders(tmp_path / "other", n=9)
    refused(train(run, corpus, "--valid-corpus", str(other)), "is of 'across'")
    refused(train(run, other), "a model needs 20 pictures")
    assert not run.exists()


def test_pictures_of_classes_that_a_run_has_not_are_refused(run, tmp_path):
    other = write_folders(tmp_path, n=9)
    refused(command("evaluate", str(run), "--corpus", str(other)), "is of 'across'", "0, 1, 2")


def test_what_is_no_picture_is_refused_by_predict(run, tmp_path):
    refused(command("predict", str(run), "none.png"), "no such file: none.png")
    text = tmp_path / "text.png"
    text.write_text("no picture", "utf-8")
    refused(command("predict", str(run), str(text)), "is a PNG or JPEG file")


def test_a_class_that_a_run_does_not_know_is_told_with_what_evaluate_can_do(run, tmp_path):
    done = command("evaluate", str(run), "--corpus", str(write_folders(tmp_path, n=3)))
    refused(done, "is of 'across'. Take it out: the run did not learn that class.")
    assert "--data.only" not in done.err


def test_a_run_whose_labels_are_damaged_is_refused(corpus, tmp_path):
    run = tmp_path / "run"
    assert train(run, corpus, "--training.max-steps=2").status == 0
    labels, config = run / "labels.json", run / "config.toml"
    text = config.read_text("utf-8")
    config.write_text("".join(f"{line}\n" for line in text.splitlines() if line[:1] != "#"))
    whole = json.loads(labels.read_text("utf-8"))
    for wrong in ({"size": [1 << 20, 1 << 20, 1]}, {"mean": []}, {"deviation": [0.0]}, {"size": 3}):
        labels.write_text(json.dumps(whole | wrong), "utf-8")
        refused(command("predict", str(run), "a.png"), "labels.json")


def test_pictures_of_many_sizes_in_colour_are_learned_at_one(tmp_path):
    random = np.random.default_rng(1)
    for kind, tint in enumerate([(255, 0, 0), (0, 0, 255)]):
        folder = tmp_path / "corpus" / "red blue".split()[kind]
        folder.mkdir(parents=True)
        for n in range(20):
            sides = random.integers(9, 30, 2)
            noise = random.integers(0, 90, (*sides, 3))
            pixels = np.minimum(noise + np.array(tint), 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{n}.{'png' if n % 2 else 'jpg'}")
    run = tmp_path / "run"
    finished = train(run, tmp_path / "corpus", "--training.max-steps=30")
    assert finished.status == 0, finished.err
    assert "in colour; " in finished.err
    assert "sizes are stretched to that" in finished.err
    told = json.loads((run / "labels.json").read_text("utf-8"))
    assert told["labels"] == ["blue", "red"]
    assert told["size"][2] == 3
    assert RunFolder(run).read_log()[-1]["accuracy"] == 100


@pytest.mark.parametrize("size", [{}, {"batch_tokens": 240}, {"accumulate": 4}])
def test_a_length_that_was_left_open_shows_as_many_pictures_whatever_makes_an_update(corpus, size):
    sections = {"run": {"task": "images"}, "data": {"corpus": [str(corpus)]}, "training": size}
    settings = Settings.of(sections, SPEC)
    data = SPEC.read(settings, None, print)
    found = SPEC.complete({}, settings, data)["training"]
    of_update = found.get("batch_tokens", 240) // 12 * size.get("accumulate", 1)
    n_shown = MOST_PASSES * len(data.train)
    assert n_shown <= found["max_steps"] * of_update < n_shown + of_update


def test_a_file_that_changed_is_not_gone_on_with(corpus, tmp_path):
    images = write_idx(tmp_path / "own", n=60)
    run = tmp_path / "run"
    assert train(run, images, "--training.max-steps=2").status == 0
    config = run / "config.toml"
    text = config.read_text("utf-8").replace("finished = true", "finished = false")
    config.write_text("".join(f"{line}\n" for line in text.splitlines() if line[:1] != "#"))
    _, kinds = drawn(60)
    labels = images.with_name("train-labels-idx1-ubyte.gz")
    labels.write_bytes(gzip.compress(idx_bytes((kinds + 1) % 3)))
    refused(command("train", "--out", str(run), "--resume"), "changed")
