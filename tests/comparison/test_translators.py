"""Translators in a comparison: each sentence is read as in validation."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from everyday_run import FLAGS, command

from headway.comparison.entrants import Request
from headway.comparison.translators import entrant
from headway.tasks.translation.kind import KIND
from headway.tasks.translation.task import TranslationTask
from headway.tasks.translation.tuning_data import scored_rows
from headway.text.everyday import generate
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module", autouse=True)
def few_alone() -> Iterator[None]:
    """How long single sentences take is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headway.comparison.measuring.MOST_ALONE", 1)
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


def opened(run: Path) -> tuple[Translator, TranslationTask]:
    """A run, and its validation as training had it."""
    translator = Translator.load(run)
    settings = translator.settings
    data = KIND.read(settings, translator.subwords, lambda _: None)
    task = TranslationTask(
        data.prepared,
        settings.training,
        valid_rows=scored_rows(data, settings),
        seed=settings.runtime.seed,
        device=translator.device,
    )
    return translator, task


def test_each_sentence_is_translated_under_the_tag_of_its_file(run, monkeypatch):
    def named(_: Translator, texts: list[str], *, tag: str) -> list[str]:
        return [f"{tag}: {text}" for text in texts]

    monkeypatch.setattr(Translator, "translate", named)
    found = entrant(Request(run, {}, print))
    tags = ["shouted" if target == source.upper() else "written" for source, target in found.rows]
    assert set(tags) == {"shouted", "written"}
    assert set(found.ways["the tag before a sentence"].split(", ")) == set(tags)
    wanted = [f"{tag}: {source}" for tag, (source, _) in zip(tags, found.rows, strict=True)]
    work = found.begin(found.rows)
    assert work.all() == wanted
    assert [work.one(i) for i in range(len(wanted))] == [[text] for text in wanted]
    some = found.rows[::3]
    assert found.begin(some).all() == wanted[::3]


def test_validation_sentences_are_translated_as_training_translated_them(run):
    found = entrant(Request(run, {}, print))
    translator, task = opened(run)
    assert [row[1] for row in found.rows] == task.valid_texts
    outputs = found.begin(found.rows).all()
    assert outputs == task.translate(translator.plain.model, translator.settings.decoding)


def test_bleu_of_validation_sentences_is_that_of_training(run, monkeypatch):
    found = entrant(Request(run, {}, print))
    outputs = [target[1:] for _, target in found.rows]
    bleu, _ = found.begin(found.rows).examined(outputs, None).figures
    translator, task = opened(run)
    monkeypatch.setattr(task, "translate", lambda *_: outputs)
    wanted = task.bleu(translator.plain.model, translator.settings.decoding)
    assert bleu.statistics.score() == pytest.approx(wanted.score())
    assert wanted.score() > 50
    assert set(bleu.holds_for["the target language"].split(", ")) == {"zh", "de"}
    assert found.notes == []


@pytest.mark.parametrize("suffix", ["zh", "txt"])
def test_bleu_of_test_files_is_that_of_evaluate_whatever_their_names(run, tmp_path, suffix):
    sources, references = map(list, zip(*generate(10, seed=9), strict=True))
    outputs = [target[1:] for target in references]
    texts = {"test.en": sources, f"test.{suffix}": references, "outputs": outputs}
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    source, reference, hypothesis = (tmp_path / name for name in texts)
    files = {"source": [source], "reference": [reference]}
    found = entrant(Request(run, files, print, "written"))
    bleu, _ = found.begin(found.rows).examined(outputs, None).figures
    names = "--source", str(source), "--reference", str(reference), "--hypothesis", str(hypothesis)
    done = command("evaluate", *names, "--json")
    assert done.status == 0, done.err
    score = json.loads(done.out)["bleu"]["score"]
    assert bleu.statistics.score() == pytest.approx(score)
    assert (score > 50) == (suffix == "zh")
    assert bool(found.notes) == (suffix == "txt")


def test_runs_whose_texts_all_have_tags_are_compared(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    done = command("compare", str(run), str(tmp_path / "copy"), "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert [bool(ranking["places"]) for ranking in found["rankings"]] == [True, True]
    assert len({run["figures"]["BLEU"]["value"] for run in found["runs"]}) == 1
