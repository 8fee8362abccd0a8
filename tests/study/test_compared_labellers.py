"""Runs that label in a comparison, and who may not be ranked."""

import json
import shutil
from operator import attrgetter

import pytest
from everyday_run import command
from labelled_run import train_labelled, write_labelled

from headway.classification.predicting import TextClassifier
from headway.classification.spec import read
from headway.core.disk import checksum
from headway.core.run_folder import RunFolder
from headway.inspection.opened_labellers import classifier as inspected
from headway.study.compared_labellers import classifier
from headway.study.compared_runs import ComparisonRequest, trained_with

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    train, valid = (write_labelled(folder / name, n, seed) for name, n, seed in (
        ("train.tsv", 300, 1), ("valid.tsv", 60, 2)
    ))  # fmt: skip
    write_labelled(folder / "test.tsv", 80, 3)
    for name, flags in (("good", ()), ("poor", ("--training.max-steps=4", "--seed=2"))):
        train_labelled(folder / name, train, valid, *flags)
    shutil.copytree(folder / "good", folder / "same")
    renamed = train.read_text(encoding="utf-8").replace("sea\t", "ocean\t")
    (folder / "renamed.tsv").write_text(renamed, encoding="utf-8")
    train_labelled(folder / "other", folder / "renamed.tsv", None)
    return folder


def compared(folder, *names):
    runs = [str(folder / name) for name in names if "." not in name]
    files = [str(folder / name) for name in names if "." in name]
    done = command("compare", *runs, *(["--corpus", *files] if files else []), "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_the_figures_are_those_of_evaluate(folder):
    found = compared(folder, "good", "poor", "test.tsv")
    for run in found["runs"]:
        test = str(folder / "test.tsv")
        alone = json.loads(command("evaluate", run["run"], "--corpus", test, "--json").out)
        figures = run["figures"]
        assert figures["accuracy, %"]["value"] == pytest.approx(alone["accuracy"]["score"])
        for key in ("score", "low", "high"):
            name = "value" if key == "score" else key
            assert figures["f1, %"][name] == pytest.approx(alone["f1"][key])


def test_the_better_one_is_first_and_chance_does_not_explain_it(folder):
    found = compared(folder, "poor", "good")
    assert found["test"] == {
        "of": "validation examples", "row": "example", "same": True, "examples": 60
    }  # fmt: skip
    for ranking in found["rankings"]:
        first, second = ranking["places"]
        assert (first["run"], second["run"]) == ("good", "poor")
        assert second["p_value"] < 0.05
    assert len(found["rankings"]) == 2


@pytest.mark.parametrize("name", ["renamed", "several"])
def test_without_files_to_validate_on_the_examples_are_those_held_out(folder, name):
    run = folder / ("several" if name == "several" else "other")
    if name == "several":  # each set of labels once or twice
        texts = (folder / "train.tsv").read_text(encoding="utf-8").splitlines()[:80]
        rows = [
            "|".join([f"bit{i}" for i in range(6) if n >> i & 1] + [row])
            for n, row in enumerate(texts)
        ]
        (folder / "several.tsv").write_text("\n".join(rows), encoding="utf-8")
        train_labelled(run, folder / "several.tsv", None, "--training.max-steps=2")
    settings, *_ = TextClassifier.load(run).opened
    data = read(settings, None, print)
    compared = classifier(ComparisonRequest(run, {}, print))
    texts = [data.vocabulary.cut(text) for text, _ in compared.rows]
    ids = data.vocabulary.encode_batch(texts, settings.data.max_length)
    assert [one.tolist() for one in map(attrgetter("input"), data.valid)] == ids
    place, own = inspected(run).own_texts()
    assert own == [text for text, _ in compared.rows]
    assert place == f"the texts held out of {name}.tsv"


def test_a_test_file_that_was_learned_from_is_said_by_name_and_by_content(folder):
    copy = shutil.copy(folder / "train.tsv", folder / "copied.tsv")
    for file in (folder / "train.tsv", copy, folder / "valid.tsv"):
        said = command("evaluate", str(folder / "good"), "--corpus", str(file)).err
        assert f"{folder / 'good'} was trained with {file}, to learn from or to be" in said
    assert command("evaluate", str(folder / "good"), "--corpus", str(folder / "test.tsv")).err == ""
    notes = compared(folder, "good", "other", "train.tsv")["notes"]
    assert [note for note in notes if "was trained with" in note] == [
        f"{folder / 'good'} was trained with {folder / 'train.tsv'}, to learn from or to be "
        "validated on: what it scores there tells nothing of other text."
    ]


def test_a_test_file_that_a_run_began_with_has_learned_from_is_said(folder):
    run, before = folder / "good", folder / "before"
    shutil.copytree(run, before)
    record = json.loads((run / "data.json").read_text(encoding="utf-8"))
    sha256 = checksum(before / "model.safetensors")
    texts = {"sha256": {}, "parent": {"run": str(before), "sha256": sha256}}
    child = shutil.copytree(run, folder / "child")
    written = RunFolder(child)
    written.write_data({**record, **texts})
    written.write_settings(RunFolder(run).settings(), [written.data])
    test, learned = folder / "test.tsv", folder / "train.tsv"
    assert trained_with(child, [test, learned]) == [
        f"{before}, which {child} began with, was trained with {learned}, to learn from or to be "
        "validated on: what it scores there tells nothing of other text."
    ]
    (before / "model.safetensors").write_bytes(b"another run's")
    assert trained_with(child, [test, learned]) == []


def test_identical_runs_differ_by_chance_alone(folder):
    for ranking in compared(folder, "good", "same", "test.tsv")["rankings"]:
        assert ranking["places"][1]["behind"] == 0
        assert ranking["places"][1]["p_value"] == 1.0


def test_runs_with_other_labels_are_not_ranked_and_the_reason_is_said(folder):
    found = compared(folder, "good", "other", "test.tsv")
    for ranking in found["rankings"]:
        assert ranking["places"] == []
        assert "the set of labels differs" in ranking["refused"][0]
        assert "ocean" in ranking["refused"][0]
    good, other = (run["figures"]["accuracy, %"]["value"] for run in found["runs"])
    assert good - other == pytest.approx(25, abs=6), "a label that it does not know is wrong"


def test_outputs_stand_side_by_side_with_what_was_wanted(folder):
    found = compared(folder, "good", "same", "test.tsv")
    assert len(found["side_by_side"]) == 10
    for one in found["side_by_side"]:
        assert [output["run"] for output in one["outputs"]] == ["good", "same"]
        assert one["outputs"][0]["text"] == one["wanted"]


def test_other_files_and_tags_are_refused(folder):
    runs = [str(folder / name) for name in ("good", "poor")]
    (folder / "both.tsv").write_text("sea|city\tship street\n", encoding="utf-8")
    for flags, wanted in (
        (("--corpus", str(folder / "both.tsv")), "both.tsv has sea, city. Leave that line out"),
        (("--source", "x"), "runs that label are compared on --corpus F; got --source"),
        (("--tag", "x"), "got --tag"),
        (("--corpus", str(folder / "none.tsv")), "none.tsv"),
    ):
        done = command("compare", *runs, *flags)
        assert done.status == 2
        assert wanted in done.err


def test_validation_texts_that_have_changed_are_refused(folder):
    changed = folder / "renamed.tsv"
    before = changed.read_text(encoding="utf-8")
    changed.write_text(before + "sea\tship\n", encoding="utf-8")
    done = command("compare", str(folder / "other"), str(folder / "good"))
    changed.write_text(before, encoding="utf-8")
    assert done.status == 2
    assert "has changed since" in done.err
