"""Translators in a comparison: each sentence is read as in validation."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from everyday_run import FLAGS, command

from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.study.compared_runs import ComparisonRequest, Entrant, Rows
from headway.study.compared_translators import entrant, read_files, search
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import SamplingSettings
from headway.translation.run_data import measured_again, scored_rows, settings_of
from headway.translation.spec import read
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module", autouse=True)
def few_alone() -> Iterator[None]:
    """How long single sentences take is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headway.study.measuring.MOST_ALONE", 1)
        yield


def write_table(path: Path, language: str, pairs: list[tuple[str, str]]) -> Path:
    """Pairs whose targets are in this language, by the first line."""
    rows = [("en", language), *pairs]
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It learned from two files, each with its tag and its language; the German is upper case."""
    folder = tmp_path_factory.mktemp("tagged")
    shouted = [(f"now {source}", f"now {source}".upper()) for source, _ in generate(150, seed=2)]
    chinese = write_table(folder / "a.tsv", "zh", generate(150, seed=1))
    german = write_table(folder / "b.tsv", "de", shouted)
    files = f"{chinese}:tag=written", f"{german}:tag=shouted"
    done = command("train", "--pairs", *files, "--out", str(folder / "run"), *FLAGS)
    assert done.status == 0, done.err
    return folder / "run"


@pytest.fixture(scope="module")
def child(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It goes on from the run, with ten new pairs: too few for some to be held out."""
    folder = tmp_path_factory.mktemp("child")
    new = write_table(folder / "new.tsv", "zh", generate(10, seed=99))
    names = "--init-from", str(run), "--pairs", f"{new}:tag=written"
    steps = "--training.max-steps=4", "--training.checkpoint-every=2", "--runtime.threads=1"
    done = command("train", *names, *steps, "--out", str(folder / "child"))
    assert done.status == 0, done.err
    return folder / "child"


def opened(run: Path) -> tuple[Translator, CorpusTask]:
    """A run, and its validation as training had it."""
    translator = Translator.load(run)
    settings = settings_of(RunFolder(run))
    data = read(settings, translator.subwords, lambda _: None)
    task = CorpusTask(
        data.prepared,
        settings.training,
        valid_rows=scored_rows(data, settings),
        seed=settings.runtime.seed,
        device=translator.device,
    )
    return translator, task


def tags_of(found: Entrant, rows: Rows) -> list[str]:
    """Under which tag each row is translated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Translator, "translate", lambda _, texts, *, tag: [tag] * len(texts))
        work = found.begin(rows)
        tags: list[str] = work.all()
        assert [work.one(i) for i in range(len(rows))] == [[tag] for tag in tags]
    return tags


def test_each_sentence_is_translated_under_the_tag_of_its_file(run):
    found = entrant(ComparisonRequest(run, {}, print))
    tags = ["shouted" if target == source.upper() else "written" for source, target in found.rows]
    assert set(tags) == {"shouted", "written"}
    assert set(found.ways(found.rows)["the tag before a sentence"].split(", ")) == set(tags)
    assert tags_of(found, found.rows) == tags
    assert tags_of(found, found.rows[::3]) == tags[::3]


def test_a_line_that_is_too_long_to_be_read_is_no_blank_one(tmp_path):
    source, reference = tmp_path / "a.en", tmp_path / "a.zh"
    source.write_text(f"Hello.\n{'a' * (1 << 20)}b\n", encoding="utf-8")
    reference.write_text("你好。\n甲\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2 of .*a\.en has more. Split it"):
        read_files({"source": [source], "reference": [reference]})


def test_what_is_said_of_a_run_is_said_of_the_rows_that_it_is_measured_on(run):
    found = entrant(ComparisonRequest(run, {}, print))
    for tag in ("shouted", "written"):
        tags = tags_of(found, found.rows)
        rows = [row for row, of in zip(found.rows, tags, strict=True) if of == tag]
        assert found.ways(rows)["the tag before a sentence"] == tag


def test_whatever_the_search_has_that_is_not_usual_is_said():
    assert search(SamplingSettings()) == "beam 5, length penalty 1"
    short = SamplingSettings(max_extra_length=7)
    assert search(short) == "beam 5, length penalty 1, max extra length 7"
    assert search(SamplingSettings(method="greedy", top_k=3)) == "greedy"
    sampled = SamplingSettings(method="sampling", top_k=3, temperature=0.5)
    assert search(sampled) == "sampling, temperature 0.5, top k 3"


def test_validation_sentences_are_translated_as_training_translated_them(run):
    found = entrant(ComparisonRequest(run, {}, print))
    translator, task = opened(run)
    assert [row[1] for row in found.rows] == task.valid_texts
    outputs = found.begin(found.rows).all()
    assert outputs == task.translate(translator.plain.model, translator.settings.decoding)


def test_bleu_of_validation_sentences_is_that_of_training(run, monkeypatch):
    found = entrant(ComparisonRequest(run, {}, print))
    outputs = [target[1:] for _, target in found.rows]
    bleu, _ = found.begin(found.rows).examined(outputs).figures
    translator, task = opened(run)
    monkeypatch.setattr(task, "translate", lambda *_: outputs)
    wanted = task.bleu(translator.plain.model, translator.settings.decoding)
    assert bleu.statistics.score() == pytest.approx(wanted.score())
    assert wanted.score() > 50
    assert set(bleu.holds_for["the target language"].split(", ")) == {"zh", "de"}
    assert found.notes(found.rows) == []


@pytest.mark.parametrize("suffix", ["zh", "txt"])
def test_bleu_of_test_files_is_that_of_evaluate_whatever_their_names(run, tmp_path, suffix):
    sources, references = map(list, zip(*generate(10, seed=9), strict=True))
    outputs = [target[1:] for target in references]
    texts = {"test.en": sources, f"test.{suffix}": references, "outputs": outputs}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    source, reference, hypothesis = (tmp_path / name for name in texts)
    files = {"source": [source], "reference": [reference]}
    found = entrant(ComparisonRequest(run, files, print, "written"))
    bleu, _ = found.begin(found.rows).examined(outputs).figures
    names = "--source", str(source), "--reference", str(reference), "--hypothesis", str(hypothesis)
    done = command("evaluate", *names, "--json")
    assert done.status == 0, done.err
    score = json.loads(done.out)["bleu"]["score"]
    assert bleu.statistics.score() == pytest.approx(score)
    assert (score > 50) == (suffix == "zh")
    assert bool(found.notes(found.rows)) == (suffix == "txt")


def test_test_files_in_another_language_than_the_run_reads_are_said(run, tmp_path):
    references, sources = map(list, zip(*generate(10, seed=9), strict=True))
    files = {"source": [tmp_path / "test.zh"], "reference": [tmp_path / "test.en"]}
    for [path], lines in zip(files.values(), (sources, references), strict=True):
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    found = entrant(ComparisonRequest(run, files, print, "written"))
    said = "sources should be in en, but 10 of 10 that tell seem to be in Han letters."
    assert said in found.notes(found.rows)


def test_runs_whose_texts_all_have_tags_are_compared(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    done = command("compare", str(run), str(tmp_path / "copy"), "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [bool(ranking["places"]) for ranking in found["rankings"]] == [True, True]
    assert len({run["figures"]["BLEU"]["value"] for run in found["runs"]}) == 1


def test_a_run_that_went_on_is_measured_on_what_it_was_validated_on(run, child):
    """New sentences and its parent's, each under the tag of its file."""
    found = entrant(ComparisonRequest(child, {}, print))
    _, task = opened(child)
    assert found.rows == list(zip(task.valid_sources, task.valid_texts, strict=True))
    assert found.rows[:10] == generate(10, seed=99)
    before = entrant(ComparisonRequest(run, {}, print))
    both = [row for row in before.rows if row in found.rows]
    assert set(tags_of(found, both)) == {"shouted", "written"}
    assert tags_of(found, both) == tags_of(before, both)


def test_what_it_has_learned_of_the_sentences_that_it_is_measured_on_is_said(run, child):
    found = entrant(ComparisonRequest(child, {}, print))
    [note] = found.notes(found.rows)
    assert f"10 of the {len(found.rows)} sentences were learned from by {child}" in note
    assert not found.notes(found.rows[10:])
    before = entrant(ComparisonRequest(run, {}, print))
    assert not before.notes(before.rows)


def test_what_a_run_that_went_on_held_is_measured_again_alike(child):
    written = json.loads(RunFolder(child).checks.read_text(encoding="utf-8"))
    again = json.loads(json.dumps(measured_again(child, print).as_dict()))
    assert again["held"] == written["held"]
    assert again["trust"]["weights"] == pytest.approx(written["trust"]["weights"], abs=1e-4)


def test_a_run_and_one_that_went_on_from_it_are_ranked_by_what_both_have(run, child):
    done = command("compare", str(run), str(child), "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    before, after = (set(entrant(ComparisonRequest(one, {}, print)).rows) for one in (run, child))
    assert found["test"]["examples"] == len(before & after) > 0
    assert all(ranking["places"] for ranking in found["rankings"])
