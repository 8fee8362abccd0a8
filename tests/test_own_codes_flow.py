"""A user's own patterns on their whole way: train, prepare, translate, Python, files, checks."""

import json
from pathlib import Path

import pytest
from everyday_run import command, train, write_pairs

from headway import Translator, translate_files
from headway.core.config import read_toml
from headway.core.errors import DataError
from headway.demo import generate
from headway.localization.checks.calibration import Calibration, Checker
from headway.localization.checks.training_stats import TrainingStats

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

OWN = ("~KEY~", "⟦7⟧")


@pytest.fixture(scope="session")
def patterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("own") / "codes.txt"
    file.write_text("# ours\n~[A-Z]+~\n⟦\\d+⟧\n", encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def own_run(tmp_path_factory: pytest.TempPathFactory, patterns: Path) -> Path:
    folder = tmp_path_factory.mktemp("own-run")
    pairs = [
        (f"{a} {OWN[i % 2]}", f"{b} {OWN[i % 2]}") for i, (a, b) in enumerate(generate(150, seed=3))
    ]
    files = write_pairs(folder, "train", pairs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        finished = train(files, folder / "run", "--codes", str(patterns))
    assert finished.status == 0, finished.err
    assert "are masked: about 100.0% of the pairs" in finished.err
    return folder / "run"


def test_patterns_are_kept_in_the_run_and_used_by_it(own_run):
    kept = read_toml(own_run / "config.toml")["text"]["own_codes"]
    assert kept == [r"~[A-Z]+~", r"⟦\d+⟧"]
    text = "The dog ~OTHER~ is behind ⟦12⟧ the house."
    [found] = Translator.load(own_run, device="cpu").translate([text])
    assert found.count("~OTHER~") == 1
    assert found.count("⟦12⟧") == 1


def test_any_run_takes_patterns_when_it_translates(everyday_run, patterns, tmp_path):
    text = "The dog ~OTHER~ is behind the house."
    [found] = Translator.load(everyday_run, device="cpu", codes=[patterns]).translate([text])
    assert found.count("~OTHER~") == 1
    file = tmp_path / "a.en"
    file.write_text(text + "\n", encoding="utf-8")
    finished = command("translate", str(everyday_run), str(file), "--codes", str(patterns))
    assert finished.out == found + "\n"
    po = tmp_path / "a.po"
    po.write_text(f'msgid ""\nmsgstr ""\n\nmsgid "{text}"\nmsgstr ""\n', encoding="utf-8")
    translate_files(everyday_run, po, out=tmp_path / "b.po", codes=[patterns], say=print)
    assert (tmp_path / "b.po").read_text(encoding="utf-8").count("~OTHER~") == 2


def test_a_lost_one_is_flagged(own_run):
    own = Translator.load(own_run, device="cpu").checker.own
    source, target = "The dog ~OTHER~ is here.", "狗在这里。"
    assert [
        one.name for one in Checker(TrainingStats(), Calibration(), own).look(source, target).flags
    ] == ["code"]
    assert not Checker(TrainingStats(), Calibration()).look(source, target).flags


def test_the_doctor_compares_them(tmp_path, patterns):
    pairs = [(f"{a} ~K~", f"{b} ~K~") for a, b in generate(50, seed=3)] + [
        ("A dog is ~X~", "一只狗")
    ]
    source, target = write_pairs(tmp_path, "train", pairs)
    given = ["prepare", "--source", str(source), "--target", str(target), "--json"]

    def counted(*more: str) -> int:
        said = json.loads(command(*given, *more).out)
        found = {one["name"]: one["n"] for one in said["findings"]}
        return found.get("codes_differ", 0)

    assert counted("--codes", str(patterns)) == 1
    assert counted() == 0


def test_a_bad_pattern_is_refused_with_its_line_before_anything_is_read(tmp_path, everyday_run):
    file = tmp_path / "codes.txt"
    file.write_text("fine\na(?=b)\n", encoding="utf-8")
    for verb in (
        ["train", "--source", "no.en", "--target", "no.de", "--out", str(tmp_path / "run")],
        ["prepare", "--source", "no.en", "--target", "no.de"],
        ["translate", str(everyday_run), str(file)],
    ):
        finished = command(*verb, "--codes", str(file))
        assert finished.status == 2
        assert f"{file}:2" in finished.err
    with pytest.raises(DataError, match=r"codes\.txt:2"):
        Translator.load(everyday_run, codes=[file])
