"""Where a text holds something, by the definition."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headway.localization.terms.holding import Spelling, Wanted, Where


def joins(left: str, right: str) -> bool:
    """By the definition: a letter of a spaced script goes on with another one."""
    return bool(left and right) and left in "abé" and right in "abé"


@given(
    st.text("abé", min_size=1, max_size=3) | st.text("ab狗", min_size=1, max_size=3),
    st.text("abé狗 .", max_size=12),
)
def test_it_stands_where_no_word_goes_on_on_either_side(term, text) -> None:
    expected = [
        i
        for i in range(len(text))
        if text.startswith(term, i)
        and not joins(text[i - 1 : i] if i else "", term[0])
        and not joins(term[-1], text[i + len(term) : i + len(term) + 1])
    ]
    places = Wanted((Spelling(term),)).standing(text)
    starts = [start for start, _ in places]
    assert {*starts} <= {*expected}
    assert bool(starts) == bool(expected)
    assert all(text[start:end] == term for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_an_open_ending_belongs_to_it_and_the_longest_of_two_spellings_counts() -> None:
    wanted = Wanted((Spelling("Hund", open_end=True), Spelling("Hund")), times=3)
    assert wanted.standing("Hunde, Hund; Hofhund") == [(0, 5), (7, 11)]
    assert wanted.lacking_in("Hunde, Hund; Hofhund") == 1


def test_a_capital_for_the_beginning_stands_there_alone() -> None:
    wanted = Wanted((Spelling("rot", where=Where.INSIDE), Spelling("Rot", where=Where.OPENING)))
    assert wanted.lacking_in("rot ist es") == 1
    assert wanted.lacking_in("„Rot“ ist es") == 0
    assert wanted.lacking_in("Es ist Rot") == 1
    assert wanted.lacking_in("Ja. Rot ist es") == 0
