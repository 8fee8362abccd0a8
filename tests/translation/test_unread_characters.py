"""Characters that training did not have are read as others that it had."""

import pytest

from headway.core.subwords import Subwords
from headway.demo import generate
from headway.localization.placeholders.segments import Code, Segment
from headway.operations.shipped import SHIPPED
from headway.translation.unread_characters import UnreadCharacters
from headway.translator import Translator

PLAIN = ["The dog runs.", "I don't know where my hat is.", "She reads a book at home."]


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The package's: it knows neither full width letters nor a typographic apostrophe."""
    return Translator.load(SHIPPED, device="cpu")


@pytest.fixture(scope="module")
def reader(translator) -> UnreadCharacters:
    return UnreadCharacters(translator.plain.subwords)


def of(lines: list[str]) -> UnreadCharacters:
    return UnreadCharacters(Subwords.train(lines * 10, vocabulary_size=400))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Ｔｈｅ ｄｏｇ runs．", "The dog runs."),
        ("I don’t know.", "I don't know."),
        ("The\u00a0dog\u202fruns.", "The dog runs."),
        ("The \u00a0dog runs.", "The dog runs."),
        ("The d\u00adog\u200b ru\u2060ns\u200e.", "The dog runs."),
        ("The \u200b\u00a0dog runs.", "The dog runs."),
        ("The\u200b\u00a0dog runs.", "The dog runs."),
        ("The ﬁsh runs.", "The fish runs."),
        ("10²", "10²"),  # no 102
        ("Łódź", "Łódź"),
        ("The dog runs.", "The dog runs."),
        ("", ""),
        ("\u200b\u200e", "\u200b\u200e"),  # nothing would be left
    ],
)
def test_what_is_read(reader, text, read) -> None:
    assert reader.usual(text) == read
    places = reader.places(text)
    assert len(places) == len(read) + 1
    assert places == sorted(places)
    assert places[-1] == len(text)


def test_what_training_had_stays() -> None:
    typographic = of(["L’homme dit « oui » à l’autre — et s’en va…", "Ｆｕｌｌ ｗｉｄｔｈ　１"])
    for text in ("l’autre — « oui »…", "Ｆｕｌｌ", "ｗｉｄｔｈ　１"):
        assert typographic.usual(text) == text


def test_a_sign_that_only_the_other_language_has_is_read_as_the_usual_one() -> None:
    taught = of(["I don't know.", "They don't know.", "Ça n’est rien\u00a0!"])
    assert taught.usual("I don’t\u00a0know.") == "I don't know."
    assert taught.usual("n’est rien\u00a0!") == "n’est rien\u00a0!"


def test_characters_of_terms_stay(translator) -> None:
    reader = UnreadCharacters(translator.plain.subwords, "Ｘ’")
    assert reader.usual("Ｘ ａ’ ｂ") == "Ｘ a’ b"


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_translation_is_that_of_usual_characters_alone_and_among_others(
    translator, method
) -> None:
    odd = [
        "The\u00a0dog\u200b runs.",
        "I don’t know where my hat is.",
        "Ｓｈｅ reads a book at home.",
    ]
    wanted = translator.translate(PLAIN, method=method)
    assert translator.translate(odd, method=method) == wanted
    assert [translator.translate(text, method=method) for text in odd] == wanted
    assert [one.source for one in translator.translate_fully(odd)] == odd
    assert translator.translate(["I DON’T KNOW WHERE MY HAT IS."]) == [wanted[1].upper()]


def test_codes_stand_beside_the_same_words(translator) -> None:
    """As where nothing is unread: what is left out does not shift them."""
    texts = [one for one, _ in generate(300, 5) if one.count(" ") > 3 and one.count(".") == 1][:6]
    usual, odd = (
        translator.translate_segments(
            [in_bold(text.split(" "), n, space) for text in texts for n in range(4)]
        )
        for space in (" ", "\u200b\u00a0\u00ad")
    )
    wanted = [one.segment.text for one in usual]
    assert [one.segment.text for one in odd] == wanted
    assert len({*wanted}) > len(texts), "where the codes stand counts"


def in_bold(words: list[str], n: int, space: str) -> Segment:
    """A text of which a word is between codes."""
    before = "".join(f"{word}{space}" for word in words[:n])
    return Segment(
        (before, Code("<b>"), words[n], Code("</b>"), space + space.join(words[n + 1 :]))
    )
