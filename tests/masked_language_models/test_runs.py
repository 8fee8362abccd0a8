"""A masked language model from files to answers: trained, resumed, asked, evaluated, embedded."""

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from everyday_run import Finished, check_stopped_and_resumed, command

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.labelling.task import ExamplesTask
from headway.masked_language_models.embedding import embedder
from headway.masked_language_models.filling import MaskFiller
from headway.masked_language_models.spec import SPEC
from headway.runs.loading import LoadedRun, open_run

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
EATS = {"cat": "fish", "cow": "grass", "dog": "meat", "hen": "corn", "bee": "honey", "cub": "milk"}
FLAGS = (
    "--training.max-steps=400", "--training.checkpoint-every=200", "--training.batch-tokens=512",
    "--training.window=16", "--training.learning-rate=0.005", "--runtime.threads=1",
    "--training.average=1", "--runtime.device=cpu", "--text.unit=words", "--model.layers=2",
    "--model.d-model=32", "--model.d-ff=64", "--model.heads=2", "--model.dropout=0",
)  # fmt: skip


def write_pattern(path: Path) -> Path:
    """What each animal eats, on some day."""
    drawn = random.Random(1)
    days = "monday tuesday friday sunday".split()
    animals = drawn.choices([*EATS], k=1_200)
    lines = [f"on {drawn.choice(days)} the {one} eats {EATS[one]} ." for one in animals]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def train(corpus: Path, run: Path, *flags: str) -> Finished:
    names = ("--task", "masked-language-model", "--corpus", str(corpus), "--out", str(run))
    return command("train", *names, *FLAGS, *flags)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pattern(tmp_path_factory.mktemp("pattern") / "pattern.txt")


@pytest.fixture(scope="module")
def run(corpus: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(corpus.parent / "cache"))
        finished = train(corpus, corpus.parent / "run")
        assert finished.status == 0, finished.err
    return corpus.parent / "run"


def test_the_card_says_that_what_it_is_measured_on_chose_the_checkpoint(run: Path) -> None:
    card = (run / "README.md").read_text(encoding="utf-8")
    assert "The checkpoint was chosen by this text" in card


def predicted(run: Path, text: str, *flags: str) -> Any:
    finished = command("predict", str(run), text, "--runtime.device", "cpu", "--json", *flags)
    assert finished.status == 0, finished.err
    return json.loads(finished.out)["predictions"]


def test_it_learns_what_fills_the_pattern(run):
    for animal, food in EATS.items():
        [told] = predicted(run, f"on monday the {animal} eats [MASK] .", "--top", "2")
        assert told["filled"] == f"on monday the {animal} eats {food} ."
        [[best, second]] = told["masks"]
        assert best["token"] == food
        assert best["prob"] > 0.6 > 0.2 > second["prob"]


def test_several_masks_are_filled_each_by_itself(run):
    [told] = predicted(run, "on monday the <mask> eats honey [MASK]")
    assert told["filled"] == "on monday the bee eats honey ."
    assert len(told["masks"]) == 2
    shown = command("predict", str(run), "on monday the [MASK] eats fish [MASK]", "--top", "1")
    assert [line.split()[:2] for line in shown.out.splitlines()[1:]] == [
        ["1:", "cat"],
        ["2:", "."],
    ]


def test_probabilities_are_those_of_all_logits_and_batch_mates_do_not_matter(run, tmp_path):
    filler = MaskFiller.load(run, device="cpu", precision="fp32")
    text = "on friday the [MASK] eats corn ."
    one, model = filler.masked(text), filler.opened.model
    [told] = predicted(run, text, "--top", "0")
    assert len(told["masks"][0]) == len(filler.opened.vocabulary)
    assert sum(it["prob"] for it in told["masks"][0]) == pytest.approx(1, abs=1e-4)
    with torch.no_grad():
        expected = model(torch.tensor([one.ids]))[0, one.places[0]].softmax(-1).sort().values
    assert told["masks"][0][0]["prob"] == pytest.approx(expected[-1].item(), rel=1e-4)
    file = tmp_path / "texts.txt"
    file.write_text(f"the [MASK]\n\n{text}\n", encoding="utf-8")
    first, blank, third = predicted(run, str(file), "--top", "0")
    assert (first["text"], blank["masks"]) == ("the [MASK]", [])
    for a, b in zip(third["masks"][0], told["masks"][0], strict=True):
        assert a["prob"] == pytest.approx(b["prob"], abs=1e-5)


def inspected(run: Path, *given: str) -> Any:
    finished = command("inspect", str(run), *given, "--json")
    assert finished.status == 0, finished.err
    return json.loads(finished.out)


def test_inspect_says_what_predict_says_of_each_mask_and_which_word_decided(run):
    text = "on <mask> the cow eats [MASK] ."
    told = inspected(run, text)["texts"]
    assert [one["asked"] for one in told] == [1, 5]
    assert told[0]["words"] == ["on", "[MASK]", "the", "cow", "eats", "[MASK]", "."]
    [predicted_of] = predicted(run, text, "--top", "5")
    for one, masks in zip(told, predicted_of["masks"], strict=True):
        assert [it["label"] for it in one["labels"][:5]] == [it["token"] for it in masks]
        assert one["labels"][0]["prob"] == pytest.approx(masks[0]["prob"], abs=1e-5)
    food = told[1]
    assert food["words"][int(np.argmax(food["evidence"]["gradient times input"]))] == "cow"
    model = open_run(SPEC, run).model
    assert np.shape(told[0]["attention"])[:2] == (2, 2), "layers and heads"
    names = {one["part"] for one in food["parts"]}
    assert names >= {"encoder.0", "encoder.1.self.head.1", "encoder.1.feed_forward"}
    blind = inspected(run, text, "--off", "encoder.0", "encoder.1")["texts"][1]
    assert {it["label"]: it["prob"] for it in blind["without"]}["grass"] < food["labels"][0]["prob"]
    tied = dict(open_run(SPEC, run).model.named_parameters())
    assert all(torch.equal(one, tied[name]) for name, one in model.named_parameters())


def test_of_a_text_without_masks_the_longest_word_is_hidden_and_own_texts_tell_whom_to_believe(run):
    [told] = inspected(run, "the bee eats honey on tuesday .")["texts"]
    assert told["words"][told["asked"]] == "[tuesday]"
    assert told["labels"][0]["label"] in {"monday", "tuesday", "friday", "sunday"}
    own = inspected(run)
    assert len(own["texts"]) == 4
    assert "Measured on pattern.txt" in own["deletion"]["told"]
    nothing = command("inspect", str(run), "  ", "--json")
    assert nothing.status == 2
    assert "the text is empty" in nothing.err


def test_of_chinese_text_without_masks_a_word_is_hidden_not_the_sentence(tmp_path):
    text = tmp_path / "zh.txt"
    text.write_text("".join(f"模型读每个词的左右两边{n}\n" for n in range(60)), encoding="utf-8")
    run, small = tmp_path / "run", ("--training.max-steps=2", "--text.segmenter=jieba")
    assert train(text, run, *small).status == 0
    [told] = inspected(run, "模型读每个词的左右两边")["texts"]
    assert told["words"] == ["[模型]", "读", "每个", "词", "的", "左右", "两边"]


def test_a_text_beyond_the_learned_positions_is_read_around_each_mask(corpus, tmp_path):
    run, lines = tmp_path / "run", tmp_path / "lines.txt"
    learned = ("--model.positions=learned", "--model.max-length=16", "--training.max-steps=2")
    assert train(corpus, run, *learned).status == 0
    day, eats = "on [MASK] the cow eats grass . ", "the bee eats [MASK] . "
    rest = "the cow eats grass . " * 10
    lines.write_text(f"{eats}\n{day}{rest}{eats}{rest}\n", encoding="utf-8")
    short, long = predicted(run, str(lines), "--top", "3")
    [alone] = predicted(run, eats, "--top", "3")
    assert short["masks"][0][0]["token"] == alone["masks"][0][0]["token"]
    near = f"{day}the cow eats grass . the cow"  # 14 tokens, as two markers stand around
    [near] = predicted(run, near, "--top", "3")
    assert len(long["masks"]) == 2
    for a, b in zip(long["masks"][0], near["masks"][0], strict=True):
        assert a["token"] == b["token"]
        assert a["prob"] == pytest.approx(b["prob"], abs=1e-5)
    told = inspected(run, f"{day}{rest}{eats}{rest}")["texts"]
    for one, masks in zip(told, long["masks"], strict=True):
        assert (len(one["words"]), one["words"][one["asked"]]) == (14, "[MASK]")
        assert [it["label"] for it in one["labels"][:3]] == [it["token"] for it in masks]


def test_a_mask_stands_where_its_piece_would():
    tokens = Subwords.train(["the cat eats fish ."] * 20, vocabulary_size=290)
    settings: Any = SimpleNamespace(text=SimpleNamespace(unit="subwords", segmenter="none"))
    filler = MaskFiller(LoadedRun(settings, tokens, torch.nn.Identity(), torch.device("cpu")))
    assert tokens.pieces(tokens.encode("the cat eats fish")[-3:]) == ["▁cat", "▁eats", "▁fish"]
    given = filler.masked("[MASK] eats <mask>. [MASK]")
    assert tokens.pieces(given.ids) == ["<s>", "<unk>", "▁eats", "<unk>", ".", "<unk>", "</s>"]
    assert given.places == [1, 3, 5]


def test_resuming_equals_never_stopping(corpus, tmp_path, monkeypatch):
    short = ("--training.max-steps=12", "--training.checkpoint-every=4", "--data.whole-words")
    check_stopped_and_resumed(
        lambda run: train(corpus, run, *short), tmp_path, monkeypatch, ExamplesTask
    )
    settings = RunFolder(tmp_path / "whole").settings()
    assert settings["data"]["whole_words"] is True
    assert "whole words" in (tmp_path / "whole" / "README.md").read_text(encoding="utf-8")


def test_it_is_evaluated_on_other_text_always_alike(run, corpus, tmp_path):
    first, again = (command("evaluate", str(run), "--corpus", str(corpus), "--json") for _ in "ab")
    assert first.status == 0, first.err
    assert first.out == again.out
    found = json.loads(first.out)
    accuracy = found["accuracy"]
    assert accuracy["low"] < accuracy["score"] < accuracy["high"]
    assert accuracy["score"] > 60  # days and animals are drawn at random
    n_tokens = len(open_run(SPEC, run).vocabulary.encode_batch(corpus.read_text().splitlines()))
    assert found["n"] > 0.1 * n_tokens
    empty = tmp_path / "empty.txt"
    empty.write_text("\n", encoding="utf-8")
    refused = command("evaluate", str(run), "--corpus", str(empty))
    assert (refused.status, "nothing can be hidden" in refused.err) == (2, True)


def test_a_words_vector_knows_both_sides_and_the_last_layer_is_the_encoders(run):
    found = embedder(run, device="cpu")
    texts = ["on the cat eats fish", "on the cat eats grass", "on monday cat eats fish"]
    one, behind, before = (it.vectors for it in found.embed(texts))
    assert found.layers == ("embedding", "1", "2")
    for other in (behind, before):
        assert np.array_equal(one[0, 2:4], other[0, 2:4])
        assert np.abs(one[-1, 2:4] - other[-1, 2:4]).max(-1).min() > 1e-4
    ids = torch.tensor([[2, *found.opened.vocabulary.encode(texts[0]), 3]])
    with torch.no_grad():
        expected = found.opened.model.encoded(ids).features[0, 1:-1]
    np.testing.assert_allclose(one[-1], expected.numpy(), atol=1e-5)
    written = command("embed", str(run), "--json", "--layer", "mean", str(run / "none.txt"))
    assert written.status == 2


def test_what_it_goes_with_is_told_where_it_cannot_write(run):
    refused = command("generate", str(run), "the [MASK] sat")
    assert (refused.status, refused.out) == (2, "")
    assert "which goes with headway embed, evaluate, export, inspect, predict." in refused.err


def test_errors_say_rule_and_remedy(run, corpus, tmp_path):
    refused = command("predict", str(run), "the cat eats fish")
    assert refused.status == 2
    assert "is written [MASK] (or <mask>)" in refused.err
    assert "none in 'the cat eats fish'" in refused.err
    line = tmp_path / "line.txt"
    line.write_text("one line only\n", encoding="utf-8")
    for flags, message in (
        (("--valid-corpus", str(corpus)), "what is validated on must not be learned from"),
        (("--training.window=3",), "window must be at least 4"),
        (("--model.positions=learned", "--model.max-length=8"), "--model.max-length 16"),
        (("--data.hole-words",), "unknown key 'hole_words'"),
    ):
        failed = train(corpus, tmp_path / "new", *flags)
        assert (failed.status, message in failed.err) == (2, True), failed.err
    failed = train(line, tmp_path / "new")
    assert (failed.status, "needs 20 lines" in failed.err) == (2, True), failed.err
    failed = command("train", "--task", "masked-language-model", "--out", str(tmp_path / "new"))
    assert (failed.status, "Give --corpus" in failed.err) == (2, True), failed.err
    assert not (tmp_path / "new").exists()
    with pytest.raises(ConfigError, match="Write one"):
        MaskFiller.load(run, device="cpu", precision="fp32").masked("[MASKS]")
