import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.languages.mojibake import repaired


@pytest.mark.parametrize("text", ["schön", "Größe", "l’été — déjà", "我爱学习", "Привет", "ñandú"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_utf_8_in_the_wrong_encoding_is_repaired(text: str, encoding: str) -> None:
    try:
        wrong = text.encode("utf-8").decode(encoding)
    except UnicodeDecodeError:  # five bytes mean nothing in Windows-1252
        return
    assert repaired(wrong) == text


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "schön",
        "„Fuß“",
        "«DÉFILÉ»",
        "NÃO",
        "Ångström",
        "Â",
        "été à Évry",
        "我爱Ä",
        "100 µ",
        "AMANHÃ”",
        "“ATÉ AMANHÃ”",
        "AMANHÃ…",
        "XÃ”",
    ],
)
def test_text_that_is_right_is_left_alone(text: str) -> None:
    assert repaired(text) == ""


def test_a_capital_inside_of_a_word_is_repaired() -> None:
    assert repaired("MÔNICA".encode().decode("cp1252")) == "MÔNICA"
    assert repaired("AMANHÃ” e cafÃ©") == "AMANHÔ e café"  # the other sign says what text this is


def test_a_sure_sign_is_enough_where_the_rest_was_damaged() -> None:
    assert repaired("schÃ¶n und 我") == "schön und 我"


@given(st.text(st.sampled_from("aäöÃÂ¤¶€â€™“”Ä我 "), max_size=12))
def test_whatever_is_repaired_was_changed(text: str) -> None:
    assert repaired(text) != text or text == ""
