"""Many files in one call: where results go, what is refused, and going on after an interrupt."""

import json
import math
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.lines import MAX_LINE_BYTES
from headway.filling.files import Call, FillOptions, Outcomes, fill_files, tell_passed_over
from headway.filling.filling import Filler, write_whole
from headway.filling.flow import Steps
from headway.filling.inputs import FileJob, FilesRefusedError, placed
from headway.filling.journal import NAME, Journal
from headway.filling.report import COLUMNS, FileReport, summary
from headway.languages.codes import LanguagePair
from headway.localization.checks.calibration import Verdict
from headway.localization.formats.piecewise import AT_ONCE as PIECES_AT_ONCE
from headway.localization.formats.piecewise import MISSING
from headway.localization.formats.units import (
    FUZZY,
    MODEL,
    Flag,
    Match,
    Outcome,
    Unit,
)
from headway.localization.placeholders.segments import Code, Segment
from headway.translation.coded import SegmentTranslation

NO_STEPS = Steps()
HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'


def write_po(file: Path, texts: Sequence[str]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    units = "".join(f'\n#: a.c:1\nmsgid "{text}"\nmsgstr ""\n' for text in texts)
    file.write_text(HEADER + units, encoding="utf-8")
    return file


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three PO files in a tree, and much that is no translation file."""
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("po/a.po", "po/deep/b.po", "po/deep/er/c.po")):
        write_po(Path(name), [f"text {number}", f"{number} more", "the same"])
    for name in ("po/.hidden.po", "po/.git/x.po", "po/data.tsv", "po/README.txt", "po/t.pot"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("left alone\tx\n", encoding="utf-8")
    return tmp_path


class Shouting:
    """A model that writes capitals, remembers its calls, and may be interrupted."""

    def __init__(self, stop_at: float = math.inf) -> None:
        self.calls: list[list[str]] = []
        self.stop_at = stop_at

    def __call__(self, segments: Sequence[Segment]) -> list[SegmentTranslation]:
        if len(self.calls) + 1 >= self.stop_at:
            raise KeyboardInterrupt
        self.calls.append([one.text for one in segments])
        return [SegmentTranslation(Segment((one.text.upper(),)), True, 0) for one in segments]

    @property
    def asked(self) -> list[str]:
        return [text for call in self.calls for text in call]


class Doubting:
    def judge(self, outcome: Outcome) -> Verdict:
        doubt = "MORE" in (outcome.segment.text if outcome.segment else "")
        flags = [Flag("loop", 0.9, "<more> & more\u202e")] if doubt else []
        return Verdict(flags, 0.1 if doubt else 0.9)


def fill(
    names: Sequence[str],
    model: Callable[[list[Segment]], list[SegmentTranslation]],
    steps: Steps = NO_STEPS,
    how: str = "",
    **options: object,
) -> Outcomes:
    direction = LanguagePair("en", None)
    call = Call(direction, lambda _: Filler(model, 100, steps), how, print, lambda *_: None)
    return fill_files(names, FillOptions(**options), call)


def never(_segments: list[Segment]) -> list[SegmentTranslation]:
    raise AssertionError("nothing is to be translated")


def written(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["po"], ["a.po", "deep/b.po", "deep/er/c.po"]),
        (["po/deep"], ["b.po", "er/c.po"]),
        (["po/**/*.po"], ["a.po", "deep/b.po", "deep/er/c.po"]),
        (["po/deep/*/*.po"], ["er/c.po"]),
        (["po/a.po", "po/deep/b.po"], ["a.po", "deep/b.po"]),
        (["po/deep/b.po", "po/deep/er/c.po"], ["b.po", "er/c.po"]),
        (["po", "po/a.po", "po/../po/deep/b.po"], ["a.po", "deep/b.po", "deep/er/c.po"]),
    ],
)
def test_the_tree_is_mirrored_and_each_file_is_done_once(tree, names, places):
    done = fill(names, Shouting(), out=Path("new"))
    assert sorted(written(Path("new"))) == places
    assert done.whole
    assert len(done.files) == len(places)
    for place in places:
        assert all(entry.msgstr == entry.msgid.upper() for entry in polib.pofile(f"new/{place}"))


def test_results_in_the_folder_itself_are_no_inputs_of_the_next_call(tree):
    fill(["po"], Shouting(), out=Path("po/new"))
    before = written(Path("po/new"))
    assert len(before) == 3
    fill(["po"], Shouting(), out=Path("po/new"))
    assert written(Path("po/new")) == before


def test_batches_are_full_whatever_files_they_are_of(tree):
    for number in range(40):
        write_po(Path(f"many/{number}.po"), [f"unit {number} {n}" for n in range(7)])
    model = Shouting()
    fill(["many"], model, out=Path("new"))
    assert [len(call) for call in model.calls] == [128, 128, 24]
    assert sum(map(len, model.calls)) == 40 * 7
    assert PIECES_AT_ONCE == 128


def test_all_reasons_are_said_before_the_model_is_loaded(tree):
    Path("po/bad.po").write_text("nothing of the kind\n", encoding="utf-8")
    Path("po/deep/b.po").write_text(HEADER.replace("\\n", "\\nX-Source-Language: fr\\n", 1))

    def load(_opened: object) -> Filler:
        raise AssertionError("was loaded")

    call = Call(LanguagePair("en", "de"), load, "", print, lambda *_: None)
    with pytest.raises(FilesRefusedError) as refused:
        fill_files(["po"], FillOptions(out=Path("new")), call)
    assert "2 of 4 files cannot be" in str(refused.value)
    assert "po/bad.po:1 has" in str(refused.value)
    assert "source language is fr" in str(refused.value)
    assert not Path("new").exists()


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["po"], {}, "Add --out FOLDER"),
        (["po"], {"out": Path("po")}, "3 of 3 files"),
        (["po", "other"], {"out": Path("new")}, "po/a.po and other/a.po would both be new/a.po"),
        (["po"], {"out": Path("po/a.po")}, "is a file"),
        (["po/a.po"], {"out": Path("po/a.po")}, "--in-place instead of it"),
        (["po"], {"in_place": True, "overwrite": True}, "only copy"),
        (["po/README.txt"], {"in_place": True}, "only copy; got po/README.txt"),
        (["po/a.po", "po/README.txt"], {"in_place": True}, "only copy; got po/README.txt"),
        (["po/*.t*"], {"in_place": True}, "only copy; got po/README.txt"),
        (["nothing*.po"], {"out": Path("new")}, "no file fits the pattern"),
        (["empty"], {"out": Path("new")}, "there is none in empty"),
        (["po/a.po", "nowhere.po"], {"out": Path("new")}, "no such file: nowhere.po"),
    ],
)
def test_what_would_be_lost_or_is_not_there_is_refused(tree, names, options, message):
    write_po(Path("other/a.po"), ["x"])
    Path("empty").mkdir()
    before = written(tree)
    with pytest.raises((ConfigError, DataError, FilesRefusedError)) as refused:
        fill(names, never, **options)
    assert message in str(refused.value)
    assert written(tree) == before


def test_a_folder_that_holds_everything_is_refused_as_its_own_result(tree):
    with pytest.raises(FilesRefusedError, match="does not replace what went in"):
        fill(["po"], never, out=Path("po"))


def test_in_place_writes_only_files_that_get_something(tree):
    full = write_po(Path("po/full.po"), [])
    before = full.stat().st_mtime_ns, full.read_bytes()
    fill(["po"], Shouting(), in_place=True)
    assert (full.stat().st_mtime_ns, full.read_bytes()) == before
    assert polib.pofile("po/deep/b.po")[0].msgstr == "TEXT 1"
    assert Path("po/data.tsv").read_text() == "left alone\tx\n"
    fill(["po"], never, in_place=True)


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4])
def test_going_on_after_an_interrupt_equals_never_stopping(tree, stop_at, monkeypatch):
    for number in range(6):
        write_po(Path(f"many/{number}.po"), [f"{number} more {n}" for n in range(50)])
    steps = Steps(checks=Doubting(), leave_below=0.5)
    through = Shouting()
    whole = fill(["many"], through, steps, out=Path("whole"))
    first = Shouting(stop_at)
    stopped = fill(["many"], first, steps, out=Path("new"), report=Path("r.json"))
    assert not stopped.whole or stop_at > len(through.calls)
    done = [name for name in written(Path("new")) if name != NAME]
    for name in done:
        assert Path("new", name).read_bytes() == Path("whole", name).read_bytes()
    second = Shouting()
    rest = fill(["many"], second, steps, out=Path("new"), report=Path("r.json"))
    assert written(Path("new")) == written(Path("whole"))
    if not stopped.whole:
        assert "goes on with the rest" in stopped.go_on
        assert sorted(first.asked + second.asked) == sorted(through.asked)
        assert [one.rows for one in rest.files] == [one.rows for one in whole.files]
        assert [one.filled for one in rest.files] == [one.filled for one in whole.files]


def test_an_interrupt_says_how_to_go_on_where_all_so_far_was_doubtful(tree):
    file = write_po(Path("one.po"), [f"{n} more" for n in range(200)])
    steps = Steps(checks=Doubting(), leave_below=0.5)
    stopped = fill([str(file)], Shouting(2), steps, out=Path("new.po"))
    assert not stopped.whole
    assert "goes on with the rest" in stopped.go_on
    second = Shouting()
    fill([str(file)], second, steps, out=Path("new.po"))
    assert 0 < len(second.asked) < 200


UNITS = {
    ".tsv": "Text {n}.\t\n",
    ".txt": "Text {n}.\n",
    ".properties": "k{n}=Text {n}.\n",
    ".strings": '"k{n}" = "Text {n}.";\n',
    ".json": '"k{n}": "Text {n}.",\n',
    ".arb": '"k{n}": "Text {n}.",\n',
    ".resx": '<data name="k{n}" xml:space="preserve"><value>Text {n}.</value></data>\n',
    ".srt": "{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nText {n}.\n\n",
    ".vtt": "00:{n:02}.000 --> 00:{n:02}.900\nText {n}.\n\n",
}
AROUND = {
    ".json": ("{", '"end": "End."}'),
    ".arb": ('{"@@locale": "en",', '"end": "End."}'),
    ".resx": ("<root>", "</root>"),
    ".vtt": ("WEBVTT\n\n", ""),
}


@pytest.mark.parametrize(
    ("kind", "in_place"),
    [*((kind, False) for kind in UNITS), *((kind, True) for kind in UNITS if kind != ".txt")],
)
def test_no_translation_is_translated_again(kind, in_place, tmp_path, monkeypatch):
    """Whatever the kind of a single file: stopped and begun again is never stopped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("headway.localization.formats.piecewise.AT_ONCE", 20)
    before, after = AROUND.get(kind, ("", ""))
    file = Path(f"a{kind}")
    file.write_text(before + "".join(UNITS[kind].format(n=n) for n in range(50)) + after, "utf-8")
    through, first, second = Shouting(), Shouting(stop_at=3), Shouting()
    fill([str(file)], through, out=Path(f"whole{kind}"))
    place = {"in_place": True} if in_place else {"out": Path(f"b{kind}"), "overwrite": True}
    stopped = fill([str(file)], first, **place)
    assert not stopped.whole
    assert "the same command goes on" in stopped.go_on
    assert fill([str(file)], second, **place).whole
    result = file if in_place else Path(f"b{kind}")
    assert result.read_bytes() == Path(f"whole{kind}").read_bytes()
    assert sorted(first.asked + second.asked) == sorted(through.asked)
    assert first.asked
    assert {one.name for one in tmp_path.iterdir()} == {file.name, result.name, f"whole{kind}"}


def test_messages_of_an_arb_file_get_the_branches_of_its_new_language(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = "{n, plural, one {# file} other {# files}} left"
    after = "one {# FILE LEFT} few {# FILES LEFT} many {# FILES LEFT} other {# FILES LEFT}"
    texts = {"@@locale": "en", "n": before, "@n": {"description": "Files"}}
    Path("app_en.arb").write_text(json.dumps(texts), "utf-8")

    def translate(source: str) -> None:
        filler = Filler(Shouting(), 100)
        call = Call(LanguagePair(source, "pl"), lambda _: filler, "", print, lambda *_: None)
        fill_files(["app_en.arb"], FillOptions(out=Path("app_pl.arb")), call)

    translate("en")
    expected = texts | {"@@locale": "pl", "n": f"{{n, plural, {after}}}"}
    assert json.loads(Path("app_pl.arb").read_text("utf-8")) == expected
    with pytest.raises(DataError, match="says that its source language is en"):
        translate("de")


def test_a_file_of_another_language_is_refused_by_what_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filler = Filler(Shouting(), 100)
    call = Call(LanguagePair("en", "de"), lambda _: filler, "", print, lambda *_: None)

    def refused(name: str, text: str) -> str:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, "utf-8")
        with pytest.raises(DataError) as refusal:
            fill_files([name], FillOptions(out=Path("new.html")), call)
        return str(refusal.value)

    for name in ("br.html", "br/page.html"):
        said = refused(name, "<p>A dog</p>")
        assert f"{name} (at least its name or folder) says that its source language is br." in said
        assert "Take another run, mend the file or its name, or" in said
    said = refused("page.html", '<html lang="br"><p>A dog</p></html>')
    assert "page.html says that its source language is br. Take another run, mend the file" in said


def test_the_first_file_that_says_its_language_says_that_of_the_call(tree):
    write_po(Path("po/a.po"), ["{n, plural, one {# file} other {# files}}"])
    text = Path("po/deep/b.po").read_text("utf-8")
    Path("po/deep/b.po").write_text(text.replace("UTF-8", "UTF-8\\nLanguage: pl"), "utf-8")
    fill(["po"], Shouting(), out=Path("new"))
    (entry,) = polib.pofile("new/a.po")
    assert entry.msgstr == (
        "{n, plural, one {# FILE} few {# FILES} many {# FILES} other {# FILES}}"
    )


def test_another_file_to_be_completed_is_begun_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("headway.localization.formats.piecewise.AT_ONCE", 2)
    texts = {f"k{n}": f"Text {n}." for n in range(6)}
    Path("en.json").write_text(json.dumps(texts), "utf-8")
    asked = {"onto": Path("de.json"), "out": Path("new.json")}
    Path("de.json").write_text('{"k5": "Five"}', "utf-8")
    assert not fill(["en.json"], Shouting(stop_at=2), **asked).whole
    Path("de.json").write_text('{"k0": "Null"}', "utf-8")
    assert fill(["en.json"], Shouting(), **asked).whole
    expected = {key: text.upper() for key, text in texts.items()} | {"k0": "Null"}
    assert json.loads(Path("new.json").read_text("utf-8")) == expected


@pytest.mark.parametrize("change", ["another way", "another text", "no result"])
def test_what_has_changed_is_done_again(tree, change):
    for number in range(3):
        write_po(Path(f"many/{number}.po"), [f"{number} text {n}" for n in range(100)])
    fill(["many"], Shouting(stop_at=3), out=Path("new"))
    assert [name for name in written(Path("new")) if name != NAME] == ["0.po", "1.po"]
    if change == "another text":
        write_po(Path("many/0.po"), ["quite new"])
    elif change == "no result":
        Path("new/0.po").unlink()
    model = Shouting()
    fill(["many"], model, how="other" if change == "another way" else "", out=Path("new"))
    assert polib.pofile("new/0.po")[0].msgstr == polib.pofile("many/0.po")[0].msgid.upper()
    n_done_again = {"another way": 300, "another text": 45, "no result": 144}[change]
    assert len(model.asked) == n_done_again


def test_a_journal_that_was_cut_off_is_read_up_to_there(tree, tmp_path):
    job, unit = FileJob(Path("po/a.po"), None), Unit(Segment(("a",)))
    made = Outcome(unit, Segment(("A",)), MODEL)
    path = tmp_path / NAME
    journal = Journal(path, "how")
    journal.note_begun(job, [made])
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert Journal(path, "how").begun(job, [unit]) == []
        again = Journal(path, "how")
        again.note_begun(job, [made])
        assert Journal(path, "how").begun(job, [unit]) == [made]
        path.unlink()


def test_a_file_that_stays_as_it_is_is_read_once_for_all_that_is_noted_of_it(
    tree, tmp_path, monkeypatch
):
    read: list[Path] = []
    monkeypatch.setattr(
        "headway.filling.journal.checksum", lambda path: read.append(path) or checksum(path)
    )
    file, onto = Path("po/a.po"), Path("po/deep/b.po")
    job, unit = FileJob(file, file, onto), Unit(Segment(("a",)))
    journal = Journal(tmp_path / NAME, "how")
    for _ in range(3):
        journal.note_begun(job, [Outcome(unit, Segment(("A",)), MODEL)])
    assert sorted(read) == [file, onto]
    write_whole(file.read_bytes().swapcase(), file)  # of the same size, in the same moment
    journal.note_begun(job, [Outcome(unit, Segment(("B",)), MODEL)])
    assert sorted(read) == [file, file, onto]
    [made] = Journal(tmp_path / NAME, "how").begun(job, [unit])
    assert made.segment == Segment(("B",))


texts = st.text(max_size=8)
segments = st.lists(texts | st.tuples(texts, texts), max_size=3)
shares = st.floats(0, 1)
outcomes = st.fixed_dictionaries(
    {
        "segment": st.none() | segments,
        "rejected": st.none() | segments,
        "flags": st.lists(st.tuples(texts, shares, texts), max_size=2),
        "near": st.lists(
            st.tuples(segments, segments, st.integers(0, 99), texts, texts, texts, texts),
            max_size=2,
        ),
        "plain": st.fixed_dictionaries(
            {
                "origin": st.sampled_from(["", MODEL, FUZZY]),
                "percent": st.none() | st.integers(0, 100),
                "confidence": st.none() | shares,
                "complete": st.booleans(),
                "why_not": texts,
                "score": st.none() | shares,
            }
        ),
    }
)


def segment_of(parts: list[Any]) -> Segment:
    return Segment(tuple(part if isinstance(part, str) else Code(*part) for part in parts))


@given(drawn=outcomes)
def test_an_outcome_comes_back_from_the_journal_as_it_was(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("journal")
    file = folder / "a.po"
    file.write_text("x", encoding="utf-8")
    made = Outcome(
        Unit(Segment(("source",))),
        None if drawn["segment"] is None else segment_of(drawn["segment"]),
        rejected=None if drawn["rejected"] is None else segment_of(drawn["rejected"]),
        flags=tuple(Flag(*one) for one in drawn["flags"]),
        near=tuple(Match(segment_of(a), segment_of(b), *more) for a, b, *more in drawn["near"]),
        **drawn["plain"],
    )
    Journal(folder / NAME, "").note_begun(FileJob(file, None), [made])
    assert Journal(folder / NAME, "").begun(FileJob(file, None), [made.unit]) == [made]


class Reader(HTMLParser):
    """Texts, and what a page asks of elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_every_kind_of_report_has_every_doubtful_unit(tree):
    text = 'שלום <b>more</b> & \\"x\\" 更多'
    write_po(Path("po/a.po"), [text, "fine"])
    steps = Steps(checks=Doubting(), leave_below=0.5)
    for kind in ("html", "tsv", "json"):
        fill(["po"], Shouting(), steps, out=Path("new"), report=Path(f"r.{kind}"))
    found = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [one["source"] for one in found["units"]] == [
        text.replace("\\", ""), "1 more", "2 more",
    ]  # fmt: skip
    assert all(not one["written"] and one["line"] > 3 for one in found["units"])
    assert {one["name"] for one in found["units"][0]["reasons"]} == {"loop", "doubtful"}
    assert found["total"]["not_filled"] == {"doubtful": 3}
    assert polib.pofile("new/a.po")[0].msgstr == ""
    heading, *lines = Path("r.tsv").read_text(encoding="utf-8").splitlines()
    assert heading == "\t".join(COLUMNS)
    assert [line.split("\t")[3] for line in lines] == [one["source"] for one in found["units"]]
    reader = Reader()
    reader.feed(Path("r.html").read_text(encoding="utf-8"))
    for one in found["units"]:
        assert one["source"] in reader.texts
        assert one["target"] in reader.texts
    assert {tag for tag, _ in reader.tags} & {"script", "link", "img", "iframe", "b"} <= {"b"}
    assert not any("src" in attributes or "href" in attributes for _, attributes in reader.tags)
    sides = [
        attributes for tag, attributes in reader.tags if "text" in (attributes.get("class") or "")
    ]
    assert all(attributes["dir"] == "auto" for attributes in sides)


def test_a_report_never_replaces_a_file_of_the_call(tree):
    Path("x.tsv").write_text("a\t\n", encoding="utf-8")
    for report in ("x.tsv", "y.tsv"):
        with pytest.raises(ConfigError, match="would replace x.tsv"):
            fill(["x.tsv"], never, out=Path("y.tsv"), report=Path(report))
    for name in ("en.json", "de.json"):
        Path(name).write_text('{"a": "Text."}', encoding="utf-8")
    with pytest.raises(ConfigError, match="would replace en.json"):
        fill(["en.json"], never, out=Path("y.json"), onto=Path("de.json"), report=Path("de.json"))


def test_plain_text_that_is_named_is_filled_line_by_line(tree):
    Path("a.txt").write_text("one\n\n...\ntwo\n", encoding="utf-8")
    done = fill(["a.txt", "po/a.po"], Shouting(), out=Path("new"))
    assert Path("new/a.txt").read_text(encoding="utf-8") == "ONE\n\n...\nTWO\n"
    assert done.files[0].left == {"blank_side": 2}
    assert polib.pofile("new/po/a.po")[0].msgstr == "TEXT 0"


def test_each_line_of_plain_text_keeps_its_line_end_and_the_file_its_mark(tree):
    Path("a.txt").write_bytes(b"\xef\xbb\xbfone\r\n\r\n...\r\ntwo\nthree\r\n")
    fill(["a.txt"], Shouting(), out=Path("b.txt"))
    expected = b"\xef\xbb\xbfONE\r\n\r\n...\r\nTWO\nTHREE\r\n"
    assert Path("b.txt").read_bytes() == expected


def test_a_line_that_was_too_long_to_be_read_is_told_to_be_blank(tree):
    Path("a.txt").write_text(f"one\n{'x' * MAX_LINE_BYTES}y\n...\n", encoding="utf-8")
    done = fill(["a.txt"], Shouting(), out=Path("b.txt"))
    assert Path("b.txt").read_text(encoding="utf-8") == "ONE\n\n...\n"
    told = "left as they were: 1 blank, 1 of more than 1 MiB, made blank"
    assert summary(done.files[0]).startswith("a.txt: 3 lines, 1 to translate")
    assert summary(done.files[0]).endswith(told)


def test_with_a_row_for_every_unit_nothing_needs_to_be_written(tree):
    before = written(tree)
    done = fill(["po"], Shouting(), everything=True)
    assert sum(len(one.rows) for one in done.files) == 9
    assert written(tree) == before


def test_what_is_passed_over_in_a_folder_is_said(tree):
    (tree / "po" / "app.json").write_text('{"a": "Open"}', encoding="utf-8")
    heard: list[str] = []
    tell_passed_over(["po"], None, heard.append)
    assert len(heard) == 1
    assert (
        "3 files of kinds that need not be translations passed over: po/README.txt, po/app.json, "
        "po/data.tsv." in heard[0]
    )
    assert "'FOLDER/**/*.txt'" in heard[0]
    tell_passed_over(["po/deep", "po/a.po"], None, heard.append)
    assert len(heard) == 1


def test_plain_text_in_a_folder_is_passed_over_and_said(tree):
    (tree / "texts").mkdir()
    for name in ("a.txt", "b.en", "c.zh.gz", "d.py"):
        (tree / "texts" / name).write_text("Open.\n", encoding="utf-8")
    heard: list[str] = []
    tell_passed_over(["texts"], None, heard.append)
    assert "passed over: texts/a.txt, texts/b.en, texts/c.zh.gz." in heard[0]
    assert "d.py" not in heard[0]
    with pytest.raises(DataError, match=r"'texts/\*\*/\*\.txt'"):
        list(placed(["texts"], None))


def test_what_an_interrupt_left_is_told_as_not_reached():
    report = FileReport("a.po", None, 3, 3, {"model": 1}, {MISSING: 2}, {"missing_language": 1})
    assert "left as they were: 2 not reached, 1 missing language" in summary(report)
