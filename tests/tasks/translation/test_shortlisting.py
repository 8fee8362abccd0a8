"""A run's shortlists: learned once, kept with their gate, refused where they cost too much."""

from pathlib import Path
from shutil import copytree

import pytest

from headway.decoding.shortlist import opened
from headway.errors import ConfigError, DataError, RunError
from headway.runs import gate
from headway.runs.checking import accept
from headway.translator import Translator

TEXTS = ["The dog runs.", "A cat sees the red house.", ""]


@pytest.fixture
def run(everyday_run: Path, tmp_path: Path) -> Path:
    return copytree(everyday_run, tmp_path / "run")


def test_they_are_learned_once_and_anew_for_other_weights_or_damage(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "MOST_SHIFT", 9.0)  # the model is a poor one
    monkeypatch.setattr(gate, "MOST_LOST", 100.0)
    said: list[str] = []
    translator = Translator.load(run, device="cpu")
    usual = translator.translate(TEXTS)
    translator.shorten(run, 3, said.append)
    assert "learned from the run's training pairs, once" in said[0]
    assert "validation pairs BLEU" in said[1]
    _, shortlist = opened(translator.plain.model)
    assert shortlist is not None
    for text, one in zip(TEXTS, translator.translate_fully(TEXTS), strict=True):
        allowed = {*shortlist.tokens(translator.subwords.encode(text)).tolist()}
        assert all({*best.ids} <= allowed for best in one.n_best)
    before, said = said[1], []
    translator.shorten(run, 3, said.append)
    assert said == [before]
    (run / "shortlist-3" / "likely.npy").write_bytes(b"x")
    translator.shorten(run, 3, said.append)
    assert "learned from the run's training pairs, once" in said[1]
    assert said[2:] == [before]
    translator.plain.model = translator.model
    assert translator.translate(TEXTS) == usual


def test_what_costs_too_much_is_refused_each_time_and_measured_once(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "MOST_LOST", -100.0)
    translator, said = Translator.load(run, device="cpu"), list[str]()
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"--shortlist 2 of .* try --shortlist 4\."):
            translator.shorten(run, 2, said.append)
    assert len(said) == 1
    assert opened(translator.plain.model) == (translator.model, None)


def test_the_packages_run_is_not_written_to_and_sizes_make_sense(run: Path) -> None:
    translator = Translator.load(run, device="cpu")
    with pytest.raises(RunError, match="stays as it is"):
        translator.shorten(Path("demo"), 2)
    with pytest.raises(ConfigError, match="from 1 to 1,000 translations; got 0"):
        translator.shorten(run, 0)


def test_without_its_text_files_none_can_be_learned(run: Path) -> None:
    config = run / "config.toml"
    text = config.read_text(encoding="utf-8").replace("train.en", "gone.en")
    config.write_text(text, encoding="utf-8")
    accept(run, print)
    with pytest.raises(DataError, match="are not there as they were: .* leave --shortlist out"):
        Translator.load(run, device="cpu").shorten(run, 2)
