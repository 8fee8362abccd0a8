import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.formats.documents import Edit, edited
from headway.localization.formats.xml_edits import (
    indentation,
    line_end,
    opened,
    tag_name,
    with_attributes,
)


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
    assert (line_end(b"a\nb"), line_end(b"a\r\nb")) == (b"\n", b"\r\n")
