"""XLIFF as Trados Studio and memoQ write it: their states, their locks, their marks."""

from pathlib import Path

import pytest

from headway.core.cleaning import Report
from headway.corpora.corpus import Corpus, read_pairs
from headway.localization.formats.xliff import open_document
from headway.localization.placeholders.segments import Segment


def studio(*segments: tuple[str, str, str]) -> str:
    """A paragraph of segments: source, target, attributes of its `sdl:seg`."""
    rows = list(enumerate(segments, start=1))
    sources = " ".join(f'<mrk mtype="seg" mid="{n}">{one[0]}</mrk>' for n, one in rows)
    targets = " ".join(
        f'<mrk mtype="seg" mid="{n}">{one[1]}</mrk>' if one[1] else f'<mrk mtype="seg" mid="{n}"/>'
        for n, one in rows
    )
    states = "".join(f'<sdl:seg id="{n}"{one[2]}/>' for n, one in rows)
    return (
        '\ufeff<?xml version="1.0" encoding="utf-8"?><xliff xmlns:sdl="http://sdl.com/FileTypes/'
        'SdlXliff/1.0" xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" '
        'sdl:version="1.0"><file original="a.docx" source-language="en-US" target-language="de-DE">'
        '<header><tag-defs xmlns="http://sdl.com/FileTypes/SdlXliff/1.0"><tag id="4"/></tag-defs>'
        "</header><body>\r\n"
        f'<trans-unit id="u"><source>{" ".join(one[0] for one in segments)}</source>'
        f"<seg-source>{sources}</seg-source>"
        f"<target>{targets}</target><sdl:seg-defs>{states}</sdl:seg-defs></trans-unit>\r\n"
        '<trans-unit id="v" translate="no"><source>x</source></trans-unit></body></file></xliff>'
    )


PARAGRAPH = (
    ("First <g id='4'>one</g>.", "Erstes <g id='4'>Stück</g>.", ' conf="Translated" origin="tm"'),
    ("Second.", "", ""),
    ("Third.", "", ' locked="true"'),
    ("Fourth.", "Viertens.", ' conf="RejectedTranslation"'),
    ("Fifth.", "Fünftens.", ' conf="Draft" origin="mt"'),
    ("Sixth.", "Sechstens.", ' conf="ApprovedSignOff" locked="true"'),
)


def read(path: Path) -> tuple[list[tuple[str, str, tuple[str, ...]]], Report]:
    report = Report()
    pairs = list(read_pairs(Corpus(pairs=(path,)), report))
    return [(pair.source, pair.target, pair.remarks) for pair in pairs], report


def test_each_segment_of_studio_is_a_unit_with_its_state(tmp_path):
    path = tmp_path / "a.sdlxliff"
    path.write_text(studio(*PARAGRAPH), newline="")
    pairs, report = read(path)
    assert pairs == [
        ('First <g id="4">one</g>.', 'Erstes <g id="4">Stück</g>.', ("state: Translated",)),
        ("Sixth.", "Sechstens.", ("state: ApprovedSignOff",)),
    ]
    assert report.read == 7
    assert report.dropped == {"untranslated": 2, "fuzzy": 2, "do_not_translate": 1}


@pytest.mark.parametrize(
    ("percent", "marks"),
    [
        (None, ' conf="Draft" origin="mt" origin-system="headway"'),
        (100, ' conf="Draft" origin="tm" origin-system="headway" percent="100"'),
    ],
)
def test_an_empty_segment_of_studio_is_filled_and_marked(tmp_path, percent, marks):
    path = tmp_path / "a.sdlxliff"
    before = studio(*PARAGRAPH)
    path.write_text(before, newline="")
    document = open_document(path, "en", "de", False)
    assert [(gap.source.text, gap.key) for gap in document.gaps] == [("Second.", "u/2")]
    after = document.filled([Segment(("Zweitens.",))], [percent]).decode()
    wanted = [*PARAGRAPH]
    wanted[1] = "Second.", "Zweitens.", marks
    assert after == studio(*wanted)
    assert document.filled([None]) == before.encode()


def test_what_studio_has_locked_is_left_even_where_all_is_translated_anew(tmp_path):
    path = tmp_path / "a.sdlxliff"
    path.write_text(studio(*PARAGRAPH), newline="")
    document = open_document(path, "en", "de", True)
    assert [gap.source.text.split()[0] for gap in document.gaps] == [
        "First", "Second.", "Fourth.", "Fifth.",
    ]  # fmt: skip
    path.write_text(studio(PARAGRAPH[2]), newline="")
    left = {"locked": 1, "do_not_translate": 1}
    assert open_document(path, "en", "de", False).counts.left == left


def memoq(*units: tuple[str, str, str]) -> str:
    """Units: source, target, attributes."""
    rows = "".join(
        f'<trans-unit id="{n}" xml:space="preserve"{attributes} mq:segmentguid="g{n}">'
        f"<source>{source}</source><target>{target}</target>"
        "<mq:minorversions/></trans-unit>\n"
        for n, (source, target, attributes) in enumerate(units)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:'
        'xliff:document:1.2" xmlns:mq="MQXliff"><file original="a" source-language="en" '
        f'target-language="de"><body>\n{rows}</body></file></xliff>\n'
    )


UNITS = (
    ("One <ph id='1'>&lt;br&gt;</ph>", "Eins <ph id='1'>&lt;br&gt;</ph>", ' mq:status="Proofread"'),
    ("Two", "", ' mq:status="NotStarted"'),
    ("Three", "", ' mq:status="NotStarted" mq:locked="locked"'),
    ("Four", "Vier", ' mq:status="Rejected"'),
    ("Five", "Five", ' mq:status="NotStarted"'),
    ("Six", "Sechs", ' mq:status="ManuallyConfirmed" mq:locked="locked"'),
)


def test_the_states_of_memoq_say_what_is_learned_from(tmp_path):
    path = tmp_path / "a.mqxliff"
    path.write_text(memoq(*UNITS))
    pairs, report = read(path)
    assert pairs == [
        ("One <br>", "Eins <br>", ("state: Proofread",)),
        ("Six", "Sechs", ("state: ManuallyConfirmed",)),
    ]
    assert report.dropped == {"untranslated": 2, "fuzzy": 2}


def test_units_of_memoq_are_filled_and_marked(tmp_path):
    path = tmp_path / "a.mqxliff"
    path.write_text(memoq(*UNITS))
    document = open_document(path, "en", "de", False)
    assert [gap.source.text for gap in document.gaps] == ["Two", "Five"]
    assert document.counts.left == {"translated": 1, "fuzzy": 1, "locked": 2}
    after = document.filled([Segment(("Zwei",)), Segment(("Fünf",))], [None, 92]).decode()
    wanted = [*UNITS]
    before = wanted[1][2]
    wanted[1] = "Two", "Zwei", before.replace("NotStarted", "Pretranslated")
    wanted[4] = "Five", "Fünf", before.replace("NotStarted", "Pretranslated")
    text = memoq(*wanted)
    text = text.replace('mq:segmentguid="g1"', 'mq:segmentguid="g1" mq:percent="0"')
    assert after == text.replace('mq:segmentguid="g4"', 'mq:segmentguid="g4" mq:percent="92"')
