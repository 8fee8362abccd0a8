"""Codes: found, masked and put back, never lost, never invented."""

from collections import Counter

import pytest
from code_samples import SAMPLES
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.codes import (
    PLACEHOLDERS,
    check,
    mask,
    mask_pair,
    parsed,
    parsed_text,
    repaired,
    unmask,
)
from headway.localization.placeholders.patterns import KINDS, find, frame, kind_of
from headway.localization.placeholders.segments import Code, Segment

texts = st.lists(
    st.one_of(st.sampled_from(SAMPLES), st.text(max_size=5), st.sampled_from(" 字`xy"))
).map("".join)
# Made into a Segment in the test: types are checked by drawing, which no strategy may do.
codes = st.tuples(st.sampled_from(SAMPLES), st.sampled_from(["", "raw", "other"]))
segments = st.lists(st.one_of(texts, codes))


def segment_of(parts: list[str | tuple[str, str]]) -> Segment:
    return Segment(tuple(part if isinstance(part, str) else Code(*part) for part in parts))


def found(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Copy %s to %(place)s, 100%%.", ["%s", "%(place)s", "%%"]),
        ("%who% has 90%off and %s%s%%.", ["%who%", "%s", "%s", "%%"]),
        ("50% der Fälle, 100 % sure, 5 %", []),
        ("See :ref:`the tutorial <tut-x>` now", [":ref:`", "<tut-x>`"]),
        (":func:`open <io.open>`, :c:func:`PyX`", [":func:`open <io.open>`", ":c:func:`PyX`"]),
        (":dfn:`own a reference` to", [":dfn:`", "`"]),
        ("the `Python docs <http://x.y/z>`_ say", ["`", " <http://x.y/z>`_"]),
        ("`some words`_ and `name`_, ``a `b` c``", ["`name`_", "``a `b` c``"]),
        ("[click](http://x.y) ![pic](a.png)", ["[", "](http://x.y)", "![", "](a.png)"]),
        ('<a href="x">b</a><br/> a < b > c', ['<a href="x">', "</a>", "<br/>"]),
        ("(http://x.y/z_(w)), http://x.y.", ["http://x.y/z_(w)", "http://x.y"]),
        ("写信给me@example.org。", ["me@example.org"]),
        ("{name}{}{0!r:>10} { not this }", ["{name}", "{}", "{0!r:>10}"]),
        ("max_length and/or call() of os.path, e.g. i.e.", ["max_length", "call()", "os.path"]),
        ("AT&T &amp; R&D", ["&amp;"]),
        ("\uf001 \ue000\ue000", ["\uf001", "\ue000", "\ue000"]),
        ("Nothing here: a 'plain' (sentence) - well-known; 3.14, 10:30.", []),
    ],
)  # fmt: skip
def test_what_must_be_copied_is_found_and_nothing_else(text, expected):
    assert found(text) == expected


@given(texts)
def test_codes_come_in_order_do_not_overlap_and_are_of_a_kind(text):
    place = 0
    for start, end, kind in find(text):
        assert place <= start < end
        assert kind in KINDS
        place = end


@given(segments)
def test_parsing_changes_no_text_and_loses_no_code(parts):
    segment = segment_of(parts)
    result = parsed(segment)
    assert result.text == segment.text
    assert not Counter(segment.codes) - Counter(result.codes)


@given(texts)
def test_unmasking_what_was_masked_is_the_same_text(text):
    masked = mask(parsed_text(text))
    assert unmask(*masked).text == text


@given(segments)
def test_unmasking_brings_back_the_codes_of_the_file(parts):
    segment = segment_of(parts)
    masked = mask(parsed(segment))
    back = unmask(*masked)
    assert back.text == segment.text
    assert set(segment.codes) <= set(masked.codes.values())
    assert [c for c in back.codes if c in set(segment.codes)] == [
        c for c in parsed(segment).codes if c in set(segment.codes)
    ]


def test_more_codes_than_placeholders_keep_the_round_trip():
    text = " ".join([*(f"%({n})s {{n{n}}}" for n in range(50)), *PLACEHOLDERS[:40]])
    masked = mask(parsed_text(text))
    assert unmask(*masked).text == text
    assert set(masked.codes) == set(PLACEHOLDERS)


@given(texts, texts)
def test_both_sides_of_a_masked_pair_can_be_recovered(source, target):
    pair = mask_pair(source, target)
    assert unmask(pair.source, pair.codes).text == source
    assert unmask(pair.target, pair.codes).text == target


@given(texts, texts)
def test_only_what_both_sides_have_equally_often_is_masked(source, target):
    pair = mask_pair(source, target)
    for placeholder, code in pair.codes.items():
        if code.text not in PLACEHOLDERS:
            assert pair.source.count(placeholder) == pair.target.count(placeholder) > 0


def test_numbers_follow_the_source_and_sometimes_start_higher():
    pairs = [mask_pair(f"{n}: %s and {{x}}", f"{n}: {{x}} und %s") for n in range(200)]
    starts = [PLACEHOLDERS.index(min(pair.codes)) for pair in pairs]
    for pair, start in zip(pairs, starts, strict=True):
        first, second = PLACEHOLDERS[start : start + 2]
        assert [code.text for code in pair.codes.values()] == ["%s", "{x}"]
        assert pair.source.endswith(f": {first} and {second}")
        assert pair.target.endswith(f": {second} und {first}")
    assert starts.count(0) > 120
    assert max(starts) > 50


@given(segments, segments)
def test_repair_leaves_exactly_the_codes_of_the_source_in_proper_pairs(source, output):
    source, output = parsed(segment_of(source)), parsed(segment_of(output))
    mended = repaired(source, output)
    assert Counter(source.codes) <= Counter(mended.codes)
    more = Counter(mended.codes) - Counter(source.codes)
    assert all(kind_of(code.text) == "name" and code not in source.codes for code in more)
    assert check(source, mended).complete
    assert repaired(source, mended) == mended


@given(segments)
def test_what_is_complete_is_left_alone(parts):
    segment = parsed(segment_of(parts))
    assert check(segment, segment).complete
    assert repaired(segment, segment) is segment


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Copy %s to %d.", "Kopiere %s.", "Kopiere %s. %d"),
        ("Copy %s.", "Kopiere %s und %s.", "Kopiere %s und."),
        ("Copy {name}.", "Kopiere {nome}.", "Kopiere {name}."),
        ("A <b>bold</b> word", "Ein <b>fettes Wort", "Ein <b>fettes Wort</b>"),
        ("A <b>bold</b> word", "Ein fettes</b> Wort", "Ein fettes Wort <b></b>"),
        ("A <i>b</i> <b>c</b>", "<i>b <b>c</i> d</b>", "b c d <i></i> <b></b>"),
        ("See :ref:`it <x>`.", "Siehe :ref:`es.", "Siehe :ref:`es.<x>`"),
        ("See :ref:`it <x>` or [b](http://c.d)", "Da.", "Da. :ref:`it <x>` [b](http://c.d)"),
        ("Set a_b and a_b", "Setze a_b, a_b, c_d und a_b", "Setze a_b, a_b, c_d und "),
    ],
)
def test_what_a_repair_looks_like(source, output, expected):
    mended = repaired(parsed_text(source), unparsed_codes(output))
    assert mended.text.replace(" .", ".").replace("  ", " ") == expected


def unparsed_codes(text: str) -> Segment:
    """As `parsed_text`, also where half a code is left of `:ref:`it <x>``."""
    head, opening, tail = text.partition(":ref:`")
    if opening:
        return Segment((head, Code(opening), tail))
    return parsed_text(text)


def test_frames_pair_tags_by_name():
    assert frame("<b>") == frame("<b class='x'>") != frame("</b>")
    assert frame("<br>") is frame("<x id='1'/>") is frame("%s") is None
    assert kind_of("%s") == "printf"
    assert kind_of("{\\b ") == ""
