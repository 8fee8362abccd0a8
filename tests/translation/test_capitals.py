"""Texts in capitals are read in small letters, and their translations written in capitals."""

import re

import pytest

from headway.core.subwords import Subwords
from headway.demo import generate
from headway.localization.placeholders.segments import Code, Segment
from headway.operations.shipped import SHIPPED
from headway.translation.capitals import InCapitals
from headway.translation.detailed import Alternative, Translation
from headway.translator import Translator

LINES = [
    "I saw Tom in the USA.", "Tom and I don't know the house.", "He saw the house.",
    "They don't know Tom.", "I know the USA and the house.", "I know 50% of the house, for 5 €.",
]  # fmt: skip


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The package's."""
    return Translator.load(SHIPPED, device="cpu")


@pytest.fixture(scope="module")
def capitals() -> InCapitals:
    return InCapitals(Subwords.train(LINES * 10, vocabulary_size=400))


@pytest.mark.parametrize("line", LINES)
def test_words_have_the_letters_that_the_vocabulary_has_them_in(capitals, line) -> None:
    assert capitals.usual(line.upper()) == line


@pytest.mark.parametrize(
    "text",
    ["I saw TOM.", "", "USA", "SAW {N} TOM", "SEE THE_HOUSE", "SEE %S TOM", "我看见", "1, 2."],
)
def test_other_texts_codes_and_known_abbreviations_stay(capitals, text) -> None:
    assert capitals.usual(text) == text


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_translation_is_that_of_small_letters_alone_and_among_others(translator, method) -> None:
    small = ["The dog runs.", "She reads a book. Where is my hat?", "Click <b>here</b>."]
    wanted = translator.translate(small, method=method)
    shouted = [small[0].upper(), small[1].upper(), small[2]]
    assert translator.translate(shouted, method=method) == wanted
    assert translator.translate(shouted[:1], method=method) == wanted[:1]
    assert [one.source for one in translator.translate_fully(shouted)] == shouted


def test_codes_stand_beside_the_same_words_as_in_small_letters(translator) -> None:
    usual = InCapitals(translator.plain.subwords).usual
    sentences = (one for one, _ in generate(300, 5) if len(re.findall(r"[.?!]", one)) == 1)
    texts = [one for one in sentences if usual(one.upper()) == one][:6]
    assert len(texts) == 6
    small, shouted = (
        translator.translate_segments([in_bold(one, n) for one in some for n in range(3)])
        for some in (texts, [*map(str.upper, texts)])
    )
    wanted = [one.segment.text for one in small]
    assert [one.segment.text for one in shouted] == wanted
    assert len({*wanted}) > len(texts), "where the codes stand counts"


def in_bold(text: str, n: int) -> Segment:
    """A text of which a word is between codes."""
    words = re.split(r"(?<= )", text)
    return Segment((*words[:n], Code("<b>"), words[n], Code("</b>"), *words[n + 1 :]))


def test_what_is_written_is_in_capitals_and_each_text_gets_its_own(translator, capitals) -> None:
    request = translator.plain.request()
    read = list[str]()

    def translate(texts, _):
        read.extend(texts)
        return [Translation(text, [], [alternative(f"Straße {text}")], 0) for text in texts]

    texts = ["I SAW TOM IN THE USA.", "I saw Tom."]
    shouted, usual = capitals(texts, request, translate)
    assert read == ["I saw Tom in the USA.", "I saw Tom."]
    assert (shouted.source, usual.source) == (*texts,)
    assert shouted.target == shouted.n_best[0].written == "STRASSE I SAW TOM IN THE USA."
    assert usual.target == "Straße I saw Tom."


def alternative(text: str) -> Alternative:
    return Alternative(text, -1.0, [], [], [], [], text)
