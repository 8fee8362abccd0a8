"""A run that goes on from another sees its data again, and is chosen by both scores."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from everyday_run import command, left_behind, train, write_corpus

from headway.core.config import merge
from headway.core.errors import DataError
from headway.core.rows import SIDES
from headway.core.run_folder import RunFolder
from headway.core.search import decode_all
from headway.core.subwords import Subwords
from headway.corpora.mixing import Use
from headway.demo import generate
from headway.runs.settings import Settings
from headway.translation import tuning_data
from headway.translation.pairs import Pairs
from headway.translation.run_data import missing, pairs_of
from headway.translation.spec import SPEC
from headway.translation.tuning import TIE, TuningTask
from headway.translation.tuning_corrections import CorrectedParentPairs
from headway.translation.tuning_data import TunedPairs, _as_validated

STEPS = ["--training.max-steps=6", "--training.checkpoint-every=3", "--runtime.threads=1"]


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 updates on 300 pairs, beside its texts."""
    folder = tmp_path_factory.mktemp("parent")
    done = train(write_corpus(folder), folder / "run")
    assert done.status == 0, done.err
    return folder


@pytest.fixture
def own(tmp_path: Path, parent: Path) -> Path:
    """60 new pairs, the first of which corrects one of the parent's."""
    return corrected(parent, tmp_path / "own.tsv", 60)


def corrected(parent: Path, path: Path, n: int) -> Path:
    known = (parent / "train.en").read_text("utf-8").splitlines()[7]
    pairs = [(known, "改"), *generate(n - 1, seed=99)]
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    return path


def read(parent: Path, own: Path, **data: object) -> Pairs:
    before = RunFolder(parent / "run")
    given = {"pairs": [str(own)], "old_run": str(before.path), "source": [], "target": [], **data}
    settings = Settings.of(merge(before.settings(), {"data": given}), SPEC)
    return tuning_data.read(settings, Subwords.load(before.tokenizer), lambda _: None)


def texts(pairs: Pairs, side: str) -> list[bytes]:
    store = pairs.prepared.train
    return [store[side][i].tobytes() for i in range(len(store))]


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_the_share_of_what_is_seen_is_as_asked_and_new_pairs_are_seen_once(parent, own, share):
    found = read(parent, own, old_share=share)
    assert isinstance(found, TunedPairs)
    weights, lengths = found.prepared.weights, found.prepared.train.lengths["target"] + 1
    assert weights is not None
    n_new = len(weights) - found.n_old
    old = float(weights[n_new:] @ lengths[n_new:])
    assert old / (old + lengths[:n_new].sum()) == pytest.approx(share, abs=1e-3)
    assert found.share == pytest.approx(share, abs=1e-3)
    assert (weights[:n_new] == 1).all()
    assert (weights[n_new:] <= 1).all()
    n_seen = round(float(weights[n_new:].sum()))
    assert f"{n_seen:,} times one of {found.n_old:,} pairs in each pass" in found.mixture()[-1]


def test_a_review_that_touches_each_validation_pair_of_the_parent_is_measured_on_them(parent, own):
    before, new = pairs_of(parent / "run", None), read(parent, own).new.prepared
    rows, none = before.valid_rows(), np.zeros(0, np.int64)
    touched = {int(row): None for row in rows}
    review = CorrectedParentPairs([], [], before.prepared.train, none, none, touched)
    assert [*tuning_data._apart(new, before, review)[1]] == [*rows]
    del touched[int(rows[0])]
    assert [*tuning_data._apart(new, before, review)[1]] == [rows[0]]


def test_no_old_pair_gainsays_a_new_one_or_tells_what_is_validated_on(parent, own):
    found = read(parent, own)
    n_new = len(texts(found, "source")) - found.n_old
    new, old = texts(found, "source")[:n_new], texts(found, "source")[n_new:]
    assert not set(new) & set(old)
    valid = found.prepared.valid
    for side in ("source", "target"):
        held = {valid[side][i].tobytes() for i in range(len(valid))}
        assert not held & set(texts(found, side))
    assert 0 < found.n_new_valid < len(valid) == len(found.prepared.valid_texts)


def test_where_the_old_file_is_among_the_new_nothing_validated_on_is_learned(parent, tmp_path):
    both = (parent / "train.en").read_text("utf-8"), (parent / "train.zh").read_text("utf-8")
    own = tmp_path / "all.tsv"
    rows = zip(*(side.splitlines() for side in both), strict=True)
    own.write_text("".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8")
    found = read(parent, own)
    valid = found.prepared.valid
    for side in ("source", "target"):
        held = {valid[side][i].tobytes() for i in range(len(valid))}
        assert not held & set(texts(found, side))
    assert len(valid) > found.n_new_valid


@pytest.mark.parametrize("seed", [1, 2])
def test_what_the_parent_has_learned_of_the_new_pairs_for_validation_is_said(parent, own, seed):
    """Its own pairs among the new ones; by the same seed it had held out the same."""
    both = [(parent / f"train.{side}").read_text("utf-8").splitlines() for side in ("en", "zh")]
    own.write_text("".join(f"{s}\t{t}\n" for s, t in zip(*both, strict=True)), encoding="utf-8")
    before, said = RunFolder(parent / "run"), list[str]()
    given = {"pairs": [str(own)], "old_run": str(before.path), "source": [], "target": []}
    sections = merge(before.settings(), {"data": given, "runtime": {"seed": seed}})
    subwords = Subwords.load(before.tokenizer)
    found = tuning_data.read(Settings.of(sections, SPEC), subwords, said.append)
    assert isinstance(found, TunedPairs)
    store = pairs_of(before.path, subwords).prepared.train
    learned = {tuple(subwords.decode(store[side][i]) for side in SIDES) for i in range(len(store))}
    held = found.prepared.valid_texts[: found.n_new_valid]
    n = sum(pair in learned for pair in held)
    warned = f"WARNING: {n} of {len(held)} new pairs for validation are among"
    assert any(one.startswith(warned) for one in said) == (n > 0) == (seed == 2)


def test_few_new_pairs_are_all_learned_and_validated_on_beside_the_parents(parent, tmp_path):
    own = tmp_path / "few.tsv"
    pairs = generate(8, seed=99)
    own.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    found = read(parent, own, valid_size=0)
    assert isinstance(found, TunedPairs)
    valid, weights = found.prepared.valid, found.prepared.weights
    assert found.learned
    assert found.prepared.valid_texts[:8] == pairs
    for side in ("source", "target"):
        new = texts(found, side)[:8]
        assert new == [valid[side][i].tobytes() for i in range(8)]
        assert not set(new) & {valid[side][i].tobytes() for i in range(8, len(valid))}
    assert len(valid) > found.n_new_valid == 8
    assert weights is not None
    assert weights[:8].sum() == pytest.approx(tuning_data.FEW_AS)
    task = TuningTask(
        Settings.of(RunFolder(parent / "run").settings(), SPEC),
        found,
        torch.device("cpu"),
        decode_all,
    )
    task.before = {"searched": [50.0, 90.0]}
    assert "and nothing of sentences like them" in task.before_words([""] * len(valid))
    assert set(task.groups()) == {"new pairs, learned from", "the parent's pairs"}


def test_few_new_pairs_with_validation_pairs_of_their_own_are_scored_on_these(parent, tmp_path):
    files = [tmp_path / name for name in ("few.tsv", "valid.tsv")]
    for path, seed in zip(files, (99, 98), strict=True):
        rows = generate(5, seed=seed)
        path.write_text("".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8")
    none: dict[str, object] = {"valid_source": [], "valid_target": [], "valid_size": 0}
    found = read(parent, files[0], valid_pairs=[str(files[1])], **none)
    assert isinstance(found, TunedPairs)
    assert not found.learned
    assert found.prepared.valid_texts[:5] == generate(5, seed=98)


def test_what_is_gone_or_changed_is_named(parent, own, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(parent, copy)
    folder = RunFolder(copy / "run")
    assert missing(folder) == ""
    settings = {"source": [str(copy / "train.en")], "target": [str(copy / "train.zh")]}
    folder.write_settings(merge(folder.settings(), {"data": settings}))
    record = folder.record()
    sums = {name.replace(str(parent), str(copy)): s for name, s in record["sha256"].items()}
    (copy / "train.en").unlink()
    assert "train.en is gone" in missing(folder)
    with pytest.raises(DataError, match="train.en is gone. Put it back"):
        read(copy, own)
    assert sums.keys() != record["sha256"].keys()
    assert missing(RunFolder(tmp_path / "none")).endswith("none is gone")


def test_the_best_new_score_within_what_may_be_forgotten_is_chosen(parent, own):
    found = read(parent, own)
    settings = Settings.of(RunFolder(parent / "run").settings(), SPEC)
    task = TuningTask(settings, found, torch.device("cpu"), decode_all)
    before = [50.0, 90.0]
    ranks = [
        task.limited(new + TIE * old, before[1] - old)
        for new, old in ((100.0, 80.0), (100.0, 89.0), (50.0, 90.0), (60.0, 89.5), (70.0, 90.0))
    ]
    assert ranks == sorted(ranks), "the more is forgotten beyond the limit, the worse"
    assert ranks[1] < 0 < ranks[2]
    task.before = {"greedy": before, "searched": before}
    again = TuningTask(settings, found, torch.device("cpu"), decode_all)
    again.load_state_dict(task.state_dict())
    assert again.before == task.before


@pytest.mark.parametrize("n_new", [60, 250])
def test_a_tuned_run_scores_both_stops_and_goes_on_as_if_it_never_had(parent, tmp_path, n_new):
    """Also where the parent has too little to be three quarters of what is seen."""
    own = corrected(parent, tmp_path / "own.tsv", n_new)

    def tuned(out: Path, *more: str) -> Path:
        given = ["--init-from", str(parent / "run"), "--pairs", str(own), *STEPS]
        done = command("train", *given, "--out", str(out), *more)
        assert done.status == 0, done.err
        return out

    whole = tuned(tmp_path / "whole", "--forget-at-most", "100")
    log = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert all("old_bleu" in line for line in log if "bleu" in line)
    folder = RunFolder(whole)
    share = folder.record()["mixture"][-1]["share"]
    assert folder.settings()["data"]["old_share"] == tuning_data.OLD_SHARE, "what was wanted"
    assert share < 0.6 if n_new == 250 else share == pytest.approx(tuning_data.OLD_SHARE, abs=1e-3)
    card = folder.card.read_text("utf-8")
    assert "new pairs" in card
    assert "the parent's pairs" in card
    copy = tmp_path / "copy"
    shutil.copytree(whole, copy)
    stopped = RunFolder(copy)
    stopped.write_settings(merge(stopped.settings(), {"run": {"finished": False}}))
    shutil.rmtree(copy / "checkpoints" / "step-6")
    done = command("train", "--out", str(copy), "--resume")
    assert done.status == 0, done.err
    assert left_behind(copy) == left_behind(whole)
    assert np.isfinite(log[0]["old_bleu"])


def test_a_learned_pair_that_is_measured_on_is_as_the_validation_pairs_are():
    uses = [Use(tag="other", target_language="fr"), Use(tag="mine", target_language="de")]
    of_mine = _as_validated(("<mine> a dog", "ein Hund"), uses)
    assert of_mine == (("a dog", "ein Hund"), uses[1])
    assert _as_validated(("a cat", "un chat"), uses) == (("a cat", "un chat"), uses[0])
