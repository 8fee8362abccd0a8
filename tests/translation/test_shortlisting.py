"""A run's shortlists: learned once, kept with their gate, refused where they cost too much."""

from collections import Counter
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from random_models import needs_engine

from headway.core.config import format_toml, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.engine.shortlist import opened
from headway.runs import quality_gate as gate
from headway.runs.checking import accept
from headway.translation.decoding import EngineChoice, EngineSearch
from headway.translator import Translator

TEXTS = ["The dog runs.", "A cat sees the red house.", ""]


@pytest.fixture
def run(everyday_run: Path, tmp_path: Path) -> Path:
    return copytree(everyday_run, tmp_path / "run")


@pytest.fixture
def open_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is a poor one."""
    monkeypatch.setattr(gate, "MOST_SHIFT", 9.0)
    monkeypatch.setattr(gate, "MOST_LOST", 100.0)


@pytest.mark.usefixtures("open_gate")
def test_they_are_learned_once_and_anew_for_other_weights_or_damage(run: Path) -> None:
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


@pytest.mark.usefixtures("open_gate")
def test_a_tuned_runs_are_learned_and_gated_as_it_saw_both_its_pairs_and_its_parents(
    run: Path,
    everyday_run: Path,
    everyday_files: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight pairs of its own, which had a tag."""
    own = run.parent / "own.tsv"
    pairs = generate(8, seed=99)
    own.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    data = {"pairs": [f"{own}:tag=own"], "source": [], "target": [], "valid_size": 0}
    tuned = {**data, "old_run": str(everyday_run), "tags": ["", "own"]}
    folder = RunFolder(run)
    sums = {**folder.record()["sha256"], str(own.absolute()): checksum(own)}
    folder.write_data({**folder.record(), "sha256": sums})
    folder.write_sealed(format_toml(merge(folder.settings(), {"data": tuned})), {})
    accept(run, print)
    gated: list[set[tuple[int, ...]]] = []
    search = EngineSearch.__call__

    def noted(one: Any, decoder: Any, sources: Any, request: Any) -> Any:
        gated.append({tuple(map(int, ids)) for ids in sources})
        return search(one, decoder, sources, request)

    monkeypatch.setattr(EngineSearch, "__call__", noted)
    translator = Translator.load(run, device="cpu")
    translator.shorten(run, 3, print)
    encode, end = translator.subwords.encode_batch, translator.subwords.special.end
    new = {tuple(ids) for ids in encode([f"<own> {source}" for source, _ in pairs])}
    assert gated[0] == gated[1]
    assert new < gated[0]
    assert len(gated[0]) > 10  # the parent's too
    shortlist = opened(translator.plain.model)[1]
    assert shortlist is not None
    old = encode(everyday_files[0].read_text(encoding="utf-8").splitlines())
    counts = Counter(token for ids in old for token in set(ids))
    learned = {token for token, n in counts.items() if n > 20}  # more than are held out
    assert learned - {token for ids in new for token in ids}
    assert (shortlist.likely[list(learned)] != end).any(1).all()


@needs_engine
@pytest.mark.usefixtures("open_gate")
def test_each_precision_has_a_list_that_was_gated_in_it(run: Path) -> None:
    translator, said = Translator.load(run, device="cpu"), list[str]()
    translator.shorten(run, 3, said.append)
    translator.search.choice = EngineChoice(precision="int8")
    translator.search.refresh()
    for _ in range(2):
        translator.shorten(run, 3, said.append)
    assert sum("training pairs, once" in line for line in said) == 2
    assert {one.name for one in run.glob("shortlist-*")} == {"shortlist-3", "shortlist-3-int8"}


def test_an_interrupt_leaves_the_translator_as_it_was(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: Any, **_how: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EngineSearch, "__call__", interrupted)
    translator = Translator.load(run, device="cpu")
    with pytest.raises(KeyboardInterrupt):
        translator.shorten(run, 3, print)
    assert opened(translator.plain.model) == (translator.model, None)
    assert not list(run.glob("shortlist-*"))


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


def test_the_packages_run_is_not_written_to_and_sizes_make_sense(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where no folder is called demo
    translator = Translator.load(run, device="cpu")
    with pytest.raises(RunError, match="stays as it is"):
        translator.shorten(Path("demo"), 2, print)
    with pytest.raises(ConfigError, match="from 1 to 1,000 translations; got 0"):
        translator.shorten(run, 0, print)


def test_without_its_text_files_none_can_be_learned(run: Path) -> None:
    config = run / "config.toml"
    text = config.read_text(encoding="utf-8").replace("train.en", "gone.en")
    config.write_text(text, encoding="utf-8")
    accept(run, print)
    found = Translator.load(run, device="cpu")
    with pytest.raises(DataError, match="are not there as they were: .* leave --shortlist out"):
        found.shorten(run, 2, print)
