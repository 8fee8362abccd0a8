"""Only figures that hold for the same are ranked."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from headway.core.bleu import SentenceStatistics, bleu_statistics
from headway.metrics.evaluation import difference
from headway.study.compared_language_models import exponential, ratio
from headway.study.compared_runs import Figure
from headway.study.rankings import chosen, ranked, unlike

REFERENCES = ["the cat sat on the mat .", "a dog runs fast .", "we go home now .", "so it is ."]
GOOD = ["the cat sat on a mat .", "a dog runs fast .", "we go home now .", "so it was ."]
POOR = ["cat on mat .", "dogs run .", "we go home .", "it is so ."]


def bleu(lines, **holds_for):
    return Figure("BLEU", bleu_statistics(lines, REFERENCES), True, holds_for)


def total(rows):
    return rows.sum(1)


def cost(values, *, higher_is_better=False, tested=None):
    metric = SimpleNamespace(get_signature=lambda: "by hand")
    counts = np.array(values, dtype=np.float64)[:, None]
    statistics = SentenceStatistics(counts, total, metric)
    return Figure("cost", statistics, higher_is_better, {}, tested)


def test_the_best_is_first_and_others_are_told_what_they_are_behind_and_how_surely():
    figures = {"poor": bleu(POOR), "good": bleu(GOOD)}
    ranking = ranked(figures)
    first, second = ranking.places
    assert (first.run, second.run) == ("good", "poor")
    assert first.value == pytest.approx(BLEU().corpus_score(GOOD, [REFERENCES]).score)
    assert (first.behind, first.p_value) == (0.0, None)
    assert second.behind == pytest.approx(second.value - first.value)
    paired = difference(figures["good"].statistics, figures["poor"].statistics)
    assert second.p_value == paired.p_value


def test_where_lower_is_better_the_lowest_is_first():
    assert [p.run for p in ranked({"a": cost([3, 1]), "b": cost([1, 1])}).places] == ["b", "a"]


def test_what_is_infinite_comes_last_and_has_no_p_value():
    ranking = ranked({"a": cost([np.inf, 1.0]), "b": cost([5.0, 1.0])})
    assert [place.run for place in ranking.places] == ["b", "a"]
    assert ranking.places[1].p_value is None


def test_a_perplexity_is_tested_by_its_logarithm_as_resampled_it_may_pass_all_numbers():
    lines = np.stack([np.tile([680.0, 730.0], 25), np.ones(50)], axis=1)
    systems = {"a": lines, "b": lines[::-1]}
    statistics = {run: SentenceStatistics(some, exponential, None) for run, some in systems.items()}
    assert all(np.isfinite(one.score()) for one in statistics.values())
    assert np.isinf(statistics["a"].resampled(1000, 12345)).any()
    perplexity, nats = (
        ranked({run: Figure("", one, False, {}, tested) for run, one in some.items()})
        for some, tested in (
            (statistics, ratio),
            ({run: replace(one, formula=ratio) for run, one in statistics.items()}, ratio),
        )
    )
    assert perplexity.places[1].p_value == nats.places[1].p_value > 0.05


def test_of_equally_good_models_a_twentieth_differs_with_p_below_a_twentieth():
    """By sacreBLEU's formula, which BLEU is tested by, it is a ninth or more."""
    random, below = np.random.default_rng(1), {total: 0, None: 0}
    for _ in range(300):
        one, other = random.normal(100.0, 10.0, (2, 40))
        for tested in below:
            found = ranked({"a": cost(one, tested=tested), "b": cost(other, tested=tested)})
            below[tested] += found.places[1].p_value < 0.05
    assert 0.02 < below[total] / 300 < 0.08 < below[None] / 300


def test_the_same_costs_do_not_differ():
    same = {run: cost([3, 1, 2], tested=total) for run in "ab"}
    assert ranked(same).places[1].p_value == 1.0


def test_an_unfair_ranking_is_refused_with_what_differs():
    figures = {
        "a": bleu(GOOD, text="10 sentences", language="de"),
        "b": bleu(POOR, text="10 sentences", language="fr"),
        "c": bleu(POOR, text="10 sentences", language="de"),
    }
    ranking = ranked(figures)
    assert ranking.places == []
    assert ranking.refused == ["language differs: de (a, c); fr (b)"]
    figures.pop("b")
    assert ranked(figures).refused == []


def test_what_only_one_of_them_depends_on_differs_too():
    assert unlike({"a": {"units": "x"}, "b": {}}) == ["units differs: x (a); none (b)"]


def test_the_chosen_examples_are_spread_from_the_first_to_the_last():
    assert chosen(19, 10) == list(range(0, 19, 2))
    assert chosen(3, 10) == [0, 1, 2]
