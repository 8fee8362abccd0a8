"""What `headway evaluate` does: translates if need be, and counts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headway.commands.arguments import say
from headway.commands.evaluate_options import EvaluateOptions
from headway.commands.many_models import ready_by_mbr, together
from headway.commands.stages import Stages
from headway.core.errors import ConfigError
from headway.filling.steps import OFF, terms_of
from headway.languages.codes import LanguagePair
from headway.localization.terms import NONE
from headway.metrics.diagnosis import Note, diagnose
from headway.metrics.evaluation import (
    METRICS,
    Difference,
    LengthBucket,
    ScoredSystem,
    TranslationScores,
    by_length,
    compare,
    lengths_in_tokens,
    measure,
    summarize,
)
from headway.metrics.score_card import ScoreCard, score_card


class System(NamedTuple):
    """Finished translations, and what to call them."""

    name: str
    lines: list[str]
    n_cut: int | None = None
    """Of its sources, where headway has translated them: those that were too long."""


@dataclass(frozen=True)
class TestSet:
    """What systems are scored on, and how."""

    references: list[list[str]]
    """One or more translations of every line."""
    sources: list[str] | None
    source_language: str | None
    target_language: str | None
    tokenize: str | None
    lowercase: bool
    ter: bool
    rouge: bool
    score_card: bool


class SystemScores(NamedTuple):
    """All figures of one system."""

    name: str
    scores: TranslationScores
    by_length: list[LengthBucket]
    notes: list[Note]
    card: ScoreCard | None
    n_cut: int | None


def translated(
    runs: Sequence[Path], sources: list[str], told: EvaluateOptions
) -> tuple[list[System], LanguagePair]:
    """A run's translations, or those of the ensemble of several, and the languages that it knows to
    be its own.

    Where parts of the model are `off`, a second system is the same run without them.
    """
    [run, *others], name = runs, " + ".join(map(str, runs))
    say(f"headway: translating {len(sources):,} lines with {name}")
    runtime = {"precision": told.precision, "engine": told.engine, "threads": told.threads}
    flags = [f"--runtime.{name}={value}" for name, value in runtime.items() if value is not None]
    off, glossary = told.off or [], told.glossary or []
    some = together(runs, told.shortlist)
    translator, how = ready_by_mbr(told.mbr, some, told.tag, {}, flags, shortlist=told.shortlist)
    model: Any = translator.model
    if off and others:
        raise ConfigError(f"--off is for one run; got {name}. Leave it out, or name one run.")
    if off:  # refused before anything is translated
        from headway.inspection.ablation import part_of

        for part in off:
            part_of(model, part)
    files, kept = terms_of(run, glossary), None
    if files:
        from headway.localization.terms.keeping import Terms

        kept = Terms.read(files, translator.settings.data)

    def system(name: str) -> System:
        found = translator.translate_fully(sources, **how, glossary=kept or NONE)
        if kept:
            pairs = [(one.source, one.target) for one in found]
            own = "" if glossary else f" of the run{OFF}"
            say(f"headway: glossary{own}: {kept.glossary.in_words()}; {kept.told(pairs)}")
        n_cut = sum(translation.n_cut > 0 for translation in found)
        from headway.commands.translate_documents import tell_lines

        tell_lines(translator, len(found), {}, n_cut, 0)
        return System(name, [translation.target for translation in found], n_cut)

    data = translator.settings.data
    languages = LanguagePair(data.source_language, data.target_language)
    if not off:
        return [system(name)], languages
    from headway.inspection.ablation import switched

    with switched(model, ()):  # both in torch, so that nothing but the parts differs
        systems = [system(name)]
    say(f"headway: the same without {', '.join(off)}")
    with switched(model, off):
        systems.append(system(f"without {', '.join(off)}"))
    return systems, languages


def score(
    systems: list[System], test_set: TestSet
) -> tuple[list[SystemScores], dict[str, Difference] | None]:
    """All figures of each system, and with two of them how they differ."""
    references, *more_references = test_set.references
    sources = test_set.sources
    lengths = (
        lengths_in_tokens(references, test_set.target_language, test_set.tokenize)
        if sources is None
        else lengths_in_tokens(sources, test_set.source_language)
    )
    outcomes: list[SystemScores] = []
    measured: list[ScoredSystem] = []
    n_metrics = len(METRICS) - (not test_set.ter)
    n_done, total = 0, len(systems) * n_metrics * len(references)
    with Stages() as stages:

        def advance(n_sentences: int) -> None:
            nonlocal n_done
            n_done += n_sentences
            stages("scoring", n_done, None if test_set.score_card else total)

        for name, lines, n_cut in systems:
            common: dict[str, Any] = {"more_references": more_references}
            language: dict[str, Any] = {
                "target_language": test_set.target_language,
                "advance": advance,
            }
            found = measure(
                lines, references, tokenize=test_set.tokenize, lowercase=test_set.lowercase,
                ter=test_set.ter, rouge=test_set.rouge, **common, **language,
            )  # fmt: skip
            bleu, ter = found.statistics["bleu"], found.statistics.get("ter", False)
            notes = diagnose(lines, references, sources=sources, bleu=bleu, **common)
            card = None
            if test_set.score_card:
                card = score_card(lines, references, ter=ter, **common, **language)
            measured.append(found)
            scores, buckets = summarize(found), by_length(found, lengths)
            outcomes.append(SystemScores(name, scores, buckets, notes, card, n_cut))
    return outcomes, compare(*measured) if len(measured) == 2 else None


def as_dict(
    outcomes: Sequence[SystemScores], differences: dict[str, Difference] | None
) -> dict[str, Any]:
    """The first system's figures; with two, the second's under `second`, and `difference`."""
    first, *others = (_outcome_as_dict(outcome) for outcome in outcomes)
    for other in others:
        first["second"] = other
    if differences is not None:
        first["difference"] = {name: asdict(value) for name, value in differences.items()}
    return first


def _outcome_as_dict(outcome: SystemScores) -> dict[str, Any]:
    figures: dict[str, Any] = {
        **asdict(outcome.scores),
        "by_length": [asdict(bucket) for bucket in outcome.by_length],
        "notes": [asdict(note) for note in outcome.notes],
        "system": outcome.name,
    }
    if outcome.n_cut is not None:
        figures["cut"] = outcome.n_cut
    if outcome.card is not None:
        figures["score_card"] = [asdict(row) for row in outcome.card.rows]
        figures["left_out"] = [asdict(convention) for convention in outcome.card.left_out]
    return figures
