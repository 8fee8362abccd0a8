"""Words of text without spaces stay whole where codes are put back."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.languages import segmenting
from headway.languages.segmenting import whole_words
from headway.localization.placeholders.projection import CodeProjection, TokenSpans, without_codes
from headway.localization.placeholders.segments import Code, Segment

TEXT = "我总是做大蛋糕。"
CHARACTERS = [(n, n + 1) for n in range(len(TEXT))]
LOOKS = {5: Counter({3: 1}), 6: Counter({3: 1}), 0: Counter({0: 1})}


def words(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.fixture
def without_jieba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmenting, "dictionary_words", lambda text: None)


def test_words_of_the_dictionary_are_whole():
    found = words(TEXT, whole_words(TEXT, CHARACTERS, CHARACTERS, {}))
    assert "总是" in found
    assert "蛋糕" in found
    assert found[-1] == "。"


@pytest.mark.usefixtures("without_jieba")
def test_without_it_what_looks_at_one_word_or_was_written_at_once_is_whole():
    tokens = [(0, 1), (1, 3), *CHARACTERS[3:]]
    found = words(TEXT, whole_words(TEXT, CHARACTERS, tokens, LOOKS))
    assert found == ["我", "总是", "做", "大", "蛋糕", "。"]


@given(st.text("我总是做大蛋糕，。 aB", max_size=12), st.data())
def test_nothing_is_lost_and_signs_and_spelled_words_stay_as_they_were(text, data):
    spans = [(n, n + 1) for n, character in enumerate(text) if character != " "]
    looks = {n: Counter({data.draw(st.integers(0, 2)): 1}) for n in range(len(spans))}
    found = whole_words(text, spans, spans, looks)
    assert "".join(words(text, found)) == text.replace(" ", "")
    assert all(len(word) == 1 or word.isalpha() for word in words(text, found))
    assert all(" " not in word for word in words(text, found))


@pytest.mark.usefixtures("without_jieba")
def test_a_code_goes_beside_a_word_of_several_characters_and_not_into_it():
    source = Segment(("I always make big ", Code("<b>"), "cakes", Code("</b>"), Code("<x/>"), "."))
    plain = without_codes(source)
    spans = [(0, 1), (2, 8), (9, 13), (14, 17), (18, 23), (23, 24)]
    looked = [0, 1, 1, 2, 3, 4, 4, 5]
    found = CodeProjection(
        source.codes,
        plain,
        spans,
        TokenSpans(TEXT, CHARACTERS),
        [(at, n) for n, at in enumerate(looked)],
    ).segment()
    assert found.text == "我总是做大<b>蛋糕</b><x/>。"
    behind = Segment(("I always", Code("<x/>"), " make big cakes."))
    other = CodeProjection(
        behind.codes,
        without_codes(behind),
        spans,
        TokenSpans(TEXT, CHARACTERS),
        [(at, n) for n, at in enumerate(looked) if at != 2],
    ).segment()
    assert other.text == "我总是<x/>做大蛋糕。"
