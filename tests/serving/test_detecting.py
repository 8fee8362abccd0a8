"""Which of the served languages a text is in: short ones too, and how sure that is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.serving.detecting import SURE, ranked, source_of

FOUR = ["en", "de", "fr", "es"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The dog runs across the meadow.", "en"),
        ("Ein Hund läuft über die Wiese.", "de"),
        ("La maison est rouge et grande.", "fr"),
        ("El perro corre por el prado verde.", "es"),
    ],
)
def test_a_sentence_is_told_and_surely(text: str, language: str) -> None:
    first = ranked(text, FOUR)[0]
    assert first.language == language
    assert first.sureness > 0.9


@pytest.mark.parametrize("text", ["Hola", "ok", "123", "", "  ", "!?", "no", "OK!", "\ufffd"])
def test_a_text_that_says_little_gets_a_served_language_with_little_sureness(text: str) -> None:
    found = ranked(text, FOUR)
    assert found[0].language in FOUR
    assert found[0].sureness < 0.3
    assert source_of(text, ["en", "fr"], "de").language in ("en", "fr")


def test_what_says_nothing_is_in_the_first_language() -> None:
    assert ranked("123", ["de", "en"])[0] == ("de", 0.0)
    assert ranked("你好", ["de", "en"])[0] == ("de", 0.0)


def test_letters_rule_languages_out() -> None:
    assert ranked("你好", ["en", "zh-Hans"])[0].language == "zh-Hans"
    assert ranked("ok", ["zh", "en"])[0].language == "en"
    assert dict(ranked("Привет", ["en", "ru"]))["en"] == 0.0
    assert ranked("我的iPhone坏了，怎么办？", ["en", "zh"])[0].language == "zh"


def test_a_long_text_of_no_served_language_is_served_with_little_sureness() -> None:
    french = "La maison est rouge et le jardin est grand, mais il pleut souvent ici."
    assert ranked(french, ["en", "de"])[0].sureness < 0.1


def test_languages_that_nobody_tells_apart_count_for_the_served_one() -> None:
    assert ranked("今天天气很好，我们去公园散步吧。", ["en", "zh"])[0].sureness > 0.9
    assert ranked("Das ist ein sehr schöner Tag.", ["deu", "eng"])[0].language == "deu"


def test_a_text_in_the_target_language_is_known_only_if_that_is_sure() -> None:
    sure = source_of("Ein Hund läuft über die Wiese.", ["en"], "de")
    assert sure.language == "de"
    assert sure.sureness >= SURE
    assert source_of("Hallo", ["en"], "de").language == "en"


@pytest.mark.parametrize("text", ["A dog runs.", "Save file", "Two women are talking."])
def test_a_short_text_that_is_far_likelier_in_the_target_language_stays(text: str) -> None:
    assert source_of(text, ["de"], "en").language == "en"


@pytest.mark.parametrize("text", ["Download", "Hotel", "Settings", "ok", "Ein Hund", "Foto"])
def test_a_word_that_both_languages_may_have_is_translated(text: str) -> None:
    assert source_of(text, ["de"], "en").language == "de"


@given(st.text(), st.lists(st.sampled_from([*FOUR, "zh", "ja", "ru"]), min_size=1, unique=True))
def test_whatever_the_text_each_served_language_has_a_probability(text, served) -> None:
    found = ranked(text, served)
    assert sorted(one.language for one in found) == sorted(served)
    assert 0 <= sum(one.sureness for one in found) <= 1.001
    assert [one.sureness for one in found] == sorted((o.sureness for o in found), reverse=True)


def test_what_is_in_the_letters_of_no_source_language_stays() -> None:
    assert source_of("两个人", ["en"], "de") == ("de", 0.0)
    assert source_of("123", ["en"], "de") == ("en", 0.0)
