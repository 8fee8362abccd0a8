"""Sentences end where a reader ends them, and nothing of a text is lost by cutting it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.demo import generate
from headway.languages.sentences import (
    CODE,
    AtOnce,
    cut,
    portion_ends,
    sentence_ends,
    sentences,
    space_between,
)
from headway.localization.placeholders.may_hold import may_hold_sentences

TEXTS = st.text(alphabet=f'abIé3 _\n.?!…。！。،,;:—()"”»«’*第一你ह।؟ΠΩ។ལ།{CODE}', max_size=40)


def worded(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if not piece.isspace()]


@given(TEXTS)
def test_the_pieces_joined_are_the_text(text):
    pieces = sentences(text)
    assert "".join(pieces) == text
    assert all(pieces)


@given(TEXTS)
def test_every_sentence_has_a_word_and_no_outer_space(text):
    ends = sentence_ends(text)
    assert ends == sorted(set(ends))
    if ends:
        for piece in worded(cut(text.strip(), sentence_ends(text.strip()))):
            assert any(map(str.isalnum, piece))
            assert piece == piece.strip()


@given(TEXTS)
def test_what_the_door_keeps_out_is_one_sentence(text):
    if not may_hold_sentences(text):
        assert sentence_ends(text) == []


@given(TEXTS, st.integers(1, 4), st.integers(3, 30))
def test_a_portion_is_no_more_than_what_is_taken_at_once(text, most, limit):
    """Counted in characters. What is still longer is one clause."""
    ends = portion_ends(text, AtOnce(most, limit), len)
    pieces = cut(text, ends)
    assert "".join(pieces) == text
    whole = worded(sentences(text))
    if len(whole) <= most and len(text.strip()) <= limit:
        assert ends == []
    for piece in worded(pieces):
        assert len(worded(sentences(piece.strip()))) <= most or len(piece) <= limit
    without_limit = cut(text, portion_ends(text, AtOnce(most), len))
    assert len(worded(without_limit)) >= -(-len(whole) // most) * bool(text.strip())


@pytest.mark.parametrize(("side", "space"), [(0, " "), (1, "")])
def test_generated_sentences_that_were_joined_are_found_again(side, space):
    texts = [pair[side] for pair in generate(300, 5)]
    draw = random.Random(1)
    for _ in range(60):
        some = draw.sample(texts, draw.randint(2, 30))
        assert worded(sentences(space.join(some))) == some


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith left. Dr. J. R. Brown stayed.", ["Mr. Smith left.", "Dr. J. R. Brown stayed."]),
        ("We use tools, e.g. Hammers. It is 3.50. Not more.", 3),
        ("See p. 3 and No. 5. No. He left.", ["See p. 3 and No. 5.", "No.", "He left."]),
        ("It was 5 p.m. Let's go. The U.S. Army came.", 3),
        ("I am taller than I. He is not. Plan B. Then", 3),
        ("Wait... what? No! Yes…", ["Wait... what?", "No!", "Yes…"]),
        ('"Come in," she said. "Sit down." He left.', 3),
        ('"Why?" he asked. (Nobody knew.) So it went.', 3),
        ("1. First do this. 2. Then that.", ["1. First do this.", "2. Then that."]),
        ("Go to www.example.org. Then read a.b of version 2.5.", 2),
        ("We won't. They won't. I can't. The end", 4),
        ("她说：“好。”我走了……不知道。你呢？", ["她说：“好。”", "我走了……不知道。", "你呢？"]),
        ("你好吗?我很好!", ["你好吗?", "我很好!"]),
        ("मैं जाता हूँ। वह आता है।", ["मैं जाता हूँ।", "वह आता है।"]),
        ("هل أنت هنا؟ نعم.", ["هل أنت هنا؟", "نعم."]),
        ("« Oui ! » dit-il. Non !", ["« Oui ! » dit-il.", "Non !"]),
        ("သူလာတယ်။ ကျွန်တော်သွားမယ်။", ["သူလာတယ်။", "ကျွန်တော်သွားမယ်။"]),
        ("គាត់នៅផ្ទះ។ខ្ញុំទៅផ្សារ។", ["គាត់នៅផ្ទះ។", "ខ្ញុំទៅផ្សារ។"]),
        ("ខ្ញុំទិញត្រី សាច់ ។ល។ និងបន្លែ។", 1),
        ("ཁོང་ཡོང་སོང་། །ང་འགྲོ་གི་ཡིན།", ["ཁོང་ཡོང་སོང་། །", "ང་འགྲོ་གི་ཡིན།"]),
        ("Πού πας; Στο 5; «Έλα;» Ναι.", ["Πού πας;", "Στο 5;", "«Έλα;»", "Ναι."]),
        ("An Ω; The end; And &amp; So on, α; β", 1),
        ("１．　３．１４です．　次の文です．", ["１．　３．１４です．", "次の文です．"]),
        ("iPhones. and so on", 1),
        (f"One.{CODE} {CODE} two.", [f"One.{CODE}", f"{CODE} two."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, expected):
    found = worded(sentences(text))
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_german_dates_hold_together_where_the_language_is_known():
    text = "Das ist z. B. Hans. Er kommt am 3. Mai. Dann geht er."
    assert len(worded(sentences(text, "de"))) == 3


def test_filipino_is_not_taken_for_finnish():
    text = "Nasa kabanata 3. Mababasa mo."
    for language, n in (("fi", 1), ("fi_FI", 1), ("fil", 2), (None, 2)):
        assert len(worded(sentences(text, language))) == n


@pytest.mark.parametrize("text", [" ", ".", '."', "。", ". ", "a. ", "(", "Mr. ", "1. ", "a; "])
def test_long_repetitions_are_cut_in_no_time(text):
    assert "".join(sentences(text * 20_000)) == text * 20_000


def test_a_long_sentence_is_cut_between_clauses_only_if_it_must():
    text = "one two three, four five six; seven eight nine"
    assert portion_ends(text, AtOnce(1, 100), len) == []
    assert worded(cut(text, portion_ends(text, AtOnce(1, 30), len))) == [
        "one two three, four five six;",
        "seven eight nine",
    ]


@pytest.mark.parametrize(
    ("space", "left", "right", "expected"),
    [
        (" ", "好。", "他", ""),
        ("", "Good.", "He", " "),
        ("  ", "Good.", "He", "  "),
        ("\n", "好。", "他", "\n"),
        (" ", "Good.", "“He", " "),
        (" ", "好。", "He", ""),
    ],
)
def test_white_space_is_as_the_target_writes_it(space, left, right, expected):
    assert space_between(space, left, right) == expected
