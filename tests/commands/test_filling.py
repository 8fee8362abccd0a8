"""`headway translate` on translation files: what is empty is filled in."""

import gzip
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import polib
import pytest
from everyday_run import Finished, command

from headway.commands.translate_documents import tell
from headway.core import disk
from headway.core.errors import ConfigError, DataError
from headway.filling.files import Call, FillOptions, check_place, fill_files
from headway.filling.filling import Filler
from headway.filling.inputs import FileJob
from headway.languages.codes import LanguagePair, suffix_of
from headway.localization.formats import tmx, xliff
from headway.localization.formats.file_kinds import FILE_KINDS, is_plain_text, keyed, paired
from headway.localization.formats.piecewise import AT_ONCE
from headway.localization.placeholders.segments import Segment
from headway.translation.coded import SegmentTranslation

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

PO = """\
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: zh_CN\\n"

#: a.c:1
msgid "I love cats."
msgstr ""

msgid "The dog is tired.\\n"
"  I love learning.\\n"
msgstr ""

msgid "He sings."
msgstr "done"

msgid "one %s"
msgid_plural "many %s"
msgstr[0] ""
"""
EN_ZH = LanguagePair("en", "zh")


def shout(segments: Sequence[Segment]) -> list[SegmentTranslation]:
    return [
        SegmentTranslation(Segment((one.text.upper(),)), "%" not in one.text, 0) for one in segments
    ]


@pytest.fixture
def po(tmp_path: Path) -> Path:
    file = tmp_path / "a.po"
    file.write_text(PO, encoding="utf-8")
    return file


def filled(file: Path, out: Path | None, translate=shout, direction=EN_ZH, **options) -> None:
    call = Call(direction, lambda _: Filler(translate, 100), "", print, lambda *_: None)
    done = fill_files([str(file)], FillOptions(out, **options), call)
    tell(done.files, listed=False)
    if not done.whole:
        print(done.go_on, file=sys.stderr)
        raise KeyboardInterrupt


def translate(run: Path, *arguments: object) -> Finished:
    finished = command("translate", str(run), *map(str, arguments), "--runtime.threads=1")
    assert "Traceback" not in finished.err
    return finished


def test_a_file_that_cannot_be_read_is_refused_before_the_model_is_loaded(tmp_path):
    run, bad = tmp_path / "run", tmp_path / "bad.tmx"
    run.mkdir()
    (run / "config.toml").write_text('[model]\ntype = "transformer"\n', encoding="utf-8")
    bad.write_text("<tmx><body>", encoding="utf-8")
    finished = translate(run, bad)
    assert finished.status == 2
    assert "well-formed XML" in finished.err


def test_a_run_fills_in_what_is_empty_and_says_so(everyday_run, po, tmp_path):
    out = tmp_path / "new" / "b.po"
    finished = translate(everyday_run, po, "--out", out)
    assert finished.status == 0, finished.err
    assert finished.out == ""
    entries = polib.pofile(str(out))
    assert [entry.fuzzy for entry in entries] == [True, True, False, True]
    assert entries[0].msgstr
    assert entries[1].msgstr.count("\n") == 2
    assert entries[1].msgstr.split("\n")[1].startswith("  ")
    assert entries[2].msgstr == "done"
    assert "%s" in entries[3].msgstr_plural[0]
    assert (
        "4 units, 3 to translate, 3 filled in; left as they were: 1 translated already"
        in finished.err
    )
    assert po.read_text(encoding="utf-8") == PO
    assert [file.name for file in out.parent.iterdir()] == ["b.po"]


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("a.tsv", b"I love cats.\t\r\n"),
        (
            "a.tmx",
            b'<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en">'
            b"<seg>I love cats.</seg></tuv></tu></body></tmx>",
        ),
        (
            "a.xliff",
            b'<xliff version="1.2"><file source-language="en" target-language="zh" original="a" '
            b'datatype="plaintext"><body><trans-unit id="1"><source>I love cats.</source>'
            b"</trans-unit></body></file></xliff>",
        ),
    ],
)
def test_every_kind_comes_out_as_the_same_kind(everyday_run, tmp_path, name, before):
    file, out = tmp_path / name, tmp_path / f"out.{name}.gz"
    file.write_bytes(before)
    finished = translate(everyday_run, file, "--out", out)
    assert finished.status == 0, finished.err
    after = gzip.decompress(out.read_bytes())
    assert len(after) > len(before)
    assert b"I love cats." in after
    again = tmp_path / f"again.{name}.gz"
    assert translate(everyday_run, out, "--out", again).status == 0
    assert gzip.decompress(again.read_bytes()) == after


def test_without_a_place_the_file_goes_to_standard_output(po, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    filled(po, None, lambda some: [SegmentTranslation(Segment(("好",)), True, 0) for _ in some])
    assert stream.buffer.getvalue().decode("utf-8").count('"好') == 3  # type: ignore[attr-defined]


def test_a_file_may_be_filled_in_where_it_is(po, tmp_path):
    po.chmod(0o640)
    link = tmp_path / "link.po"
    link.symlink_to(po)
    with pytest.raises(ConfigError, match="--in-place"):
        filled(po, link)
    assert po.read_text(encoding="utf-8") == PO
    filled(link, None, in_place=True)
    assert link.is_symlink()
    assert "I LOVE CATS." in po.read_text(encoding="utf-8")
    assert po.stat().st_mode & 0o777 == 0o640
    before = po.read_bytes()
    filled(po, None, in_place=True)
    assert po.read_bytes() == before


def test_the_only_copy_of_translations_is_not_overwritten(everyday_run, po):
    finished = translate(everyday_run, po, "--in-place", "--overwrite")
    assert finished.status == 2
    assert "only copy" in finished.err
    finished = translate(everyday_run, po, "--out", po)
    assert finished.status == 2
    assert "--in-place instead of it" in finished.err
    assert po.read_text(encoding="utf-8") == PO


def test_on_request_all_is_translated_anew(po, tmp_path):
    filled(po, tmp_path / "b.po", overwrite=True)
    assert all(entry.fuzzy for entry in polib.pofile(str(tmp_path / "b.po")))


def test_what_needs_a_look_is_listed_with_its_line(tmp_path, capsys):
    file = tmp_path / "a.po"
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=CP1251\\n"\n'
    file.write_bytes(
        header.encode()
        + b"".join(b'msgid "%s"\nmsgstr ""\n' % one for one in (b"a", b"b%", b"c", b"d"))
    )

    def uneven(segments: list[Segment]) -> list[SegmentTranslation]:
        texts = {"a": "好", "b%": "б", "c": " ", "d": "д"}
        return [
            SegmentTranslation(Segment((texts[one.text],)), "%" not in one.text, one.text == "d")
            for one in segments
        ]

    filled(file, tmp_path / "b.po", uneven)
    said = capsys.readouterr().err
    assert "4 to translate, 1 filled in" in said
    assert "msgconv -t UTF-8" in said
    assert "longer than the 100 sub-words" in said
    for place in ("a.po:3: left as it was (unwritable:", "a.po:5: look at it (codes_at_end:",
                  "a.po:7: left as it was (silent:", "a.po:9: left as it was (cut:"):  # fmt: skip
        assert place in said
    assert [entry.msgstr for entry in polib.pofile(str(tmp_path / "b.po"))] == ["", "б", "", ""]


def test_an_interrupt_keeps_what_was_done_beside_the_result(tmp_path, capsys):
    file, out = tmp_path / "a.tsv", tmp_path / "b.tsv"
    file.write_text("".join(f"text {n}\t\n" for n in range(AT_ONCE + 5)), encoding="utf-8")
    out.write_text("earlier", encoding="utf-8")
    calls = []

    def interrupted(segments: list[Segment]) -> list[SegmentTranslation]:
        calls.append(len(segments))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return shout(segments)

    with pytest.raises(KeyboardInterrupt):
        filled(file, out, interrupted)
    assert out.read_text(encoding="utf-8") == "earlier"
    assert f"beside {out}; the same command goes on" in capsys.readouterr().err
    calls.clear()
    filled(file, out, lambda segments: calls.append(len(segments)) or shout(segments))
    assert calls == [5]
    assert out.read_text(encoding="utf-8").count("TEXT") == AT_ONCE + 5


def test_a_full_disk_leaves_what_was_there(po, tmp_path, monkeypatch):
    out = tmp_path / "b.po"
    out.write_text("earlier", encoding="utf-8")

    def full(_file: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(disk.os, "fsync", full)
    with pytest.raises(DataError, match="disk is full"):
        filled(po, out)
    assert out.read_text(encoding="utf-8") == "earlier"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.po", "b.po"]


def test_a_file_in_another_language_is_refused(po, tmp_path):
    with pytest.raises(DataError, match="target language is zh_CN.*--target-language zh_CN"):
        filled(po, tmp_path / "b.po", direction=LanguagePair("en", "de"))
    filled(po, tmp_path / "b.po", direction=LanguagePair(None, None))
    file = tmp_path / "a.tsv"
    file.write_text("fr\tzh\nla\t\n", encoding="utf-8")
    with pytest.raises(DataError, match="source language is fr"):
        filled(file, tmp_path / "b.tsv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.po", "--out", "b.tmx"], "same kind"),
        (["a.po", "--alignment"], "Leave out --alignment"),
        (["a.po", "--in-place", "--out", "b.po"], "one place"),
        (["a.po", "a.tsv"], "Add --out FOLDER"),
        (["a.po", "--fuzzy-from", "8"], "percentage from 50 to 100"),
        (["a.po", "--fuzzy-from", "0.85"], "got 0.85. Try 85."),
        (["a.po", "--fuzzy-from", "85.5"], "got 85.5. Try 85."),
        (["--fuzzy-from", "85"], "got 85 and no --memory"),
        (["a.po", "--fuzzy-from", "85", "--no-own-memory"], "got 85 and no --memory"),
        (["a.po", "--leave-below", "40"], "confidence from 0 to 1"),
        (["a.po", "--report", "r.doc"], "Name it with .html, .tsv or .json"),
        (["a.po", "--report", "a.po"], "a page, a table or JSON"),
        (["a.pot"], "msginit"),
        (["nowhere.po"], "no such file"),
        (["a.txt", "--overwrite"], "files that are filled in"),
        (["--target-language", "de"], "files that are filled in"),
        (["a.po", "--target-language", "fr"], "the run's own language"),
        (["bad.po"], "bad.po:1 has"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(everyday_run, po, arguments, message, monkeypatch):
    monkeypatch.chdir(po.parent)
    (po.parent / "bad.po").write_text("nothing of the kind\n", encoding="utf-8")
    finished = translate(everyday_run, *arguments)
    assert finished.status == 2
    assert message in finished.err


def test_a_kind_is_told_by_the_suffix_without_gz(tmp_path):
    assert suffix_of(Path("A.PO.GZ")) == ".po"
    assert suffix_of(Path("po")) == suffix_of(Path(".po")) == ""
    assert {*FILE_KINDS} - {".html", ".htm", ".md", ".docx"} == {*keyed(), *paired()}
    assert not any(is_plain_text(Path(f"a{kind}.gz")) for kind in (*FILE_KINDS, ".pot"))
    assert is_plain_text(Path("a.de.gz"))
    check_place(FileJob(Path("a.po"), Path("b.txt")), in_place=False)
    with pytest.raises(ConfigError):
        check_place(FileJob(Path("a.po"), Path("b.tsv.gz")), in_place=False)


@pytest.mark.parametrize(("module", "root"), [(tmx, "tmx"), (xliff, "xliff")])
def test_what_is_refused_is_never_all_in_memory(module, root, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "read_contents", lambda path: pytest.fail("was read"))
    file = tmp_path / f"bomb.{root}.gz"
    file.write_bytes(gzip.compress(b"<%b><!--" % root.encode() + b"a" * (2 << 20)))
    with pytest.raises(DataError, match="at most 1 MiB"):
        module.open_document(file, "en", "zh", False)


def test_a_choice_of_texts_is_filled_branch_by_branch_or_left_and_named(tmp_path, capsys):
    file = tmp_path / "a.tsv"
    file.write_text(
        "{n, plural, one {a dog} other {# dogs}}\t\na cat|%d cats\t\n{n, plural, one {a}}\t\n"
    )
    filled(file, tmp_path / "b.tsv")
    assert [line.partition("\t")[2] for line in (tmp_path / "b.tsv").read_text().splitlines()] == [
        "{n, plural, other {# DOGS}}", "%D CATS|%D CATS", "",
    ]  # fmt: skip
    told = capsys.readouterr().err
    assert f"{file}:3: left as it was (choice: a choice of texts, as in {{n, plural, ..}}" in told
