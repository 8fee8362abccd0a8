"""Laws of the scores that training needs."""

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from spoiled_lines import corpus

from headway.errors import DataError
from headway.metrics.statistics import bleu_statistics
from headway.metrics.translation import (
    Difference,
    bleu,
    bleu_by_language,
    difference,
    score_translations,
    with_interval,
)


def test_scores_are_sacrebleus_and_lie_within_their_intervals():
    references, better, _ = corpus()
    scores = score_translations(better, references)
    for ours, metric in [(scores.bleu, BLEU()), (scores.chrf, CHRF())]:
        assert ours.score == pytest.approx(metric.corpus_score(better, [references]).score)
        assert ours.low < ours.score < ours.high
        assert "bs:1000|seed:12345" in ours.signature
    assert bleu(better, references) == scores.bleu.score


def test_without_resampling_there_is_no_interval():
    references, better, _ = corpus(20)
    found = with_interval(bleu_statistics(better, references), n_bootstrap=0)
    assert found.low == found.score == found.high
    assert "bs:" not in found.signature


def test_a_better_system_differs_and_an_equal_one_does_not():
    references, better, worse = corpus(80)
    first, second = (bleu_statistics(lines, references) for lines in (worse, better))
    found = difference(first, second)
    assert found.difference == pytest.approx(second.score() - first.score())
    assert found.p_value < 0.05
    assert difference(second, second) == Difference(0.0, 1.0)


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"),
    [
        (["a"], ["a", "b"], "1 translations and 2 references"),
        ([], [], "at least one sentence; got none"),
    ],
)
def test_what_cannot_be_paired_is_refused(hypotheses, references, said):
    for function in (bleu, score_translations):
        with pytest.raises(DataError, match=said):
            function(hypotheses, references)


def test_sentences_of_several_languages_are_each_cut_as_their_own():
    hypotheses = [
        "a man is walking with his dog.",
        "我爱学习中文。",
        "a big dog.",
        "他在这里看书。",
    ]
    references = [
        "a man walks with his big dog.",
        "我很爱学习中文。",
        "a big dog!",
        "他在那里看书。",
    ]
    languages = ["en", "zh", None, "zh_CN"]
    cut = {
        None: BLEU(tokenize="13a").tokenizer, "en": BLEU(tokenize="13a").tokenizer,
        "zh": BLEU(tokenize="zh").tokenizer, "zh_CN": BLEU(tokenize="zh").tokenizer,
    }  # fmt: skip
    ours = [
        [cut[of](text) for text, of in zip(side, languages, strict=True)]
        for side in (hypotheses, references)
    ]
    expected = BLEU(tokenize="none", force=True).corpus_score(ours[0], [ours[1]]).score
    found = bleu_by_language(hypotheses, references, languages).score()
    assert found == pytest.approx(expected)
    assert bleu_by_language(hypotheses, references, ["zh"] * 4).score() == bleu(
        hypotheses, references, target_language="zh"
    )
