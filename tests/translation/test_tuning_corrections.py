"""A reviewer's corrections are made in the parent's pairs, and what is taken up is counted."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from everyday_run import command, left_behind, train, write_corpus

from headway.core.config import merge
from headway.core.run_folder import RunFolder
from headway.core.search import decode_all
from headway.core.subwords import Subwords
from headway.demo import generate
from headway.localization.checks.output_checks import ModelEvidence
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.translation import run_data, tuning_corrections, tuning_data
from headway.translation.measuring import measure
from headway.translation.replacements import Correction, Replacement
from headway.translation.spec import SPEC
from headway.translation.tuning import CorrectionUptake, TuningTask
from headway.translation.tuning_data import TunedPairs


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 updates on 300 pairs, beside its texts."""
    folder = tmp_path_factory.mktemp("parent")
    done = train(write_corpus(folder), folder / "run")
    assert done.status == 0, done.err
    return folder


@pytest.fixture
def fix(tmp_path: Path) -> Path:
    """Ten corrections of the comma, and five units that were left as they were."""
    written = generate(200, seed=99)
    changed = [(s, t.replace("，", "；"), t) for s, t in written if "，" in t][:10]
    left = [(s, t, t) for s, t in written if "，" not in t][:5]
    path = tmp_path / "fix.tsv"
    rows = [("source", "target", "before"), *changed, *left]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(parent: Path, fix: Path, say: Say = lambda _: None) -> TunedPairs:
    before = RunFolder(parent / "run")
    given = {"pairs": [str(fix)], "old_run": str(before.path), "source": [], "target": []}
    none = {"valid_source": [], "valid_target": [], "valid_size": 0}
    settings = Settings.of(merge(before.settings(), {"data": {**given, **none}}), SPEC)
    found = tuning_data.read(settings, Subwords.load(before.tokenizer), say)
    assert isinstance(found, TunedPairs)
    return found


def test_no_old_pair_gainsays_a_correction_and_what_is_measured_on_is_not_learned(parent, fix):
    found = read(parent, fix)
    train_, valid, subwords = found.prepared.train, found.prepared.valid, found.vocabulary
    targets = subwords.decode_batch([train_["target"][i] for i in range(len(train_))])
    assert found.taught is not None
    assert len(found.taught.corrections) == 10
    assert [(one.old, one.new) for one in found.taught.replacements] == [("，", "；")]
    assert not any("，" in text for text in targets)
    assert sum("；" in text for text in targets[15:]) > 20, "they say it now"
    known = [train_["source"][i].tobytes() for i in range(len(train_))]
    like = range(len(valid) - found.n_like, len(valid))
    assert len(like) >= 10
    assert not {valid["source"][i].tobytes() for i in like} & set(known)
    assert all("；" in found.prepared.valid_texts[i][1] or i < len(valid) for i in like)
    others = range(found.n_new_valid, len(valid) - found.n_like)
    assert not any("，" in found.prepared.valid_texts[i][1] for i in others)
    assert found.prepared.weights is not None
    assert len(found.prepared.weights) == len(train_)


def test_corrections_with_a_tag_are_corrections_as_well(parent, fix):
    """They are looked up, and their words weighed, without it."""
    pairs = {"source": [], "target": [], "valid_source": [], "valid_target": [], "valid_size": 0}
    before = RunFolder(parent / "run")
    found = []
    for name in (str(fix), f"{fix}:tag=acme"):
        given = {"data": {**pairs, "pairs": [name], "old_run": str(before.path)}}
        settings = Settings.of(merge(before.settings(), given), SPEC)
        subwords = Subwords.load(before.tokenizer)
        whole = tuning_data.pairs.read(settings, subwords, lambda _: None, few=True)
        found.append(tuning_corrections.reviewed(whole, before.path))
    plain, with_tag = found
    assert len(plain) == 15
    assert len(with_tag) > 10  # some are too long with a tag that is spelled in letters
    assert {*with_tag} < {*plain}


def test_a_table_of_which_nothing_was_changed_is_said_to_be_no_review(parent, tmp_path):
    same = tmp_path / "same.tsv"
    rows = [("source", "target", "before"), *((s, t, t) for s, t in generate(20, seed=99))]
    same.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    said: list[str] = []
    read(parent, same, said.append)
    assert any(line.startswith("no corrections are learned") for line in said)
    assert not any(line.startswith("0 pairs") for line in said)


def test_a_table_without_what_stood_there_before_is_compared_with_what_the_parent_writes(
    parent, tmp_path, monkeypatch
):
    written = generate(200, seed=99)
    own = [(s, t.replace("，", "；")) for s, t in written if "，" in t][:8]
    path = tmp_path / "own.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in own), encoding="utf-8")
    texts = [t.replace("；", "，") for _, t in own]
    monkeypatch.setattr(tuning_corrections, "written_by", lambda run, sources: texts)
    assert len(found.corrections) == 8 if (found := read(parent, path).taught) else False
    monkeypatch.setattr(tuning_corrections, "written_by", lambda run, sources: ["别的"] * 8)
    assert read(parent, path).taught is None, "the parent writes something else: no review"


def test_cues_are_the_words_that_stand_beside_what_is_replaced():
    pairs = [("a man runs", "ein Mann"), ("the man sits", "der Mann"), ("a guy", "ein Mann")]
    pairs += [("a dog runs", "ein Hund"), ("the dog sits", "der Hund"), ("a cat", "eine Katze")]
    words = [frozenset(source.split()) for source, _ in pairs]
    targets = [target for _, target in pairs]
    replacements = [Replacement("Mann", "Herr")]
    corrected = [Correction("a man runs", "ein Herr", "ein Mann")]
    found = tuning_corrections.cues(replacements, corrected, words, targets)
    assert found == {"man"}
    made = [
        tuning_corrections.rewritten(known, target, replacements, found)
        for known, target in zip(words, targets, strict=True)
    ]
    assert made == ["ein Herr", "der Herr", None, *targets[3:]]


def test_where_a_change_seldom_was_all_nothing_says_how_the_target_would_be():
    sure, unsure = Replacement("eine Frau", "ein Kind"), Replacement("Frau", "Kind", reliable=False)
    cues = frozenset({"woman"})
    made = [
        tuning_corrections.rewritten(cues, text, [sure, unsure], cues)
        for text in ("Eine Frau rennt", "Seine Frau rennt", "Ein Hund rennt")
    ]
    assert made == ["Ein Kind rennt", None, "Ein Hund rennt"]


def test_what_is_measured_on_holds_also_what_no_replacement_explains(parent):
    folder = RunFolder(parent / "run")
    old = run_data.pairs_of(folder.path, Subwords.load(folder.tokenizer))
    written = [one for one in generate(200, seed=99) if "，" in one[1]]
    found = [Correction(s, t.replace("，", "；"), t) for s, t in written[:10]]
    taught = tuning_corrections.taught(found, old)
    part = taught.rewritten[: len(taught.rewritten) // 2]
    rest = np.setdiff1d(taught.rewritten, part)
    unsure = replace(taught, rewritten=part, gainsaying=rest)
    _, like = unsure.like(old.valid_rows()[:0], np.arange(len(old.prepared.train)))
    assert np.intersect1d(like, part).size
    assert np.intersect1d(like, rest).size


@pytest.mark.parametrize("few", [False, True])
def test_confidences_are_measured_on_what_no_run_has_learned(parent, fix, tmp_path, few):
    """All that was learned is translated as its reference, all else into nothing that is meant."""
    if few:
        fix = tmp_path / "few.tsv"
        fix.write_text("".join(f"{s}\t{t}\n" for s, t in generate(8, seed=99)), encoding="utf-8")
    found = read(parent, fix)
    before = run_data.pairs_of(parent / "run", found.vocabulary).prepared.train
    stores = (before, found.prepared.train)
    learned = {one["source"][i].tobytes() for one in stores for i in range(len(one))}
    rows, valid = found.valid_rows(), found.prepared.valid
    known = [valid["source"][row].tobytes() in learned for row in rows]
    both = zip(known, found.prepared.valid_texts, strict=True)
    written = [text if one else "?" for one, (_, text) in both]
    readings = [[ModelEvidence(["a", "b"], [-1.0, -2.0])]] * len(rows)
    trust = measure(found, ("en", "zh"), rows, readings, written).trust
    assert any(known)
    assert (trust.good, trust.sentences > 0) == (0.0, True)
    assert trust.sentences == known.count(False) or not few


def test_what_is_taken_up_is_counted_and_told(parent, fix):
    found = read(parent, fix)
    settings = Settings.of(RunFolder(parent / "run").settings(), SPEC)
    task = TuningTask(settings, found, torch.device("cpu"), decode_all)
    wanted = list(task.valid_texts)
    n = len(wanted) - found.n_like
    task.before = {"like": ["它，也"] * found.n_like}
    old = [text.replace("；", "，") for text in wanted[:n]] + ["它，也"] * found.n_like
    new = wanted[:n] + ["它；也"] * found.n_like
    assert task.taken_up(old) == CorrectionUptake(0, 10, 0, found.n_like)
    assert task.taken_up(new) == CorrectionUptake(10, 10, found.n_like, found.n_like)
    assert (task.taken_up(old).share, task.taken_up(new).share) == (0, 1)
    told = task.taken_up(new).words(task.taken_up(old))
    assert "10 of 10 corrections (0 before)" in told
    assert f"on {found.n_like} sentences like them" in told
    assert "nothing could be measured" in CorrectionUptake(1, 2, 0, 0).words(
        CorrectionUptake(0, 2, 0, 0)
    )


def test_a_run_that_learns_corrections_says_what_it_took_up_and_resumes_alike(
    parent, fix, tmp_path
):
    whole = tmp_path / "whole"
    steps = ["--training.max-steps=6", "--training.checkpoint-every=3", "--runtime.threads=1"]
    given = ["--init-from", str(parent / "run"), "--pairs", str(fix), *steps]
    done = command("train", *given, "--out", str(whole), "--forget-at-most", "100")
    assert done.status == 0, done.err
    assert "of 10 corrections" in done.err
    folder = RunFolder(whole)
    assert "of 10 corrections" in folder.card.read_text("utf-8")
    log = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert all(0 <= line["taken_up"] <= 100 for line in log if "bleu" in line)
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    RunFolder(copy).write_settings(merge(folder.settings(), {"run": {"finished": False}}))
    shutil.rmtree(copy / "checkpoints" / "step-6")
    done = command("train", "--out", str(copy), "--resume")
    assert done.status == 0, done.err
    assert left_behind(copy) == left_behind(whole)
    assert np.isfinite(log[0]["taken_up"])


def test_by_itself_a_review_is_learned_gently_and_in_a_fixed_number_of_tokens(parent, fix):
    found = read(parent, fix)
    settings = Settings.of(RunFolder(parent / "run").settings(), SPEC)
    training = tuning_data.complete({}, settings, found)["training"]
    per_update = settings.training.batch_tokens * settings.training.accumulate
    assert training["max_steps"] == -(-tuning_data.REVIEW_SEEN // per_update)
    asked = tuning_data.complete({"training": {"budget": "9m"}}, settings, found)
    assert "max_steps" not in asked.get("training", {})
