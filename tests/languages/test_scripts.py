import re
import unicodedata

import pytest

from headway.languages.scripts import LAST, UNSPACED_SCRIPTS, scripts, scripts_of_language


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("aÄßﬁＡ", "LATIN"),
        ("яЁ", "CYRILLIC"),
        ("λΩ", "GREEK"),
        ("我々𠀀", "HAN"),
        ("あカｱ", "KANA"),
        ("한", "HANGUL"),
        ("عﺍ", "ARABIC"),
        ("ש", "HEBREW"),
        ("हि", "DEVANAGARI"),
        ("ไ", "THAI"),
        ("ა", "GEORGIAN"),
        ("1 .,。！٣$€\n\ue000\ufffd\u0301µ𝐀", ""),
    ],
)
def test_letters_belong_to_their_script_and_other_characters_to_none(
    characters: str, script: str
) -> None:
    assert {scripts().names[scripts().of[ord(c)]] for c in characters} == {script}


def test_every_code_point_has_a_script_or_none() -> None:
    assert scripts().of.shape == (LAST,)
    assert scripts().of.max() < len(scripts().names) < 256
    no_letters = [code for code in range(0x3000) if unicodedata.category(chr(code))[0] not in "LM"]
    assert not scripts().of[no_letters].any()


@pytest.mark.parametrize("script", UNSPACED_SCRIPTS)
def test_the_signs_of_a_script_without_spaces_are_its_own(script: str) -> None:
    everything = "".join(map(chr, range(0x22000)))
    signs = re.findall(f"[{UNSPACED_SCRIPTS[script]}]", everything)
    assert {scripts().names[scripts().of[ord(sign)]] for sign in signs} <= {script, ""}
    assert len(signs) > 100


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en", ("LATIN",)),
        ("pt_BR", ("LATIN",)),
        ("ZH-hant", ("HAN",)),
        ("ja", ("KANA", "HAN")),
        ("sr-Latn", ("LATIN",)),
        ("sr_Cyrl_RS", ("CYRILLIC",)),
        ("sr", ()),
        ("xx", ()),
        (None, ()),
    ],
)
def test_a_language_is_written_in_its_scripts(code: str | None, expected: tuple[str, ...]) -> None:
    assert scripts_of_language(code) == expected
    assert set(expected) <= set(scripts().names)
