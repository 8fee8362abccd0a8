"""Single signs, each by what makes it."""

import pytest

from headway.localization.checks.calibration import LIMITS, Calibration, Checker
from headway.localization.checks.code_signs import odd_codes
from headway.localization.checks.number_words import small_numbers
from headway.localization.checks.output_checks import (
    UNKNOWN,
    CheckResult,
    ModelEvidence,
    check_model,
    check_texts,
)
from headway.localization.checks.training_stats import TrainingStats

GERMAN = "Der Hund schläft im Garten hinter dem Haus, und die Katze sitzt auf dem Dach."
DUTCH = "De hond slaapt in de tuin achter het huis en de kat zit op het dak."
ENGLISH = "The dog sleeps in the garden behind the house and the cat sits on the roof."


def test_a_character_of_the_source_that_was_left_is_another_script_and_a_name_is_not() -> None:
    english, chinese = ({name: 1.0} for name in ("LATIN", "HAN"))
    left = check_texts("您真是太好了。", "You're very 太.", TrainingStats(scripts=english))
    assert left["script"].why == "letters of another script: han"
    named = check_texts("Tom is here.", "Tom在这里。", TrainingStats(scripts=chinese))
    assert "script" not in named


def test_markup_that_was_escaped_is_a_code() -> None:
    """Not two signs and a word, which a model may take apart."""
    source = "&lt;b&gt;I am tired&lt;/b&gt;, a &lt; b."
    for target, odd in (
        ("&lt;b&gt;我累&lt;/b&gt;，a &lt; b。", False),
        ("&lt;&gt;我累&lt;&gt;，a &lt; b。", True),
    ):
        assert ("code" in check_texts(source, target, TrainingStats())) is odd


def test_another_language_of_the_same_script_is_a_sign() -> None:
    held = TrainingStats(languages=("en", "de"))
    found = check_texts(ENGLISH, DUTCH, held)["language"]
    assert found.strength > 0.8
    assert found.why == "it seems to be nl, not de"
    assert "language" not in check_texts(ENGLISH, GERMAN, held)
    assert "language" not in check_texts(ENGLISH, "De hond slaapt.", held)  # too short to tell
    assert "language" not in check_texts(ENGLISH, DUTCH, TrainingStats())
    assert "language" not in check_texts(ENGLISH, DUTCH, TrainingStats(languages=("en", "tlh")))
    assert "language" not in check_texts(DUTCH, ENGLISH, TrainingStats(languages=("nl", "en-GB")))
    flags = Checker(held, Calibration()).look(ENGLISH, DUTCH).flags
    assert "language" in [flag.name for flag in flags]


def test_a_source_in_another_language_is_the_first_thing_that_is_told() -> None:
    held = TrainingStats(languages=("en", "de"))
    copied = Checker(held, Calibration()).look(DUTCH, DUTCH).flags
    assert copied[0].name == "source_language"
    assert copied[0].why == "the source seems to be nl, not en"
    assert "copy" in [flag.name for flag in copied]
    known = TrainingStats(languages=(None, "de"))
    for text, of in (("De hond slaapt.", held), (ENGLISH, held), (DUTCH, known)):
        assert "source_language" not in check_texts(text, GERMAN, of)


@pytest.mark.parametrize(
    ("english", "chinese", "agree"),
    [
        ("He has 4 dogs.", "他有四只狗。", True),
        ("He has 4 dogs.", "他有一只狗。", False),
        ("He has one dog.", "他有一只狗。", True),
        ("He has a dog.", "他有一只狗。", True),
        ("He has 1 dog.", "他有一只狗。", True),
        ("He has two dogs.", "他有两只狗。", True),
        ("He has 12 dogs.", "他有十二只狗。", True),
        ("twenty-one dogs", "二十一只狗", True),
        ("100 dogs", "一百只狗", True),
        ("200 dogs", "二百只狗", True),
        ("two hundred dogs", "两百只狗", True),
        ("two hundred and five dogs", "二百零五只狗", True),
        ("120 dogs and two cats", "一百二十只狗和两只猫", True),
        ("30,000 people", "3万人", True),
        ("a thousand and one nights and 3 days", "一千零一夜和三天", True),
    ],
)
def test_english_and_chinese_numbers_are_compared(english, chinese, agree) -> None:
    assert (small_numbers(english, "en") == small_numbers(chinese, "zh")) == agree
    found = check_texts(english, chinese, TrainingStats(languages=("en", "zh")))
    assert ("number_word" in found) == (not agree)


@pytest.mark.parametrize(
    ("source", "target", "n"),
    [
        ("A <b>dog</b> runs", "Ein <b>Hund</b> rennt", 0),
        ("A <b>dog</b> runs", "Ein Hund <b></b> rennt", 1),
        ("A <b></b>dog", "Ein <b></b>Hund", 0),
        ("{n, plural, one {# file} other {# files}}", "{n, plural, eine # Datei}", 7),
        ("Hello $name", "Hallo Name", 1),
    ],
)
def test_lost_codes_lone_braces_and_pairs_that_hold_nothing_are_counted(source, target, n):
    assert odd_codes(source, target, ())[0] == n


def test_a_pair_that_lost_what_stood_in_it_is_not_said_to_be_on_one_side_only() -> None:
    mail = '<a href="mailto:x@acme.example">'
    source, target = f"{mail}Write to us</a>.", f"Schreiben Sie uns{mail}</a>."
    lost = f"with nothing between them in the translation alone: {mail}</a>"
    assert odd_codes(source, target, ()) == (1.0, lost)
    _, why = odd_codes(source, f"{target} <b>", ())
    assert why == f"on one side only: <b>; {lost}"


def test_characters_in_bytes_are_a_stronger_sign_than_any_letters() -> None:
    def found(*tokens: str) -> CheckResult:
        return check_model(ModelEvidence(tokens, ())).get(UNKNOWN, CheckResult(0.0))

    spelled = found("▁a", "b", "c")
    unread = found("▁Tom", "▁in", "▁", "<0xC5>", "<0x81>", "<0xC3><0xB3>", "d")
    assert spelled.strength <= 1 < unread.strength
    assert unread.why == "characters that it has not learned: Ł ó"
    assert found("▁Tom", "<0x09>", "▁reads").strength == 0


@pytest.mark.parametrize(
    ("source", "target", "loops"),
    [
        ("Ein Terrier.", "A Terrerrerrerrerrerrerr of a grass.", True),
        ("A dog runs.", "Ein Diiiiiii rennt.", True),
        ("Good morning.", "Einoodood-ood-Essen.", True),
        ("Save file", "Sileileilette", True),
        ("one dog", "EinoneEinoneEinoneone.", True),
        ("Indented line.", "IndIndische Reihe.", True),
        ("Sooooo good!", "Sooooo gut!", False),
        ("Two bananas, Anna.", "Zwei Ananas, Anna, papperlapapp.", False),
        ("It takes ChaCha20.", "Es nimmt ChaCha20.", False),
        ("Hahahaha!", "Hahahaha!", False),
        ("By ship.", "Schifffahrt.", False),
        ("The Mississippi.", "Der Mississippi.", False),
    ],
)
def test_a_part_of_a_word_again_and_again_is_a_loop(source, target, loops) -> None:
    assert ("loop" in check_texts(source, target, TrainingStats())) is loops


def test_a_long_part_of_a_word_is_a_surer_loop_than_drawn_out_letters() -> None:
    def strength(target: str) -> float:
        return check_texts("A woman roars.", target, TrainingStats())["loop"].strength

    assert strength("Eine Frau macht Roooaaaarrrr.") == LIMITS["loop"]
    assert strength("Eine Goodoodood.") > LIMITS["loop"]
    for words in ("Der Cha-Cha-Cha.", "Her great-great-great-grandmother."):
        assert strength(words) < LIMITS["loop"]


def test_a_word_is_known_with_either_apostrophe_and_in_full_width() -> None:
    held = TrainingStats(words=frozenset(("i", "don't", "know")))
    assert UNKNOWN not in check_texts("I don’t ｋｎｏｗ.", "我不知道。", held)
    assert check_texts("I can’t know.", "我不知道。", held)[UNKNOWN].why.endswith("learned: can’t")
