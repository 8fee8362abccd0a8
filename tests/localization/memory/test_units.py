import gzip
from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.core.errors import DataError
from headway.languages.codes import LanguagePair
from headway.localization.formats.file_kinds import opener_of
from headway.localization.memory.building import memory_of, own_memory
from headway.localization.memory.units import MemoryUnit, read_units

PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"
"Language: de\\n"

msgid "Open"
msgstr "Öffnen"

msgctxt "state"
msgid "Open"
msgstr "Offen"

#, fuzzy
msgid "Fuzzy"
msgstr "Unscharf"

msgid "One file"
msgid_plural "%d files"
msgstr[0] "Eine Datei"
msgstr[1] "%d Dateien"

msgid "Empty"
msgstr ""
"""

TMX = """<tmx version="1.4"><header srclang="en"/><body>
<tu tuid="a" creationdate="20200101T000000Z">
<tuv xml:lang="en"><seg>One</seg></tuv>
<tuv xml:lang="de" changedate="20230506T070809Z"><seg>Eins</seg></tuv></tu>
<tu><tuv xml:lang="en"><seg>Two</seg></tuv></tu>
<tu changedate="yesterday"><tuv xml:lang="en"><seg>Three</seg></tuv>
<tuv xml:lang="de"><seg>Drei</seg></tuv></tu>
</body></tmx>"""

XLIFF = """<xliff version="1.2"><file source-language="en" target-language="de"><body>
<trans-unit id="1" resname="first"><source>One</source><target>Eins</target></trans-unit>
<trans-unit id="2"><source>Two. Three.</source>
<seg-source><mrk mtype="seg" mid="0">Two.</mrk> <mrk mtype="seg" mid="1">Three.</mrk></seg-source>
<target><mrk mtype="seg" mid="0">Zwei.</mrk> <mrk mtype="seg" mid="1">Drei.</mrk></target>
</trans-unit></body></file></xliff>"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def units(folder: Path, name: str, text: str) -> list[MemoryUnit]:
    return list(read_units(written(folder, name, text), LanguagePair("en", "de")))


def test_po_units_know_context_neighbours_and_the_second_form(tmp_path: Path) -> None:
    found = [
        (u.source, u.target, u.label.key, u.before, u.after) for u in units(tmp_path, "a.po", PO)
    ]
    assert found == [
        ("Open", "Öffnen", "", "", "Open"),
        ("Open", "Offen", "state", "Open", "Fuzzy"),
        ("Fuzzy", None, "", "Open", "One file"),  # not to be relied on
        ("One file", "Eine Datei", "", "Fuzzy", "Empty"),
        ("%d files", "%d Dateien", "", "Fuzzy", "Empty"),
        ("Empty", None, "", "One file", ""),
    ]


def test_tmx_units_know_id_and_date(tmp_path: Path) -> None:
    found = units(tmp_path, "a.tmx", TMX)
    assert [(u.source, u.target, u.label.key, u.label.date) for u in found] == [
        ("One", "Eins", "a", 20230506070809),
        ("Three", "Drei", "", 0),
    ]
    assert [(u.before, u.after) for u in found] == [("", "Two"), ("Two", "")]


def test_xliff_units_come_whole(tmp_path: Path) -> None:
    assert [(u.source, u.target, u.label.key) for u in units(tmp_path, "a.xlf", XLIFF)] == [
        ("One", "Eins", "first"),
        ("Two. Three.", "Zwei. Drei.", "2"),
    ]


@pytest.mark.parametrize(("name", "text"), [("a.po", PO), ("a.tmx", TMX), ("a.xlf", XLIFF)])
def test_what_is_to_be_filled_in_has_the_surroundings_that_a_memory_remembers(
    tmp_path: Path, name: str, text: str
) -> None:
    found = {(u.source, u.label.key): u for u in units(tmp_path, name, text)}
    gaps = [
        gap
        for gap in opener_of(tmp_path / name)(tmp_path / name, "en", "de", True).gaps
        if (gap.source.text, gap.key) in found
    ]
    assert len(gaps) > 1
    for gap in gaps:
        unit = found[gap.source.text, gap.key]
        assert (gap.before, gap.after) == (unit.before, unit.after)


def test_a_report_counts_every_unit(tmp_path: Path) -> None:
    report = Report()
    memory = memory_of([written(tmp_path, "a.po", PO)], LanguagePair(), report)
    assert (report.read, len(memory), dict(report.dropped)) == (
        5,
        4,
        {"fuzzy": 1, "untranslated": 1},
    )


def test_languages_are_never_mixed(tmp_path: Path) -> None:
    german = written(tmp_path, "a.po", PO)
    french = written(tmp_path, "b.po", PO.replace("Language: de", "Language: fr"))
    with pytest.raises(DataError, match=r"the target of .*b.po is fr, and .*a.po says de"):
        memory_of([german, french], LanguagePair())
    with pytest.raises(DataError, match=r"the target of .*b.po is fr, and de is wanted"):
        memory_of([french], LanguagePair("en", "de"))
    tmx = written(tmp_path, "c.tmx", TMX)
    with pytest.raises(DataError, match="en -> fr; none of the 3 units"):
        memory_of([tmx], LanguagePair("en", "fr"))
    assert len(own_memory([tmx], LanguagePair("en", "fr"))) == 0  # nothing yet, and that is fine


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.tmx", TMX.encode()[:300]),
        ("bomb.tmx", b'<!DOCTYPE tmx [<!ENTITY a "b">]><tmx>&a;</tmx>'),
        ("wrong.tmx", TMX.encode("utf-16")[:101]),
        ("no.po", b'msgid "a\nmsgstr "b"\n'),
        ("deep.xlf", b"<xliff>" + b"<a>" * 200),
        ("cut.po.gz", gzip.compress(PO.encode(), mtime=0)[:-9]),
        ("a.exe", b"MZ"),
        ("empty.tmx", b""),
    ],
)
def test_files_that_do_harm_are_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError):
        memory_of([tmp_path / name], LanguagePair("en", "de"))
