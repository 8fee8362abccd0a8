"""Language models through the one trainer: what holds for each of them."""

import json
import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from everyday_run import Finished, command
from text_run import train, write_corpus

from headway.core.embedding import project
from headway.core.errors import RunError
from headway.core.run_folder import RunFolder
from headway.language_models import scoring
from headway.language_models.task import LanguageTask
from headway.language_models.texts import ReadingReport
from headway.language_models.trained import TrainedLanguageModel
from headway.translator import Translator
from headway.vectors.files import open_vectors

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
NEURAL = ("transformer", "lstm", "nnlm", "elmo")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run of each type."""
    folder = tmp_path_factory.mktemp("language-models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        corpus = write_corpus(folder / "corpus.txt")
        for name in NEURAL:
            finished = train(name, corpus, folder / name)
            assert finished.status == 0, finished.err
    return folder


def all_but_times(run: Path) -> dict[str, Any]:
    log = [{k: v for k, v in line.items() if k != "time_s"} for line in RunFolder(run).read_log()]
    return {"log": log, "model": (run / "model.safetensors").read_bytes()}


@pytest.mark.parametrize("name", NEURAL)
def test_it_learns_and_says_what_it_is(runs, name):
    log = RunFolder(runs / name).read_log()
    losses = [line["loss"] for line in log if "loss" in line]
    assert losses[-1] < losses[0] - 0.5
    [last] = [line for line in log if line["step"] == 40 and "valid_loss" in line]
    assert last["perplexity"] == pytest.approx(math.exp(last["valid_loss"]), rel=1e-3)
    card = (runs / name / "README.md").read_text(encoding="utf-8")
    assert "bits per character" in card
    assert ", by torch" not in card, "which there is no choice but"
    settings = RunFolder(runs / name).settings()
    assert settings["run"] == {"task": "language-model", "finished": True}
    assert settings["text"]["unit"] == "words"
    assert settings["data"]["documents"] is True
    assert settings["training"]["label_smoothing"] == 0


@pytest.mark.parametrize("name", NEURAL)
def test_stopped_and_resumed_equals_never_stopped_with_what_is_carried(
    runs, name, tmp_path, monkeypatch
):
    next_batch, calls = LanguageTask.next_batch, []

    def interrupted(self: LanguageTask) -> Any:
        calls.append(1)
        if len(calls) == 9:  # in the middle of an epoch
            signal.raise_signal(signal.SIGINT)
        return next_batch(self)

    monkeypatch.setenv("HEADWAY_CACHE", str(runs / "cache"))
    with monkeypatch.context() as patch:
        patch.setattr(LanguageTask, "next_batch", interrupted)
        assert train(name, runs / "corpus.txt", tmp_path / "run").status == 130
    again = command("train", "--out", str(tmp_path / "run"), "--resume")
    assert again.status == 0, again.err
    assert "goes on from step 9" in again.err
    assert all_but_times(tmp_path / "run") == all_but_times(runs / name)


def test_the_command_that_began_it_goes_on_with_it_and_another_corpus_is_refused(runs, tmp_path):
    corpus, other = runs / "corpus.txt", tmp_path / "other.txt"
    other.write_bytes(corpus.read_bytes())
    fitted = ("--text.unit=auto", "--text.vocabulary-size=9000", "--training.max-steps=4")
    run = tmp_path / "run"
    assert train("nnlm", corpus, run, *fitted).status == 0
    assert "nothing to resume" in train("nnlm", corpus, run, *fitted, "--resume").err
    refused = train("nnlm", other, run, *fitted, "--resume")
    assert refused.status == 2
    assert "[data] corpus is" in refused.err
    assert "other.txt" in refused.err


@pytest.mark.parametrize("name", NEURAL)
def test_probabilities_of_the_next_token_are_those_that_scores_add_up(runs, name):
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    [scored] = model.score(["The dog runs ."])
    prefix, expected = "", []
    for token in [*"The dog runs .".split(), "</s>"]:
        likely = dict(model.next(prefix, top=0))
        assert sum(likely.values()) == pytest.approx(1, abs=1e-6)
        known = token if token in likely else "<unk>"
        expected.append(math.log(likely[known]))
        prefix = f"{prefix} {token}".strip()
    assert [log_prob for _, log_prob in scored.tokens] == pytest.approx(expected, abs=1e-4)
    assert scored.log_prob == pytest.approx(sum(expected), abs=1e-3)


@pytest.mark.parametrize("name", NEURAL)
def test_a_line_costs_the_same_alone_and_among_others(runs, name):
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    lines = ["The dog runs .", "I love learning .", "He", "The dog " * 30]
    together = [one.log_prob for one in model.score(lines)]
    alone = [model.score([line])[0].log_prob for line in lines]
    assert together == pytest.approx(alone, abs=1e-3)


def test_a_carried_state_makes_one_long_text_of_pieces(runs):
    model = TrainedLanguageModel.load(runs / "lstm", device="cpu")
    ids = np.arange(300) % 40 + 4
    whole = model.scorer.stream(ids)
    model.scorer.window = 7
    np.testing.assert_allclose(model.scorer.stream(ids), whole, atol=1e-5)


def test_a_model_that_carries_a_state_sees_all_of_a_line_before(runs, monkeypatch):
    """However long the line, whatever the window that it was trained with, whoever stands beside it
    and however many tokens are read at a time."""
    model = TrainedLanguageModel.load(runs / "lstm", device="cpu")
    special, ids = model.vocabulary.special, torch.arange(300) % 40 + 4
    fed = torch.cat([torch.tensor([special.decoder_begin]), ids])[None]
    wanted = torch.cat([ids, torch.tensor([special.end])])[None]
    expected = model.scorer.model.log_probs(fed, wanted).log_probs[0].numpy()
    monkeypatch.setattr(scoring, "LEAST_LANE", 20)
    for window, at_once in ((16, 8192), (4096, 8192), (16, 100), (7, 100)):
        monkeypatch.setattr(scoring, "BATCH_TOKENS", at_once)
        model.scorer.window = window
        some = [ids[:30].numpy(), ids.numpy(), ids[:0].numpy()]
        shorter, whole, empty = model.scorer.lines(some)
        assert [*map(len, (shorter, whole, empty))] == [31, 301, 1]
        np.testing.assert_allclose(whole, expected, atol=1e-4)
        np.testing.assert_allclose(shorter[:30], expected[:30], atol=1e-4)


def test_a_window_that_slides_scores_each_token_with_half_a_window_before_it(runs):
    model = TrainedLanguageModel.load(runs / "transformer", device="cpu")
    ids = np.arange(100) % 40 + 4
    found = model.scorer.stream(ids)
    window = model.window
    np.testing.assert_allclose(found[:window], model.scorer.stream(ids[:window]), atol=1e-5)
    for place in (40, 71, 99):  # the window is fed the token before it, and knows none before that
        start = min((place // 8 - 1) * 8, len(ids) - window)
        fed = torch.tensor([[int(ids[i - 1]) for i in range(start, start + window)]])
        with torch.inference_mode():
            features = model.decoder.read(fed).features
            logits = project(features, model.decoder.output_weight, model.decoder.output_bias)
        expected = logits.float().log_softmax(-1)[0, place - start, int(ids[place])]
        assert found[place] == pytest.approx(expected.item(), abs=1e-4)


@pytest.mark.parametrize("name", NEURAL)
def test_it_writes_the_same_with_the_same_seed_and_stops(runs, name):
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    texts = ["".join(model.write("The dog", seed=seed, max_tokens=60)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    likeliest = [
        "".join(model.write("The", top_k=1, max_tokens=5, seed=seed)).split()[0] for seed in (1, 2)
    ]
    assert (
        likeliest[0]
        == likeliest[1]
        == next(token for token, _ in model.next("The") if not token.startswith("<"))
    )


@pytest.mark.parametrize("verb", ["score", "predict", "generate"])
def test_settings_stand_before_what_is_given_or_behind(runs, verb):
    run, given = str(runs / "lstm"), str(runs / "corpus.txt")
    flag = ["--runtime.threads", "1"]
    before, behind = command(verb, run, *flag, given), command(verb, run, given, *flag)
    assert before.status == behind.status == 0, before.err
    assert before.out == behind.out == command(verb, run, given).out
    for wrong, said in (
        ([given, "another"], "one at a time"),
        ([given, "--model.heads", "2"], "settled once a model is trained"),
        ([given, "--jsno"], "did you mean --json"),
    ):
        refused = command(verb, run, *wrong)
        assert (refused.status, said in refused.err) == (2, True)


def test_the_words_of_the_command_line(runs, monkeypatch):
    run = str(runs / "lstm")
    scored = command("score", run, str(runs / "corpus.txt"), "--worst", "2")
    assert scored.status == 0, scored.err
    assert len(scored.out.splitlines()) == 2
    assert "line " in scored.out
    as_json = command("score", run, str(runs / "corpus.txt"), "--json")
    scores = json.loads(as_json.out)["scores"]
    assert len(scores) == 300
    for one in scores[:3]:
        assert one["tokens"][-1]["token"] == "</s>"
        total = sum(token["log_prob"] for token in one["tokens"])
        assert one["log_prob"] == pytest.approx(total, abs=1e-6)
    predicted = json.loads(command("predict", run, "The", "--top", "0", "--json").out)["next"]
    assert sum(one["prob"] for one in predicted) == pytest.approx(1, abs=1e-6)
    assert [one["prob"] for one in predicted] == sorted(
        (one["prob"] for one in predicted), reverse=True
    )
    written = command("generate", run, "The dog", "--n", "2", "--max-tokens", "8")
    assert written.status == 0, written.err
    assert written.out.count("The dog") == 2
    refused = command("generate", run, "The dog", "--temperature", "-1")
    assert refused.status == 2
    assert "--temperature is 0 (always the likeliest) or above; got -1" in refused.err
    evaluated = json.loads(
        command("evaluate", run, "--corpus", str(runs / "corpus.txt"), "--json").out
    )
    lines = (runs / "corpus.txt").read_text(encoding="utf-8").splitlines()
    n_words = sum(len(line.split()) for line in lines)
    n_ends = len(lines) - 1  # the blank line at the end parts nothing
    assert evaluated["words"] == evaluated["tokens"] == n_words + n_ends
    assert evaluated["characters"] == sum(map(len, lines)) + n_ends
    assert evaluated["perplexity_per_word"] == pytest.approx(
        math.exp(-evaluated["log_prob"] / evaluated["words"]), rel=1e-6
    )


@pytest.mark.parametrize("flags", [(), ("--rank",)])
def test_each_score_says_its_line_and_blank_ones_count(runs, tmp_path, flags):
    lines = ["", "The dog runs .", "I love the dog .", " ", "", "The cat runs ."]
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(lines), encoding="utf-8")
    said = command("score", str(runs / "lstm"), str(file), "--json", *flags)
    scores = json.loads(said.out)["scores"]
    assert sorted((one["line"], one["text"]) for one in scores) == [
        (number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]


def test_one_run_is_evaluated_and_several_are_compared(runs):
    both = (str(runs / "lstm"), str(runs / "nnlm"), "--corpus", str(runs / "corpus.txt"))
    several = command("evaluate", *both)
    assert several.status == 2
    assert "by: headway compare" in several.err
    of_other_tasks = command("evaluate", both[0], *both[2:], "--tokenize", "char")
    assert of_other_tasks.status == 2
    assert "--tokenize as well" in of_other_tasks.err


def test_text_that_has_no_spaces_is_told_by_its_characters(runs, tmp_path):
    corpus = tmp_path / "poems.txt"
    corpus.write_text("柳条摇落叶摇摇，梦尽花前花发新。\n" * 20, encoding="utf-8")
    run = runs / "lstm"
    told = command("evaluate", str(run), "--corpus", str(corpus)).out
    [scores] = {TrainedLanguageModel.load(run, device="cpu").evaluate([corpus]).scores}
    per_character = math.exp(scores.nats / (20 * 17))
    assert f"perplexity per character{per_character:>10.2f}   over 340 characters" in told
    assert "per word" not in told


@pytest.mark.parametrize(
    ("verb", "flag"), [("score", "--runtime.precision"), ("evaluate", "--precision")]
)
@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_a_precision_that_it_is_not_used_in_is_refused(runs, verb, flag, precision):
    files = {"score": (), "evaluate": ("--corpus",)}[verb]
    run, corpus = str(runs / "lstm"), str(runs / "corpus.txt")
    refused = command(verb, run, *files, corpus, flag, precision)
    assert refused.status == 2
    assert "fp32" in refused.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is empty"),
        (b"\n\n \n", "all lines are blank"),
        (b"word\n", "20 lines"),
        (b"a b c\n" * 20, "200 tokens"),
        (b"\xff\xfe\x00\x01" * 100, "UTF-8"),
    ],
)
def test_a_corpus_that_teaches_nothing_is_refused(tmp_path, text, message):
    corpus = tmp_path / "corpus.txt"
    corpus.write_bytes(text)
    refused = train("lstm", corpus, tmp_path / "run")
    assert refused.status == 2
    assert message in refused.err
    assert not (tmp_path / "run").exists()


def test_a_corpus_without_its_task_and_a_task_without_a_corpus_are_told_so(runs, tmp_path):
    out = str(tmp_path / "run")
    refused = command("train", "--corpus", str(runs / "corpus.txt"), "--out", out)
    assert refused.status == 2
    assert "--task language-model" in refused.err
    refused = command("train", "--task", "language-model", "--out", out)
    assert "Give --corpus F" in refused.err
    both = ("--corpus", str(runs / "corpus.txt"), "--valid-corpus", str(runs / "corpus.txt"))
    refused = command("train", "--task", "language-model", *both, "--out", out)
    assert "must not be learned from" in refused.err


def test_unknown_words_are_said(runs, tmp_path):
    said = command("predict", str(runs / "lstm"), "the xyzzy")
    assert "of 'the xyzzy' 1 token is unknown" in said.err
    file = tmp_path / "odd.txt"
    file.write_text("the xyzzy\n", encoding="utf-8")
    for flags in ((), ("--json",)):
        assert "1 tokens are unknown" in command("score", str(runs / "lstm"), str(file), *flags).err


def test_a_perplexity_of_mostly_unknown_words_is_warned_of(runs, tmp_path):
    for text, warned in (
        ("xyzzy plugh\n" * 20, True),
        ("the xyzzy\n" * 20, True),
        ("the\n", False),
    ):
        file = tmp_path / "odd.txt"
        file.write_text(text, encoding="utf-8")
        said = command("evaluate", str(runs / "lstm"), "--corpus", str(file))
        assert said.status == 0, said.err
        assert ("of the tokens are unknown" in said.err) == warned, text


@pytest.mark.parametrize("verb", ["predict", "generate"])
def test_a_prompt_that_is_no_unicode_is_refused(runs, verb):
    said = command(verb, str(runs / "lstm"), "caf\udce9")  # Latin-1, typed into a UTF-8 terminal
    assert (said.status, said.out) == (2, "")
    assert "must be UTF-8; got 'caf\\udce9'" in said.err


@pytest.mark.parametrize("name", ["transformer", "lstm"])
def test_a_prompt_of_several_lines_is_read_as_text_is(runs, name):
    """What comes next in it has the probability that scoring the whole text gives it."""
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    encode, end = model.vocabulary.encode, model.vocabulary.special.end
    for prompt in ("The dog runs .\nI", "The dog runs .\n", "I love\n\nThe dog"):
        before = [id_ for line in prompt.split("\n") for id_ in (*encode(line), end)][:-1]
        for likely in model.next(prompt, top=3):
            [id_] = encode(likely.token) if likely.token != "</s>" else [end]
            assert math.log(likely.prob) == pytest.approx(
                model.scorer.stream([*before, id_])[-1], abs=1e-4
            )


@pytest.mark.parametrize("name", NEURAL)
def test_a_text_without_a_prompt_has_words_in_it(runs, name):
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    for seed in range(12):
        assert "".join(model.write(seed=seed, max_tokens=3)).strip()


def test_a_prompt_may_begin_with_a_dash(runs):
    written = command("generate", str(runs / "lstm"), "- The dog", "--max-tokens", "2")
    assert written.status == 0, written.err
    assert written.out.startswith("- The dog")


@pytest.mark.parametrize("name", NEURAL)
def test_how_often_the_next_token_is_right_is_looked_at_all_over_the_text(runs, name):
    model = TrainedLanguageModel.load(runs / name, device="cpu")
    found = model.evaluate([runs / "corpus.txt"])
    assert found.scores.n_tokens - 64 < found.accuracy.n_tokens <= found.scores.n_tokens
    assert 0 < found.accuracy.likeliest < found.accuracy.among_five < 1


def test_learned_positions_that_end_before_the_window_are_refused(runs, tmp_path):
    flags = ("--model.positions=learned", "--model.max-length=8")
    refused = train("transformer", runs / "corpus.txt", tmp_path / "run", *flags)
    assert refused.status == 2
    assert "Try --model.max-length 16, or --training.window 8." in refused.err


def test_a_window_that_hides_some_of_what_a_model_looks_back_at_is_refused(runs, tmp_path):
    refused = train("nnlm", runs / "corpus.txt", tmp_path / "run", "--model.order=10")
    assert refused.status == 2
    assert "Try --training.window 18, or --model.order 9." in refused.err


def test_a_window_is_fitted_to_how_far_a_model_looks_back(runs, tmp_path):
    """So that a text read in windows costs what it costs in one pass."""
    names = ("--task=language-model", "--corpus", str(runs / "corpus.txt"), "--out", str(tmp_path))
    flags = ("--model.type=nnlm", "--model.order=20", "--model.d-model=4", "--text.unit=words")
    steps = ("--training.max-steps=2", "--training.checkpoint-every=2", "--runtime.threads=1")
    finished = command("train", *names, *flags, *steps)
    assert finished.status == 0, finished.err
    assert "window: 38 tokens, twice what the model looks back at" in finished.err
    scorer = TrainedLanguageModel.load(tmp_path, device="cpu").scorer
    assert scorer.window == 38
    ids = np.arange(150) % 20 + 4
    found = scorer.stream(ids)
    scorer.window = len(ids)
    np.testing.assert_allclose(found, scorer.stream(ids), atol=1e-4)


def test_files_of_a_corpus_are_documents_though_no_blank_line_parts_them(tmp_path):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, text in zip(files, ("a b c\nb a\n", "c a\na b c\n"), strict=True):
        file.write_text(text, encoding="utf-8")
    reading = ReadingReport(files, cut=lambda line: line.replace(" ", "  "))
    assert list(reading.lines()).count("") == 1
    assert (reading.n_blank, reading.n_parted) == (1, 0)
    assert reading.n_characters == sum(map(len, "a b c|b a|c a|a b c".split("|")))
    files[1].write_text("c a\n\na b c\n", encoding="utf-8")
    assert list(reading.lines()).count("") == 2
    assert reading.n_parted == 1
    files[1].write_text("\n\nc a\n\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    reading = ReadingReport([files[0], files[1], tmp_path / "empty.txt", files[0]])
    assert [*reading.lines()] == ["a b c", "b a", "", "c a", "", "a b c", "b a"]
    assert (reading.n_blank, reading.n_parted) == (2, 0), (
        "blank lines at a file's ends part nothing"
    )


def test_a_prompt_beyond_the_window_is_said_and_its_end_is_read(runs):
    long = "The dog runs . " * 8
    said = command("predict", str(runs / "transformer"), long, "--json")
    assert said.status == 0, said.err
    assert "sees 16 tokens at once; of the 33" in said.err
    model = TrainedLanguageModel.load(runs / "transformer", device="cpu")
    assert model.next(long)[0].prob == pytest.approx(
        json.loads(said.out)["next"][0]["prob"], abs=1e-6
    )
    assert "sees" not in command("predict", str(runs / "lstm"), long).err


def test_halves_add_up_to_the_whole(runs, tmp_path, monkeypatch):
    loss, n_rows = LanguageTask.loss, []

    def little_memory(self: LanguageTask, model: Any, batch: Any) -> Any:
        n_rows.append(len(batch.rows.fed))
        if len(batch.rows.fed) > 8:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB")
        return loss(self, model, batch)

    monkeypatch.setattr(LanguageTask, "loss", little_memory)
    flags = ("--model.dropout=0", "--training.max-steps=6", "--training.checkpoint-every=3")
    flags += ("--runtime.precision=fp32",)  # bf16 rounds the sums of halves otherwise
    assert train("lstm", runs / "corpus.txt", tmp_path / "halved", *flags).status == 0
    assert max(n_rows) == 16
    monkeypatch.undo()
    assert train("lstm", runs / "corpus.txt", tmp_path / "whole", *flags).status == 0
    logs = [RunFolder(tmp_path / name).read_log() for name in ("halved", "whole")]
    for line, other in zip(*logs, strict=True):
        for key in {"loss", "valid_loss"} & line.keys():
            assert line[key] == pytest.approx(other[key], abs=2e-4)


def test_a_language_model_is_no_translator(runs):
    with pytest.raises(RunError, match="language-model"):
        Translator.load(runs / "lstm")


def tuned(runs: Path, parent: Path, child: Path, *flags: str) -> Finished:
    names = ("--task", "language-model", "--corpus", str(runs / "corpus.txt"), "--out", str(child))
    short = ("--training.max-steps=4", "--training.checkpoint-every=2", "--runtime.threads=1")
    return command("train", *names, "--init-from", str(parent), *short, *flags)


@pytest.mark.parametrize("name", NEURAL)
def test_what_begins_with_another_run_has_its_tokens_batches_window_and_a_third_of_its_rate(
    runs, name, tmp_path
):
    finished = tuned(runs, runs / name, tmp_path / "child")
    assert finished.status == 0, finished.err
    parent, settings = (RunFolder(run).settings() for run in (runs / name, tmp_path / "child"))
    assert settings["text"] == parent["text"]
    assert settings["model"] == parent["model"]
    for key in ("batch_tokens", "window", "label_smoothing", "clip_norm", "average"):
        assert settings["training"][key] == parent["training"][key], key
    rate = settings["training"]["learning_rate"]
    assert rate == pytest.approx(parent["training"]["learning_rate"] / 3)
    assert f"peak of the learning rate: {rate:.2g}" in finished.err
    losses = [
        [line["valid_loss"] for line in RunFolder(run).read_log() if "valid_loss" in line]
        for run in (runs / name, tmp_path / "child")
    ]
    assert losses[1][0] == pytest.approx(min(losses[0]), abs=0.3), "it begins where that ended"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--model.type=nnlm",), "is of type lstm, got nnlm"),
        (("--text.min-count=3",), "[text] min_count is 1 in"),
        (("--model.d-model=32",), "[model] d_model is "),
        (("--model.output-scale=3",), "[model] output_scale is "),
        (("--reinit", "nowhere"), "--reinit names a part of the model"),
    ],
)
def test_what_contradicts_the_parent_is_refused_and_nothing_is_left(runs, tmp_path, flags, message):
    refused = tuned(runs, runs / "lstm", tmp_path / "child", *flags)
    assert refused.status == 2
    assert message in refused.err
    assert not (tmp_path / "child").exists()


def test_counts_are_not_gone_on_from_and_not_called_damaged(runs, tmp_path):
    names = ("--task", "language-model", "--corpus", str(runs / "corpus.txt"))
    counted = ("--model.type=ngram", "--out", str(tmp_path / "counted"))
    assert command("train", *names, *counted).status == 0
    refused = tuned(runs, tmp_path / "counted", tmp_path / "child")
    assert refused.status == 2
    assert "were counted (ngram). Leave --init-from out" in refused.err
    assert not (tmp_path / "child").exists()


@pytest.mark.parametrize("to", ["word2vec", "word2vec-binary", "glove"])
@pytest.mark.parametrize("name", ["nnlm", "lstm"])
def test_the_vectors_of_tokens_are_taken_out(runs, tmp_path, name, to):
    file = tmp_path / "vectors.gz"
    written = command("export", str(runs / name), str(file), "--to", to)
    assert written.status == 0, written.err
    read = open_vectors(file)
    used = TrainedLanguageModel.load(runs / name, device="cpu")
    markers = [0, 1, 2, 3]
    assert list(read.words) == used.vocabulary.pieces(range(len(markers), len(used.vocabulary)))
    ids = torch.arange(len(markers), len(used.vocabulary))
    torch.testing.assert_close(torch.from_numpy(read.matrix), used.decoder.embedding(ids[None])[0])
    asked = command("neighbours", str(runs / name), "dog", "--json")
    assert asked.status == 0, asked.err
    nearest = read.neighbours("dog")[0].word
    assert json.loads(asked.out)["neighbours"][0]["word"] == nearest


def test_counts_have_no_vectors(runs, tmp_path):
    names = ("--task", "language-model", "--corpus", str(runs / "corpus.txt"))
    counted = ("--model.type=ngram", "--out", str(tmp_path / "counted"))
    assert command("train", *names, *counted).status == 0
    refused = command("export", str(tmp_path / "counted"), str(tmp_path / "file"), "--to", "glove")
    assert refused.status == 2
    assert "--model.type nnlm" in refused.err
