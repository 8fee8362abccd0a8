import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.formats.documents import Edit, edited
from headway.localization.formats.inline import (
    Gathered,
    InlineText,
    Role,
    as_xml,
    indentation,
    nested,
    opened,
    tag_name,
    with_attributes,
)
from headway.localization.formats.xml_events import XmlElement, XmlUnits
from headway.localization.placeholders.segments import Code, Segment


def role(element: XmlElement) -> Role:
    return {"g": Role.PAIR, "m": Role.MARK}.get(element.name, Role.WHOLE)


def gathered(
    xml: str, *, unwrap: bool = False, natives: Mapping[str, str] | None = None
) -> Gathered:
    """What stands in the element <s> of this."""
    data = f"<r><s>{xml}</s></r>".encode()
    [element] = XmlUnits(Path("a"), "r", ("s",), ("s",)).read([data])
    return InlineText(role, data, natives or {}).gathered(element, unwrap=unwrap)


@pytest.mark.parametrize(
    ("xml", "text", "raws"),
    [
        ("a &lt;b&gt; &amp; &#228;<![CDATA[<c>]]>", "a <b> & ä<c>", []),
        ("<x id='1'/>a", '<x id="1"/>a', ["<x id='1'/>"]),
        ("<x a='/>'></x>a", "<x/>a", ["<x a='/>'></x>"]),
        ("a<g i='2' >b</g >", 'a<g id="2">b</g>', ["<g i='2' >", "</g >"]),
        ("<g><g></g></g>", "<g><g/></g>", ["<g>", "<g></g>", "</g>"]),
        ("a<ph x='1'>&lt;b></ph>", "a<b>", ["<ph x='1'>&lt;b></ph>"]),
        (
            "<ph>[<sub>in <ph/></sub>]</ph>a",
            "[in ]a",
            ["<ph>[<sub>in <ph/></sub>]</ph>"],
        ),
        ("a<!-- <x/> --><?x <x/>?>b", "ab", []),
    ],
)
def test_codes_are_shown_and_kept_as_they_are_written(xml: str, text: str, raws: list[str]) -> None:
    found = gathered(xml)
    assert found.text == found.segment.text == text
    assert [code.raw for code in found.segment.codes] == raws
    assert nested(found.segment)


def test_native_codes_that_stand_elsewhere_are_shown() -> None:
    xml = "<ph dataRef='d'/><g dataRefStart='s' dataRefEnd='e'>a</g><ph dataRef='?'/>"
    assert gathered(xml, natives={"d": "%d", "s": "<b>", "e": "</b>"}).text == "%d<b>a</b><ph/>"


@pytest.mark.parametrize(
    ("xml", "written"),
    [("", False), (" \n", False), ("<x/>", False), ("<g> </g>", False), ("<ph>b</ph>", True),
     ("/", True), ("<g>a</g>", True)],
)  # fmt: skip
def test_native_code_counts_as_text_and_an_empty_tag_does_not(xml: str, written: bool) -> None:
    assert gathered(xml).written is written


def test_marks_leave_no_code() -> None:
    found = gathered("<ph>x</ph><m mid='a'>one <x/></m> <m/><m><m mid='d'>e</m></m>")
    assert found.text == "xone <x/> e"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("\n  one\n  two \t\n", "one two"),
        (" one\n<x/>\n two ", " one <x/> two "),
        ("one<g>\n  two</g>\n", "one<g> two</g>"),
        ("\n", ""),
        ("a  b", "a  b"),
    ],
)
def test_layout_is_undone_where_it_is_no_text(xml: str, text: str) -> None:
    assert gathered(xml, unwrap=True).text == text
    assert gathered(xml).text == xml


texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@given(texts, texts)
def test_any_text_is_read_back_as_it_was_written(one: str, other: str) -> None:
    code = Code("<x/>", "<x/>")
    source = Segment(("a", code))
    read = gathered(as_xml(Segment((one, code, other)), source).decode()).segment
    expected = [_NOT_XML.sub("", text) for text in (one, other)]
    assert read.parts == tuple(part for part in (expected[0], code, expected[1]) if part)


@given(st.permutations(["a", "<g>", "</g>", "<h i='1'>", "</h>", "<x/>"]))
def test_what_is_written_is_well_formed_and_has_every_code(order: list[str]) -> None:
    source = Segment(
        tuple(
            Code(p, p) if "<" in p else p for p in ("<g>", "a", "<h i='1'>", "</h>", "</g>", "<x/>")
        )
    )
    translation = Segment(tuple(Code(part, part) if "<" in part else part for part in order))
    read = gathered(as_xml(translation, source).decode()).segment
    raws = "".join(code.raw for code in read.codes)
    assert sorted(re.findall("<[^>]*>", raws)) == sorted(code.raw for code in source.codes)
    if nested(translation):
        assert as_xml(translation, source).decode() == "".join(order)


def test_white_space_around_the_source_stands_around_the_translation() -> None:
    source = Segment((" \n", Code("<x/>", "<x/>"), "a\t"))
    assert as_xml(Segment(("b",)), source) == b" \nb\t"
    assert as_xml(Segment((" b\n",)), source) == b" b\n"


@given(st.binary(), st.lists(st.integers(0, 50), max_size=8), st.binary(max_size=5))
def test_edits_change_what_they_name_and_nothing_else(
    data: bytes, places: list[int], new: bytes
) -> None:
    ends = sorted(min(place, len(data)) for place in places[: len(places) // 2 * 2])
    edits = [Edit(a, b, new) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    kept = [data[a:b] for a, b in zip([0, *ends[1::2]], [*ends[::2], len(data)], strict=True)]
    assert edited(data, reversed(edits)) == new.join(kept)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"<a>", b'<a b="1">'),
        (b"<a/>", b'<a b="1"/>'),
        (b"<a />", b'<a b="1" />'),
        (b"<a\n>", b'<a b="1"\n>'),
        (b"<a b='x > y'>", b'<a b="1">'),
        (b'<a x:b="2" bb="3" b = "4"/>', b'<a x:b="2" bb="3" b="1"/>'),
        (b"""<a c=' b="2" '>""", b"""<a c=' b="2" ' b="1">"""),
    ],
)
def test_an_attribute_is_set_where_it_is_or_behind_the_others(before: bytes, after: bytes) -> None:
    assert with_attributes(before, {"b": "1"}) == after


def test_an_empty_tag_can_be_opened() -> None:
    assert [opened(tag) for tag in (b"<a/>", b"<a b='/' />", b"<a>")] == [
        b"<a>",
        b"<a b='/'>",
        b"<a>",
    ]
    assert [tag_name(tag) for tag in (b"<x:a/>", b"<a\nb=''>", b"</a >")] == [b"x:a", b"a", b"a"]


def test_indentation_is_what_stands_between_two_tags() -> None:
    assert indentation(b"<a>\r\n  <b>", 7) == b"\r\n  "
    assert indentation(b"<a>text <b>", 8) == b""
    assert indentation(b"<a><b>", 3) == b""
