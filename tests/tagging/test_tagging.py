"""The task, from files to predictions, by its commands."""

import json
from pathlib import Path

import pytest
import torch
from entities import sentences, write_tagged
from everyday_run import Finished, command

from headway.core.run_folder import RunFolder
from headway.tagging.conll import columns, read_tagged
from headway.tagging.predicting import WordTagger
from headway.tagging.schemes import SCHEMES, n_violations, spans_of

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

FLAGS = (
    "--model.type=transformer", "--model.d-model=32", "--model.d-ff=32", "--model.heads=2",
    "--model.layers=1", "--model.dropout=0.1", "--training.batch-tokens=300",
    "--training.learning-rate=0.01", "--training.log-every=5", "--training.average=2",
    "--runtime.threads=1", "--runtime.device=cpu",
)  # fmt: skip


def train(run: Path, corpus: Path, *flags: str, steps: int = 40) -> Finished:
    end = f"--training.max-steps={steps}", f"--training.checkpoint-every={steps // 2}"
    return command(
        "train",
        "--task",
        "tagging",
        "--corpus",
        str(corpus),
        "--out",
        str(run),
        *FLAGS,
        *end,
        *flags,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run on English names in BIOES, and the file that it has learned."""
    folder = tmp_path_factory.mktemp("tagging")
    corpus = write_tagged(folder / "train.conll", sentences(60), "BILOU")
    valid = write_tagged(folder / "v.conll", sentences(20, seed=2), "BILOU")
    done = train(folder / "run", corpus, "--valid-corpus", str(valid))
    assert done.status == 0, done.err
    assert "tags: BILOU, learned as BIOES" in done.err
    assert "of a token in several sub-words the first is tagged" in done.err
    return folder / "run", valid


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on Chinese characters in BMES."""
    folder = tmp_path_factory.mktemp("chinese")
    corpus = write_tagged(folder / "train.conll", sentences(60, chinese=True), "BMES", " ")
    done = train(folder / "run", corpus, "--model.head=linear", "--model.spelling=false")
    assert done.status == 0, done.err
    assert "unit: characters, as the tokens are" in done.err
    return folder / "run"


def test_of_sentences_that_all_come_twice_none_is_held_out_beside_its_like(tmp_path):
    corpus = write_tagged(tmp_path / "train.conll", sentences(30) * 2, "BIOES")
    said = train(tmp_path / "run", corpus, steps=2).err
    assert "6 of 60 sentences are held out" in said
    assert "to learn from as well" not in said


def test_a_type_that_is_validated_on_alone_is_said(tmp_path):
    corpus = write_tagged(tmp_path / "train.conll", sentences(30), "IOB2")
    valid = write_tagged(tmp_path / "v.conll", sentences(20, seed=2), "IOB2")
    for tag, said in (("PER", False), ("EVENT", True)):
        valid.write_text(valid.read_text("utf-8") + f"\nOlympics B-{tag}\n", "utf-8")
        done = train(tmp_path / tag, corpus, "--valid-corpus", str(valid), steps=2)
        assert done.status == 0, done.err
        assert ("only in what is validated on, so that nobody can learn it: E" in done.err) is said


def test_tokens_that_a_parent_does_not_know_are_said(chinese, tmp_path):
    corpus = write_tagged(tmp_path / "english.conll", sentences(30), "BILOU")
    done = train(tmp_path / "run", corpus, "--init-from", str(chinese), steps=2)
    assert "of what is read are unknown words to the run that this one begins with" in done.err


def test_names_are_learned_and_scored(trained):
    run, valid = trained
    done = command("evaluate", str(run), "--corpus", str(valid), "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["f1"]["score"] > 95
    assert told["f1"]["low"] <= told["f1"]["score"] <= told["f1"]["high"]
    assert {row["label"] for row in told["labels"]} == {"LOC", "PER"}
    assert "(BILOU)" in told["notes"][0]
    shown = command("evaluate", str(run), "--corpus", str(valid))
    assert "F1" in shown.out
    assert "PER" in shown.out
    assert "strict F1 of spans (BILOU)" in (run / "README.md").read_text("utf-8")


def test_a_file_of_another_scheme_is_scored_alike(trained, tmp_path):
    told = []
    for scheme in SCHEMES:
        path = write_tagged(tmp_path / scheme, sentences(20, seed=2), scheme)
        told.append(
            json.loads(command("evaluate", str(trained[0]), "--corpus", str(path), "--json").out)
        )
    assert len({one["f1"]["score"] for one in told}) == 1


def test_ten_examples_are_learned_by_heart(tmp_path):
    for head in ("crf", "linear"):
        ten = write_tagged(tmp_path / f"ten-{head}", sentences(10, seed=7))
        valid = (
            "--valid-corpus",
            str(write_tagged(tmp_path / f"same-{head}", sentences(10, seed=7))),
        )
        run = tmp_path / head
        done = train(run, ten, *valid, f"--model.head={head}", "--model.dropout=0", steps=60)
        assert done.status == 0, done.err
        assert "F1 100.00" in done.err


def test_a_predicted_file_keeps_its_lines_and_columns(trained, tmp_path):
    given = (
        "-DOCSTART- X O\n\nAda NNP O\nLovelace NNP O\nsaw VB O\nRome NNP O\n\n\n"
        "Alan NNP O\nTuring NNP O\n"
    )
    path = tmp_path / "given.conll"
    path.write_text(given, "utf-8")
    done = command("predict", str(trained[0]), str(path))
    assert done.status == 0, done.err
    lines, before = done.out.splitlines(), given.splitlines()
    assert len(lines) == len(before)
    for one, other in zip(lines, before, strict=True):
        assert columns(one)[:2] == columns(other)[:2]
        if not columns(other):
            assert one == other
    assert [line.split()[-1] for line in lines if columns(line)] == [
        "B-PER", "L-PER", "O", "U-LOC", "B-PER", "L-PER",
    ]  # fmt: skip
    path.write_text(given.replace("Rome NNP O", "Rome NNP B-FOREIGN"), "utf-8")
    assert command("predict", str(trained[0]), str(path)).out == done.out
    path.write_text(
        "".join(f"{row[0]}\n" if (row := columns(line)) else "\n" for line in before), "utf-8"
    )
    added = command("predict", str(trained[0]), str(path))
    assert [line for line in added.out.splitlines() if line][:2] == [
        "Ada\tB-PER",
        "Lovelace\tL-PER",
    ]


def test_a_line_of_text_is_cut_marked_and_told_with_characters(trained):
    text = "yesterday Grace Hopper saw  Cape Town."
    done = command("predict", str(trained[0]), text)
    assert done.out == "yesterday [Grace Hopper PER] saw  [Cape Town LOC].\n"
    [told] = json.loads(command("predict", str(trained[0]), text, "--json").out)["predictions"]
    assert told["tokens"][-2:] == ["Town", "."]
    for span in told["spans"]:
        assert text[span["start"] : span["end"]] == span["text"]
    assert [(s["label"], s["text"]) for s in told["spans"]] == [
        ("PER", "Grace Hopper"), ("LOC", "Cape Town"),
    ]  # fmt: skip


def test_a_terminal_is_shown_colors(trained):
    from headway.labelling.predictions import Asked

    tagger = WordTagger.load(trained[0], device="cpu")
    [answer] = tagger.answers(Asked("Rome", 1, colored=True), iter(["Rome is far"]))
    assert answer.shown == "\x1b[36mRome\x1b[2m LOC\x1b[0m is far"
    assert [one.shown for one in tagger.answers(Asked("", 1, colored=False), iter(["", " "]))] == [
        "",
        " ",
    ]


def test_chinese_is_cut_into_characters(chinese, tmp_path):
    [told] = json.loads(command("predict", str(chinese), "昨天李华 去了北京", "--json").out)[
        "predictions"
    ]
    assert told["tokens"] == [*"昨天李华去了北京"]
    assert [(s["start"], s["end"], s["text"]) for s in told["spans"]] == [
        (2, 4, "李华"),
        (7, 9, "北京"),
    ]
    path = tmp_path / "one.txt"
    path.write_text("昨天李华去了北京\n李华住在上海。\n", "utf-8")  # text: no line is one character
    assert command("predict", str(chinese), str(path)).out.splitlines()[0] == (
        "昨天[李华 PER]去了[北京 LOC]"
    )


def test_batch_mates_and_portions_do_not_matter(trained):
    tagger = WordTagger.load(trained[0], device="cpu")
    some = [tokens for tokens, _ in sentences(12, seed=5)]
    together = tagger.learned_tags(some)
    assert together == [tagger.learned_tags([one])[0] for one in some]
    assert tagger.learned_tags([[], some[0]]) == [[], together[0]]
    long = [token for one in some * 8 for token in one]  # of more pieces than are read at once
    [tags] = tagger.learned_tags([long])
    assert len(tags) == len(long)
    assert tagger.learned_tags([["x" * 3000, "Rome"]])[0][1] == "S-LOC"


def test_untrained_heads_never_say_what_their_scheme_forbids(chinese):
    tagger = WordTagger.load(chinese, device="cpu")
    model = tagger.opened.model
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=1.0)
    for row in tagger.learned_tags([tokens for tokens, _ in sentences(30, chinese=True)]):
        assert n_violations(row, "BIOES") == 0


def test_plain_tags_are_scored_by_accuracy(tmp_path):
    lines = ["the DT\ncat NN\nsleeps VB\n", "the DT\ndog NN\nruns VB\n"] * 15
    corpus = tmp_path / "pos.conll"
    corpus.write_text("\n".join(lines), "utf-8")
    done = train(tmp_path / "run", corpus, steps=20)
    assert done.status == 0, done.err
    assert "no scheme of spans" in done.err
    assert "accuracy 100.00 %" in done.err
    assert (
        command("predict", str(tmp_path / "run"), "the cat runs").out
        == "[the DT] [cat NN] [runs VB]\n"
    )


def test_tags_that_their_scheme_forbids_are_said(tmp_path):
    corpus = tmp_path / "a.conll"
    corpus.write_text("Rome I-LOC\nis O\nfar B-LOC\n\n" * 20, "utf-8")
    done = train(tmp_path / "run", corpus, steps=4)
    assert "20 tags are not as IOB2 wants them" in done.err
    assert f"the first in the sentence at line 1 of {corpus}" in done.err
    [one, *_] = read_tagged([corpus])
    assert len(spans_of(one.tags, "IOB2")) == 2


def test_bad_input_is_refused(trained, tmp_path):
    run, good, bad = tmp_path / "no", trained[1], tmp_path / "bad.conll"
    bad.write_text("Ada O\nslept O\n", "utf-8")
    for flags, message in (
        (("--corpus", str(bad)), "there are two tags or more; all tokens have 'O'"),
        ((), "none are named: --corpus F"),
        (("--corpus", str(good), "--training.label-smoothing=0.1"), "got label_smoothing 0.1"),
        (("--corpus", str(good), "--model.head=tree"), "head"),
    ):
        refused = command("train", "--task", "tagging", "--out", str(run), *flags)
        assert refused.status == 2, refused
        assert message in refused.err
        assert not RunFolder(run).model.exists()
    for tag, named in (("B-ORG", "ORG"), ("NN", "NN")):
        bad.write_text(f"Ada O\nslept {tag}\n", "utf-8")
        refused = command("evaluate", str(trained[0]), "--corpus", str(bad))
        assert refused.status == 2
        assert f"{named!r} in the sentence at line 1 of {bad} is none: LOC, PER" in refused.err
