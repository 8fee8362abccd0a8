"""A run's shortlist: learned from its training pairs, gated on its validation, kept with it."""

from pathlib import Path

import numpy as np
import torch

from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.interfaces import StepDecoder
from headway.core.run_folder import RunFolder
from headway.core.search import SearchRequest
from headway.core.settings import Settings
from headway.core.subwords import SpecialIds
from headway.core.translate import TextTranslator
from headway.corpora.cache import read_sealed, sealed_folder
from headway.corpora.prepared import Prepared
from headway.engine.shortlist import Shortlist, Shortlisted, opened
from headway.operations.locks import Say
from headway.operations.shipped import open_folder, refuse_shipped
from headway.runs.quality_gate import Gate, measured
from headway.translation import tuning_data
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import EngineSearch
from headway.translation.lexicon import learned
from headway.translation.pairs import Pairs
from headway.translation.validation_portions import uncut

MOST = 1000
"""Translations of a token: with more a list is hardly shorter than the vocabulary."""
_FORMAT = 2


def shorten(
    plain: TextTranslator, search: EngineSearch, run: Path, settings: Settings, n: int, say: Say
) -> None:
    """Have a run's translator write from shortlists: of each token of a source the `n` likeliest
    translations and itself, and the `n` commonest tokens of all.

    They are learned when they are first asked for, from the run's own training pairs, and kept in
    the run's folder, with what they cost in validation, which is in the precision that was taken.

    Raises:
        ConfigError: they cost too much, or `n` makes no sense.
        DataError: the run's text files cannot be read, or have changed.
        RunError: it is the run that comes with the package.
    """
    if not 1 <= n <= MOST:
        raise ConfigError(f"--shortlist is from 1 to {MOST:,} translations; got {n}. Try 100.")
    run_folder = open_folder(run)
    precision = search.choice.precision
    name = f"shortlist-{n}" if precision == "fp32" else f"shortlist-{n}-{precision}"
    folder, model = run_folder.path / name, checksum(run_folder.model)
    if _gate(folder, model) is None:
        refuse_shipped(run)
        _make(folder, model, plain, search, settings, n, say)
    gate = _gate(folder, model)
    assert gate is not None
    gate.refuse_closed(
        f"--shortlist {n} of {run}", f"Leave it out, or try --shortlist {min(MOST, 2 * n)}."
    )
    say(f"headway: shortlists of {n}: {gate.in_words()}")
    arrays = (np.load(folder / f"{one}.npy", allow_pickle=False) for one in Shortlist._fields)
    plain.model = Shortlisted(opened(plain.model)[0], Shortlist(*arrays))


def _gate(folder: Path, model: str) -> Gate | None:
    """What a list that was made for these weights costs; None where there is none, or no more."""
    if not folder.exists():
        return None
    try:
        content = read_sealed(folder)
    except DataError:
        return None
    if content.get("format") != _FORMAT or content.get("model") != model:
        return None
    return Gate.from_dict(content["gate"])


def _make(
    folder: Path,
    model: str,
    plain: TextTranslator,
    search: EngineSearch,
    settings: Settings,
    n: int,
    say: Say,
) -> None:
    say(f"headway: shortlists of {n} are learned from the run's training pairs, once")
    pairs = _own_pairs(folder.parent, plain)
    shortlist = _learned(pairs.prepared, plain.subwords.special, n)
    whole = opened(plain.model)[0]
    task = CorpusTask(
        pairs.prepared,
        settings.training,
        valid_rows=tuning_data.scored_rows(pairs, settings),
        seed=settings.runtime.seed,
        device=plain.device,
    )
    task.portions = uncut(pairs.prepared, task.valid_rows)
    sources = [ids.tolist() for ids in task.sources]

    @torch.inference_mode()
    def written(decoder: StepDecoder) -> list[str]:
        request = SearchRequest(task.special, settings.decoding, plain.device, want_scores=False)
        return task.written(search(decoder, sources, request))

    quick, usual = written(Shortlisted(whole, shortlist)), written(whole)
    gate = measured(usual, quick, task.valid_texts, settings.data.target_language)
    with sealed_folder(folder) as (part, content):
        for name, array in shortlist._asdict().items():
            np.save(part / f"{name}.npy", array, allow_pickle=False)
        content |= {"format": _FORMAT, "model": model, "gate": gate._asdict()}


def _own_pairs(run: Path, plain: TextTranslator) -> Pairs:
    """What the run learned from, its parent's pairs among them; as it was shown to the model."""
    if why := tuning_data.missing(RunFolder(run)):
        raise DataError(
            f"shortlists are learned from the text files of a run, and those of {run} are not "
            f"there as they were: {why}. Put them back, or leave --shortlist out."
        )
    return tuning_data.pairs_of(run, plain.subwords)


def _learned(prepared: Prepared, special: SpecialIds, n: int) -> Shortlist:
    n_tokens = len(prepared.subwords)
    counts = np.zeros(n_tokens, np.int64)
    target = prepared.train["target"]
    for begin in range(0, len(prepared.train), 1 << 16):
        rows = range(begin, min(begin + (1 << 16), len(prepared.train)))
        counts += np.bincount(np.concatenate([target[row] for row in rows]), minlength=n_tokens)
    everywhere = np.zeros(n_tokens, bool)
    everywhere[np.argsort(-counts, kind="stable")[:n]] = True
    everywhere[[special.end, special.padding, *special.unwritten]] = True
    likely = learned(prepared.train, n_tokens).likeliest(n, n_tokens, special.end)
    return Shortlist(likely, everywhere)
