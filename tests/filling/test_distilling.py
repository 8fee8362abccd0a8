"""A teacher writes, a student learns: what it learns from, and that a kill costs one block."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from everyday_run import Finished, command

from headway.core.config import merge
from headway.core.disk import checksum
from headway.core.run_folder import RunFolder
from headway.filling import distilling
from headway.translation import pairs
from headway.translator import Translator

SMALL = (
    "--preset=tiny --model.d-model=16 --model.heads=2 --model.d-ff=16 --model.encoder-layers=1 "
    "--model.decoder-layers=1 --training.max-steps=4 --training.checkpoint-every=2 "
    "--training.batch-tokens=400 --training.learning-rate=0.01 --runtime.threads=1 "
    "--runtime.device=cpu --text.vocabulary-size=700 --training.valid-sentences=5 "
    "--decoding.max-extra-length=2 --decoding.beam=2 --training.tune-length-penalty=false"
).split()

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def distill(teacher: Path, out: Path, *more: str) -> Finished:
    return command("distill", str(teacher), "--out", str(out), *SMALL, *more)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def short_run(everyday_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The everyday run, as if it had learned from the first 120 of its pairs."""
    run = tmp_path_factory.mktemp("short") / "run"
    shutil.copytree(everyday_run, run)
    folder, few, sums = RunFolder(run), {}, {}
    for side in ("source", "target"):
        [whole] = folder.settings()["data"][side]
        file = run.parent / Path(whole).name
        file.write_text("".join(f"{line}\n" for line in lines(Path(whole))[:120]), "utf-8")
        few[side], sums[str(file)] = [str(file)], checksum(file)
    folder.data.write_text(json.dumps({"sha256": sums}), encoding="utf-8")
    folder.write_settings(merge(folder.settings(), {"data": few}), [folder.data])
    return run


@pytest.fixture(scope="module")
def monolingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("texts") / "more.en"
    file.write_text("She reads.\n\nThe cat has a red ball.\nShe reads.\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def taught(short_run: Path, monolingual: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("student")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        finished = distill(short_run, folder / "run", "--source", str(monolingual))
    assert finished.status == 0, finished.err
    return folder / "run"


def test_the_student_learns_from_the_teachers_own_translations(taught, short_run, monolingual):
    sources, targets = lines(taught / "taught" / "train.en"), lines(taught / "taught" / "train.zh")
    assert len(sources) == len(targets) == len(set(sources))
    assert sources[-2:] == ["She reads.", "The cat has a red ball."]
    teacher = Translator.load(short_run, device="cpu")
    some = sources[::20]
    assert targets[::20] == teacher.translate(some)
    settings = RunFolder(taught).settings()
    assert settings["data"]["source"] == [str(taught / "taught" / "train.en")]
    assert settings["model"]["d_model"] == 16


def test_it_is_validated_on_the_teachers_pairs_which_are_not_taught(taught, short_run):
    teacher = Translator.load(short_run, device="cpu")
    known = pairs.read(teacher.settings, teacher.subwords, lambda _: None).prepared.valid_texts
    held = list(
        zip(*(lines(taught / "taught" / f"valid.{code}") for code in ("en", "zh")), strict=True)
    )
    assert held == [tuple(pair) for pair in known]
    assert not {source for source, _ in held} & set(lines(taught / "taught" / "train.en"))


def test_the_card_says_who_taught_it(taught, short_run):
    card = (taught / "README.md").read_text(encoding="utf-8")
    assert card.count("## Teacher") == 1
    assert str(short_run) in card
    assert "real translations" in card
    assert not list((taught / "taught").glob("block-*"))


def test_several_teach_as_an_ensemble(short_run, tmp_path):
    teacher = Translator.load(short_run, device="cpu")
    with torch.no_grad():
        for weight in teacher.model.parameters():  # type: ignore[attr-defined]
            weight.mul_(1.1)
    other = teacher.save(tmp_path / "other")
    student = tmp_path / "student"
    finished = command("distill", str(short_run), str(other), "--out", str(student), *SMALL)
    assert finished.status == 0, finished.err
    sources, targets = (lines(student / "taught" / f"train.{code}") for code in ("en", "zh"))
    together = Translator.load([short_run, other], device="cpu")
    assert targets[::20] == together.translate(sources[::20])
    card = (student / "README.md").read_text(encoding="utf-8")
    assert str(short_run) in card
    assert f"and `{other}` (sha256" in card
    alone = distill(short_run, student, "--resume")
    assert alone.status == 2
    assert "names another teacher" in alone.err


def test_what_another_teacher_held_out_is_not_taught_and_what_it_learned_is_said(
    short_run, tmp_path
):
    other = tmp_path / "other"
    shutil.copytree(short_run, other)
    folder = RunFolder(other)
    folder.write_settings(merge(folder.settings(), {"runtime": {"seed": 2}}))
    held = []
    for run in (short_run, other):
        teacher = Translator.load(run, device="cpu")
        held.append(pairs.read(teacher.settings, teacher.subwords, lambda _: None).prepared)
    first, second = ({*one.valid_texts} for one in held)
    assert second - first, "another seed holds others out"
    student = tmp_path / "student"
    finished = command("distill", str(short_run), str(other), "--out", str(student), *SMALL)
    assert finished.status == 0, finished.err
    taught = {*lines(student / "taught" / "train.en")}
    assert not {source for source, _ in first | second} & taught
    said = f"{len(first - second)} of them are among what {other} learned from"
    assert said in finished.err
    assert said in (student / "README.md").read_text(encoding="utf-8")
    assert f"what {short_run} learned from" not in finished.err


def test_texts_of_a_teacher_within_one_language_do_not_replace_each_other(short_run, tmp_path):
    teacher = tmp_path / "teacher"
    shutil.copytree(short_run, teacher)
    folder = RunFolder(teacher)
    folder.write_settings(merge(folder.settings(), {"data": {"target_language": "en"}}))
    lessons = distilling.lessons_for([teacher], tmp_path / "student", (), None, 0)
    names = [lessons.file("train", side).name for side in ("source", "target")]
    assert names == ["train.source", "train.target"]


def test_a_teacher_of_shards_translates_what_it_is_given(short_run, tmp_path):
    teacher, shards = tmp_path / "teacher", tmp_path / "shards"
    shutil.copytree(short_run, teacher)
    shards.mkdir()
    (shards / "prepared.json").write_text("{}", encoding="utf-8")
    folder = RunFolder(teacher)
    of_shards = {"source": [], "target": [], "prepared": str(shards)}
    sums = {str(shards / "prepared.json"): checksum(shards / "prepared.json")}
    folder.data.write_text(json.dumps({"sha256": sums}), encoding="utf-8")
    folder.write_settings(merge(folder.settings(), {"data": of_shards}), [folder.data])
    finished = distill(teacher, tmp_path / "one")
    assert finished.status == 2
    assert f"{shards}, which holds sub-words and no texts" in finished.err
    assert "--source FILE" in finished.err
    texts = tmp_path / "mine.en"
    texts.write_text("".join(lines_of(short_run)), encoding="utf-8")
    finished = distill(teacher, tmp_path / "two", "--source", str(texts))
    assert finished.status == 0, finished.err


def test_a_kill_costs_a_block_and_the_same_comes_out(short_run, taught, tmp_path, monkeypatch):
    monkeypatch.setattr(distilling, "BLOCK", 25)
    translate, done = Translator.translate, list[int]()

    def until_killed(self, texts, **how):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(len(texts))
        return translate(self, texts, **how)

    monkeypatch.setattr(Translator, "translate", until_killed)
    run = tmp_path / "run"
    killed = distill(short_run, run)
    assert killed.status == 130
    assert done == [25, 25]
    told = "the teacher needs about"
    assert killed.err.count(told) == 1, killed.err
    again = distill(short_run, run)
    assert again.status == 2
    assert "--resume" in again.err
    done.clear()

    def counted(self, texts, **how):
        done.append(len(texts))
        return translate(self, texts, **how)

    monkeypatch.setattr(Translator, "translate", counted)
    finished = distill(short_run, run, "--resume")
    assert finished.status == 0, finished.err
    assert finished.err.count(told) == 1, "by what is translated now, not by what is read"
    n_taught = len(lines(run / "taught" / "train.en"))
    assert sum(done[:-2]) == n_taught - 50  # the last compare teacher and student in turn
    assert lines(run / "taught" / "train.zh") == lines(taught / "taught" / "train.zh")[:n_taught]
    finished = distill(short_run, run, "--resume")
    assert "nothing to resume" in finished.err


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--beam", "3"], "another search"),
        (["--source", "OTHER"], "other texts"),
        (["--data.source", "x.en"], "what its teacher writes"),
        (["--training.init-from", "x"], "begins anew"),
    ],
)
def test_what_was_begun_goes_on_as_it_was(short_run, taught, monolingual, tmp_path, more, word):
    other = tmp_path / "other.en"
    other.write_text("New.\n", encoding="utf-8")
    given = [str(other) if word == "OTHER" else word for word in more]
    if "--source" not in given:
        given += ["--source", str(monolingual)]
    finished = distill(short_run, taught, "--resume", *given)
    assert finished.status == 2, finished.err
    assert word in " ".join(finished.err.split())


def test_a_budget_is_said_to_be_the_students():
    told = " ".join(command("distill", "--help").out.replace("│", " ").split())
    assert "Time for the student's training" in told
    assert "Time for all of it" not in told


def test_a_run_that_was_not_taught_is_refused(short_run):
    finished = distill(short_run, short_run, "--resume")
    assert finished.status == 2
    assert "was not taught" in finished.err


def test_without_its_text_a_teacher_translates_what_it_is_given(short_run, tmp_path):
    teacher = tmp_path / "teacher"
    shutil.copytree(short_run, teacher)
    folder = RunFolder(teacher)
    folder.write_settings(merge(folder.settings(), {"data": {"source": ["/nowhere/a.en"]}}))
    finished = distill(teacher, tmp_path / "one")
    assert finished.status == 2
    assert "--source FILE" in finished.err
    assert not (tmp_path / "one").exists()
    texts = tmp_path / "mine.en"
    texts.write_text("".join(lines_of(short_run)), encoding="utf-8")
    finished = distill(teacher, tmp_path / "two", "--source", str(texts))
    assert finished.status == 0, finished.err
    assert "scores are of likeness" in finished.err
    assert "likeness" in (tmp_path / "two" / "README.md").read_text(encoding="utf-8")
    assert len(lines(tmp_path / "two" / "taught" / "train.zh")) > 40


def lines_of(run: Path) -> list[str]:
    [source] = RunFolder(run).settings()["data"]["source"]
    return Path(source).read_text(encoding="utf-8").splitlines(keepends=True)


def test_the_run_that_comes_with_headway_may_teach(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    lessons = distilling.lessons_for([Path("demo")], tmp_path / "out", [], None, 0)
    assert RunFolder(lessons.teacher).model.exists()
    assert lessons.data.corpus().files
