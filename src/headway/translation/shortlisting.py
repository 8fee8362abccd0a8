"""A run's shortlist: learned from its training pairs, gated on its validation, kept with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.core.subwords import SpecialIds
from headway.core.translate import TextTranslator
from headway.core.translation_task import Rows
from headway.corpora.cache import read_sealed, sealed_folder
from headway.corpora.model_1 import Integers, cooccurrences, expected_counts
from headway.corpora.prepared import Prepared
from headway.engine.shortlist import Shortlist, Shortlisted, opened
from headway.operations.locks import Say
from headway.operations.shipped import open_folder, refuse_shipped
from headway.runs.quality_gate import MEASURED_AS, QualityGate
from headway.translation import run_data
from headway.translation.decoding import EngineSearch
from headway.translation.pairs import Pairs

MOST = 1000
"""Translations of a token: with more a list is hardly shorter than the vocabulary."""
_FORMAT = 2


def shorten(plain: TextTranslator, search: EngineSearch, run: Path, n: int, say: Say) -> None:
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
    if precision == "int8":
        model = f"{model}, {MEASURED_AS[precision]}"
    if _gate(folder, model) is None:
        refuse_shipped(run)
        _make(folder, model, plain, search, n, say)
    gate = _gate(folder, model)
    assert gate is not None
    gate.refuse_closed(
        f"--shortlist {n} of {run}", f"Leave it out, or try --shortlist {min(MOST, 2 * n)}."
    )
    say(f"headway: shortlists of {n}: {gate.in_words()}")
    arrays = (np.load(folder / f"{one}.npy", allow_pickle=False) for one in Shortlist._fields)
    plain.model = Shortlisted(opened(plain.model)[0], Shortlist(*arrays))


def _gate(folder: Path, model: str) -> QualityGate | None:
    """What a list that was made for these weights costs; None where there is none, or no more."""
    if not folder.exists():
        return None
    try:
        content = read_sealed(folder)
    except DataError:
        return None
    if content.get("format") != _FORMAT or content.get("model") != model:
        return None
    return QualityGate.from_dict(content["gate"])


def _make(
    folder: Path,
    model: str,
    plain: TextTranslator,
    search: EngineSearch,
    n: int,
    say: Say,
) -> None:
    say(f"headway: shortlists of {n} are learned from the run's training pairs, once")
    pairs = _own_pairs(folder.parent, plain)
    shortlist = _learned(pairs.prepared, plain.subwords.special, n)
    whole = opened(plain.model)[0]
    ways = (whole, search), (Shortlisted(whole, shortlist), search)
    settings = run_data.settings_of(RunFolder(folder.parent))
    gate = run_data.gate_of(pairs, settings, plain.device, ways)
    with sealed_folder(folder) as (part, content):
        for name, array in shortlist._asdict().items():
            np.save(part / f"{name}.npy", array, allow_pickle=False)
        content |= {"format": _FORMAT, "model": model, "gate": gate._asdict()}


def _own_pairs(run: Path, plain: TextTranslator) -> Pairs:
    """What the run learned from, its parent's pairs among them; as it was shown to the model."""
    if why := run_data.missing(RunFolder(run)):
        raise DataError(
            f"shortlists are learned from the text files of a run, and those of {run} are not "
            f"there as they were: {why}. Put them back, or leave --shortlist out."
        )
    return run_data.pairs_of(run, plain.subwords)


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


# -- Which sub-words translate which: IBM's model 1 (Brown et al. 1993) over training pairs -------


MOST_COOCCURRENCES = 60_000_000
"""Of a source and a target token in one pair; of more, pairs are left out evenly."""
AT_ONCE = 4_000_000


class Lexicon(NamedTuple):
    """How likely each token of a source is translated by each one beside which it stood."""

    source: Int[np.ndarray, " entries"]
    """In order; the vocabulary's size stands for the empty word."""
    target: Int[np.ndarray, " entries"]
    probability: Float[np.ndarray, " entries"]

    def likeliest(self, n: int, n_tokens: int, otherwise: int) -> Int[np.ndarray, "n_tokens n"]:
        """Of each token its `n` likeliest translations; `otherwise` where there are fewer."""
        order = np.lexsort((self.target, -self.probability, self.source))
        source = self.source[order]
        rank = np.arange(len(order)) - np.searchsorted(source, source)
        kept = (rank < n) & (source < n_tokens)
        found = np.full((n_tokens, n), otherwise, np.int32)
        found[source[kept], rank[kept]] = self.target[order[kept]]
        return found


def learned(store: Rows, n_tokens: int) -> Lexicon:
    """From a store of pairs of ids without markers."""
    blocks = [np.asarray(block) for block in _blocks(store, _some_rows(store))]
    keys = np.zeros(0, np.int64)
    for block in blocks:
        keys = np.union1d(keys, _cooccurrences(store, block, n_tokens)[0])

    def entries() -> Iterator[tuple[Integers, Integers]]:
        for block in blocks:
            key, place = _cooccurrences(store, block, n_tokens)
            yield np.searchsorted(keys, key), place

    source = keys // n_tokens
    _, probability = expected_counts(entries, source, np.ones(len(keys)))
    return Lexicon(source, keys % n_tokens, probability)


def _some_rows(store: Rows) -> Any:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    step = max(1, -(-int(lengths.sum()) // MOST_COOCCURRENCES))
    return np.flatnonzero(lengths)[::step]


def _blocks(store: Rows, rows: Any) -> list[Any]:
    lengths = (store.lengths["source"].astype(np.int64) + 1) * store.lengths["target"]
    number = lengths[rows].cumsum() // AT_ONCE
    return np.split(rows, np.flatnonzero(np.diff(number)) + 1)


def _cooccurrences(store: Rows, rows: Any, n_tokens: int) -> tuple[Integers, Integers]:
    """Source token times vocabulary plus target token, and place; the empty word stands before
    every source."""
    sources = [np.concatenate([[n_tokens], store["source"][int(row)]]) for row in rows]
    targets = [store["target"][int(row)] for row in rows]
    sizes = (np.array([len(one) for one in side]) for side in (sources, targets))
    widths, heights = sizes
    ends = (np.concatenate(side).astype(np.int64) for side in (sources, targets))
    source, target = ends
    found = cooccurrences(source, widths, target, heights)
    return found.source * n_tokens + found.target, found.place
