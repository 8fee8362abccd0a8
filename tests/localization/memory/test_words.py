import pytest
from hypothesis import given
from hypothesis import strategies as st
from similarity import similarity

from headway.localization.memory.words import (
    NUMBER,
    as_word,
    changes,
    light,
    normal,
    read,
    tokens,
    written_words,
)

TEXTS = st.lists(
    st.sampled_from(
        "open Open file file. 2 3 %s <b> {name} 文件 it's É e\u0301 — ß STRASSE".split(" ")
    ),
    max_size=7,
).map(" ".join)


def words_of(text: str) -> list[str]:
    return list(map(as_word, written_words(text)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't open the file!", ["don't", "open", "the", "file"]),
        ("Step 1,000.5: x86", ["step", NUMBER, "x", NUMBER]),
        ("第3章：我爱hello世界", ["第", NUMBER, "章", "我", "爱", "hello", "世", "界"]),
        ("Click <b>OK</b> in {window}", ["click", "ok", "in"]),
        ("कि है", ["कि", "है"]),  # signs of vowels belong to their word
        ("L’État 5'a", ["l’état", NUMBER, "a"]),
        ("... !", []),
    ],
)
def test_words_are_without_case_codes_and_punctuation(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_latin_texts_have_the_same_words_as_all_others() -> None:
    texts = ["it's 5 o'clock a''b 'c' x_y 1.2.3.", "a-b c'd2 e3'f É² ½m"]
    texts += [f"a{chr(n)}b 1{chr(n)}2 '{chr(n)}'" for n in range(0x2B0)]
    for text in texts:
        assert words_of(text) == words_of(text + " \u0436")[:-1], text  # Cyrillic behind it


@pytest.mark.parametrize(
    ("one", "other", "percent"),
    [
        ("Open the file", "Open the file", 100),
        ("Open the file", " Open the file\n", 100),  # outer white space is no difference
        ("Open the  file", "Open the file", 99),
        ("Open the file", "open the file", 99),
        ("Open the file", "Open the file.", 99),
        ("Step 2", "Step 3", 99),
        ("Open %s now", "Open %d now", 99),
        ("Open %s now", "open %d now.", 97),
        ("Open the file", "Open that file", 66),  # one word of three
        ("a b c d e f g h i j", "a b c d e f g h i k", 90),
        ("a b c d e f g h i j", "a b c d e f g h i", 90),
        ("我爱学习", "我爱学文", 75),  # a character is a word
        ("...", "!", 0),
        ("", "word", 0),
    ],
)
def test_percent(one: str, other: str, percent: int) -> None:
    assert similarity(read(one), read(other)) == percent


@given(TEXTS, TEXTS)
def test_similarity_is_symmetric_and_100_only_for_the_same_text(one: str, other: str) -> None:
    left, right = read(one), read(other)
    there, back = similarity(left, right), similarity(right, left)
    assert there == back
    assert 0 <= there <= 100
    assert (there == 100) == (normal(one) == normal(other))


@given(TEXTS, TEXTS)
def test_texts_with_the_same_words_are_alike_to_95_percent_or_more(one: str, other: str) -> None:
    left, right = read(one), read(other)
    if left.words and left.words == right.words:
        assert similarity(left, right) >= 95
        assert similarity(left, right) == min(99, 100 - len(light(left, right))) or one == other


@given(TEXTS)
def test_tokens_and_a_reading_agree(text: str) -> None:
    reading, found = read(text), tokens(normal(text))
    assert [token.kind for token in found if token.kind != "\0"] == list(reading.words)
    assert tuple(token.written for token in found if token.kind == "\0") == reading.codes


@given(TEXTS, TEXTS)
def test_what_is_shown_as_changed_gives_both_texts(one: str, other: str) -> None:
    import re

    shown = changes(one, other)
    assert re.sub(r"\[-.*?-\]|\{\+(.*?)\+\}", lambda m: m[1] or "", shown, flags=re.S) == other
    assert re.sub(r"\[-(.*?)-\]|\{\+.*?\+\}", lambda m: m[1] or "", shown, flags=re.S) == one
