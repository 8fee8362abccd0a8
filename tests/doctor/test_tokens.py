import re

from hypothesis import given
from hypothesis import strategies as st

from headway.doctor.batches import PairSide, tokens

TEXT = st.lists(
    st.text(st.sampled_from("abAB 12-'äÄ猫がд\u0301."), min_size=1, max_size=20), min_size=1
)


@given(TEXT)
def test_words_are_those_that_a_pattern_finds(texts: list[str]) -> None:
    side = PairSide(texts)
    found = tokens(side)
    expected = [
        (row, match.start(), match[0].lower())
        for row, text in enumerate(texts)
        for match in re.finditer("[猫が]|[abABäÄд\u030112]+", text)
    ]
    assert found.rows.tolist() == [row for row, _, _ in expected]
    by_hash: dict[int, set[str]] = {}
    by_word: dict[str, set[int]] = {}
    for number, (_, _, word) in zip(found.hashes.tolist(), expected, strict=True):
        by_hash.setdefault(number, set()).add(word)
        by_word.setdefault(word, set()).add(number)
    assert all(len(words) == 1 for words in by_hash.values())
    assert all(len(numbers) == 1 for numbers in by_word.values())
    assert found.counts(len(texts)).sum() == len(expected)
    for row in range(len(texts)):
        places = found.places[found.rows == row].tolist()
        assert places == list(range(len(places)))
