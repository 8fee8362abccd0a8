from hypothesis import given
from hypothesis import strategies as st

from headway.localization.placeholders.segments import Code, Segment

texts = st.text(max_size=6)
codes = st.tuples(texts, texts).map(lambda both: Code(*both))
parts = st.lists(texts | codes, max_size=5)


@given(parts, parts)
def test_text_and_codes_of_two_segments_are_those_of_both_together(
    left: list[str | Code], right: list[str | Code]
) -> None:
    one, other, together = Segment((*left,)), Segment((*right,)), Segment((*left, *right))
    assert together.text == one.text + other.text
    assert together.codes == one.codes + other.codes


def test_text_shows_codes_as_what_they_stand_for() -> None:
    bold = Code("<b>", "<bpt i='1'>&lt;b></bpt>")
    assert Segment(("a ", bold, "b")).text == "a <b>b"
    assert Segment(("a ", bold, "b")).codes == [bold]


def test_blank_is_what_has_no_letter_or_digit_outside_of_its_codes() -> None:
    assert Segment().blank
    assert Segment((" / …", Code("text"))).blank
    assert not Segment(("7",)).blank
    assert not Segment((Code("x"), "ж")).blank
