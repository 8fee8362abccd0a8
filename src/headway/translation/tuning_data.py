"""What a run that begins with another's weights sees of that one's data, so as not to forget it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from headway.core.cleaning import LEAST_PAIRS, Report, clean_pairs
from headway.core.config import Sections, merge
from headway.core.rows import SIDES, Indices
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.corpora.corpus import read_pairs
from headway.corpora.in_memory import PairRows
from headway.corpora.joined import JoinedRows, some_rows, texts_of, without
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.weighted import RowWeights
from headway.runs.parent import tuned_rate
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.translation import pairs
from headway.translation.pairs import Pairs, TranslationData
from headway.translation.replacements import Correction
from headway.translation.run_data import pairs_of, settings_of
from headway.translation.tuning_corrections import (
    MOST_REVIEWED,
    CorrectedParentPairs,
    reviewed,
)
from headway.translation.tuning_corrections import taught as correcting

OLD_SHARE = 0.75
"""Of the target tokens that are seen: measured by benchmarks/corrections.py."""
OLD_SHARE_OF_REVIEW = 0.97
"""The same where the parent's pairs say themselves what was corrected."""
REWRITTEN_SHARE = 0.4
"""Of those, the pairs that were changed as a reviewer's corrections are; at most MOST_OFTEN times
each in a pass."""
MOST_OFTEN = 4.0
REVIEW_SEEN, N_VALIDATIONS = 600_000, 6
"""Tokens to learn a review from, the parent's pairs among them, and how often to look."""
REVIEW_RATE = 0.5
"""Of `headway.runs.parent.tuned_rate`."""
FEW_AS, REVIEWED_AS = 100, 400
"""New pairs that are too few for some to be held out are seen as often as so many together; those
of a review."""
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
    taught: CorrectedParentPairs | None = None
    """What is made of corrections, if the new pairs are a review of what the parent wrote."""
    n_like: int = 0
    """The last validation pairs are like what was corrected, and left out of the others."""

    @property
    def plain(self) -> bool:
        """There are tags of the parent's to be kept, and shares to be told."""
        return False

    @property
    def unlearned(self) -> slice:  # type: ignore[override]
        """What is like a correction may be among what the parent learned from."""
        last = len(self.prepared.valid) - self.n_like
        return slice(self.n_new_valid if self.learned else 0, last)

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
            f"{self.share:.0%} pairs that {self.old_run} learned from: {n_seen:,} times one of "
            f"{self.n_old:,} pairs in each pass (--old-share)"
        )
        return [*self.new.mixture(), *([told] if self.share else [])]

    def valid_rows(self) -> Indices:
        """All of them: they were chosen when they were joined."""
        return np.arange(len(self.prepared.valid))


def read(settings: Settings, vocabulary: Subwords | None, say: Say) -> Pairs:
    """As `headway.translation.pairs.read`, with the data of the run in `data.old_run`.

    Beside these a few new pairs are enough, and so are corrections of what that run wrote. None of
    them is held out then: they are validated on as well as learned from, and it is the parent's
    pairs that tell what is lost, and what becomes of sentences like them.
    """
    few, found = are_few(settings.data), list[Correction]()
    if are_few(settings.data, MOST_REVIEWED):
        from headway.localization.formats.tables import before_of

        whole = pairs.read(settings, vocabulary, lambda _: None, few=True)
        found = reviewed(whole, Path(settings.data.old_run))
        if not found and before_of(settings.data.corpus().pairs):
            say(
                "no corrections are learned: fewer than half of the texts are like those in their "
                "column 'before', or none differs from it"
            )
    new = pairs.read(settings, vocabulary, say, few=few or bool(found))
    learned = not new.prepared.valid_texts
    if learned:
        new = validated_on_itself(settings, new)
        say(f"the {len(new.prepared.train):,} new pairs are too few for some to be held out")
    return with_old_pairs(settings, new, say, learned=learned, found=found)


def are_few(data: TranslationData, least: int = 2 * LEAST_PAIRS) -> bool:
    """Whether there are fewer pairs: by itself, so few that no `LEAST_PAIRS` would be left to learn
    from once as many as usual were held out."""
    corpus = data.corpus()
    if data.valid_size or not corpus.parts:
        return False
    usable: set[tuple[str, str]] = set()
    for pair in clean_pairs(read_pairs(corpus, Report()), data, Report(), data.judge):
        usable.add(pair[:2])
        if len(usable) == least:
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
    settings: Settings,
    new: Pairs,
    say: Say,
    *,
    learned: bool = False,
    found: Sequence[Correction] = (),
) -> TunedPairs:
    """New pairs with validation pairs and a share of the training pairs of `data.old_run`.

    `learned`: the new validation pairs are learned from, too. `found`: what they correct.

    Left out are pairs of the parent whose source is among the new ones, which say it anew, or which
    are validated on, or which gainsay a correction. Of equal runs and settings the same comes out.

    Raises:
        DataError: the parent or one of its files is gone, or is not as it was.
    """
    data = settings.data
    old = pairs_of(Path(data.old_run), new.vocabulary)
    taught = correcting(found, old) if found else None
    for line in taught.words() if taught else ():
        say(line)
    rows = _rows(settings, new, old, taught)
    if taught:
        old = replace(old, prepared=replace(old.prepared, train=taught.store))
    often = max(1.0, (REVIEWED_AS if taught else FEW_AS) / len(rows.new)) if learned else 1.0
    first, parent = new.prepared, old.prepared
    parts = [(first, rows.new), (parent, rows.changed), (parent, rows.old)]
    usual = OLD_SHARE_OF_REVIEW if len(rows.changed) else OLD_SHARE
    wanted = usual if data.old_share == OLD_SHARE else data.old_share
    weights, share = _weighed(parts, wanted, often)
    if not learned and (n_seen := _seen(first.valid, rows.new_valid, old, settings.runtime.seed)):
        say(
            f"WARNING: {n_seen:,} of {len(rows.new_valid):,} new pairs for validation are among "
            f"those that {data.old_run} learned from: scores are too high"
        )
    held = [(first, rows.new_valid), (parent, rows.old_valid)]
    texts = [(of.valid_texts[row], of.valid_uses[row]) for of, some in held for row in some]
    texts += [_as_validated(_texts_of(old, int(row)), parent.valid_uses) for row in rows.like]
    joined = replace(
        first,
        train=JoinedRows([(of.train, some) for of, some in parts]),
        valid=JoinedRows([*((of.valid, some) for of, some in held), (parent.train, rows.like)]),
        valid_texts=[text for text, _ in texts],
        valid_uses=[use for _, use in texts],
        checksums={**old.checksums, **new.checksums},
        weights=weights,
    )
    n_old, n_like = len(rows.changed) + len(rows.old), rows.n_like_valid + len(rows.like)
    counts = n_old, len(rows.new_valid)
    tuned = TunedPairs(
        joined, new, data.old_run, share, *counts, learned, taught, n_like, glossary=new.glossary
    )
    for line in tuned.mixture()[len(new.mixture()) :]:
        say(f"  of what is seen in a pass: {line}")
    say(
        f"{len(rows.old_valid) - rows.n_like_valid:,} validation pairs of {data.old_run} beside "
        f"them: at most {settings.training.forget_at_most:g} BLEU of it may be lost "
        "(--forget-at-most)"
    )
    return tuned


class _Rows(NamedTuple):
    """Which of the new pairs, and of the parent's, are for what."""

    new: Indices
    changed: Indices
    """Of the parent's training pairs, as are `old` and `like`."""
    old: Indices
    new_valid: Indices
    old_valid: Indices
    """The last `n_like_valid` of them are like what was corrected."""
    n_like_valid: int
    like: Indices
    """Not to be learned from, but to be measured on."""


def _rows(settings: Settings, new: Pairs, old: Pairs, taught: CorrectedParentPairs | None) -> _Rows:
    new_valid = new.valid_rows()[: settings.training.valid_sentences]
    new_rows, old_valid = _apart(new.prepared, old, taught)
    rows = _old_rows(new.prepared, old.prepared, settings.runtime.seed)
    none = np.zeros(0, np.int64)
    if taught is None:
        return _Rows(new_rows, none, rows, new_valid, old_valid, 0, none)
    like_valid, like = taught.like(old.valid_rows(), rows)
    rows = np.setdiff1d(rows, np.union1d(like, taught.gainsaying))
    changed = np.intersect1d(rows, taught.rewritten)
    held = np.concatenate([old_valid, like_valid])
    kept = np.setdiff1d(rows, changed)
    return _Rows(new_rows, changed, kept, new_valid, held, len(like_valid), like)


def _seen(valid: PairRows, rows: Indices, old: Pairs, seed: int) -> int:
    """How many validation pairs are training pairs of the parent, of which some are looked at."""
    train = old.prepared.train
    both = (valid, rows), (train, some_rows(len(train), MOST_OLD, seed))
    held, learned = (
        zip(*(texts_of(one, s, some) for s in SIDES), strict=True) for one, some in both
    )
    return len({*held} & {*learned})


def _texts_of(old: Pairs, row: int) -> tuple[str, str]:
    """A training pair of the parent, as text."""
    source, target = old.vocabulary.decode_batch([old.prepared.train[side][row] for side in SIDES])
    return source, target


def _as_validated(pair: tuple[str, str], uses: Sequence[Use]) -> tuple[tuple[str, str], Use]:
    """A training pair of the parent as its validation pairs are: the text without its tag, and the
    use of its like."""
    source, target = pair
    use = next((one for one in uses if one.tag and source.startswith(f"<{one.tag}> ")), None)
    if use is None:
        return (source, target), next((one for one in uses if not one.tag), uses[0])
    return (source[len(use.tag) + 3 :], target), use


def complete(given: Sections, settings: Settings, data: Pairs) -> Sections:
    """As `headway.translation.pairs.complete`; of a review also how fast and how long it is
    learned, where nobody said so: gently, and in so few updates that it takes minutes."""
    found = pairs.complete(given, settings, data)
    if not (isinstance(data, TunedPairs) and data.taught):
        return found
    asked, training, more = given.get("training", {}), settings.training, dict[str, Any]()
    usual = tuned_rate(settings_of(RunFolder(Path(data.old_run))))
    if training.learning_rate == training.held_back * usual:
        more |= {"learning_rate": REVIEW_RATE * usual, "held_back": REVIEW_RATE}
    if not {"budget", "max_steps"} & {*asked}:
        n_updates = math.ceil(REVIEW_SEEN / (training.batch_tokens * training.accumulate))
        every = training.checkpoint_every or max(1, n_updates // N_VALIDATIONS)
        more |= {"max_steps": n_updates, "checkpoint_every": every}
    return merge(found, {"training": more})


def _apart(
    new: Prepared, old: Pairs, taught: CorrectedParentPairs | None
) -> tuple[Indices, Indices]:
    """Rows to train on and the parent's rows to validate on, which share no side.

    A correction counts for more than a validation pair of the parent; but where the parent's files
    are among the new ones, as one would see in the half of the validation pairs, these stay. Of
    what calls for a correction the parent's pairs tell nothing more, unless all of them do.
    """
    rows, valid = np.arange(len(new.train)), old.prepared.valid
    valid_rows = old.valid_rows()
    if taught:
        others = [row for row in valid_rows if int(row) not in taught.valid]
        valid_rows = np.array(others or valid_rows, np.int64)
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
    parts: Sequence[tuple[Prepared, Indices]], share: float | None, often: float
) -> tuple[RowWeights, float]:
    """How often each row is seen in a pass, and the share of the parent's that comes of it.

    The parts are the new pairs, the parent's that were changed, and its others. The new ones are
    seen `often` times what their files weigh, the others at most as often as the parent saw them.
    """
    weights, seen = [], []
    for (one, rows), times in zip(parts, (often, 1.0, 1.0), strict=True):
        of_rows = np.ones(len(one.train)) if one.weights is None else one.weights
        weights.append(times * of_rows[rows])
        seen.append(float(weights[-1] @ (one.train.lengths["target"][rows] + 1)))
    share = OLD_SHARE if share is None else share
    of_old = share / (1 - share) * seen[0]
    changed = REWRITTEN_SHARE * of_old if seen[1] else 0.0
    for part, tokens, most in ((1, changed, MOST_OFTEN), (2, of_old - changed, 1.0)):
        factor = min(most, tokens / max(seen[part], 1.0))
        weights[part] = factor * weights[part]
        seen[part] *= factor
    return np.concatenate(weights), round(sum(seen[1:]) / sum(seen), 4)
