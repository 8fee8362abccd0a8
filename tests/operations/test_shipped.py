"""The run named `demo`: one's own where there is one, else the package's, which stays as it is."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from everyday_run import command

from headway.commands.demo import corpus
from headway.commands.verbs import EXAMPLES as HELP
from headway.core.errors import RunError
from headway.demo import EXAMPLES, INVITED, Split, finished
from headway.demo.sampling import Writer
from headway.demo.sentences import KINDS, coreference, it
from headway.operations import shipped
from headway.operations.shipped import open_folder
from headway.runs.checking import check_run
from headway.translator import Translator

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").glob("*.md"))]
QUOTED = re.compile(r"""["“]([A-Z][A-Za-z' ,]+[.?])["”]""")
NOT_ITS_OWN = {
    "She doesn't like soccer.", "Dog a runs.", "A zebra sings.", "Good morning.", "An engine.",
    "He ate an apple.", "He ate an apple and a pear .", "Apple released a new iPod .",
    "Who wrote Hamlet?", "Tom came over to my house for dinner yesterday.", "He has strange ideas.",
}  # fmt: skip
"""Of other runs; what a language model is to find odd; and a word that it does not know."""
FILES = {"README.md", "checks.json", "config.toml", "model.safetensors", "tokenizer.json"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of one's own, in a process that has said nothing yet."""
    monkeypatch.chdir(tmp_path)
    shipped.say_once.cache_clear()


@pytest.fixture(scope="module")
def parts() -> Split:
    """Of what it was trained on, made anew."""
    return corpus()


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Of every file below, when it was written and what is in it."""
    return {
        str(file.relative_to(folder)): (
            file.stat().st_mtime_ns,
            hashlib.sha256(file.read_bytes()).hexdigest(),
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_it_is_small_whole_and_names_no_place_of_the_machine_that_made_it() -> None:
    assert {file.name for file in shipped.SHIPPED.iterdir()} == FILES
    assert sum(file.stat().st_size for file in shipped.SHIPPED.iterdir()) < 4_500_000
    assert {one.state for one in check_run(shipped.SHIPPED)} == {"whole"}
    for name in FILES - {"model.safetensors", "tokenizer.json"}:
        assert '"/' not in (shipped.SHIPPED / name).read_text(encoding="utf-8")
    data = open_folder(Path("demo")).settings()["data"]
    assert data["source"] == data["target"] == data["valid_source"] == []
    assert "ship_demo.py" in (shipped.SHIPPED / "README.md").read_text(encoding="utf-8")


def test_it_translates_the_notes_sentences_and_others_it_has_never_seen(parts: Split) -> None:
    translator = Translator.load("demo", device="cpu")
    texts, expected = zip(*EXAMPLES, strict=True)
    assert translator.translate(texts) == list(expected)
    some = parts.test[:40]
    right = sum(
        translation == chinese
        for translation, (_, chinese) in zip(
            translator.translate([english for english, _ in some]), some, strict=True
        )
    )
    assert right >= 34
    writer, named = Writer(5), list[bool]()
    seen = {english for part in parts for english, _ in part}
    while len(named) < 40:
        english, chinese = finished(*it(writer))
        if english not in seen and (expected := coreference(english, chinese)):
            found = coreference(english, translator.translate(english))
            named.append(found is not None and found.antecedent == expected.antecedent)
    assert sum(named) >= 36


def test_it_gets_the_sentences_right_that_documents_and_help_pages_invite_to_type() -> None:
    help_pages = "\n".join(line for lines in HELP.values() for line in lines)
    texts = [help_pages, *(file.read_text(encoding="utf-8") for file in DOCUMENTS)]
    invited = {text for each in texts for text in QUOTED.findall(each)} - NOT_ITS_OWN
    expected = dict((*EXAMPLES, *INVITED))
    assert {"A dog runs.", "The dog runs."} <= invited <= set(expected)
    translator = Translator.load("demo", device="cpu")
    assert translator.translate(list(expected)) == list(expected.values())


def test_it_says_what_animals_and_people_do_in_sentences_that_it_has_never_seen(
    parts: Split,
) -> None:
    seen = {english for english, _ in parts.train}
    writer, unseen = Writer(9), dict[str, str]()
    while len(unseen) < 60:
        english, chinese = finished(*KINDS["sight"][1](writer))
        if english not in seen and len(english.split()) < 7:
            unseen[english] = chinese
    found = Translator.load("demo", device="cpu").translate(list(unseen))
    right = sum(a == b for a, b in zip(found, unseen.values(), strict=True))
    assert right >= 48


def test_a_word_that_it_has_never_seen_is_named_beside_the_translation(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("A dog runs.\nA zebra sings.\n", encoding="utf-8")
    done = command("translate", "demo", "a.en")
    assert done.status == 0
    [said] = [line for line in done.err.splitlines() if "doubtful" in line]
    assert "line 2 looks doubtful" in said
    assert said.endswith(": zebra")


def test_verbs_use_it_say_so_and_leave_it_as_it_is(tmp_path: Path) -> None:
    before = contents(shipped.SHIPPED)
    (tmp_path / "a.en").write_text("I love learning.\n", encoding="utf-8")
    (tmp_path / "a.zh").write_text("我爱学习。\n", encoding="utf-8")
    done = command("translate", "demo", "a.en")
    assert (done.status, done.out) == (0, "我爱学习。\n"), done.err
    assert "the run that comes with headway" in done.err
    for arguments in (
        ("translate", "demo", "a.en", "--json"),
        ("evaluate", "demo", "--source", "a.en", "--reference", "a.zh"),
        ("check", "demo"),
        ("parameters", "demo"),
        ("tokenize", "demo", "I love learning."),
        ("inspect", "demo", "I love learning.", "--json"),
    ):
        done = command(*arguments)
        assert done.status == 0, done.err
    for change in ("--accept", "--measure"):
        done = command("check", "demo", change)
        assert done.status == 2
        assert "stays as it is" in done.err
    assert contents(shipped.SHIPPED) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.en", "a.zh"]


@pytest.mark.parametrize("place", ["demo", "demo/run"])
def test_a_demo_of_ones_own_comes_first_and_that_is_said(
    everyday_run: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(everyday_run, place)
    assert open_folder(Path("demo")).path == Path(place)
    assert open_folder(Path("demo")).model.stat().st_size < 1_000_000
    said = capsys.readouterr().err
    assert said.count("your own run") == 1
    assert place in said


def test_a_folder_demo_without_a_run_hides_nothing_and_other_names_are_folders() -> None:
    Path("demo").mkdir()
    assert open_folder(Path("demo")).path == shipped.SHIPPED
    for name in ("demos", "./other/demo", "Demo"):
        with pytest.raises(RunError, match="does not exist"):
            open_folder(Path(name))


def test_a_wheel_holds_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    build = f"import sys, {named['build-backend']} as backend; backend.build_wheel(sys.argv[1])"
    words = [sys.executable, "-c", build, str(tmp_path)]
    subprocess.run(words, cwd=copy, capture_output=True, check=True)
    [wheel] = tmp_path.glob("headway-*.whl")
    held = {file.filename: file.compress_size for file in zipfile.ZipFile(wheel).infolist()}
    of_demo = {f"headway/shipped/demo/{name}" for name in FILES}
    assert of_demo <= set(held)
    assert sum(held[name] for name in of_demo) < 3_000_000
