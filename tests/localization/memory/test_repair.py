from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.memory.repair import repaired
from headway.localization.memory.words import read
from headway.localization.placeholders.segments import Code, Segment, as_segment


@pytest.mark.parametrize(
    ("query", "source", "target", "right"),
    [
        ("Step 3", "Step 2", "Schritt 2", "Schritt 3"),
        ("3 of 4", "2 of 5", "2 von 5", "3 von 4"),
        ("2 of 4", "4 of 2", "2 und 4", "4 und 2"),  # each by the other, at the same time
        ("Pay 2.5", "Pay 1.5", "Zahle 1,5", "Zahle 2,5"),  # written as the translation writes it
        ("1,300.25 m", "1,000.5 m", "1.000,5 m", "1.300,25 m"),
        ("Version 2.5", "Version 1.4", "Version 1.4", "Version 2.5"),
        ("Wait 5 s", "Wait 1,500 s", "Warte 1.500 s", "Warte 5 s"),
        ("Hello %d", "Hello %s", "Hallo %s", "Hallo %d"),
        ("%s of %d", "%d of %s", "%d von %s", "%s von %d"),
        ('<x id="3"/> a', '<x id="1"/> a', 'b <x id="1"/>', 'b <x id="3"/>'),
        ("Click OK", "Click <b>OK</b>", "<b>OK</b> klicken", "OK klicken"),
        ("See 3 for more", "See page 2 for more", "Siehe 2", "Siehe 3"),
    ],
)
def test_numbers_and_codes_are_put_right(query: str, source: str, target: str, right: str) -> None:
    made = repaired(query, source, target)
    assert made.target == right
    assert made.done
    assert not made.failed


@pytest.mark.parametrize(
    ("query", "source", "target", "failed"),
    [
        ("Step 3", "Step 2", "Schritt zwei", ("2 -> 3",)),  # a word stands for it
        ("3 and 4", "2 and 2", "2 und 2", ("2 -> 3", "2 -> 4")),  # which of the two?
        ("3 and 2", "2 and 2", "2 und 2", ("2 -> 3",)),
        ("Step 3", "Step 2", "Schritt 2 von 2", ("2 -> 3",)),
        ("1,300.25 m", "1,000 m", "1.000 m", ("1,000 -> 1,300.25",)),  # how is a point written?
        ("Wait 1,500 s", "Wait 5 s", "Warte 5 s", ("5 -> 1,500",)),  # 1,500 is 1.5 in German
        ("Pay 2.5", "Pay 2", "Zahle 2", ("2 -> 2.5",)),
        ("Click <b>OK</b>", "Click OK", "OK klicken", ("none -> <b>", "none -> </b>")),
        ("<b>Click OK</b>", "Click OK", "OK klicken", ("none -> <b>", "none -> </b>")),
        ("Hello {x}", "Hello %s", "Hallo %s", ("%s -> {x}",)),  # of another kind
        ("0, 1, 2 or 3", "0, 1, 2, 3 or 4", "0, 1, 2, 3 eller 4", ("4 -> 3",)),  # one is missing
        ("0, 1, 2 or 3", "0, 1 or 2", "0, 1 eller 2", ("2 -> 3",)),
        ("Hello", "Hello %s", "Hallo %s", ("%s -> none",)),  # no tag: something is lost
    ],
)
def test_what_is_not_plain_is_left_and_said(
    query: str, source: str, target: str, failed: tuple[str, ...]
) -> None:
    assert repaired(query, source, target) == (target, (), failed)


PIECES = st.lists(
    st.sampled_from("Step 1 2 3 %s %d <b> </b> {x} of".split()), min_size=1, max_size=7
)


@given(PIECES.map(" ".join), PIECES.map(" ".join))
def test_a_repair_without_failures_says_what_the_query_says(query: str, source: str) -> None:
    """Of a memory that translates each word by itself, the translation is that of the query."""
    made = repaired(query, source, source)
    wanted, found = read(query), read(made.target)
    if not made.failed and read(source).words == wanted.words:
        assert found.numbers == wanted.numbers
        assert Counter(found.codes) == Counter(wanted.codes)
        assert found.words == wanted.words


def test_the_codes_of_a_place_are_its_own() -> None:
    bold, end = Code("<b>", '<bpt i="7">&lt;b></bpt>'), Code("</b>", '<ept i="7">&lt;/b></ept>')
    source = Segment(("Click ", bold, "OK", end))
    assert as_segment("<b>OK</b> <b>klicken", source).parts == (
        bold, "OK", end, " ", "<b>", "klicken",
    )  # fmt: skip
    assert as_segment("", source) == Segment()
    assert as_segment("plain", Segment(("plain",))) == Segment(("plain",))


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_text_breaks_a_repair(query: str, source: str, target: str) -> None:
    made = repaired(query, source, target)
    assert made.target == target or made.done
