import pytest
from nltk.langnames import iso639short

from headway.languages.detection import SURE, _identifier, alike, detect, is_told, other_language

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
