"""Which words a term takes the place of, by numbers made by hand."""

from itertools import accumulate, pairwise

from headway.localization.placeholders.projection import TokenSpans
from headway.localization.terms.matching import RequiredText, Spelling, SpellingPosition
from headway.localization.terms.placing import (
    TermEdit,
    WantedTerm,
    places_for,
    put_in,
)


def written(*tokens: str) -> TokenSpans:
    ends = [0, *accumulate(map(len, tokens))]
    return TokenSpans("".join(tokens), list(pairwise(ends)))


def term(text: str, falls, *, beside=None, times: int = 1, several: bool = False) -> WantedTerm:
    wanted = RequiredText((Spelling(text),), times)
    return WantedTerm(wanted, falls, beside or [0.0] * len(falls), several)


def with_terms(text: TokenSpans, *terms: WantedTerm) -> str:
    return put_in(text.text, places_for(text, terms)).text


BIKE = written("Ein", " Mann", " fährt", " Fahr", "rad", ".")


def test_the_word_that_loses_most_is_replaced_whole() -> None:
    assert with_terms(BIKE, term("Drahtesel", [0, 0, 2, 7, 0.1, 0])) == "Ein Mann fährt Drahtesel."


def test_what_stands_for_nothing_is_left_as_it_is() -> None:
    assert with_terms(BIKE, term("Drahtesel", [0, 0, 0.5, 0.8, 0.1, 1])) == BIKE.text
    assert with_terms(BIKE, term("Drahtesel", [0, 0, 0, 0, 0, 9])) == BIKE.text, "a sign"


def test_what_the_neighbours_stand_for_as_well_is_a_compound_and_stays() -> None:
    text = written("Die", " Fußball", "mannschaft", " jubelt", ".")
    team = term("Truppe", [0, 6, 3, 0, 0], beside=[0, 7, 1, 0, 0])
    assert with_terms(text, team) == text.text


def test_two_terms_never_share_a_word_and_the_surer_one_comes_first() -> None:
    terms = term("Herr", [0, 8, 0, 3, 0, 0]), term("Drahtesel", [0, 5, 0, 6, 0, 0])
    assert with_terms(BIKE, *terms) == "Ein Herr fährt Drahtesel."


def test_a_term_that_stands_there_stays_and_is_never_written_over() -> None:
    text = written("Ein", " Herr", " und", " ein", " Mann", ".")
    twice = term("Herr", [0, 9, 0, 0, 5, 0], times=2)
    assert with_terms(text, twice) == "Ein Herr und ein Herr."


def test_an_article_before_the_word_stays() -> None:
    text = written("Sie", " liegt", " am", " Strand", ".")
    assert with_terms(text, term("Sandufer", [0, 0, 5, 4, 0])) == "Sie liegt am Sandufer."
    text = written("那", "片", "面包", "，")
    assert with_terms(text, term("面饼", [0.2, 6, 1.2, 0])) == "那片面饼，"


def test_a_term_of_several_words_takes_the_place_of_several() -> None:
    text = written("Die", " erste", " Hilfe", " kommt", ".")
    assert with_terms(text, term("Rettung", [0, 6, 5, 0, 0], several=True)) == "Die Rettung kommt."


def test_the_first_of_equal_words_is_meant() -> None:
    text = written("Hund", " und", " Hund", ".")
    assert with_terms(text, term("Köter", [4, 0, 6, 0])) == "Köter und Hund."


def test_the_case_is_that_of_the_place_and_every_character_knows_its_origin() -> None:
    text = written("Rot", " ist", " es", ".")
    wanted = RequiredText(
        (
            Spelling("karmin", where=SpellingPosition.INSIDE),
            Spelling("Karmin", where=SpellingPosition.OPENING),
        )
    )
    places = places_for(text, [WantedTerm(wanted, [5, 0, 0, 0], [0] * 4, False)])
    assert places == [TermEdit(0, 3, "Karmin")]
    assert put_in(text.text, places) == ("Karmin ist es.", [0, 0, 1, 1, 2, 2, *range(3, 11)])


def test_codes_are_never_written_over() -> None:
    text = written("Siehe", " max_length", ".")
    assert with_terms(text, term("Länge", [0, 9, 0])) == text.text
