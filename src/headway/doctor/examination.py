"""One pass over the clean pairs, in which every check takes part."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from headway.core.cleaning import Pair
from headway.corpora.cleaned import CleanedCorpus
from headway.corpora.corpus import Direction
from headway.corpora.pieces import Progress, unseen
from headway.corpora.shifts import Shift
from headway.doctor.agreement import AgreementCheck
from headway.doctor.batches import PairBatch, batches
from headway.doctor.characters import CharacterCheck
from headway.doctor.findings import Finding, FindingsLog, Symptom, dropped, mended
from headway.doctor.languages import LanguageCheck, ScriptCheck
from headway.doctor.lengths import Alignment, SizeExaminer
from headway.doctor.pair_checks import SAMPLE_CHARACTERS, SAMPLE_PAIRS, TranslationCheck
from headway.doctor.repeats import RepeatCheck
from headway.languages.detection import Detector
from headway.localization.placeholders.own_codes import Patterns

SLOW_PAIRS = 4_000
"""How many pairs are looked at where that is slow: languages and sub-words."""


@dataclass(frozen=True)
class Tools:
    detect: Detector | None = None
    slow_pairs: int = SLOW_PAIRS
    """How many pairs slow checks look at."""
    own_codes: Patterns = ()
    """What is a code besides, by the user's own patterns."""


class Examined(NamedTuple):
    """What a check may ask for besides the pairs that it is given."""

    log: FindingsLog
    languages: Direction
    declared: Mapping[str, Direction]
    """The languages of each file, by its name."""
    drawn: list[Pair]
    """Some pairs of all parts of the corpus in random order."""
    valid: Iterator[PairBatch]
    again: Callable[[], Iterator[Pair]]
    """All training pairs once more, for what is told at the end."""
    own_codes: Patterns


CHECKS: dict[Any, Callable[[Examined], Any]] = {
    ScriptCheck: lambda of: ScriptCheck(of.log, *of.languages),
    RepeatCheck: lambda of: RepeatCheck(of.log, of.valid, of.again),
    CharacterCheck: lambda of: CharacterCheck(of.log),
    AgreementCheck: lambda of: AgreementCheck(of.log, of.own_codes),
    TranslationCheck: lambda of: TranslationCheck(of.log, of.drawn, of.declared),
}
"""Each check and what makes one: it has `symptoms`, takes batches of pairs (`add`), and may
`conclude`. What it takes down in the log is told, and may be left out by `--drop`."""


OF_TRANSLATIONS = (AgreementCheck, TranslationCheck)
"""Those of them that do not hold where both sides are of one language: dialogue, summaries."""


@dataclass(frozen=True)
class Examination:
    findings: list[Finding]
    """The most urgent first."""
    sizes: SizeExaminer
    scripts: dict[str, dict[str, float]]
    """By side, which part of the letters belongs to which script."""
    languages: dict[str, dict[str, float]]
    """By side, which part of the sampled texts is in which language; empty if not asked."""
    n_sampled: int
    """How many pairs the slow checks looked at."""
    shifts: list[Shift] = field(default_factory=list)
    """Stretches in which targets go with the sources of other lines."""


def examine(
    cleaned: CleanedCorpus,
    source_language: str | None,
    target_language: str | None,
    tools: Tools,
    *,
    directions: Mapping[str, Direction] | None = None,
    seed: int = 1,
    hear: Callable[[Symptom, Pair, str], None] | None = None,
    progress: Progress = unseen,
) -> Examination:
    """Look at every clean training pair, and at what was dropped; memory holds 16 bytes a pair.

    `directions` gives the languages of each file by its name, where they are not the same in all.
    `hear` is told of every pair that shows a symptom.
    """
    report = cleaned.reports["train"]
    declared = {
        file: (source or source_language, target or target_language)
        for file, (source, target) in (directions or {}).items()
    }
    log = FindingsLog(hear)
    sizes = SizeExaminer()
    alignment = Alignment(log)
    drawn, valid = _drawn(cleaned, seed), batches(cleaned.pairs("valid"))
    named = source_language, target_language
    again = partial(cleaned.pairs, "train")
    of = Examined(log, named, declared, drawn, valid, again, tools.own_codes)
    translated = source_language is None or source_language != target_language
    checks = {
        kind: build(of)
        for kind, build in CHECKS.items()
        if translated or kind not in OF_TRANSLATIONS
    }
    n_sampled = min(report.kept, tools.slow_pairs)
    rows = frozenset(random.Random(seed).sample(range(report.kept), n_sampled))
    heard = LanguageCheck(log, named, tools.detect, rows) if tools.detect else None
    beside: list[Any] = [*([alignment] if translated else []), *([heard] if heard else [])]
    streamed = (sizes, *checks.values(), *beside)
    n_pairs = 0
    for batch in batches(cleaned.pairs("train"), declared):
        for one in streamed:
            one.add(batch)
        n_pairs += len(batch.pairs)
        progress("examining", batch.first_row, report.kept)
    for told in beside:
        told.conclude()
    for kind, check in checks.items():
        if hasattr(check, "conclude"):
            check.conclude()
        log.conclude(kind.symptoms, n_pairs)
    for finding in (*dropped(report), *mended(report)):
        log.add(finding)
    return Examination(
        findings=log.findings(),
        sizes=sizes,
        scripts=checks[ScriptCheck].shares(),
        languages=heard.shares() if heard else {},
        shifts=alignment.shifts,
        n_sampled=n_sampled,
    )


def _drawn(cleaned: CleanedCorpus, seed: int) -> list[Pair]:
    """Some pairs of all parts of the corpus in random order, to learn from what is usual in it."""
    n_pairs, n_characters = cleaned.reports["train"].kept, cleaned.n_characters
    share = min(SAMPLE_PAIRS / max(n_pairs, 1), SAMPLE_CHARACTERS / max(n_characters, 1))
    draw = np.random.default_rng(seed)
    drawn: list[Pair] = []
    for piece in cleaned.pieces["train"]:
        kept = piece.rows()["kept"]
        drawn += piece.pairs(kept & (draw.random(len(kept)) < share))
    return [drawn[row] for row in draw.permutation(len(drawn))]
