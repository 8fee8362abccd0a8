"""What a reviewer changes again and again: replacements, learned from both versions of some texts.

They are found one after the other, each time the one that brings the texts as they were nearest to
those that the reviewer left (transformation-based learning, Brill 1995).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from headway.text.memory.words import aligned, pieces

LEAST_HELPED = 2
"""Texts that a replacement brings nearer; what was changed once is learned from that text alone."""
MOST_HURT = 1 / 4
"""Texts that it takes further away, for each that it brings nearer."""
MOST_REPLACEMENTS = 50
RELIABLE, LEAST_RIGHT = 0.8, 0.3
"""Of the texts that it brings nearer, those that are then just as the reviewer left them."""
MOST_UNSEEN = 5
"""Texts that it would change and that the reviewer did not bring, for each that it brings nearer.
Counted beside another replacement that is made as often in those as in these."""
_EDGE = "\n"  # stands before and behind every text, so that a change there has a context
_CONTEXT = (0, 1, 2)  # pieces on either side that may belong to what is replaced
_GAP = 3  # pieces between two changes that may be one
_TRIED = 200  # of the most frequent candidates


class Correction(NamedTuple):
    """A unit whose target a reviewer changed."""

    source: str
    target: str
    before: str


@dataclass(frozen=True)
class Replacement:
    """One text that is put in the place of another."""

    old: str
    new: str
    reliable: bool = True
    """Texts in which it is made are mostly right then."""
    cues: frozenset[str] = frozenset()
    """Words of a source, case aside, one of which calls for it."""

    @cached_property
    def _found(self) -> re.Pattern[str]:
        """The new text, which stays, or the old one."""
        return re.compile("|".join(map(_bounded, filter(None, (self.new, self.old)))))

    def __str__(self) -> str:
        return f"{self.old.strip(_EDGE)} -> {self.new.strip(_EDGE) or 'nothing'}"

    def of(self, text: str) -> str:
        """The text with every old one replaced."""
        edged = f"{_EDGE}{text}{_EDGE}"
        if self.old not in edged:
            return text
        return self._found.sub(self.new, edged).strip(_EDGE)

    def kept_in(self, text: str) -> bool:
        """Whether the new text stands there, and the old one nowhere."""
        return self.of(text) == text and bool(
            re.search(_bounded(self.new), f"{_EDGE}{text}{_EDGE}") if self.new else True
        )


def _bounded(text: str) -> str:
    """A regular expression of it as whole words, where spaces part words."""
    left, right = (_spaced(one) for one in (text[0], text[-1]))
    return (r"(?<!\w)" if left else "") + re.escape(text) + (r"(?!\w)" if right else "")


def _spaced(character: str) -> bool:
    return character.isalnum() and len(pieces(2 * character)) == 1


def replaced(text: str, replacements: Iterable[Replacement]) -> str:
    """The text after all of them, one after the other."""
    for one in replacements:
        text = one.of(text)
    return text


class _Made(NamedTuple):
    """A replacement, and what it does to the texts under review."""

    replacement: Replacement
    helped: list[int]
    """The texts that it brings nearer to what the reviewer left."""


def learned(reviewed: Sequence[Correction], usual: Sequence[str] = ()) -> list[Replacement]:
    """What was changed at least twice, in the order in which it is to be replaced.

    Texts that the reviewer left as they were speak against what would change them. So do the
    `usual` ones, of which nobody knows how many the reviewer saw: what would have changed far more
    of them than the first replacement did, beside the texts that were changed, is no habit.
    """
    texts, found, shares = [one.before for one in reviewed], list[_Made](), [0.0]
    while len(found) < MOST_REPLACEMENTS:
        best = _best(texts, reviewed, usual, max(shares))
        if best is None:
            break
        found.append(best)
        changed = [best.replacement.of(text) for text in usual]
        shares.append(len(best.helped) / max(1, sum(map(str.__ne__, changed, usual))))
        usual = [text for text, new in zip(usual, changed, strict=True) if text == new]
        texts = [best.replacement.of(text) for text in texts]
    right = [text == one.target for text, one in zip(texts, reviewed, strict=True)]
    shares = [sum(right[i] for i in one.helped) / len(one.helped) for one in found]
    return [
        replace(one.replacement, reliable=share >= RELIABLE)
        for one, share in zip(found, shares, strict=True)
        if share >= LEAST_RIGHT
    ]


def _best(
    texts: Sequence[str], reviewed: Sequence[Correction], usual: Sequence[str], weight: float
) -> _Made | None:
    """The replacement that brings most nearer; one of the `usual` texts stands for `weight`."""
    wanted = [pieces(one.target) for one in reviewed]
    now = [Levenshtein.distance(pieces(t), w) for t, w in zip(texts, wanted, strict=True)]
    candidates: Counter[tuple[str, str]] = Counter()
    for text, one in zip(texts, reviewed, strict=True):
        candidates.update(set(_candidates(text, one.target)))
    ranked: list[tuple[float, float, int, str, _Made]] = []
    for (old, new), n in candidates.most_common(_TRIED):
        if n < LEAST_HELPED:
            break
        tried = Replacement(old, new)
        changed = {i: made for i, text in enumerate(texts) if (made := tried.of(text)) != text}
        gains = {
            i: now[i] - Levenshtein.distance(pieces(made), wanted[i]) for i, made in changed.items()
        }
        helped = [i for i, gain in gains.items() if gain > 0]
        unseen = weight * sum(tried.of(text) != text for text in usual) if weight else 0.0
        n_hurt = sum(gain < 0 for gain in gains.values())
        many = len(helped) >= LEAST_HELPED and n_hurt <= MOST_HURT * len(helped)
        if many and sum(gains.values()) > 0 and unseen <= MOST_UNSEEN * len(helped):
            rank = sum(gains.values()), -max(0.0, unseen - len(helped)), -len(old)
            ranked.append((*rank, old, _Made(tried, helped)))
    return max(ranked, key=lambda one: one[:4])[-1] if ranked else None


def _candidates(text: str, target: str) -> Iterator[tuple[str, str]]:
    """What may have been replaced here: each change, or some near each other, with a context.

    A text that only went to another place is no change by itself, neither where it was nor where it
    is: all between the two is.
    """
    old, new = (pieces(f"{_EDGE}{side}{_EDGE}") for side in (text, target))
    changes = [one for one in aligned(old, new) if not one.same]
    for first, last in product(range(len(changes)), repeat=2):
        if not first <= last < first + 3:
            continue
        near = zip(changes[first:last], changes[first + 1 : last + 1], strict=True)
        if any(after.old.start - before.old.stop > _GAP for before, after in near):
            continue
        here = slice(changes[first].old.start, changes[last].old.stop)
        there = slice(changes[first].new.start, changes[last].new.stop)
        if _moved(old, new, here, there):
            continue
        for before, behind in product(_CONTEXT, repeat=2):
            if before > here.start or behind > len(old) - here.stop:
                continue
            found = "".join(old[here.start - before : here.stop + behind])
            if found.strip() and any(map(str.strip, found)):
                yield found, "".join(new[there.start - before : there.stop + behind])


def _moved(old: Sequence[str], new: Sequence[str], here: slice, there: slice) -> bool:
    """Whether what is gained or lost in this place is lost or gained in another."""
    gained = Counter(new[there]) - Counter(old[here])
    lost = Counter(old[here]) - Counter(new[there])
    gained_in_all, lost_in_all = Counter(new) - Counter(old), Counter(old) - Counter(new)
    words = lambda counted: {piece for piece in counted if piece.strip()}  # noqa: E731
    return bool(words(gained - gained_in_all) or words(lost - lost_in_all))


def taken_up(text: str, wanted: Correction) -> bool:
    """Whether a translation has what a reviewer wanted, and not what stood there before.

    That is every word and sign that came into the text, and none of those that went. Where words
    only changed places, it is nearer to what was wanted.
    """
    written, target, before = (
        Counter(filter(str.strip, pieces(one))) for one in (text, wanted.target, wanted.before)
    )
    gained, lost = target - before, before - target
    if gained or lost:
        return all(written[one] for one in gained) and all(
            written[one] <= target[one] for one in lost
        )
    there, away = (
        Levenshtein.distance(pieces(text), pieces(one)) for one in (wanted.target, wanted.before)
    )
    return there < away
