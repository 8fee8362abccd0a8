"""A run that learns by counting: killed, resumed, opened over its file, imported and exported."""

import json
import math
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import kenlm
import pytest
import torch
from counted import all_grams, model_of

import headway
from headway.cli import main
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.tensor_files import load_tensors, save_tensors
from headway.language_models.counting import load, sound
from headway.language_models.trained import TrainedLanguageModel

LINES = ["the cat sat", "the dog sat", "a cat ran away", "the cat ran", "", "a dog sat", "the cat"]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"{line}\n" for line in LINES * 3), encoding="utf-8")
    return path


def counted(corpus: Path, out: Path, **model: object) -> list[str]:
    """Train; what was said."""
    said: list[str] = []
    headway.train(
        task="language-model", corpus=[str(corpus)], out=out, say=said.append,
        settings={"model": {"type": "ngram", "order": 3, **model}, "runtime": {"threads": 1}},
    )  # fmt: skip
    return said


KILLED_AS_IT_WRITES = """
import os, signal, sys
from headway.cli import main
from headway.language_models import counting
counting.save_tensors = lambda tensors, path: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


def test_a_run_that_was_killed_as_it_wrote_goes_on_to_the_same_bytes(corpus: Path, tmp_path: Path):
    flags = ["--task", "language-model", "--corpus", str(corpus), "--model.type", "ngram"]
    command = ["train", *flags, "--out", str(tmp_path / "killed")]
    done = subprocess.run([sys.executable, "-c", KILLED_AS_IT_WRITES, *command], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    assert main([*command, "--resume"]) == 0
    shutil.rmtree(tmp_path / "cache")
    assert main(["train", *flags, "--out", str(tmp_path / "whole")]) == 0
    killed, whole = ((tmp_path / name / "model.safetensors") for name in ("killed", "whole"))
    assert killed.read_bytes() == whole.read_bytes()
    assert main([*command, "--resume"]) == 0, "finished: nothing is done again"


def test_every_line_is_counted_and_what_was_counted_is_said(corpus: Path, tmp_path: Path):
    said = counted(corpus, tmp_path / "run", smoothing="add-one")
    model = TrainedLanguageModel.load(tmp_path / "run")
    ids = [model.vocabulary.encode(line) for line in LINES * 3]
    ids = [row for n, row in enumerate(ids) if row or n < len(ids)]
    tokens = sum(len(row) + 1 for row in ids)
    assert any(f"counted {tokens:,} tokens" in line for line in said)
    assert list(model.settings.model.n_grams[1:]) == [
        len(of_order) for of_order in all_grams(ids, 3)[1:]
    ]
    card = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert "counts of every line, smoothed by add-one" in card
    again = model_of(ids, len(model.vocabulary), tmp_path, order=3, smoothing="add-one")
    for name, array in again.state_dict().items():
        assert torch.equal(model.decoder.get_buffer(name), array)  # type: ignore[attr-defined]


def test_maximum_likelihood_says_what_it_cannot_do(corpus: Path, tmp_path: Path):
    said = counted(corpus, tmp_path / "run", smoothing="none")
    assert any("infinite perplexity" in line for line in said)
    score = TrainedLanguageModel.load(tmp_path / "run").score(["the cat sat", "sat the cat"])
    assert score[0].log_prob > -20
    assert score[1].log_prob == -float("inf")


def test_a_text_ends_where_maximum_likelihood_knows_no_word_to_come(corpus: Path, tmp_path: Path):
    corpus.write_text("a b\na c\n" * 2, encoding="utf-8")
    counted(corpus, tmp_path / "run", smoothing="none")
    model = TrainedLanguageModel.load(tmp_path / "run")
    corpus.write_text("a b\na c\n", encoding="utf-8")  # behind a stand rare words alone
    counted(corpus, tmp_path / "ends", smoothing="none")
    assert "".join(model.write("a")).strip() in ("b", "c")
    assert not "".join(TrainedLanguageModel.load(tmp_path / "ends").write("a"))


def test_a_vocabulary_without_words_is_refused(corpus: Path, tmp_path: Path):
    with pytest.raises(DataError, match="occur 99 times or more; the most frequent one of this"):
        headway.train(
            task="language-model", corpus=[str(corpus)], out=tmp_path / "run",
            settings={"model": {"type": "ngram"}, "text": {"min_count": 99}},
        )  # fmt: skip


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_the_model_card_says_what_evaluate_says(corpus: Path, tmp_path: Path, unit: str):
    """Also of unknown words, of blanks in a row and of letters that were not composed."""
    valid = tmp_path / "valid.txt"
    text = "the  cat\n\na zebra sat \u0065\u0301\u0065\u0301\n"
    valid.write_text(text, encoding="utf-8")
    said: list[str] = []
    headway.train(
        task="language-model", corpus=[str(corpus)], valid_corpus=[str(valid)],
        out=tmp_path / "run", say=said.append,
        settings={"model": {"type": "ngram"}, "text": {"unit": unit}},
    )  # fmt: skip
    scores = TrainedLanguageModel.load(tmp_path / "run").evaluate([valid]).scores
    assert scores.n_characters == len("the  cat") + len("a zebra sat éé") + 3
    [told] = [line for line in said if "bits per character" in line]
    assert f"{scores.bits_per_character:.3f} bits per character" in told
    card = (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    assert "The checkpoint was chosen" not in card


def test_lines_beyond_all_measure_are_told_wherever_text_is_read(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    counted(corpus, tmp_path / "run")
    text = tmp_path / "text.txt"
    text.write_text(f"the cat sat\n{'x' * (1 << 20)}y\nthe dog\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "run"), "--corpus", str(text), "--json"]) == 0
    captured = capsys.readouterr()
    assert "1 lines of more than 1 MiB were passed over" in captured.err
    assert json.loads(captured.out)["lines_too_long"] == 1


def test_smoothing_that_is_only_read_is_refused(corpus: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match="backoff is the name for what an ARPA file says"):
        counted(corpus, tmp_path / "run", smoothing="backoff")


def test_what_no_counting_obeys_is_refused(corpus: Path, tmp_path: Path):
    given = {"max_steps": 5, "freeze": ["embedding"], "budget": "1m"}
    with pytest.raises(ConfigError, match=r"got --training.freeze, --training.max-steps\."):
        headway.train(
            task="language-model", corpus=[str(corpus)], out=tmp_path / "run",
            settings={"model": {"type": "ngram"}, "training": given},
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_window_that_hides_words_from_a_context_is_refused(corpus: Path, tmp_path: Path):
    with pytest.raises(ConfigError, match=r"Try --training\.window 8, or --model\.order 3\."):
        headway.train(
            task="language-model", corpus=[str(corpus)], out=tmp_path / "run",
            settings={"model": {"type": "ngram", "order": 5}, "training": {"window": 4}},
        )  # fmt: skip


def test_a_resumed_run_keeps_its_smoothing(corpus: Path, tmp_path: Path):
    counted(corpus, tmp_path / "run")
    with pytest.raises(ConfigError, match=r"\[model\] smoothing is 'modified-kneser-ney'"):
        headway.train(
            task="language-model", corpus=[str(corpus)], out=tmp_path / "run", resume=True,
            settings={"model": {"type": "ngram", "smoothing": "add-one"}},
        )  # fmt: skip


def test_a_model_lies_over_its_file(tmp_path: Path):
    model = model_of([[4, 5], [5, 4]], 6, tmp_path, order=2, smoothing="add-one")
    file = next(tmp_path.glob("*.safetensors"))
    start, size = model.keys(2).untyped_storage().data_ptr(), file.stat().st_size
    for name, array in model.named_buffers():
        assert start <= array.data_ptr() < start + size, name
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert file.name in maps.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("keys_2", [4 * 6 + 5, 2 * 6 + 4, 2 * 6 + 5, 5 * 6 + 3, 4 * 6 + 3, 0]),
        ("keys_2", [1, 2, 3, 4, 5, 36]),
        ("weights_1", [0.0, 0.0, 0.0, 0.0, 0.0, float("nan")]),
        ("backoffs_1", [0.0, 0.0, 0.0, 0.0, 0.0, float("inf")]),
    ],
)
def test_arrays_that_no_search_could_rely_on_are_refused(name, values, tmp_path: Path):
    model = model_of([[4, 5], [5, 4]], 6, tmp_path, order=2, smoothing="add-one")
    file = next(tmp_path.glob("*.safetensors"))
    arrays = load_tensors(file)
    assert sound(model.config, file)
    assert len(arrays[name]) == len(values)
    arrays[name] = torch.tensor(values, dtype=arrays[name].dtype)
    save_tensors(arrays, tmp_path / "other.safetensors")
    with pytest.raises(RunError, match="sorted keys, and weights that are numbers"):
        load(model, tmp_path / "other.safetensors")


def test_a_run_goes_out_as_arpa_and_comes_back(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    counted(corpus, tmp_path / "run")
    arpa = tmp_path / "model.arpa.gz"
    assert main(["export", str(tmp_path / "run"), str(arpa), "--to", "arpa"]) == 0
    assert main(["import", "arpa", str(arpa), "--out", str(tmp_path / "again")]) == 0
    run, again = (TrainedLanguageModel.load(tmp_path / name) for name in ("run", "again"))
    texts = ["the cat ran away", "a bird sat", "cat the"]
    for one, other in zip(run.score(texts), again.score(texts), strict=True):
        assert other.log_prob == pytest.approx(one.log_prob, abs=1e-4)
        assert [t.token for t in other.tokens] == [t.token for t in one.tokens]
    assert sum(next_.prob for next_ in again.next("the", top=100)) == pytest.approx(1, abs=1e-5)
    assert main(["check", str(tmp_path / "again")]) == 0
    capsys.readouterr()
    assert main(["import", "arpa", str(arpa), "--out", str(tmp_path / "again")]) == 2
    assert "already holds a run" in capsys.readouterr().err
    arpa.write_bytes(arpa.read_bytes()[:-30])
    assert main(["import", "arpa", str(arpa), "--out", str(tmp_path / "cut")]) == 2
    assert "Traceback" not in (error := capsys.readouterr().err)
    assert "arpa" in error
    assert not (tmp_path / "cut").exists()


def test_every_subword_has_a_line_of_its_own_and_goes_out_as_arpa(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Those of tabs and line ends too, which no text need hold; kenlm says of them what we say."""
    corpus.write_text("the\tcat sat\nthe\t\tdog ran\nthe cat ran\n" * 6, encoding="utf-8")
    headway.train(
        task="language-model", corpus=[str(corpus)], out=tmp_path / "run", say=lambda _line: None,
        settings={"model": {"type": "ngram", "order": 3}, "text": {"unit": "subwords"}},
    )  # fmt: skip
    run = TrainedLanguageModel.load(tmp_path / "run")
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "run"), "the", "--top", "0"]) == 0
    lines = capsys.readouterr().out.split("\n")[:-1]
    assert len(lines) == len(run.vocabulary)
    assert sum(float(prob) for prob, _ in (line.split("\t") for line in lines)) == pytest.approx(
        1, abs=1e-3
    )
    arpa = tmp_path / "model.arpa"
    assert main(["export", str(tmp_path / "run"), str(arpa), "--to", "arpa"]) == 0
    assert main(["import", "arpa", str(arpa), "--out", str(tmp_path / "again")]) == 0
    again, other = TrainedLanguageModel.load(tmp_path / "again"), kenlm.Model(str(arpa))
    for one in run.score(["the\tcat sat", "the dog\t\tcat", "Ω"]):
        pieces = " ".join(token for token, _ in one.tokens[:-1])
        expected = [log_prob / math.log(10) for _, log_prob in one.tokens]
        assert [found[0] for found in other.full_scores(pieces)] == pytest.approx(
            expected, abs=1e-5
        )
        [same] = again.score([pieces])
        assert [token for token, _ in same.tokens] == [token for token, _ in one.tokens]
        assert same.log_prob == pytest.approx(one.log_prob, abs=1e-4)


def test_characters_are_written_but_for_those_that_part_fields(corpus: Path, tmp_path: Path):
    corpus.write_text("人面桃花\n桃花 人面\n桃\u3000花\n" * 3, encoding="utf-8")
    headway.train(
        task="language-model", corpus=[str(corpus)], out=tmp_path / "run", say=lambda _line: None,
        settings={"model": {"type": "ngram"}, "text": {"unit": "characters"}},
    )  # fmt: skip
    assert main(["export", str(tmp_path / "run"), str(tmp_path / "a.arpa"), "--to", "arpa"]) == 0
    assert "\t桃 花 ▁" in (tmp_path / "a.arpa").read_text(encoding="utf-8")
    assert main(["import", "arpa", str(tmp_path / "a.arpa"), "--out", str(tmp_path / "again")]) == 0
    run, again = (TrainedLanguageModel.load(tmp_path / name) for name in ("run", "again"))
    texts = ["人面桃花", "花 人", "花\u3000面"]
    for one, other in zip(run.score(texts), again.score(texts), strict=True):
        assert [t.token for t in other.tokens] == [t.token for t in one.tokens]
        assert other.log_prob == pytest.approx(one.log_prob, abs=1e-4)
    assert main(["export", str(tmp_path / "again"), str(tmp_path / "b.arpa"), "--to", "arpa"]) == 0
    assert (tmp_path / "b.arpa").read_bytes() == (tmp_path / "a.arpa").read_bytes()


@pytest.mark.parametrize("runtime", [{"precision": "bf16"}, {"engine": "torch"}])
def test_a_precision_and_an_engine_are_refused_as_nothing_obeys_them(corpus, tmp_path, runtime):
    with pytest.raises(ConfigError, match="n-grams are counted, in one precision and by no eng"):
        headway.train(
            task="language-model", corpus=[str(corpus)], out=tmp_path / "run",
            settings={"model": {"type": "ngram"}, "runtime": runtime},
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_budget_is_left_aside_with_a_word(corpus: Path, tmp_path: Path) -> None:
    said = list[str]()
    headway.train(
        task="language-model", corpus=[str(corpus)], out=tmp_path / "run", say=said.append,
        settings={"model": {"type": "ngram"}, "training": {"budget": "1m"}},
    )  # fmt: skip
    assert "no --budget is kept to" in "\n".join(said)
