"""Single signs, each by what makes it."""

from headway.localization.checks.calibration import Calibration
from headway.localization.checks.checker import Checker
from headway.localization.checks.output_checks import CheckResult, check_texts
from headway.localization.checks.training_stats import TrainingStats


def test_a_tag_inside_of_a_word_is_a_sign() -> None:
    source = "the <b>small</b> dog"
    found = check_texts(source, "der kle<b>ine</b> Hund", TrainingStats())
    assert found["tag_in_word"] == CheckResult(1.0, "inside of a word: <b>")
    assert "tag_in_word" not in check_texts(source, "der <b>kleine</b> Hund", TrainingStats())
    assert "tag_in_word" not in check_texts(
        "un<b>believ</b>able", "un<b>glaub</b>lich", TrainingStats()
    )


GERMAN = "Der Hund schläft im Garten hinter dem Haus, und die Katze sitzt auf dem Dach."
DUTCH = "De hond slaapt in de tuin achter het huis en de kat zit op het dak."
ENGLISH = "The dog sleeps in the garden behind the house and the cat sits on the roof."


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
