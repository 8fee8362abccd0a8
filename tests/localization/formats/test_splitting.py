"""Segments are cut into lines and sentences, and nothing of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.formats.splitting import (
    joined,
    joined_translations,
    lines_of,
    sentences_of,
)
from headway.localization.placeholders.segments import Code, Segment

BOLD, END, CODE = Code("<b>", "<g id='1'>"), Code("</b>", "</g>"), Code("%s")

PARTS = st.lists(
    st.one_of(
        st.text(alphabet='ab \n\t\r.?!。？”"\ufffc\u3000', min_size=1, max_size=12),
        st.sampled_from([BOLD, END, CODE]),
    ),
    max_size=8,
)


def texts(pieces: list[Segment]) -> list[str]:
    return [piece.text for piece in pieces]


@given(PARTS)
def test_the_pieces_joined_are_the_segment(parts):
    segment = joined([Segment((part,)) for part in parts])
    for cut in (lines_of, sentences_of):
        pieces = cut(segment)
        assert joined(pieces) == segment
        assert all(piece.text for piece in pieces)


@given(PARTS)
def test_what_is_translated_has_no_line_end_and_no_outer_space(parts):
    segment = joined([Segment((part,)) for part in parts])
    for piece in lines_of(segment):
        if not piece.blank:
            assert "\n" not in piece.text
            first, last = piece.parts[0], piece.parts[-1]
            assert not (isinstance(first, str) and first[0].isspace())
            assert not (isinstance(last, str) and last[-1].isspace())


@given(PARTS)
def test_cutting_twice_changes_nothing(parts):
    segment = joined([Segment((part,)) for part in parts])
    for cut in (lines_of, sentences_of):
        pieces = cut(segment)
        assert [again for piece in pieces for again in cut(piece)] == pieces


def test_lines_keep_their_indentation_apart():
    segment = Segment(("  One,\n    two \r\n\n", BOLD, "three\n", END))
    assert texts(lines_of(segment)) == [
        "  ",
        "One,",
        "\n    ",
        "two",
        " \r\n\n",
        "<b>three",
        "\n",
        "</b>",
    ]
    assert [piece.blank for piece in lines_of(segment)] == [True, False] * 3 + [True, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two?  Three", ["One.", " ", "Two?", "  ", "Three"]),
        ('He said "No." And left...', ['He said "No."', " ", "And left..."]),
        ("Version 2.5 of a.b", ["Version 2.5 of a.b"]),
        ("第一句。第二句！”第三句", ["第一句。", "第二句！”", "第三句"]),
        ("?!", ["?!"]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert texts(sentences_of(Segment((text,) if text else ()))) == expected


def test_a_code_that_closes_stays_with_its_sentence():
    segment = Segment((BOLD, "One.", END, " ", CODE, " two."))
    assert texts(sentences_of(segment)) == ["<b>One.</b>", " ", "%s two."]


@pytest.mark.parametrize(
    "line_break",
    [
        Code("<br>", "<br>"),
        Code("<BR class='x' />", "<BR class='x' />"),
        Code('<x id="LINE_BREAK"/>', '<x id="LINE_BREAK" ctype="lb" equiv-text="&lt;br&gt;"/>'),
    ],
)
def test_a_sentence_ends_before_a_code_that_breaks_the_line_and_nowhere_else(line_break):
    shown = line_break.text
    segment = Segment((BOLD, "One.", END, line_break, "Two", line_break, " three!", line_break))
    assert texts(sentences_of(segment)) == ["<b>One.</b>", shown, f"Two{shown} three!{shown}"]
    other = Segment(("One.", Code('<x id="1"/>', '<x id="1" ctype="bold"/>'), "Two."))
    assert sentences_of(other) == [other]


@pytest.mark.parametrize("text", [" ", ".", '."', "。", ". ", "\n", "\ufffc"])
def test_long_repetitions_are_cut_in_no_time(text):
    segment = Segment((text * 20_000,))
    for cut in (lines_of, sentences_of):
        assert joined(cut(segment)) == segment


def test_ends_of_lines_stay_around_a_line_of_signs():
    pieces = [Segment((part,)) for part in ("A dog.", "\n", "---", "\n", "A cat.")]
    assert joined_translations([(one, one) for one in pieces]).text == "A dog.\n---\nA cat."
