"""Terms in a text: whole words, longest first, no overlaps, case, endings; what must be held."""

import itertools
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.matching import Matcher, RequiredText, Spelling, SpellingPosition


def matcher(*sources, **forms):
    rows = [GlossaryRow(source, "x", "", forms.get(source, ""), "t:1") for source in sources]
    return Matcher(Glossary.of(rows, "t"))


def found(text, *sources, **forms):
    return [text[a:b] for a, b, _ in matcher(*sources, **forms).find(text)]


def test_only_whole_words_are_found() -> None:
    assert found("dog dogs doghouse hotdog dog_x dog's dog-like", "dog") == ["dog"] * 3


def test_scripts_without_spaces_are_searched_anywhere() -> None:
    assert found("这只狗在狗屋里", "狗", "狗屋") == ["狗", "狗屋"]
    assert found("用Python写", "Python") == ["Python"]


def test_marks_belong_to_their_word() -> None:
    assert found("कमी कम कमरा", "कम") == ["कम"]


def test_lower_case_is_found_in_any_case_and_capitals_only_as_they_are() -> None:
    assert found("It, IT and it", "IT") == ["IT"]
    assert found("Dog DOG dog", "dog") == ["Dog", "DOG", "dog"]
    assert found("an iPhone, an IPHONE", "iPhone") == ["iPhone"]
    assert found("GitHubs Github", "GitHub*") == ["GitHubs"]


@pytest.mark.parametrize("sources", [*itertools.permutations(["polish", "Polish", "pol*"])])
def test_in_one_place_a_spelling_with_capitals_comes_first(sources) -> None:
    terms = [term.source for _, _, term in matcher(*sources).find("polish the Polish")]
    assert terms == ["polish", "Polish"]


def test_a_star_stands_for_any_ending_of_its_word() -> None:
    assert found("neural networks, neurally network", "neural network*") == ["neural networks"]
    assert found("neurals networks", "neural* network*") == ["neurals networks"]
    assert found("big do", "dog*") == []


def test_beginnings_of_a_long_word_are_looked_up_as_far_as_a_term_goes() -> None:
    lengths = []

    class Noting(dict):
        def get(self, key, default):
            lengths.append(len(key[0]))
            return super().get(key, default)

    one = matcher("dog*", "hot dog")
    one._starting = Noting(one._starting)
    assert one.find("d" * 1_000) == []
    assert sorted(lengths) == [1, 2, 3, 1_000]


def test_forms_are_found_too() -> None:
    assert found("mice and a mouse", "mouse", mouse="mice") == ["mice", "mouse"]


def test_signs_and_spaces_inside_count() -> None:
    assert found("C++ and C, .NET and NET; a  b", "C++", ".NET", "a b") == ["C++", ".NET", "a  b"]


words = st.sampled_from(["a", "b", "c"])
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


@settings(max_examples=200)
@given(st.lists(phrases, min_size=1, max_size=4, unique=True), st.lists(words, max_size=7))
def test_longest_first_without_overlaps(terms, text_words) -> None:
    """By definition: of all places of all terms, the longest that overlaps none taken before."""
    text = " ".join(text_words)
    places = [
        (start, start + len(term))
        for term, start in itertools.product(terms, range(len(text)))
        if text.startswith(term, start)
    ]
    taken: list = []
    for start, end in sorted(places, key=lambda place: (place[0] - place[1], place[0])):
        if all(end <= a or b <= start for a, b in taken):
            taken.append((start, end))
    assert [(a, b) for a, b, _ in matcher(*terms).find(text)] == sorted(taken)


@pytest.mark.parametrize("text", ["", "İstanbul dog", "ß dog", "ﬁ dog"])
def test_folding_case_moves_no_place(text) -> None:
    assert found(text, "dog") == ["dog"] * ("dog" in text)


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
    places = RequiredText((Spelling(term),)).standing(text)
    starts = [start for start, _ in places]
    assert {*starts} <= {*expected}
    assert bool(starts) == bool(expected)
    assert all(text[start:end] == term for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


def test_an_open_ending_belongs_to_it_and_the_longest_of_two_spellings_counts() -> None:
    wanted = RequiredText((Spelling("Hund", open_end=True), Spelling("Hund")), times=3)
    assert wanted.standing("Hunde, Hund; Hofhund") == [(0, 5), (7, 11)]
    assert wanted.lacking_in("Hunde, Hund; Hofhund") == 1


def test_a_capital_for_the_beginning_stands_there_alone() -> None:
    wanted = RequiredText(
        (
            Spelling("rot", where=SpellingPosition.INSIDE),
            Spelling("Rot", where=SpellingPosition.OPENING),
        )
    )
    assert wanted.lacking_in("rot ist es") == 1
    assert wanted.lacking_in("„Rot“ ist es") == 0
    assert wanted.lacking_in("Es ist Rot") == 1
    assert wanted.lacking_in("Ja. Rot ist es") == 0
