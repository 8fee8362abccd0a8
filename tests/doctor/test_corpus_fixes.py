"""What `prepare --fix` makes of a text; tests/commands/test_corpus_rewrite.py tries it on files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.doctor.corpus_fixes import _MENDS


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("entities", "&quot;a&amp;quot; &lt; &#8364;", '"a" < €'),
        ("entities", "one&#10;line&NewLine;only&nbsp;here", "one line only here"),
        ("white_space", " a  b \xa0c ", "a b c"),
        ("invisible", "zero\u200bwidth, soft\xadhyphen\ufeff", "zerowidth, softhyphen"),
    ],
)
def test_it_is_mended(kind: str, text: str, expected: str) -> None:
    assert _MENDS[kind](text) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("entities", "https://a.org/?a=1&param=2&section=3&copy=4"),
        ("entities", "?a=1&amp=2&notit; &bogus; AT&T & Co.\xa0KG"),
        ("entities", '<a title="5 &lt; 6">x</a>'),
        ("white_space", "Bonjour\u202f! 5\u202f000\xa0€\u3000全角"),
        ("invisible", "សួស្តី\u200bពិភពលោក"),
        ("invisible", "สวัสดี\u200bครับ"),
        ("invisible", "ᠮᠣᠩᠭᠣᠯ\u180eᠠ"),
    ],
)
def test_it_stays(kind: str, text: str) -> None:
    assert _MENDS[kind](text) == text


@given(st.text(st.sampled_from("a&;#10quotlgNewLi \n\t<>=\xa0")))
def test_no_mend_makes_a_line_more(text: str) -> None:
    for mend in _MENDS.values():
        assert mend(text).count("\n") <= text.count("\n")
