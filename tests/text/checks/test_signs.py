"""Single signs, each by what makes it."""

from headway.text.checks.held import Held
from headway.text.checks.signs import Sign, signs_of_texts


def test_a_tag_inside_of_a_word_is_a_sign() -> None:
    source = "the <b>small</b> dog"
    found = signs_of_texts(source, "der kle<b>ine</b> Hund", Held())
    assert found["tag_in_word"] == Sign(1.0, "inside of a word: <b>")
    assert "tag_in_word" not in signs_of_texts(source, "der <b>kleine</b> Hund", Held())
    assert "tag_in_word" not in signs_of_texts("un<b>believ</b>able", "un<b>glaub</b>lich", Held())
