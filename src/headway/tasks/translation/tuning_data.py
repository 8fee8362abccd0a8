"""What a run that begins with another's weights sees of that one's data, so as not to forget it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from headway.data.batching import Indices, RowWeights
from headway.data.joined import JoinedStore, some_rows, texts_of, without
from headway.data.prepared import SIDES, Prepared, prepare_corpus
from headway.errors import DataError, HeadwayError
from headway.runs.kind import Say
from headway.runs.own_files import why_not_read
from headway.runs.resuming import refuse_changed_data
from headway.runs.settings import Settings
from headway.tasks import kind_named
from headway.tasks.translation import pairs
from headway.tasks.translation.pairs import LEAST_PAIRS, Pairs, TranslationData
from headway.text.cleaning import Report, clean_pairs
from headway.text.corpora import read_pairs
from headway.text.subwords import Subwords
from headway.training.run_folder import RunFolder

OLD_SHARE = 0.75
"""Of the target tokens that are seen: measured by benchmarks/corrections.py."""
FEW_AS = 100
"""New pairs that are too few for some to be held out are seen as often as so many together."""
MOST_OLD = 200_000
"""Pairs of the parent that are drawn from; a pass holds far fewer."""
MOST_OLD_VALID = 400
"""Validation pairs of the parent that are translated at each checkpoint, beside the new ones."""


@dataclass(frozen=True)
class TunedPairs(Pairs):
    """New pairs, and some of the parent's data beside them: `prepared` holds both."""

    new: Pairs
    old_run: str
    share: float
    """Of the target tokens that are seen, those of the parent's data."""
    n_old: int
    """Pairs of the parent that are drawn from."""
    n_new_valid: int
    """The first validation pairs are new, the others the parent's."""
    learned: bool
    """The new validation pairs are those that are learned from: they are too few to be split."""

    @property
    def plain(self) -> bool:
        """There are tags of the parent's to be kept, and shares to be told."""
        return False

    def record(self) -> dict[str, Any]:
        """What data.json says."""
        known = self.new.record()
        shares = [
            {**one, "share": round((1 - self.share) * one["share"], 4)} for one in known["mixture"]
        ]
        old = {"pairs": self.n_old, "weight": self.old_weight, "tag": ""}
        mixed = [{"file": self.old_run, **old, "share": round(self.share, 4)}] if self.share else []
        longest = {side: int(n.max()) for side, n in self.prepared.train.lengths.items()}
        return {**known, "longest": longest, "mixture": [*shares, *mixed]}

    @property
    def old_weight(self) -> float:
        """How often a pair of the parent is seen in a pass, on average."""
        weights = self.prepared.weights
        if weights is None or not self.n_old:
            return float(self.n_old > 0)
        return round(float(weights[-self.n_old :].mean()), 6)

    def mixture(self) -> list[str]:
        """A line for each file, in words."""
        n_seen = round(self.old_weight * self.n_old)
        told = (
            f"{self.share:.0%} pairs that {self.old_run} learned from: {n_seen:,} others of "
            f"{self.n_old:,} in each pass (--old-share)"
        )
        return [*self.new.mixture(), *([told] if self.share else [])]

    def valid_rows(self) -> Indices:
        """All of them: they were chosen when they were joined."""
        return np.arange(len(self.prepared.valid))


def read(settings: Settings, vocabulary: Subwords | None, say: Say) -> Pairs:
    """As `headway.tasks.translation.pairs.read`, with the data of the run in `data.old_run`.

    Beside these a few new pairs are enough. None of them is held out then: they are validated on as
    well as learned from, and it is the parent's validation pairs that tell what is lost.
    """
    if not settings.data.old_run:
        return pairs.read(settings, vocabulary, say)
    new = pairs.read(settings, vocabulary, say, few=are_few(settings.data))
    learned = not new.prepared.valid_texts
    if learned:
        new = validated_on_itself(settings, new)
        say(
            f"the {len(new.prepared.train):,} new pairs are too few for some to be held out: all "
            "are learned from. How far they were taken in is said, but not what becomes of "
            "sentences like them; --valid-pairs F would tell"
        )
    return with_old_pairs(settings, new, say, learned=learned)


def are_few(data: TranslationData) -> bool:
    """Whether, with as many held out as usual, fewer than `LEAST_PAIRS` would be left."""
    corpus = data.corpus()
    if data.valid_size or not corpus.parts:
        return False
    usable: set[tuple[str, str]] = set()
    for pair in clean_pairs(read_pairs(corpus, Report()), data.cleaning(), Report()):
        usable.add(pair[:2])
        if len(usable) == 2 * LEAST_PAIRS:
            return False
    return True


def validated_on_itself(settings: Settings, new: Pairs) -> Pairs:
    """The same pairs to validate on as to learn from."""
    corpus, seed = settings.data.corpus(), settings.runtime.seed
    same = prepare_corpus(
        corpus, settings.data, settings.text, subwords=new.vocabulary, valid=corpus, seed=seed
    )
    held = {key: getattr(same, key) for key in ("valid", "valid_texts", "valid_uses")}
    return replace(new, prepared=replace(new.prepared, **held))


def with_old_pairs(
    settings: Settings, new: Pairs, say: Say, *, learned: bool = False
) -> TunedPairs:
    """New pairs with validation pairs and a share of the training pairs of `data.old_run`.

    `learned`: the new validation pairs are learned from, too.

    Left out are pairs of the parent whose source is among the new ones, which say it anew, or which
    are validated on. Of equal runs and settings the same comes out.

    Raises:
        DataError: the parent or one of its files is gone, or is not as it was.
    """
    data, seed = settings.data, settings.runtime.seed
    old = pairs_of(Path(data.old_run), new.vocabulary)
    valid_rows = new.valid_rows()[: settings.training.valid_sentences]
    new_rows, old_valid_rows = _apart(new.prepared, old)
    old_rows = _old_rows(new.prepared, old.prepared, seed)
    often = max(1.0, FEW_AS / len(new_rows)) if learned else 1.0
    weights, share = _weighed(new.prepared, new_rows, old.prepared, old_rows, data.old_share, often)
    joined = replace(
        new.prepared,
        train=JoinedStore([(new.prepared.train, new_rows), (old.prepared.train, old_rows)]),
        valid=JoinedStore([(new.prepared.valid, valid_rows), (old.prepared.valid, old_valid_rows)]),
        valid_texts=[
            one.prepared.valid_texts[row]
            for one, rows in ((new, valid_rows), (old, old_valid_rows))
            for row in rows
        ],
        valid_uses=[
            one.prepared.valid_uses[row]
            for one, rows in ((new, valid_rows), (old, old_valid_rows))
            for row in rows
        ],
        checksums={**old.checksums, **new.checksums},
        weights=weights,
    )
    counts = len(old_rows), len(valid_rows)
    tuned = TunedPairs(joined, new, data.old_run, share, *counts, learned, glossary=new.glossary)
    for line in tuned.mixture()[len(new.mixture()) :]:
        say(f"  of what is seen in a pass: {line}")
    say(
        f"{len(old_valid_rows):,} validation pairs of {data.old_run} beside them: at most "
        f"{settings.training.forget_at_most:g} BLEU of it may be lost (--forget-at-most)"
    )
    return tuned


def pairs_of(run: Path, vocabulary: Any) -> Pairs:
    """What a run learned from, as it read it; raises DataError where that is gone."""
    folder = RunFolder(run)
    if why := missing(folder):
        raise DataError(
            f"a run that was tuned beside its parent's data needs them to go on; {why}. Put it "
            "back, or start a new run."
        )
    settings = Settings.of_run(folder, kind_named("translation"))
    found = read(settings, vocabulary, lambda _: None)
    if folder.data.exists():
        refuse_changed_data(folder, found)
    return found


def scored_rows(found: Pairs, settings: Settings) -> Indices:
    """The validation pairs that a run is scored on: where its parent's are among them, all."""
    n = None if settings.data.old_run else settings.training.valid_sentences
    return found.valid_rows()[:n]


def missing(folder: RunFolder) -> str:
    """Why what a run learned from cannot be read again, in words; nothing if it can."""
    if not folder.config.exists():
        return f"{folder.path} is gone"
    try:
        settings = Settings.of_run(folder, kind_named("translation"))
    except HeadwayError as error:
        return str(error)
    files = list(_files(settings.data))
    if not files:
        return f"{folder.path} was imported, and does not say what it learned from"
    if why := why_not_read(folder, files):
        return why
    return missing(RunFolder(Path(settings.data.old_run))) if settings.data.old_run else ""


def _files(data: TranslationData) -> Iterator[Path]:
    for corpus in (data.corpus(), data.validation()):
        yield from corpus.files if corpus else ()


def _apart(new: Prepared, old: Pairs) -> tuple[Indices, Indices]:
    """Rows to train on and the parent's rows to validate on, which share no side.

    A correction counts for more than a validation pair of the parent; but where the parent's files
    are among the new ones, as one would see in the half of the validation pairs, these stay.
    """
    rows, valid = np.arange(len(new.train)), old.prepared.valid
    valid_rows = old.valid_rows()
    learned = {side: set(texts_of(new.train, side, rows)) for side in SIDES}
    unseen = without(valid, valid_rows, learned)
    if 2 * len(unseen) >= len(valid_rows):
        return rows, unseen[:MOST_OLD_VALID]
    valid_rows = valid_rows[:MOST_OLD_VALID]
    held = {side: set(texts_of(valid, side, valid_rows)) for side in SIDES}
    left = without(new.train, rows, held)
    if len(left) >= LEAST_PAIRS:
        return left, valid_rows
    return rows, unseen[:MOST_OLD_VALID] if len(unseen) else valid_rows


def _old_rows(new: Prepared, old: Prepared, seed: int) -> Indices:
    """Training rows of the parent that say nothing of what is new, nor of what is validated on."""
    unwanted = {side: set(texts_of(new.valid, side, np.arange(len(new.valid)))) for side in SIDES}
    unwanted["source"].update(texts_of(new.train, "source", np.arange(len(new.train))))
    return without(old.train, some_rows(len(old.train), MOST_OLD, seed), unwanted)


def _weighed(
    new: Prepared,
    new_rows: Indices,
    old: Prepared,
    old_rows: Indices,
    wanted: float | None,
    often: float,
) -> tuple[RowWeights, float]:
    """How often each row is seen in a pass, and the share of the parent's that comes of it.

    The new ones `often` times what their files weigh, the parent's at most as often as it saw them.
    """
    weights, seen = [], []
    for one, rows, times in ((new, new_rows, often), (old, old_rows, 1.0)):
        of_rows = np.ones(len(one.train)) if one.weights is None else one.weights
        weights.append(times * of_rows[rows])
        seen.append(float(weights[-1] @ (one.train.lengths["target"][rows] + 1)))
    share = OLD_SHARE if wanted is None else wanted
    factor = min(1.0, share / (1 - share) * seen[0] / max(seen[1], 1.0))
    weights[1] = factor * weights[1]
    old_seen = factor * seen[1]
    return np.concatenate(weights), round(old_seen / (old_seen + seen[0]), 4)
