import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.languages.numbers import AGREED, odd_numbers


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("no numbers", "keine Zahlen"),
        ("It costs 1,000.50 dollars", "Es kostet 1.000,50 Dollar"),
        ("1,000 and 5", "1000 und 5"),
        ("1 234 567 people", "1'234'567 Leute"),
        ("5 of 1,000", "von 1000 sind 5"),  # another order, and another way of writing
        ("on 2013-07-01", "am 01.07.2013"),
        ("page ３７", "第37页"),
        ("٢٥ كتاب", "25 books"),
        ("3 dogs", "drei Hunde"),
        ("twelve months", "12 Monate"),
        ("20 people", "二十个人"),
        ("3 million yen", "300万日元"),
        ("2 million", "2000000"),
        ("at 7 p.m.", "um 19 Uhr"),
        ("in the 1960s", "in den 60er-Jahren"),
        ("Route 66, route 66", "Route 66"),
        ("007", "7"),
    ],
)
def test_translations_agree_in_their_numbers(source: str, target: str) -> None:
    assert odd_numbers(source, target) == AGREED
    assert odd_numbers(target, source) == AGREED


@pytest.mark.parametrize(
    ("source", "target", "ours", "theirs"),
    [
        ("born in 1990", "geboren 1991", ("1990",), ("1991",)),
        ("from 1 to 12", "von 0 bis 12", ("1",), ("0",)),
        ("1,000 men", "10,000 men", ("1000",), ("10000",)),
        ("12 and 21", "12 und 12", ("21",), ()),
        ("21 points", "12 points", ("21",), ("12",)),
        ("48 sailors", "die Matrosen", ("48",), ()),
        ("sailors", "48 Matrosen", (), ("48",)),
        ("version 3.10", "Version 3.11", ("10",), ("11",)),
    ],
)
def test_what_only_one_side_says_is_named(
    source: str, target: str, ours: tuple[str, ...], theirs: tuple[str, ...]
) -> None:
    odd = odd_numbers(source, target)
    assert odd == (ours, theirs)
    assert odd.both == bool(ours and theirs)


def test_the_difference_is_put_in_words() -> None:
    assert str(odd_numbers("5 of 1990", "5 aus 1991")) == "1990 against 1991"
    assert str(odd_numbers("48 men", "Männer")) == "48 against none"


text = st.text(st.sampled_from("0123456789 .,:'-万千x２٣"), max_size=30)


@given(text)
def test_a_text_agrees_with_itself(one: str) -> None:
    assert odd_numbers(one, one) == AGREED


@given(text, text)
def test_exchanging_the_sides_exchanges_the_answer(one: str, other: str) -> None:
    assert odd_numbers(one, other) == odd_numbers(other, one)[::-1]


def test_the_digits_of_an_entity_are_no_number() -> None:
    assert odd_numbers("it&#39;s 40 &#x27;", "es ist 40") == AGREED
