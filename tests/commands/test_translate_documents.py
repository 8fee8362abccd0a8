"""`headway translate` beyond lines of text: which kinds it takes, bad files, a memory alone."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from everyday_run import command

from headway.commands.translate_documents import tell_lines
from headway.languages.path_languages import named_language
from headway.localization.formats.file_kinds import NO_TEXT, is_plain_text, keyed, paired

PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: {}\\n"\n\n'
UNITS = 'msgid "I love cats."\nmsgstr ""\n\nmsgid "I love big cats."\nmsgstr ""\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "po").mkdir()
    (tmp_path / "po" / "good.po").write_text(PO.format("zh") + UNITS)
    (tmp_path / "m.tsv").write_text("I love cats.\t我爱猫。\n")
    return tmp_path


def test_the_kinds_that_are_known_and_those_that_are_refused_are_different_ones():
    assert not NO_TEXT & {*keyed(), *paired()}
    for name in ("a.txt", "a", "a.en", "b.zh-Hans", "train.de.gz", "newstest2014-src", "a.tok"):
        assert is_plain_text(Path(name)), name
    for suffix in NO_TEXT:  # none is that of a language
        assert named_language(Path(f"a{suffix}.json")) is None


@pytest.mark.parametrize("suffix", [".rst", ".pdf", ".tex", ".pptx", ".PHP", ".toml.gz"])
def test_a_document_of_an_unknown_kind_is_refused_with_what_is_known(folder, suffix):
    (folder / f"a{suffix}").write_text("I love cats.\n")
    done = command("translate", "demo", f"a{suffix}", "--out", f"b{suffix}")
    assert done.status == 2
    assert ".po, .tmx" in done.err
    assert "--as text" in done.err
    assert not (folder / f"b{suffix}").exists()


def test_as_text_takes_any_name(folder):
    (folder / "a.rst").write_text("I love cats.\n\n")
    done = command("translate", "demo", "a.rst", "--as", "text")
    assert (done.status, len(done.out.splitlines())) == (0, 2)
    done = command("translate", "demo", "a.rst", "--as", "text", "--out", "b", "--report", "r.json")
    assert done.status == 0
    assert len((folder / "b").read_text().splitlines()) == 2
    assert command("translate", "demo", "a.rst", "b", "--as", "text").status == 2


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        ("prepare --source a.rst --target b.rst", "plain text"),
        ("prepare --source a.tmx --target b.tmx", "--pairs"),
        ("train --source a.rst --target b.rst --out run", "plain text"),
        ("evaluate --reference a.rst --hypothesis b.rst", "plain text"),
    ],
)
def test_markup_is_no_side_of_a_corpus(folder, verb, message):
    for name in ("a.rst", "b.rst", "a.tmx", "b.tmx"):
        (folder / name).write_text("I love cats.\n")
    done = command(*verb.split())
    assert done.status == 2
    assert message in done.err


def test_what_is_no_text_at_all_is_named(folder):
    for data, said in [
        ("I love cats.\n".encode("utf-16"), "UTF-16"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "PDF"),
        (b"PK\x03\x04\xff", "zip"),
    ]:
        (folder / "a.txt").write_bytes(data)
        done = command("translate", "demo", "a.txt")
        assert done.status == 2
        assert said in done.err
    (folder / "a.txt").write_bytes(b"a\0 b\n")
    assert command("translate", "demo", "a.txt").status == 0


def test_one_bad_file_stops_no_other_where_that_is_asked_for(folder):
    (folder / "po" / "bad.po").write_text("nothing of the kind\n")
    (folder / "po" / "other.po").write_text(PO.format("de") + UNITS)
    done = command("translate", "demo", "po", "--out", "new")
    assert done.status == 2
    assert "--keep-going" in done.err
    assert not (folder / "new" / "good.po").exists()
    words = "translate demo po --out new --keep-going --report r.json".split()
    done = command(*words)
    assert done.status == 3
    assert "2 of 3 files could not be translated" in done.err
    assert "po/bad.po: a PO file has entries" in done.err
    assert [one.name for one in (folder / "new").iterdir()] == ["good.po"]
    files = json.loads((folder / "r.json").read_text())["files"]
    refused = {one["file"]: bool(one["refused"]) for one in files}
    assert refused == {"po/bad.po": True, "po/good.po": False, "po/other.po": True}
    (folder / "po" / "good.po").unlink()
    assert command(*words).status == 2


def test_a_memory_alone_says_which_languages_are_wanted_not_the_first_file(folder):
    (folder / "po" / "a.po").write_text(PO.format("ar") + UNITS)
    (folder / "m.po").write_text(PO.format("zh") + UNITS.replace('msgstr ""', 'msgstr "好"'))
    done = command(*"translate po --memory m.po --keep-going --out new".split())
    assert done.status == 3, done.err
    assert [one.name for one in (folder / "new").iterdir()] == ["good.po"]
    assert "po/a.po says that its target language is ar" in done.err


@pytest.mark.parametrize(
    "words", ["po/good.po --memory m.tsv --out new.po", "--out new.po --memory m.tsv po/good.po"]
)
def test_a_memory_alone_fills_in_what_it_has(folder, words):
    done = command("translate", *words.split())
    assert done.status == 0
    assert "no RUN" in done.err
    assert "1 not in the memory" in done.err
    near = "a near match of 75% from m.tsv:1: --fuzzy-from 75 takes it"
    assert f"not in the memory, but for {near}" in done.err
    text = (folder / "new.po").read_text()
    assert text == PO.format("zh") + UNITS.replace('msgstr ""', 'msgstr "我爱猫。"', 1)
    done = command("translate", *words.replace("m.tsv", "m.tsv --fuzzy-from 70", 1).split()[:7])
    if words.startswith("po"):
        assert (folder / "new.po").read_text().count("我爱猫。") == 2


def test_a_memory_alone_takes_folders_and_no_lines(folder):
    assert command("translate", "po", "--memory", "m.tsv", "--out", "new").status == 0
    assert "我爱猫。" in (folder / "new" / "good.po").read_text()
    (folder / "a.txt").write_text("I love cats.\n")
    for words in ("a.txt --memory m.tsv", "--memory m.tsv", ""):
        done = command("translate", *words.split())
        assert done.status == 2
        assert "RUN" in done.err
    for more in ("--glossary m.tsv", "--leave-below 0.4"):
        done = command("translate", "po/good.po", "--memory", "m.tsv", *more.split())
        assert (done.status, "RUN" in done.err) == (2, True)


def test_a_memory_alone_is_in_the_languages_of_the_file(folder):
    (folder / "m.tsv").write_text("en\tde\nI love cats.\tIch liebe Katzen.\n")
    done = command("translate", "po/good.po", "--memory", "m.tsv")
    assert done.status == 2
    assert "de" in done.err


def test_what_most_doubtful_lines_have_in_common_is_said(capsys: pytest.CaptureFixture) -> None:
    translator = SimpleNamespace(longest=9)
    alike = dict.fromkeys(range(1, 8), "the source seems to be de, not en")
    tell_lines(translator, 9, alike | {9: "2 against 3"}, 0, 0)
    said = "8 of 9 lines look doubtful (1, 2, 3, 4, 5, ..)"
    why = "of 7 the source seems to be de, not en"
    assert capsys.readouterr().err == f"{said}: {why}; --json says why\n"
    tell_lines(translator, 9, {1: "2 against 3", 2: "4 against 5"}, 0, 0)
    assert "2 of 9 lines look doubtful (1, 2): --json says why" in capsys.readouterr().err
