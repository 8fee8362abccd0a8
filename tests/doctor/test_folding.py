import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.doctor.batches import PairSide, folded_hashes, letter_values

letters = st.text(st.sampled_from("abÄß我яd"), min_size=1, max_size=20)


def hashes(*texts: str) -> list[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numbers run over on purpose, silently
        return [int(value) for value in folded_hashes(PairSide(list(texts)))]


def test_case_digits_punctuation_and_spaces_do_not_count() -> None:
    assert len(set(hashes("Chapter 1: the End.", "chapter 27  THE END", "Chapter—the end!"))) == 1


def test_letters_with_one_capital_are_the_same() -> None:
    assert len(set(hashes("Ο ΔΡΟΜΟΣ", "ο δρομος", "Ο δρομοσ"))) == 1


@given(st.lists(letters, min_size=1, max_size=8))
def test_texts_differ_exactly_if_their_letters_do(texts: list[str]) -> None:
    folded = ["".join(character.lower() for character in text) for text in texts]
    assert len(set(hashes(*texts))) == len(set(folded))


@given(letters, st.lists(letters, max_size=5))
def test_neighbours_do_not_matter(text: str, others: list[str]) -> None:
    assert hashes(*others, text)[-1] == hashes(text, *others)[0]


def test_order_counts() -> None:
    assert len(set(hashes("ab", "ba", "aab", "aba"))) == 4


def test_texts_without_letters_are_told_apart_by_all_they_have() -> None:
    assert len(set(hashes("12", "21", "!!", "。", "1 2"))) == 5


def test_every_letter_has_a_number_of_its_own() -> None:
    values = letter_values()
    assert values[ord("A")] == values[ord("a")]
    assert not values[[ord(c) for c in "1 .\n，"]].any()
    lower = [
        ord(c)
        for c in map(chr, range(0x61, 0x3000))
        if c.isalpha() and c == c.lower() and (c == c.casefold() or len(c.casefold()) > 1)
    ]
    assert len(np.unique(values[lower])) == len(lower)
