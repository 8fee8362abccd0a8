from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import Pair, Report
from headway.core.errors import DataError, UserError
from headway.corpora.corpus import Corpus, languages, read_pairs
from headway.corpora.reasons import REASONS
from headway.localization.formats.documents import Document
from headway.localization.formats.xliff import open_document, read_xliff, xliff_languages
from headway.localization.formats.xliff_units import MADE_BY_MACHINE
from headway.localization.placeholders.segments import Segment

NEW = 'state="needs-review-translation" state-qualifier="mt-suggestion"'
"""What a target that a machine wrote bears, up to version 1.2."""


class RequiredText(NamedTuple):
    source_language: str | None = None
    target_language: str | None = None


def first(*units: str, file: str = 'source-language="en" target-language="de"') -> str:
    """A file of version 1.2, each unit on a line of its own, from line 2 on."""
    return (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
        f"<file {file}><header><note>x</note></header><body>\n" + "\n".join(units) + "\n"
        "</body></file></xliff>\n"
    )


def second(*segments: str, root: str = 'srcLang="en" trgLang="de"') -> str:
    """The same of version 2, each segment in a unit of its own."""
    units = (f"<unit id='u'><notes><note>x</note></notes>{text}</unit>" for text in segments)
    return (
        f'<xliff version="2.1" {root} xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">\n'
        + "\n".join(units)
        + "\n</file></xliff>\n"
    )


def unit(source: str, target: str | None = None, attributes: str = "", state: str = "") -> str:
    written = "" if target is None else f"<target{state}>{target}</target>"
    return f"<trans-unit{attributes}><source>{source}</source>{written}</trans-unit>"


def segment(source: str, target: str | None = None, attributes: str = "") -> str:
    written = "" if target is None else f"<target>{target}</target>"
    return f"<segment{attributes}><source>{source}</source>{written}</segment>"


def cut(*targets: str | None, target: str = "") -> str:
    """A unit of two segments and a dash between them; what is in the target's."""
    marks = "".join(
        f"<mrk mtype='seg' mid='{n}'>{text}</mrk>" if text else f"<mrk mid='{n}' mtype='seg'/>"
        for n, text in enumerate(targets)
    )
    written = f"<target{target}>{marks}</target>" if targets else target
    return (
        "<trans-unit><source>one <g id='1'>two</g></source><seg-source>"
        "<mrk mtype='seg' mid='0'>one</mrk> <g id='1'><mrk mtype='seg' mid='1'>two</mrk></g>"
        f"<mrk mtype='seg' mid='2'>-</mrk></seg-source>{written}</trans-unit>"
    )


def written(folder: Path, content: str | bytes, name: str = "file.xlf") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, *wanted: str | None) -> tuple[list[Pair], Report]:
    report = Report()
    return list(read_xliff(path, RequiredText(*wanted), report)), report


def sides(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def upper(source: Segment) -> Segment:
    parts = (part.upper() if isinstance(part, str) else part for part in source.parts)
    return Segment(tuple(parts))


def filled(document: Document) -> str:
    return document.filled([upper(gap.source) for gap in document.gaps]).decode()


def test_units_of_the_first_version_are_read_with_their_codes(tmp_path: Path) -> None:
    alternative = "<alt-trans><source>no</source><target>nein</target></alt-trans>"
    content = first(
        unit("a <g id='1'>b</g><x id='2'/>", "A <g id='1'>B</g><x id='2'/>"),
        "<group>"
        + unit("<ph id='1'>%s</ph> &lt;", "<![CDATA[%s <]]>").replace(
            "</trans-unit>", alternative + "</trans-unit></group>"
        ),
        unit("see <mrk mtype='protected'>a.b</mrk>", "<mrk mtype='seg' mid='0'>siehe</mrk> a.b"),
        "<bin-unit><bin-source><source>x</source></bin-source></bin-unit>",
    )
    pairs, report = read(written(tmp_path, content))
    assert sides(pairs) == [
        ('a <g id="1">b</g><x id="2"/>', 'A <g id="1">B</g><x id="2"/>'),
        ("%s <", "%s <"),
        ("see a.b", "siehe a.b"),
    ]
    assert [pair.line for pair in pairs] == [2, 3, 4]
    assert (report.read, report.dropped) == (3, {})


def test_segments_of_the_second_version_are_read_with_what_codes_stand_for(tmp_path: Path) -> None:
    match = (
        "<mtc:matches xmlns:mtc='urn:oasis:names:tc:xliff:matches:2.0'><mtc:match>"
        "<source>no</source><target>nein</target></mtc:match></mtc:matches>"
    )
    natives = "<originalData><data id='d'>%d</data><data id='b'>&lt;b></data></originalData>"
    content = second(
        match
        + natives
        + segment("<ph id='1' dataRef='d'/> a", "A <ph id='1' dataRef='d'/>")
        + "<ignorable><source>. </source></ignorable>"
        + segment("<pc id='2' dataRefStart='b'>c</pc>", "<sc id='2' dataRef='b'/>C<ec/>"),
        segment("<ph id='1' dataRef='d'/> d", "D"),
    )
    pairs, report = read(written(tmp_path, content))
    assert sides(pairs) == [
        ("%d a", "A %d"),
        ("<b>c</pc>", "<b>C<ec/>"),
        ('<ph id="1"/> d', "D"),
    ]
    assert report.read == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (first(unit("a", "b")), ""),
        (first(unit("a")), "untranslated"),
        (first(unit("a", " ")), "untranslated"),
        (first(unit("a", "<x id='1'/>")), "untranslated"),
        (first(unit("<x id='1'/>", "b")), "blank_side"),
        (first(cut("b", "")), "untranslated"),
        (first(cut("b")), "untranslated"),
        (first("<trans-unit><target>b</target></trans-unit>"), "blank_side"),
        (first(unit("a", "b", " translate='no'")), "do_not_translate"),
        (first("<group translate='no'>" + unit("a", "b") + "</group>"), "do_not_translate"),
        (first("<group translate='no'>" + unit("a", "b", " translate='yes'") + "</group>"), ""),
        *(
            (first(unit("a", "b", state=f" state='{state}'")), "fuzzy")
            for state in ("new", "needs-translation", "needs-l10n", "needs-adaptation", "rejected")
        ),
        *(
            (first(unit("a", "b", state=f" state='{state}'")), "")
            for state in ("needs-review-translation", "translated", "final", "signed-off", "mine")
        ),
        (first(unit("a", "b", state=f" {NEW}")), "fuzzy"),
        (first(unit("a", "b", " approved='yes'", f" {NEW}")), ""),
        (first(unit("a", "b", state=" state='final' state-qualifier='fuzzy-match'")), ""),
        (first(unit("a", "b", state=" state-qualifier='exact-match'")), ""),
        (second(segment("a", "b")), ""),
        (second(segment("a", "b", " state='initial'")), "fuzzy"),
        (second(segment("a", "b", " state='translated'")), ""),
        (second(segment("a", "b", f" state='translated' subState='{MADE_BY_MACHINE}'")), "fuzzy"),
        (second(segment("a", "b", f" state='final' subState='{MADE_BY_MACHINE}'")), ""),
        (second(segment("a")).replace("<file ", "<file translate='no' "), "do_not_translate"),
    ],
)
def test_a_unit_is_a_pair_or_there_is_a_reason(text: str, reason: str, tmp_path: Path) -> None:
    pairs, report = read(written(tmp_path, text))
    assert sides(pairs) == ([] if reason else [("a", "b")])
    assert dict(report.dropped) == ({reason: 1} if reason else {})
    assert report.read == 1
    assert set(report.dropped) <= set(REASONS)


@pytest.mark.parametrize(
    ("wanted", "expected", "texts"),
    [
        ((), ("en-GB", "de"), [("a", "b")]),
        (("en", "DE"), ("en", "DE"), [("a", "b")]),
        (("de", "en"), ("de", "en"), [("b", "a")]),
        (("de", None), ("de", "en-GB"), [("b", "a")]),
        (("en", "fr"), ("en", "fr"), [("c", "d")]),
        (("zh", "fr"), ("zh", "fr"), []),
    ],
)
def test_files_are_read_in_the_languages_wanted(
    wanted: tuple[str | None, ...],
    expected: tuple[str, str],
    texts: list[tuple[str, str]],
    tmp_path: Path,
) -> None:
    other = first(unit("c", "d"), file='source-language="en" target-language="fr-CA"')
    content = first(unit("a", "b"), file='source-language="en-GB" target-language="de"')
    both = content.replace("</xliff>", other[other.index("<file") :])
    path = written(tmp_path, both)
    assert xliff_languages(path, RequiredText(*wanted)) == expected
    pairs, report = read(path, *wanted)
    assert sides(pairs) == texts
    assert report.dropped["missing_language"] == 2 - len(texts)


def test_languages_may_be_said_by_the_target_or_not_at_all(tmp_path: Path) -> None:
    content = first(unit("a", "b", state=" xml:lang='de'"), file='source-language="en"')
    assert languages(Corpus(pairs=(written(tmp_path, content),))) == ("en", "de")
    silent = written(tmp_path, first(unit("a", "b"), file=""), "silent.xliff")
    assert languages(Corpus(pairs=(silent,))) == (None, None)
    assert sides(list(read_pairs(Corpus(pairs=(silent,)), Report()))) == [("a", "b")]


@pytest.mark.parametrize(
    "opening",
    [
        '<x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:1.2" version="1.2">',
        '<x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:1.1">',
        '<x:xliff xmlns:x="http://example.org/odd">',
    ],
)
def test_names_may_have_a_prefix(opening: str, tmp_path: Path) -> None:
    body = (
        "<x:file><x:body><x:trans-unit><x:source>a<x:g id='1'>b</x:g></x:source>"
        "</x:trans-unit></x:body></x:file></x:xliff>"
    )
    document = open_document(written(tmp_path, opening + body), None, None, False)
    assert filled(document) == opening + body.replace(
        "</x:source>", f"</x:source><x:target {NEW}>A<x:g id='1'>B</x:g></x:target>"
    )


def test_layout_is_no_text_unless_the_file_says_so(tmp_path: Path) -> None:
    text = "\n   one\n   two\n  "
    kept = unit(text, "x", " xml:space='preserve'")
    pairs, _ = read(written(tmp_path, first(unit(text, "x"), kept)))
    assert [pair.source for pair in pairs] == ["one two", text]


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"begins with <xliff>; .*:1 begins with <tmx>"):
        read(written(tmp_path, "<tmx/>"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "<trans-unit approved='yes'>\n  <source xml:lang='en'>one<x id='1'/></source>\n"
            "  <note/></trans-unit>",
            "<trans-unit approved=\"no\">\n  <source xml:lang='en'>one<x id='1'/></source>\n"
            f"  <target xml:lang=\"de\" {NEW}>ONE<x id='1'/></target>\n  <note/></trans-unit>",
        ),
        (unit("one", "", " id='1'"), unit("one", "ONE", " id='1'", f" {NEW}")),
        (
            unit("one").replace("</source>", "</source><target xml:lang='de' />"),
            unit("one", "ONE", state=f" xml:lang='de' {NEW}"),
        ),
        (
            unit("one", "one", state=' state="new"'),
            unit("one", "ONE", state=f" {NEW}"),
        ),
        (
            "<trans-unit><source xml:space='preserve'>one\n</source></trans-unit>",
            "<trans-unit><source xml:space='preserve'>one\n</source>"
            f'<target xml:space="preserve" {NEW}>ONE\n</target></trans-unit>',
        ),
        (
            unit("one").replace("</source>", "</source><seg-source>one</seg-source>"),
            unit("one").replace(
                "</source>", f"</source><seg-source>one</seg-source><target {NEW}>ONE</target>"
            ),
        ),
    ],
)
def test_a_target_is_written_where_it_belongs(before: str, after: str, tmp_path: Path) -> None:
    others = unit("two", "zwei"), unit("/", None), unit("three", None, " translate='no'")
    content = first(before, *others)
    document = open_document(written(tmp_path, content), None, None, False)
    assert document.counts.left == {"translated": 1, "blank_side": 1, "do_not_translate": 1}
    assert (document.source_language, document.target_language) == ("en", "de")
    assert filled(document) == first(after, *others)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (cut(), cut(target=f"<target {NEW}>ONE <g id='1'>TWO</g></target>")),
        (cut("", "", ""), cut(target=f"<target {NEW}>ONE <g id='1'>TWO</g></target>")),
        *((whole, whole) for whole in (cut("eins", "zwei", "-"), cut("eins", "", ""))),
    ],
)
def test_the_segments_of_a_unit_are_one_text(before: str, after: str, tmp_path: Path) -> None:
    document = open_document(written(tmp_path, first(before)), None, None, False)
    assert filled(document) == first(after)
    assert document.counts.left.get("fuzzy", 0) == ("'0'>eins</mrk><mrk mid='1'" in before)


@pytest.mark.parametrize("root", ['srcLang="en"', 'srcLang="en" trgLang="de-AT"'])
def test_the_second_version_marks_the_segment(root: str, tmp_path: Path) -> None:
    content = second(segment("one", None, " id='s'"), segment("two", "zwei"), root=root)
    document = open_document(written(tmp_path, content), "en", "de", False)
    expected = second(
        segment("one", "ONE", f' id=\'s\' state="translated" subState="{MADE_BY_MACHINE}"'),
        segment("two", "zwei"),
        root=root if "trgLang" in root else root + ' trgLang="de"',
    )
    declared = expected.replace(' trgLang="de" xmlns', " xmlns").replace(
        '2.0">', '2.0" trgLang="de">', 1
    )
    assert filled(document) == (expected if "trgLang" in root else declared)


def test_overwriting_takes_every_unit_with_something_to_translate(tmp_path: Path) -> None:
    content = first(unit("one", "eins", " approved='yes'"), unit("two"), unit("—", "—"))
    document = open_document(written(tmp_path, content), None, None, True)
    assert [gap.source.text for gap in document.gaps] == ["one", "two"]
    new = filled(document)
    assert f'<trans-unit approved="no"><source>one</source><target {NEW}>ONE</target>' in new


def test_a_file_of_other_languages_says_which_they_are(tmp_path: Path) -> None:
    document = open_document(written(tmp_path, first(unit("a"))), "en", "fr", False)
    assert document.counts.left == {"missing_language": 1}
    assert (document.source_language, document.target_language) == ("en", "de")


TEXTS = ["", " ", "one", "–\r\n", "&lt;x", "a<ph id='1'>%s</ph>", "<g id='1'>a<x id='2'/></g>", "𝐀"]
STATES = ["", " state='new'", " state='final'", f" {NEW}"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TEXTS), st.none() | st.sampled_from(TEXTS), st.sampled_from(STATES)
        ),
        max_size=5,
    ),
    st.sampled_from(["utf-8", "utf-16"]),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_filling_changes_nothing_but_the_units_that_are_filled(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str | None, str]],
    encoding: str,
    newer: bool,
    overwrite: bool,
    data: st.DataObject,
) -> None:
    units = [
        segment(source, target, state if "mt" not in state else "")
        if newer
        else unit(source, target, state=state)
        for source, target, state in texts
    ]
    content = (second(*units) if newer else first(*units)).encode(encoding)
    path = written(tmp_path_factory.mktemp("xliff"), content)
    document = open_document(path, "en", "de", overwrite)
    assert len(document.gaps) + sum(document.counts.left.values()) == len(units)
    assert document.filled([None] * len(document.gaps)) == content
    chosen = [data.draw(st.booleans()) for _ in document.gaps]
    both = list(zip(document.gaps, chosen, strict=True))
    path.write_bytes(document.filled([upper(gap.source) if take else None for gap, take in both]))
    start = "<unit" if newer else "<trans-unit"
    before, after = (text.decode(encoding).split(start) for text in (content, path.read_bytes()))
    same = [one == other for one, other in zip(before, after, strict=True)]
    assert same.count(False) == sum(chosen)
    report = Report()
    approved = path.read_bytes().decode(encoding).replace("mt-suggestion", "exact-match")
    path.write_text(approved.replace(MADE_BY_MACHINE, "me:reviewed"), encoding, newline="")
    pairs = {pair.line: pair for pair in read_xliff(path, RequiredText(), report)}
    taken = [gap for gap, take in both if take]
    shown = [(pairs[gap.line].source, pairs[gap.line].target.strip()) for gap in taken]
    assert shown == [(gap.source.text, upper(gap.source).text.strip()) for gap in taken]


@given(st.binary(max_size=6), st.integers(0, 900), st.integers(0, 30), st.booleans())
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, new: bytes, place: int, n_lost: int, newer: bool
) -> None:
    text = "{} <g id='1'>b<x id='2'/></g>"
    content = (
        second(*(segment(text.format(n), f"{n}") for n in range(3)))
        if newer
        else first(*(unit(text.format(n), f"{n}") for n in range(2)), cut(), cut("1", "", "-"))
    ).encode()
    path = written(tmp_path_factory.mktemp("x"), content[:place] + new + content[place + n_lost :])
    try:
        pairs, report = read(path)
        assert report.read == len(pairs) + sum(report.dropped.values())
        document = open_document(path, "en", "de", True)
        document.filled([gap.source for gap in document.gaps])
    except UserError:
        pass


@pytest.mark.parametrize(
    ("attributes", "fits", "too_long"),
    [
        (' maxwidth="5"', "abcde", "abcdef"),
        (' maxwidth="5" size-unit="char"', "äöüßé", "abcdef"),
        (' maxwidth="5" size-unit="byte"', "ab", "äöü"),
        (' maxwidth="50" maxbytes="3"', "abc", "äö"),
        (' maxwidth="5" size-unit="em"', "any" * 99, None),
        (' maxwidth="no"', "any" * 99, None),
        (f' maxwidth="{"9" * 5000}"', "any" * 99, None),
    ],
)
def test_a_gap_knows_how_wide_it_is(tmp_path, attributes, fits, too_long):
    path = tmp_path / "a.xlf"
    path.write_text(first(unit("a", attributes=attributes)))
    width = open_document(path, "en", "de", False).gaps[0].width
    assert width is None or width.fits(fits)
    assert too_long is None or (width is not None and not width.fits(too_long))


def test_version_2_restricts_the_size_of_units(tmp_path):
    path = tmp_path / "a.xlf"
    space = 'xmlns:s="urn:oasis:names:tc:xliff:sizerestriction:2.0"'
    text = second(segment("a"), segment("b")).replace(
        "<unit id='u'>", f"<unit id='u' {space} s:sizeRestriction='2,7'>", 1
    )
    path.write_text(text)
    gaps = open_document(path, "en", "de", False).gaps
    assert [gap.width and gap.width.most for gap in gaps] == [7, None]


def test_notes_and_states_come_with_the_pair(tmp_path):
    path = tmp_path / "a.xlf"
    noted = unit("a", "b", state=' state="needs-review-translation"')
    path.write_text(first(noted.replace("</trans", "<note>not OK</note></trans"), unit("c", "d")))
    pairs = list(read_xliff(path, RequiredText(), Report()))
    state = "state: needs-review-translation"
    assert [pair.remarks for pair in pairs] == [("not OK", state), ()]
    path.write_text(second(segment("a", "b", ' state="reviewed"'), segment("c", "d")))
    pairs = list(read_xliff(path, RequiredText(), Report()))
    assert [pair.remarks for pair in pairs] == [("x", "state: reviewed"), ("x",)]


@pytest.mark.parametrize(
    ("percent", "first_marks", "second_marks", "trusted"),
    [
        (None, NEW, f'state="translated" subState="{MADE_BY_MACHINE}"', False),
        (92, 'state="needs-review-translation" state-qualifier="fuzzy-match"',
         'state="translated" subState="headway:fuzzy-match"', False),
        (100, 'state="translated" state-qualifier="exact-match"',
         'state="translated" subState="headway:exact-match"', True),
    ],
)  # fmt: skip
def test_a_match_of_a_memory_is_marked_as_such(
    tmp_path, percent, first_marks, second_marks, trusted
):
    path = tmp_path / "a.xlf"
    for text, marks in ((first(unit("a")), first_marks), (second(segment("a")), second_marks)):
        path.write_text(text)
        after = open_document(path, "en", "de", False).filled([Segment(("b",))], [percent])
        assert marks in after.decode()
        path.write_bytes(after)
        assert len(list(read_xliff(path, RequiredText(), Report()))) == trusted


def test_a_gap_knows_its_neighbours(tmp_path):
    path = tmp_path / "a.xlf"
    path.write_text(first(unit("a", "b"), unit("c", attributes=' resname="k"'), unit("d")))
    gap = open_document(path, "en", "de", False).gaps[0]
    assert (gap.before, gap.after, gap.key) == ("a", "d", "k")
    gaps = open_document(path, "en", "de", True).gaps
    assert (gaps[0].before, gaps[2].after) == ("", "")
