"""What a reviewer changes again and again: replacements, learned from both versions of some texts.

They are found one after the other, each time the one that brings the texts as they were nearest to
those that the reviewer left (transformation-based learning, Brill 1995). What stays as it is inside
of a change may be left open: `eine ..e Frau -> ein ..es Kind` serves all adjectives, and
`..yesterday -> yesterday..` moves a word to the front.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from headway.localization.memory.words import aligned, pieces

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
_WORD, _WORDS = "\0", "\1"  # open places: a word or its beginning; words, up to the next sign
_OPEN = {_WORD: r"\w+", _WORDS: r"[^\n.,;:!?()，。、；：！？（）]+?"}
_STEM = 3  # letters that two forms of a word begin with
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

    @property
    def _any_case(self) -> bool:
        """The first letter is the same in both: it may be large or small."""
        return self.old[0].isalpha() and self.old[0] == self.new[:1]

    @cached_property
    def _literal(self) -> str:
        """What stands in every text that is changed."""
        return max(re.split(f"[{_WORD}{_WORDS}]", self.old[self._any_case :]), key=len)

    @cached_property
    def _found(self) -> re.Pattern[str]:
        """The new text, which stays, or the old one."""
        new, old = (_expression(text, self._any_case) for text in (self.new, self.old))
        stays = new.replace("?P<kept>", "?:") + "|" if self.new else ""
        return re.compile(f"{stays}(?P<old>{old})")

    def __str__(self) -> str:
        old, new = (
            re.sub(f"[{_WORD}{_WORDS}]", "..", text.strip(_EDGE)) for text in (self.old, self.new)
        )
        return f"{old} -> {new or 'nothing'}"

    def of(self, text: str) -> str:
        """The text with every old one replaced."""
        if self._literal not in f"{_EDGE}{text}{_EDGE}":
            return text
        return self._found.sub(self._made, f"{_EDGE}{text}{_EDGE}").strip(_EDGE)

    def _made(self, found: re.Match[str]) -> str:
        if found["old"] is None:
            return found[0]
        kept = found.groupdict().get("kept", "")
        made = re.sub(f"[{_WORD}{_WORDS}]", lambda _: kept, self.new)
        return found[0][0] + made[1:] if self._any_case else made


def _expression(text: str, any_case: bool) -> str:
    """A regular expression of it as whole words, where spaces part words."""
    left, right = (_spaced(one) for one in (text[:1], text[-1:]))
    signs = [f"(?P<kept>{_OPEN[one]})" if one in _OPEN else re.escape(one) for one in text]
    if any_case:
        signs[0] = f"[{text[0].lower()}{text[0].upper()}]"
    return (r"(?<!\w)" if left else "") + "".join(signs) + (r"(?!\w)" if right else "")


def _spaced(character: str) -> bool:
    return character.isalnum() and len(pieces(2 * character)) == 1


def replaced(text: str, replacements: Sequence[Replacement]) -> str:
    """The text after all of them, one after the other, and once more if anything was replaced: what
    one of them made may be what an earlier one waits for."""
    for _ in range(2):
        before = text
        for one in replacements:
            text = one.of(text)
        if text == before:
            break
    return text


class _AppliedReplacement(NamedTuple):
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
    texts, found, weight = [one.before for one in reviewed], list[_AppliedReplacement](), 0.0
    while len(found) < MOST_REPLACEMENTS:
        best = _best(texts, reviewed, usual, weight)
        if best is None:
            break
        found.append(best)
        changed = [best.replacement.of(text) for text in usual]
        weight = weight or len(best.helped) / max(1, sum(map(str.__ne__, changed, usual)))
        usual = [text for text, new in zip(usual, changed, strict=True) if text == new]
        made = [one.replacement for one in found]
        texts = [replaced(one.before, made) for one in reviewed]
    right = [text == one.target for text, one in zip(texts, reviewed, strict=True)]
    shares = [sum(right[i] for i in one.helped) / len(one.helped) for one in found]
    sure = [
        replace(one.replacement, reliable=share >= RELIABLE)
        for one, share in zip(found, shares, strict=True)
        if share >= LEAST_RIGHT
    ]
    known = {(one.old, one.new) for one in sure}
    words = _habits(reviewed, usual, weight).words
    return sure + [Replacement(*pair, reliable=False) for pair in words if pair not in known]


def _best(
    texts: Sequence[str], reviewed: Sequence[Correction], usual: Sequence[str], weight: float
) -> _AppliedReplacement | None:
    """The replacement that brings most nearer; one of the `usual` texts stands for `weight`."""
    wanted = [pieces(one.target) for one in reviewed]
    now = [Levenshtein.distance(pieces(t), w) for t, w in zip(texts, wanted, strict=True)]
    candidates: Counter[tuple[str, str]] = Counter()
    for text, one in zip(texts, reviewed, strict=True):
        candidates.update(set(_candidates(text, one.target)))
    words, moves = _habits(reviewed, usual, weight)
    ranked: list[tuple[float, int, int, str, _AppliedReplacement]] = []
    for (old, new), n in candidates.most_common(_TRIED):
        known = any(ours in old and theirs in new for ours, theirs in words)
        moved = _WORDS in old and any(old[end] == new[end] for end in moves)
        least = 1 if known or moved else LEAST_HELPED
        if n < least:
            continue
        tried = Replacement(old, new)
        changed = {i: made for i, text in enumerate(texts) if (made := tried.of(text)) != text}
        gains = {
            i: now[i] - Levenshtein.distance(pieces(made), wanted[i]) for i, made in changed.items()
        }
        helped = [i for i, gain in gains.items() if gain > 0]
        n_hurt = sum(gain < 0 for gain in gains.values())
        if len(helped) < least or n_hurt > MOST_HURT * len(helped) or sum(gains.values()) <= 0:
            continue
        if known or weight * _n_changed(tried, usual) <= MOST_UNSEEN * len(helped):
            n_right = sum(changed[i] == reviewed[i].target for i in helped)
            rank = sum(gains.values()), n_right, -len(old)
            ranked.append((*rank, old, _AppliedReplacement(tried, helped)))
    return max(ranked, key=lambda one: one[:4])[-1] if ranked else None


class _Habits(NamedTuple):
    """What is in half of the corrections; what holds one of these is learned from one text."""

    words: list[tuple[str, str]]
    """A word for another, always where it stood, and no more often in usual texts."""
    moves: list[int]
    """Words that go to the beginning (0) or the end (-1)."""


def _habits(reviewed: Sequence[Correction], usual: Sequence[str], weight: float) -> _Habits:
    """What is in half of the corrections."""
    words: Counter[tuple[str, str]] = Counter()
    moves, having = Counter[int](), Counter[str]()
    for one in reviewed:
        old, new = (pieces(f"{_EDGE}{side}{_EDGE}") for side in (one.before, one.target))
        both = [(old[i.old], new[i.new]) for i in aligned(old, new) if not i.same]
        single = {(a[0], b[0]) for a, b in both if len(a) == len(b) == 1}
        words.update((a, b) for a, b in single if f"{a}{b}".isalnum() and a not in new)
        having.update({*old})
        moves.update({end for it, _ in _turned(old, new) for end in (0, -1) if it[end] == _EDGE})
    least = max(LEAST_HELPED, sum(one.before != one.target for one in reviewed) / 2)
    return _Habits(
        [
            pair
            for pair, n in words.items()
            if n >= max(least, RELIABLE * having[pair[0]])
            and weight * _n_changed(Replacement(*pair), usual) <= n
        ],
        [end for end, n in moves.items() if n >= least],
    )


def _n_changed(tried: Replacement, texts: Sequence[str]) -> int:
    return sum(tried.of(text) != text for text in texts)


def _candidates(text: str, target: str) -> Iterator[tuple[str, str]]:
    """What may have been replaced here: each change, or some near each other, with a context.

    A text that only went to another place is no change by itself, neither where it was nor where it
    is: all between the two is.
    """
    if any(sign in text + target for sign in _OPEN):
        return
    old, new = (pieces(f"{_EDGE}{side}{_EDGE}") for side in (text, target))
    yield from _turned(old, new)
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
            found = old[here.start - before : here.stop + behind]
            made = new[there.start - before : there.stop + behind]
            if any(map(str.strip, found)):
                yield "".join(found), "".join(made)
                yield from _opened(found, made)


def _opened(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The same with a word left open, but for its ending, that stands between others."""
    if len(old) != len(new):
        return
    for i in range(2, len(old) - 2):
        stem = _n_alike(old[i], new[i])
        if stem >= _STEM and all(map(_spaced, old[i][:stem])):
            ours, theirs = (
                [*side[:i], _WORD + side[i][stem:], *side[i + 1 :]] for side in (old, new)
            )
            yield "".join(ours), "".join(theirs)


def _turned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Two neighbours that changed places, if that is all: either may be any words."""
    n = _n_alike(old, new)
    behind = _n_alike(old[n:][::-1], new[n:][::-1])
    middle, wanted = old[n : len(old) - behind], new[n : len(new) - behind]
    if Counter(middle) != Counter(wanted):
        return
    for cut, space in product(range(1, len(middle)), (0, 1)):
        left, between, right = middle[:cut], middle[cut : cut + space], middle[cut + space :]
        if not "".join(between).strip() and [*right, *between, *left] == wanted:
            first, gap, second = map("".join, (left, between, right))
            before, after = old[n - 1], old[len(old) - behind]
            yield f"{before}{_WORDS}{gap}{second}", f"{before}{second}{gap}{_WORDS}"
            yield f"{first}{gap}{_WORDS}{after}", f"{_WORDS}{gap}{first}{after}"


def _n_alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many the same both begin with."""
    differ = (i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    return next(differ, min(len(old), len(new)))


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
