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
        ("3.50 euros", "3,5 Euro"),
        ("3.50 euros", "3 Euro 50"),
        ("3.00 euros", "3 Euro"),
        (".5 percent", "0,5 Prozent"),
        ("1,000.5 of 0.125", "1 000,5 von 0,125"),
        ("on August 25", "am 25.8. dort"),
        ("at 2:30 p.m.", "um 14.30"),
        ("at 5 p.m.", "um 17.00 Uhr"),
        ("release 1.2.3", "Version 1.2.3"),
        ("pages 1,2 and 3", "Seiten 1, 2 und 3"),
        ("35,000 people", "3.5万人"),
        ("1.5 million", "150万"),
        ("1.83 m", "183 cm"),
        ("2.5 hours", "zweieinhalb Stunden"),
        ("99.9%", "百分之九十九点九"),
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
        ("version 3.10", "Version 3.11", ("3.10",), ("3.11",)),
        ("version 3.10", "version 3.1", ("3.10",), ("3.1",)),
        ("3.5 bar", "35 bar", ("3.5",), ("35",)),
        ("3.0 bar", "30 bar", ("3",), ("30",)),
        ("3.5 bar", "5,3 bar", ("3.5",), ("5,3",)),
        ("1.05 bar", "1,5 bar", ("1.05",), ("1,5",)),
        ("12.5 mm", "125 mm", ("12.5",), ("125",)),
        ("3.5 m", "35 Meter", ("3.5",), ("35",)),
        ("0.125 mg", "125 mg", ("0.125",), ("125",)),
        ("It costs 99.90.", "Es kostet 90,99.", ("99.90",), ("90,99",)),
        ("Set it to 3.5.", "Auf 5,3 stellen.", ("3.5",), ("5,3",)),
        ("between 3.5 and 5", "zwischen 3 und 5", ("3.5",), ("3",)),
        ("at 3.5 bar", "bei Druck", ("3.5",), ()),
        ("1.5 billion", "15 billion", ("1.5",), ("15",)),
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


@given(st.decimals("0.1", 999, places=2), st.decimals("0.1", 999, places=2))
def test_a_decimal_agrees_with_itself_alone(one, other) -> None:
    source, target = f"{one} bar", f"{str(other).replace('.', ',')} bar"
    assert (odd_numbers(source, target) == AGREED) == (one == other)


def test_the_digits_of_an_entity_are_no_number() -> None:
    assert odd_numbers("it&#39;s 40 &#x27;", "es ist 40") == AGREED
