"""Which words decided a tag, and runs of tagging compared."""

import json
from itertools import product

import pytest
import torch
from entities import sentences, write_tagged
from everyday_run import command

from headway.inspection.opened_labellers import tagger

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
FLAGS = (
    "--model.type=transformer", "--model.d-model=16", "--model.d-ff=16", "--model.layers=1",
    "--model.heads=2", "--training.learning-rate=0.01", "--text.vocabulary-size=300",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagged")
    for name, n, seed in (("train", 200, 1), ("valid", 30, 2), ("test", 30, 3)):
        write_tagged(folder / f"{name}.conll", sentences(n, seed=seed))
    files = ("--corpus", str(folder / "train.conll"), "--valid-corpus", str(folder / "valid.conll"))
    for name, steps in (("good", 60), ("poor", 6)):
        done = command("train", "--task", "tagging", *files, "--out", str(folder / name), *FLAGS,
                       f"--training.max-steps={steps}")  # fmt: skip
        assert done.status == 0, done.err
    return folder


def test_what_is_asked_are_the_marginals_of_the_chain(folder):
    """Brute force: all taggings of a short sentence."""
    inspected = tagger(folder / "good")
    (text, *_) = inspected.read("Ada Lovelace saw Rome")
    reader = inspected.reader
    model = reader.model
    n_tags = len(inspected.labels)
    starts = [places[0] for places in text.places]
    emissions = reader.read([text])[:, starts]
    there = torch.ones(1, len(starts), dtype=torch.bool, device=emissions.device)
    total = dict.fromkeys(range(n_tags), 0.0)
    for tags in product(range(n_tags), repeat=len(starts)):
        score = model.chain.score(emissions, there.new_tensor([tags], dtype=torch.long), there)
        total[tags[text.asked]] += score.double().exp().item()
    wanted = [one / sum(total.values()) for one in total.values()]
    assert reader.probs([text])[0].tolist() == pytest.approx(wanted, abs=1e-4)


def test_it_looks_at_the_first_word_of_each_span_and_that_word_is_never_removed(folder):
    done = command("inspect", str(folder / "good"), "yesterday Ada Lovelace saw Paris", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    asked = {text["words"][text["asked"]]: text for text in told["texts"]}
    assert [*asked] == ["Ada", "Paris"]
    assert asked["Ada"]["labels"][0]["label"].endswith("PER")
    for word, text in asked.items():
        for removed in text["removed"].values():
            assert len(removed["words"]) == 3
            assert word not in removed["words"]
    assert told["texts"][0]["attention"]
    assert not told["texts"][1]["attention"], "a text's attention is drawn once"


def test_test_files_of_other_tags_are_refused_as_evaluate_refuses_them(folder):
    other = folder / "other.conll"
    other.write_text("Anna\tB-ANIMAL\nran\tO\n\n", encoding="utf-8")
    run, wanted = str(folder / "good"), "a run is asked for tags that it knows; 'ANIMAL'"
    for words in (("compare", run, str(folder / "poor")), ("evaluate", run)):
        done = command(*words, "--corpus", str(other))
        assert done.status == 2
        assert wanted in done.err


def test_runs_are_compared_by_the_figures_of_evaluate(folder):
    runs, test = [str(folder / name) for name in ("poor", "good")], str(folder / "test.conll")
    done = command("compare", *runs, "--corpus", test, "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    for run in found["runs"]:
        alone = json.loads(command("evaluate", run["run"], "--corpus", test, "--json").out)
        for name in ("f1", "precision", "recall", "accuracy"):
            assert run["figures"][f"{name}, %"]["value"] == pytest.approx(alone[name]["score"])
    first, second = found["rankings"][0]["places"]
    assert (first["run"], second["run"]) == ("good", "poor")
    assert second["p_value"] < 0.05
