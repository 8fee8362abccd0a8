"""Who is better by what: only between figures that hold for the same."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headway.core.bleu import SentenceStatistics
from headway.metrics.evaluation import difference
from headway.study.compared_runs import Figure

N_BOOTSTRAP, SEED = 1000, 12345
"""How often texts are resampled, and by which draws: as for intervals and for sacreBLEU's test."""


class Rank(NamedTuple):
    """A run in a ranking."""

    run: str
    value: float
    behind: float
    """Its value less that of the best run."""
    p_value: float | None
    """Of the paired bootstrap test against the best run; None for that one itself, and where a
    value is not finite."""


class Ranking(NamedTuple):
    """Runs by one figure, best first, or why there is none."""

    by: str
    higher_is_better: bool
    places: list[Rank]
    refused: list[str]
    """What is not the same for all; of an unfair ranking there are no places."""


def ranked(figures: Mapping[str, Figure]) -> Ranking:
    """The runs (by name) by one figure of each; equal ones stay in their order."""
    first, *_ = figures.values()
    refused = unlike({run: figure.holds_for for run, figure in figures.items()})
    if refused:
        return Ranking(first.name, first.higher_is_better, [], refused)
    values = {run: figure.statistics.score() for run, figure in figures.items()}
    sign = -1.0 if first.higher_is_better else 1.0
    order = sorted(values, key=lambda run: _key(sign * values[run]))
    best = order[0]
    places = [
        Rank(run, values[run], values[run] - values[best], p_value(figures[best], figures[run]))
        for run in order
    ]
    return Ranking(first.name, first.higher_is_better, places, [])


def _key(value: float) -> float:
    return math.inf if math.isnan(value) else value


def p_value(best: Figure, other: Figure) -> float | None:
    """How well chance explains that they differ: by sacreBLEU's test of what it has, else by one of
    both tails."""
    counts = best.statistics.counts, other.statistics.counts
    if best is other or len(counts[0]) != len(counts[1]):
        return None
    if not all(np.isfinite(one).all() for one in counts):
        return None
    if best.tested is None:
        return difference(best.statistics, other.statistics).p_value
    tested = [replace(one.statistics, formula=best.tested) for one in (best, other)]
    return two_sided(*tested)


def two_sided(first: SentenceStatistics, second: SentenceStatistics) -> float:
    """p of the paired bootstrap test: the share of resampled texts whose difference is as far from
    the mean of all, or farther, as the observed one is from 0."""
    observed = second.score() - first.score()
    resampled = (one.resampled(N_BOOTSTRAP, SEED) for one in (first, second))
    differences = np.subtract(*resampled)
    n_farther = int((np.abs(differences - differences.mean()) >= abs(observed)).sum())
    return (n_farther + 1) / (N_BOOTSTRAP + 1)


def unlike(holds_for: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What should be the same for all runs and is not, in words."""
    names = dict.fromkeys(name for held in holds_for.values() for name in held)
    return [
        f"{name} differs: {_told({run: held.get(name, 'none') for run, held in holds_for.items()})}"
        for name in names
        if len({held.get(name) for held in holds_for.values()}) > 1
    ]


def _told(values: Mapping[str, str]) -> str:
    """Each value with the runs that have it."""
    runs_of: dict[str, list[str]] = {}
    for run, value in values.items():
        runs_of.setdefault(value, []).append(run)
    return "; ".join(f"{value} ({', '.join(runs)})" for value, runs in runs_of.items())


def chosen(examples: int, most: int) -> Sequence[int]:
    """So many examples, evenly spread: the same for every run."""
    return sorted({round(i) for i in np.linspace(0, examples - 1, min(most, examples))})
