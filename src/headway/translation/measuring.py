"""At the end of a training: what it held, how far its translations are to be trusted, and whether
they are of any use, which needs no model and no magic score."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from headway.core.rows import SIDES, Indices
from headway.languages.scripts import UNSPACED_SCRIPTS
from headway.localization.checks.calibration import Calibration, CheckBaseline, fitted
from headway.localization.checks.output_checks import (
    OF_TEXTS,
    UNCOVERED,
    UNKNOWN,
    UNSURE,
    ModelEvidence,
    check_model,
    check_texts,
    features,
)
from headway.localization.checks.training_stats import SAMPLE, TrainingStats, measured
from headway.metrics.corpus_scores import chrf_formula, chrf_statistics
from headway.translation.pairs import Pairs

GOOD_CHRF, GOOD_CHRF_WITHOUT_SPACES = 50.0, 30.0
"""Sentence chrF of a good translation; in Chinese, Japanese or Thai a character says more."""
MANY = 5_000  # pairs, of which each word of a small vocabulary may be known
ENOUGH = 220  # good translations: of fewer, what none of them shows is no flag yet
LEAST_SENTENCES = 20
"""With fewer nothing is said."""
LEAST_TOLD_APART = 0.8
"""How often a translation must be nearer to its own reference than to that of another sentence;
chance is a half."""
_SHIFTS = 5


class Measured(NamedTuple):
    """What checks.json has."""

    held: TrainingStats
    trust: Calibration

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"held": self.held.as_dict(), "trust": self.trust.as_dict()}


def measure(
    data: Pairs,
    languages: tuple[str | None, str | None],
    rows: Indices,
    readings: Sequence[Sequence[ModelEvidence]],
    targets: Sequence[str],
    *,
    tags: Sequence[str] = (),
) -> Measured:
    """From training pairs, and from translations of these rows of the validation data.

    `readings` are of each part that was read at once: of a text the least sure one counts.
    `targets` are the texts; `tags` may stand in front of the sources. What was learned is left out.
    """
    unseen = data.unlearned
    rows, readings, targets = rows[unseen], readings[unseen], targets[unseen]
    held, norms = _of_training(data, languages, tags)
    letters = sum(share for name, share in held.scripts.items() if name in UNSPACED_SCRIPTS)
    least = GOOD_CHRF_WITHOUT_SPACES if letters > 0.5 else GOOD_CHRF
    texts = [data.prepared.valid_texts[row] for row in rows]
    good = _by_sentence(targets, [target for _, target in texts]) >= least
    table = []
    seen: dict[str, list[float]] = {UNCOVERED: [], UNSURE: []}
    for parts, target, (source, _) in zip(readings, targets, texts, strict=True):
        of_text = check_texts(source, target, held, data.prepared.own_codes)
        signs = [{**of_text, **check_model(part)} for part in parts]
        table.append(min(map(features, parts, signs)))
        for name, strengths in seen.items():
            strengths.append(max(one[name].strength if name in one else 0.0 for one in signs))
    looked = good if good.sum() >= ENOUGH else np.ones(len(good), bool)
    for name, strengths in seen.items():
        norms[name] = CheckBaseline.of(np.array(strengths)[looked].tolist())
    return Measured(held, fitted(norms, np.array(table), good, least))


def _of_training(
    data: Pairs, languages: tuple[str | None, str | None], tags: Sequence[str]
) -> tuple[TrainingStats, dict[str, CheckBaseline]]:
    """What a sample of training pairs tells: figures, and signs in good pairs."""
    train, subwords = data.prepared.train, data.vocabulary
    sample = np.unique(np.linspace(0, len(train) - 1, min(SAMPLE, len(train))).astype(int))
    read, written = ([train[side][int(i)].tolist() for i in sample] for side in SIDES)
    sources = [untagged(text, tags) for text in subwords.decode_batch(read)]
    pairs = list(zip(sources, subwords.decode_batch(written), strict=True))
    held = measured(pairs, list(map(len, read)), languages)
    if len(train) >= MANY:
        from headway.localization.checks.few_words import few_words  # a side room

        rows = (train["source"][row].tolist() for row in range(len(train)))
        texts = (untagged(subwords.decode(row), tags) for row in rows)
        held = replace(held, words=few_words(texts, len(train)))
    strengths: dict[str, list[float]] = {name: [] for name in (*OF_TEXTS, UNKNOWN)}
    for ids, (source, target) in zip(read, pairs, strict=True):
        signs = check_texts(source, target, held, data.prepared.own_codes)
        signs |= check_model(ModelEvidence(subwords.pieces(ids), ()))
        for name, found in strengths.items():
            found.append(signs[name].strength if name in signs else 0.0)
    return held, {name: CheckBaseline.of(found) for name, found in strengths.items()}


def untagged(text: str, tags: Iterable[str]) -> str:
    """Without the tag that stands before it, if it is one of these."""
    return next((text[len(tag) + 3 :] for tag in tags if text.startswith(f"<{tag}> ")), text)


def below_use(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]) -> str:
    """Why translations are good for nothing, in words; nothing where they are not.

    Either the sources themselves, untranslated, are as near to the references (by chrF), or one
    cannot tell from a translation which sentence it is of: it is no nearer to its own reference
    than to others.
    """
    if len(references) < LEAST_SENTENCES:
        return ""
    score, copied = (chrf_statistics(one, references).score() for one in (hypotheses, sources))
    if score <= copied:
        return (
            "the untranslated sources are as near to the validation references as its translations "
            f"(chrF {copied:.1f} and {score:.1f})"
        )
    share = told_apart(hypotheses, references)
    if share < LEAST_TOLD_APART:
        return (
            f"only {share:.0%} of its translations are nearer to their own reference than to that "
            f"of another sentence; chance is 50%, and {LEAST_TOLD_APART:.0%} is the least"
        )
    return ""


def told_apart(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """How often a translation is nearer to its own reference than to another; ties are halves.

    By sentence chrF, beside a few others of the same references; 0.5 is chance.
    """
    n = len(references)
    own = _by_sentence(hypotheses, references)
    wins, n_compared = 0.0, 0
    for number in range(1, _SHIFTS + 1):
        shift = number * n // (_SHIFTS + 1)
        others = [references[(row + shift) % n] for row in range(n)]
        other = _by_sentence(hypotheses, others)
        differ = np.array([a != b for a, b in zip(others, references, strict=True)])
        wins += float(((own > other) + 0.5 * (own == other))[differ].sum())
        n_compared += int(differ.sum())
    return wins / n_compared if n_compared else 1.0


def _by_sentence(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    return np.asarray(chrf_formula(chrf_statistics(hypotheses, references).counts))
