"""Signs in texts that are put together from good pairs."""

from headway.demo import generate
from headway.localization.checks.calibration import joined_norms, together
from headway.localization.checks.training_stats import TrainingStats


def test_texts_are_put_together_as_their_language_does() -> None:
    assert together(["It ends.", "It goes on."]) == "It ends. It goes on."
    assert together(["完了。", "再来。"]) == "完了。再来。"


def test_what_good_sentences_never_show_their_joined_texts_do_not_show_either() -> None:
    pairs = generate(600, seed=5)
    norms = joined_norms(pairs, TrainingStats(languages=("en", "zh")), ())
    assert norms["copy"].texts == norms["loop"].texts > 1_000
    for sign in ("copy", "loop", "number", "sentences"):
        assert norms[sign].strongest == ()


def test_few_sentences_say_nothing() -> None:
    assert joined_norms(generate(20, seed=5), TrainingStats(), ()) == {}
