"""Scores, resamples and intervals: they equal sacreBLEU's own, number by number."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import _bootstrap_resample
from spoiled_lines import corpus

from headway.core.bleu import bleu_formula, bleu_statistics
from headway.core.errors import DataError
from headway.metrics.corpus_scores import (
    bleu_by_language,
    chrf_formula,
    chrf_statistics,
    counted,
    score_translations,
    with_interval,
)
from headway.metrics.evaluation import Difference, difference, ter_formula, ter_statistics
from headway.metrics.tokenizers import bleu_metric

SENTENCES = st.lists(st.sampled_from(["the", "cat", "cats", "sat", ".", "猫"]), max_size=7).map(
    " ".join
)
LINES = st.lists(st.tuples(*[SENTENCES] * 4), min_size=1, max_size=8)
"""An output, and three references."""
METRICS = [
    (bleu_formula, BLEU),
    (chrf_formula, CHRF),
    (chrf_formula, partial(CHRF, word_order=2)),
    (ter_formula, TER),
]


@pytest.mark.parametrize(("formula", "kind"), METRICS)
@settings(deadline=None, max_examples=60)
@given(n_references=st.integers(1, 3), lines=LINES)
def test_the_score_and_every_resample_equal_sacrebleus(formula, kind, n_references, lines):
    hypotheses, *references = [list(side) for side in zip(*lines, strict=True)][: n_references + 1]
    metric = kind()
    found = counted(kind(), formula, hypotheses, references)
    expected = metric.corpus_score(hypotheses, references)
    assert found.score() == pytest.approx(expected.score, abs=1e-9)
    assert found.signature(0, 0) == str(metric.get_signature())
    assert f"nrefs:{n_references}|" in found.signature(0, 0)

    counts = metric._extract_corpus_statistics(hypotheses, references)
    _, resamples = _bootstrap_resample(counts, metric, 40)  # seed 12345
    np.testing.assert_allclose(
        found.resampled(40, 12345), [score.score for score in resamples], atol=1e-4
    )


@pytest.mark.parametrize(("formula", "kind"), METRICS)
def test_the_interval_is_sacrebleus(formula, kind):
    random = np.random.default_rng(1)
    words = np.array(["a", "man", "is", "walking", "his", "big", "dog", "."])
    references = [" ".join(random.choice(words, 8)) for _ in range(120)]
    hypotheses = [" ".join(random.permutation(line.split())[:7]) for line in references]
    metric = kind()
    found = counted(kind(), formula, hypotheses, [references])
    expected = metric.corpus_score(hypotheses, [references], n_bootstrap=200)
    resampled = np.sort(found.resampled(200, 12345))
    assert resampled.mean() == pytest.approx(expected._mean, abs=1e-4)
    assert (resampled[194] - resampled[5]) / 2 == pytest.approx(expected._ci, abs=1e-4)
    assert found.signature(200, 12345) == str(metric.get_signature())


def test_bleu_and_chrf_ignore_case_if_told_and_bleu_takes_text_as_it_is():
    hypotheses, references = ["Ein Hund , der läuft ."], ["ein hund , der läuft ."]
    by_name = bleu_statistics(hypotheses, references, bleu_metric("none", lowercase=True))
    assert by_name.score() == pytest.approx(100.0)
    assert "case:lc|eff:no|tok:none" in by_name.signature(0, 0)
    assert chrf_statistics(hypotheses, references, lowercase=True).score() == pytest.approx(100.0)
    by_language = bleu_statistics(["x"], ["x"], target_language="zh-Hans")
    assert "tok:zh|" in by_language.signature(0, 0)


def test_ter_of_chinese_counts_characters():
    [hypothesis], [reference] = ["我爱学习。"], ["我爱吃饭。"]
    as_chinese = ter_statistics([hypothesis], [[reference]], target_language="zh-Hans")
    assert as_chinese.score() == pytest.approx(100.0 * 2 / 5)
    assert ter_statistics([hypothesis], [[reference]]).score() == pytest.approx(100.0)


def test_progress_is_told_of_every_sentence():
    told = []
    lines = ["a b"] * 120
    counted(CHRF(), chrf_formula, lines, [lines], told.append)
    assert sum(told) == 120
    assert len(told) > 1


def test_scores_are_sacrebleus_and_lie_within_their_intervals():
    references, better, _ = corpus()
    scores = score_translations(better, references)
    for ours, metric in [(scores.bleu, BLEU()), (scores.chrf, CHRF())]:
        assert ours.score == pytest.approx(metric.corpus_score(better, [references]).score)
        assert ours.low < ours.score < ours.high
        assert "bs:1000|seed:12345" in ours.signature
    assert bleu_statistics(better, references).score() == scores.bleu.score


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
    for function in (bleu_statistics, score_translations):
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
    found = bleu_by_language(hypotheses, references, languages)
    assert found.score() == pytest.approx(expected)
    assert "|tok:13a+zh|" in found.signature(1000, 12345)
    for row, both in enumerate(zip(hypotheses, references, strict=True)):
        [alone] = bleu_statistics(*([text] for text in both), target_language=languages[row]).counts
        assert found.counts[row].tolist() == alone.tolist()
    as_chinese = bleu_statistics(hypotheses, references, target_language="zh")
    assert bleu_by_language(hypotheses, references, ["zh"] * 4).score() == as_chinese.score()
