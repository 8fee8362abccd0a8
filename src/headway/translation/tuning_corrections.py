"""A reviewer's corrections: what is changed again and again is changed in the parent's text too.

A run that goes on from another's weights sees that one's pairs again. Hundreds of them say what the
reviewer has just put right; they would win against ten corrections. So what the reviewer changes is
learned as replacements, and made in those pairs: they teach it then, and some of them, which are
kept out, tell whether sentences that nobody corrected are translated so.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from rapidfuzz.distance import Levenshtein

from headway.core.hypothesis import SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.rows import SIDES, Indices
from headway.corpora.in_memory import PairRows
from headway.corpora.joined import AmendedRows
from headway.localization.memory.words import pieces
from headway.runs.loading import open_run
from headway.tasks import task_spec
from headway.translation.decoding import decode_anew
from headway.translation.measuring import untagged
from headway.translation.pairs import Pairs
from headway.translation.replacements import Correction, Replacement, learned, replaced

MOST_REVIEWED = 1_000
"""New pairs; more are a text of its own kind, and no review."""
LEAST_ALIKE = 0.5
"""Of the words of a text, and of the new pairs: what the parent wrote and what a reviewer left."""
MOST_LIKE, SHARE_LIKE = 100, 0.25
"""Of the parent's pairs that call for a replacement, those that are kept out to be measured on."""
USUAL = 1_000
"""Targets of the parent that tell how frequent something is."""

Words = frozenset[str]


def reviewed(new: Pairs, run: Path) -> list[Correction]:
    """The new pairs with what stood there before; nothing where they are no review of the parent's.

    That is in the third column of a table, as `headway corrections` writes it; else it is what the
    parent makes of the source.
    """
    from headway.localization.formats.tables import before_of

    train, subwords = new.prepared.train, new.vocabulary
    if not 0 < len(train) <= MOST_REVIEWED:
        return []
    rows = range(len(train))
    pairs = zip(*(_texts(train, side, rows, subwords) for side in SIDES), strict=True)
    tags = {part.use.tag for part in new.prepared.corpus.parts if part.use.tag}
    told = before_of(new.prepared.corpus.pairs)
    found = [
        Correction(one, other, told.get((one, other), ""))
        for one, other in ((untagged(source, tags), target) for source, target in pairs)
    ]
    asked = [row for row in rows if not found[row].before]
    for row, text in zip(asked, written_by(run, [train["source"][r] for r in asked]), strict=True):
        found[row] = found[row]._replace(before=text)
    alike = [
        Levenshtein.normalized_similarity(pieces(one.target), pieces(one.before)) >= LEAST_ALIKE
        for one in found
    ]
    changed = any(one.target != one.before for one in found)
    return found if changed and sum(alike) >= LEAST_ALIKE * len(found) else []


def written_by(run: Path, sources: Sequence[Any]) -> list[str]:
    """What a run makes of sources (ids), by its own search."""
    if not sources:
        return []
    opened = open_run(task_spec("translation"), run)
    special, settings = opened.vocabulary.special, opened.settings.decoding
    request = SearchRequest(special, settings, opened.device)
    found = decode_anew()(cast(StepDecoder, opened.model), sources, request)
    written: list[str] = opened.vocabulary.decode_batch([one[0].ids for one in found])
    return written


@dataclass(frozen=True)
class CorrectedParentPairs:
    """The parent's pairs as the reviewer would have them."""

    corrections: list[Correction]
    """What was changed."""
    replacements: list[Replacement]
    store: PairRows
    """The parent's training pairs, with what is replaced."""
    rewritten: Indices
    """Rows of it in which something is."""
    gainsaying: Indices
    """Rows that would have to be changed and were not, as nothing says how, or whether."""
    valid: dict[int, str | None]
    """The parent's validation pairs that may call for a replacement, and their targets with it."""

    def like(self, valid_rows: Indices, rows: Indices) -> tuple[Indices, Indices]:
        """Validation pairs and training pairs of the parent to measure on: MOST_LIKE together.

        Also those of which nothing says how they are to be changed: they are asked for as well.
        """
        of_valid = np.array([row for row in valid_rows if int(row) in self.valid], np.int64)
        of_valid = of_valid[:MOST_LIKE]
        rows = np.intersect1d(rows, np.union1d(self.rewritten, self.gainsaying))
        n = min(MOST_LIKE - len(of_valid), int(SHARE_LIKE * len(rows)))
        return of_valid, rows[np.unique(np.linspace(0, len(rows) - 1, n).astype(np.int64))]

    def words(self) -> list[str]:
        """What is made of the corrections, in words."""
        shown = "; ".join(str(one) for one in self.replacements if one.reliable)
        return [
            f"{len(self.corrections):,} corrections; changed again and again: {shown or 'nothing'}",
            f"  {len(self.rewritten):,} of the parent's pairs are changed so; "
            f"{len(self.gainsaying):,} that may speak against a correction are left out",
        ]


def taught(found: Sequence[Correction], old: Pairs) -> CorrectedParentPairs:
    """Learn what is replaced, and replace it in the parent's pairs."""
    train, subwords, everything = old.prepared.train, old.vocabulary, range(len(old.prepared.train))
    sources, targets = (_texts(train, side, everything, subwords) for side in SIDES)
    usual = targets[:: max(1, len(targets) // USUAL)]
    words = [_words(text) for text in sources]
    replacements = learned(found, usual)
    called = cues(replacements, found, words, targets)
    changed = [one for one in found if one.target != one.before]
    anew: dict[int, str] = {}
    gainsaying = []
    for row, (known, target) in enumerate(zip(words, targets, strict=True)):
        text = rewritten(known, target, replacements, called)
        if text is None:
            gainsaying.append(row)
        elif text != target:
            anew[row] = text
    encoded = dict(zip(anew, subwords.encode_targets(list(anew.values())), strict=True))
    valid = {
        row: text
        for row, (source, target) in enumerate(old.prepared.valid_texts)
        if (text := rewritten(_words(source), target, replacements, called)) != target
    }
    return CorrectedParentPairs(
        corrections=changed,
        replacements=replacements,
        store=AmendedRows(train, "target", encoded),
        rewritten=np.array(sorted(anew), np.int64),
        gainsaying=np.array(gainsaying, np.int64),
        valid=valid,
    )


def rewritten(
    words: Words, target: str, replacements: Sequence[Replacement], called: Words
) -> str | None:
    """A target as the reviewer would have it; None where it may have to be changed, but how, or
    whether, is not known: no cue in the source calls for it, or such changes seldom were all."""
    text = replaced(target, [one for one in replacements if one.reliable])
    unsure = replaced(text, [one for one in replacements if not one.reliable]) != text
    return None if unsure or (text != target and not called & words) else text


def cues(
    replacements: Sequence[Replacement],
    found: Sequence[Correction],
    words: Sequence[Words],
    targets: Sequence[str],
) -> Words:
    """Words of sources that call for what is replaced: of each corrected source the one that the
    parent's pairs have most often together with it (Dice's coefficient)."""
    having = [row for row, text in enumerate(targets) if replaced(text, replacements) != text]
    both = Counter(word for row in having for word in words[row])
    of_all = Counter(word for known in words for word in known)
    changed = [one for one in found if replaced(one.before, replacements) != one.before]
    sources = [sorted(_words(one.source)) for one in changed if one.before != one.target]
    return frozenset(
        max(known, key=lambda word: both[word] / (of_all[word] + len(having)))
        for known in sources
        if known
    )


def _words(text: str) -> Words:
    """The words and signs of a source, case aside."""
    return frozenset(piece.casefold() for piece in pieces(text) if piece.strip())


def _texts(store: PairRows, side: str, rows: Sequence[int], subwords: Any) -> list[str]:
    texts: list[str] = subwords.decode_batch([store[side][row] for row in rows])
    return texts
