"""A translator of several runs: `Translator.load(["runs/a", "runs/b"])`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch

from headway.core.errors import ConfigError
from headway.core.interfaces import StepDecoder
from headway.core.runtime import EngineName
from headway.core.subwords import Subwords
from headway.decoding.ensemble import EnsembleDecoder
from headway.localization.placeholders.own_codes import Patterns
from headway.operations.argument_types import paths
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.translation.decoding import EngineChoice, EngineSearch
from headway.translation.detailed import DetailedTranslator
from headway.translation.processors import RunProcessors


@runtime_checkable
class EnsembleMember(Protocol):
    """A translator, as it comes out of a run's folder."""

    model: StepDecoder
    subwords: Subwords
    settings: Settings
    device: torch.device
    checks: Mapping[str, Any]
    own_codes: Patterns
    processors: RunProcessors
    search: EngineSearch
    plain: DetailedTranslator


Member = TypeVar("Member", bound=EnsembleMember)


def load_ensemble(
    runs: Sequence[str | Path],
    load: Callable[[Path], Member],
    make: Callable[..., Member],
    engine: EngineName,
    say: Say,
) -> Member:
    """A translator that searches with the mean of the runs' models; of runs with several
    vocabularies each is searched, or the mean of those with one, and all score what was found. All
    else is the first run's: how it searches, terms, confidences. Products have the precision that
    all runs of a vocabulary have, or fp32.

    Raises:
        ConfigError: CTranslate2 is asked for, there is no run, or they do not go together:
            `refuse_strangers`.
    """
    named = paths(runs, "run")
    if engine == "ctranslate2":
        raise ConfigError(
            "several runs are searched together by the compiled engine or by torch; got the engine "
            "ctranslate2. Leave it out, or name one run."
        )
    if not named:
        raise ConfigError("an ensemble is of one run or more; got none. Name a run.")
    members = [load(one) for one in named]
    refuse_strangers(named, members)
    by_vocabulary: dict[str, list[Member]] = {}
    for one in members:
        by_vocabulary.setdefault(one.subwords.fingerprint(), []).append(one)
    found, *others = (_as_one(some, make, engine, say) for some in by_vocabulary.values())
    if others:
        from headway.translation.rescoring import Rescoring, ScoringSystem  # a side room

        say(
            f"headway: of {len(by_vocabulary)} vocabularies: each searches by itself, and all "
            "score what was found"
        )
        found.plain.decode = Rescoring([ScoringSystem(one.plain) for one in (found, *others)])
    return found


def _as_one(
    members: Sequence[Member], make: Callable[..., Member], engine: EngineName, say: Say
) -> Member:
    """A translator of runs with one vocabulary."""
    first, models = members[0], [one.model for one in members]
    longest = [one.settings.data.max_length for one in members if one.settings.data.max_length]
    settings = replace(
        first.settings,
        data=replace(first.settings.data, max_length=min(longest, default=0)),
        text=replace(first.settings.text, own_codes=()),  # they are among first.own_codes
    )
    found = make(
        EnsembleDecoder(models) if len(models) > 1 else models[0], first.subwords, settings,
        first.device, first.checks, first.own_codes, first.processors.own_terms,
    )  # fmt: skip
    precisions = {one.search.choice.precision for one in members}
    if len(precisions) > 1:
        say("headway: not all of the runs have products in fewer bits: together they have fp32's")
        precisions = {"fp32"}
    found.search.choice = EngineChoice(engine, precisions.pop(), say)
    return found


def refuse_strangers(runs: Sequence[Path], members: Sequence[EnsembleMember]) -> None:
    """Raise ConfigError for runs of other languages, tags or codes than the first's."""
    first = members[0]
    for run, one in zip(runs, members, strict=True):
        for what, (its, wanted) in {
            "languages": (_languages(one), _languages(first)),
            "tags": tuple(", ".join(o.settings.data.tags) or "none" for o in (one, first)),
            "text.codes": (one.settings.text.codes, first.settings.text.codes),
        }.items():
            if its != wanted:
                raise ConfigError(
                    f"the runs of an ensemble have the same {what}; {run} has {its}, {runs[0]} "
                    f"{wanted}. Leave one of them out."
                )


def _languages(one: EnsembleMember) -> str:
    data = one.settings.data
    if data.tags and not (data.source_language and data.target_language):
        return "several directions"
    return f"{data.source_language or '?'} to {data.target_language or '?'}"
