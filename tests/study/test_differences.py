"""Which words of several texts differ."""

from hypothesis import given
from hypothesis import strategies as st

from headway.study.comparison import WORD, differing


def marked(*texts):
    return [
        [text[begin:end] for begin, end in spans]
        for text, spans in zip(texts, differing(texts), strict=True)
    ]


def test_words_that_are_not_in_both_are_told():
    assert marked("a dog runs .", "a big dog ran .") == [["runs"], ["big", "ran"]]


def test_of_three_a_word_must_be_in_all():
    assert marked("a b c", "a b d", "a c d") == [["b", "c"], ["b", "d"], ["c", "d"]]


def test_chinese_characters_are_words_and_signs_too():
    assert marked("我有一只猫。", "我有两只猫，") == [["一", "。"], ["两", "，"]]


def test_so_are_those_of_other_scripts_without_spaces():
    assert marked("ฉันมีแมว", "ฉันมีหมา") == [["แ", "ว"], ["ห", "า"]]


def test_order_counts():
    assert marked("x y", "y x") in ([["x"], ["x"]], [["y"], ["y"]])


@given(st.text(), st.integers(2, 4))
def test_equal_texts_differ_nowhere(text, n):
    assert differing([text] * n) == [[]] * n


@given(st.text(), st.text())
def test_what_is_not_told_is_the_same_on_both_sides(one, other):
    spans = differing([one, other])
    kept = [
        [word[0] for word in WORD.finditer(text) if word.span() not in some]
        for text, some in zip((one, other), spans, strict=True)
    ]
    assert kept[0] == kept[1]
