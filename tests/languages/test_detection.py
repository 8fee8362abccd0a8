import pytest
from nltk.langnames import iso639short

from headway.languages.detection import (
    SURE,
    _identifier,
    alike,
    detect,
    heard_otherwise,
    is_told,
    other_language,
)

NUMBERS = "1234567890 0987654321 " * 6
CHECKSUM = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_codes_of_three_letters_are_those_of_iso_639() -> None:
    told = {three: two for three, two in iso639short.items() if is_told(two)}
    assert len(told) > 100
    for three, two in told.items():
        assert alike(three, two), three
        assert is_told(three)
    untold = {three for three in iso639short if three not in told}
    assert [three for three in untold if is_told(three)] == []


@pytest.mark.parametrize(
    ("declared", "heard"),
    [("eng_Latn", "en"), ("arb_Arab", "ar"), ("pes_Arab", "fa"), ("fil", "tl"), ("cmn-Hans", "zh")],
)
def test_languages_go_by_the_names_that_corpora_give_them(declared: str, heard: str) -> None:
    assert alike(declared, heard)
    assert is_told(declared)
    assert not alike(declared, "cs")


@pytest.mark.parametrize("code", ["sd", "bo", "yi", "mi", "ceb", "snd", "old", "new"])
def test_what_the_detector_does_not_know_is_not_told(code: str) -> None:
    assert not is_told(code)


@pytest.mark.parametrize("text", [NUMBERS, CHECKSUM])
def test_long_numbers_and_checksums_are_in_no_language(text: str) -> None:
    heard, probability = _identifier().classify(text)
    assert heard == "zxx"
    assert probability >= SURE
    assert detect(text) == ("zxx", 0.0)
    assert other_language(text, "en") is None


ENGLISH = [f"The {name} is sitting in front of the house." for name in "dog cat man girl".split()]
GERMAN = [
    f"Der {name} sitzt draußen vor dem alten Haus." for name in "Hund Mann Junge Vogel".split()
]
CHINESE = ["我很累。", "他们在哪里？", "请打开文件。", "谢谢你的帮助。"]
TITLES = ["Open", "Save as", "Close all", "Yes"]


@pytest.mark.parametrize(
    ("texts", "wanted", "told"),
    [
        (GERMAN * 3, "en", "a should be in en, but 12 of 12 that tell seem to be in de"),
        (
            GERMAN * 3,
            "eng_Latn",
            "a should be in eng_Latn, but 12 of 12 that tell seem to be in de",
        ),
        (ENGLISH * 3 + GERMAN * 2, "en", "but 8 of 20 that tell seem to be in de"),
        (ENGLISH * 3 + GERMAN * 2, None, "a are in en for the most part, but 8 of 20 that tell"),
        (CHINESE * 3, "en", "a should be in en, but 9 of 9 that tell seem to be in Han letters"),
        (TITLES * 2 + CHINESE, "zh", "but 6 of 9 that tell seem to be in Latin letters"),
    ],
)
def test_texts_in_another_language_are_told(texts: list[str], wanted: str, told: str) -> None:
    assert told in heard_otherwise("a", texts, wanted)


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (GERMAN * 3, "de-AT"),
        (GERMAN * 3, None),
        (GERMAN, "en"),  # too few
        (GERMAN * 2 + ENGLISH * 10, "en"),  # too small a part
        (TITLES * 9, "en"),
        (TITLES * 9, "de"),  # too short to tell
        (TITLES * 9, None),
        (CHINESE * 9, None),
        ([NUMBERS, "", "?!", "OK"] * 9, "zh"),
        (GERMAN * 3, "tlh"),  # unknown to the detector, and in which script nobody knows
        ([], "en"),
    ],
)
def test_nothing_is_told_of_texts_as_they_should_be(texts: list[str], wanted: str) -> None:
    assert heard_otherwise("a", texts, wanted) == ""


def test_a_part_of_many_texts_stands_for_them() -> None:
    assert "of 500 that tell" in heard_otherwise("a", (GERMAN + ENGLISH) * 10_000, "en")
