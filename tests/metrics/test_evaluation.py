"""Laws of what `headway evaluate` says of systems."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest
from spoiled_lines import corpus

from headway.core.bleu import bleu_statistics
from headway.core.errors import DataError
from headway.metrics.evaluation import by_length, compare, lengths_in_tokens, measure, summarize


def test_scores_are_sacrebleus_and_lie_within_their_intervals():
    references, better, _ = corpus()
    scores = summarize(measure(better, references), n_bootstrap=300)
    for ours, metric in [(scores.bleu, BLEU()), (scores.chrf, CHRF()), (scores.ter, TER())]:
        assert ours.score == pytest.approx(metric.corpus_score(better, [references]).score)
        assert ours.low < ours.score < ours.high
        assert "bs:300|seed:12345" in ours.signature
    whole = BLEU().corpus_score(better, [references])
    assert (scores.hypothesis_length, scores.reference_length) == (whole.sys_len, whole.ref_len)
    assert scores.sentences == 150


def test_intervals_hold_95_percent_of_new_test_sets():
    inside = 0
    drawn = [bleu_statistics(*corpus(40, seed)[1::-1]) for seed in range(1000, 1060)]
    centre = np.mean([statistics.score() for statistics in drawn])
    for seed in range(40):
        references, better, _ = corpus(40, seed)
        interval = summarize(measure(better, references, ter=False), n_bootstrap=200).bleu
        inside += interval.low <= centre <= interval.high
    assert inside >= 32  # binomial(40, 0.95): below 32 once in several thousand


def test_exact_matches_are_counted_in_percent():
    found = measure(["a b", "c ", "d", ""], ["a b", "c", "e", "f"])
    scores = summarize(found, n_bootstrap=0)
    assert scores.exact_match == 50.0


def test_several_references_are_scored_as_sacrebleu_does_and_an_exact_match_may_be_of_any():
    references, better, worse = corpus(60)
    better[0] = worse[0] + " "
    measured = measure(better, references, more_references=[worse])
    for name, metric in [("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())]:
        expected = metric.corpus_score(better, [references, worse]).score
        assert measured.statistics[name].score() == pytest.approx(expected)
    assert measured.exact.tolist() == [
        line.strip() in (one, other)
        for line, one, other in zip(better, references, worse, strict=True)
    ]
    buckets = by_length(measured, lengths_in_tokens(references))
    assert sum(bucket.sentences for bucket in buckets) == 60
    with pytest.raises(DataError, match="60 translations and 59 references"):
        measure(better, references, more_references=[worse[1:]])


def test_p_values_are_those_of_sacrebleus_paired_bootstrap(monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    references, better, worse = corpus(80)
    ours = compare(measure(worse, references), measure(better, references), n_bootstrap=200)
    metrics = {"BLEU": BLEU(), "chrF": CHRF(), "TER": TER()}
    named = [("worse", worse), ("better", better)]
    _, theirs = PairedTest(named, metrics, [references], test_type="bs", n_samples=200)()
    for name, key in [("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")]:
        baseline, system = theirs[key]
        assert ours[name].difference == pytest.approx(system.score - baseline.score)
        assert ours[name].p_value == pytest.approx(system.p_value, abs=1 / 201 + 1e-9)
    assert ours["bleu"].p_value < 0.05


def test_a_system_does_not_differ_from_itself():
    references, better, _ = corpus(30)
    measured = measure(better, references)
    same = compare(measured, measured, n_bootstrap=100)
    assert all((value.difference, value.p_value) == (0.0, 1.0) for value in same.values())


def test_buckets_by_length_divide_the_corpus_and_are_scored_alone():
    references, better, _ = corpus()
    lengths = [len(line.split()) for line in references]
    buckets = by_length(measure(better, references), lengths)
    assert sum(bucket.sentences for bucket in buckets) == len(references)
    for bucket in buckets:
        chosen = [
            i
            for i, length in enumerate(lengths)
            if bucket.shortest <= length and (bucket.longest is None or length <= bucket.longest)
        ]
        assert len(chosen) == bucket.sentences
        alone = BLEU().corpus_score([better[i] for i in chosen], [[references[i] for i in chosen]])
        assert bucket.bleu == pytest.approx(alone.score)
        assert bucket.length_ratio == pytest.approx(alone.sys_len / alone.ref_len)


def test_bucket_edges_are_included_and_the_last_is_open():
    lines = ["a b c d"] * 5
    buckets = by_length(measure(lines, lines), [0, 5, 6, 60, 61])
    assert [(b.shortest, b.longest, b.sentences) for b in buckets] == [
        (0, 5, 2),
        (6, 10, 1),
        (41, 60, 1),
        (61, None, 1),
    ]


@pytest.mark.parametrize("tokenize", [None, "none", "char"])
def test_the_lengths_of_references_are_those_that_bleu_counts(tokenize):
    references, better, _ = corpus(20)
    references[0] += " e.g. (so), isn't it?"
    counts = measure(better, references, tokenize=tokenize).statistics["bleu"].counts
    assert lengths_in_tokens(references, "en", tokenize) == counts[:, 1].tolist()


def test_lengths_count_characters_of_chinese_and_words_of_others():
    assert lengths_in_tokens(["我爱你。", "我爱 Python 3"], "zh-CN") == [4, 4]
    assert lengths_in_tokens(["I love you.", ""], "en") == [4, 0]


def test_two_systems_must_have_the_same_sentences():
    one, two = measure(["a"], ["a"]), measure(["a", "b"], ["a", "b"])
    with pytest.raises(DataError, match="got 1 and 2. Translate the same source"):
        compare(one, two)
