"""What a translation should have in common with its source, pair by pair."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.corpora.corpus import Direction
from headway.doctor.batches import PairBatch, PairSide, by_direction
from headway.doctor.findings import FindingsLog, Symptom
from headway.languages.numbers import odd_numbers
from headway.languages.scripts import LAST
from headway.languages.sentences import FULL_STOPS, GREEK, QUESTION_MARKS
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import find

NUMBERS_DIFFER = Symptom(
    "numbers_differ",
    "numbers that differ",
    "Either side has a number that the other lacks: a wrong figure, or sentences that do not "
    "belong together.",
    "Correct or remove them: a model that saw wrong numbers writes wrong numbers.",
    tolerated=0.001,
)
NUMBER_MISSING = Symptom(
    "number_missing",
    "numbers above 12 on one side only",
    "A number was left out, or spelled out in words on the other side.",
    "Correct those that were left out; words for numbers are no fault.",
    tolerated=0.005,
)
CODES_DIFFER = Symptom(
    "codes_differ",
    "placeholders and tags that differ",
    "Something like %s, {name}, <b> or a web address stands on one side only: programs that use "
    "such a translation may break.",
    "Correct them or remove these pairs.",
    tolerated=0.02,
)
COPY = Symptom(
    "copy",
    "copies: both sides are the same text",
    "Text that was not translated, or that needs no translation, such as names. A model that sees "
    "many copies learns to copy.",
    "Above some percent remove them, all but names and codes.",
    tolerated=0.02,
)
BRACKETS_DIFFER = Symptom(
    "brackets_differ",
    "brackets that close on one side only",
    "An opening or closing bracket is missing on one side: text was cut off or split differently.",
    "Look whether the sentences were cut at the wrong place.",
    tolerated=0.01,
)
QUESTION_DIFFERS = Symptom(
    "question_differs",
    "a question on one side, a statement on the other",
    "One side ends in a question mark, the other in a full stop: possibly another sentence.",
    "A few are free translations; if there are many, look for misaligned lines.",
    tolerated=0.01,
)
ENDING_DIFFERS = Symptom(
    "ending_differs",
    "a final full stop on one side only",
    "A model learns to add or leave out the final stop as its data do.",
    "If you care, make both sides alike.",
    tolerated=0.1,
)
CAPITALS_DIFFER = Symptom(
    "capitals_differ",
    "capital letters throughout on one side only",
    "A heading in capitals was translated in small letters, or the other way round.",
    "If you care, make both sides alike.",
    tolerated=0.01,
)
SYMPTOMS = (
    NUMBERS_DIFFER,
    NUMBER_MISSING,
    CODES_DIFFER,
    COPY,
    BRACKETS_DIFFER,
    QUESTION_DIFFERS,
    ENDING_DIFFERS,
    CAPITALS_DIFFER,
)

_SHOWN = 5  # codes
_QUESTION, _STOP = "?", "."
_ENDINGS = dict.fromkeys(QUESTION_MARKS, _QUESTION) | dict.fromkeys(FULL_STOPS, _STOP)
_LEAST_STOPS = 20
_HARDLY_EVER = 0.05  # of as many stops as the other side has
_CLOSERS = "\"'”’»›)）」』】］] "
_CODE_HINTS = "<>%{}&`|\\@/$_!:#*["
_ROLE = re.compile(r"(:[\w:+.-]{1,60}:)?`(?:[^`<]*<([^`<>]+)>|([^`]+))`(__?)?")
_PLACEHOLDER = re.compile(r"%[\w({<#]|\{|</?[\w%?]|\$[\w({]")
_BRACKETS = {"(": 1, "（": 1, "[": 1_000, "［": 1_000, "{": 1_000_000, "｛": 1_000_000}
_CLOSING_BRACKETS = {")": 1, "）": 1, "]": 1_000, "］": 1_000, "}": 1_000_000, "｝": 1_000_000}


class AgreementExaminer:
    """Compares the sides of each pair."""

    def __init__(
        self,
        notes: FindingsLog,
        own: Sequence[OwnPattern] = (),
        sample: Iterable[Pair] = (),
        declared: Mapping[str, Direction] | None = None,
    ) -> None:
        """Tell `notes`; `own` are patterns of codes besides those of every text.

        A `sample` says whether both sides write full stops; `declared` is of files by name.
        """
        self._notes, self._own = notes, own
        self._without_stops = {
            direction
            for direction, pairs in by_direction(sample, declared).items()
            if _has_hardly_any_stops(pairs)
        }
        self._is_digit = _marks(chr(code) for code in range(0x20000) if chr(code).isdecimal())
        self._hints_code = _marks(_CODE_HINTS)
        self._opened = np.zeros(LAST, np.int32)
        for bracket, worth in _BRACKETS.items():
            self._opened[ord(bracket)] = worth
        for bracket, worth in _CLOSING_BRACKETS.items():
            self._opened[ord(bracket)] = -worth
        self._n_pairs = 0

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        self._n_pairs += len(batch.pairs)
        take = self._notes.take
        for pair in batch.marked(_either(batch, self._is_digit)):
            odd = odd_numbers(pair.source, pair.target)
            if odd.both:
                take(NUMBERS_DIFFER, pair, str(odd))
            elif odd.source or odd.target:
                take(NUMBER_MISSING, pair, str(odd))
        hinted = batch.marked(_either(batch, self._hints_code))
        for pair in batch.pairs if self._own else hinted:
            if odd_ones := odd_codes(pair, self._own):
                take(CODES_DIFFER, pair, odd_ones, sure=_breaking(odd_ones))
        left, right = (side.total(self._opened[side.codes]) for side in batch.sides)
        for pair in batch.marked(left != right):
            take(BRACKETS_DIFFER, pair)
        for pair in batch.pairs:
            if pair.source == pair.target:
                take(COPY, pair)
                continue
            endings = ending(pair.source), ending(pair.target)
            if endings[0] != endings[1]:
                if all(endings):
                    take(QUESTION_DIFFERS, pair)
                elif _STOP in endings and batch.direction not in self._without_stops:
                    take(ENDING_DIFFERS, pair)
            if pair.source.isupper() != pair.target.isupper() and _capitals_differ(pair):
                take(CAPITALS_DIFFER, pair)

    def conclude(self) -> None:
        """Tell what was found."""
        self._notes.conclude(SYMPTOMS, self._n_pairs)


def odd_codes(pair: Pair, own: Sequence[OwnPattern] = ()) -> str:
    """Codes that stand more often on one side than on the other, in words; "" for none.

    Where `|` divides plural forms, of which languages have different numbers, only their presence
    is compared. A reST role or reference is its target: its title may be translated.
    """
    source, target = (
        Counter(text[a:b] for a, b, _ in find(text, own)) for text in map(_without_titles, pair[:2])
    )
    if all("|" in text for text in pair[:2]):
        source, target = Counter(set(source)), Counter(set(target))
    missing, invented = source - target, target - source
    parts = [
        f"only in the {side}: {', '.join(list(codes)[:_SHOWN])}"
        for side, codes in (("source", missing), ("target", invented))
        if codes
    ]
    return "; ".join(parts)


def _without_titles(text: str) -> str:
    """Every :role:`title <target>` and `title <target>`_ as the target alone, in small."""
    return _ROLE.sub(_target_alone, text) if "`" in text else text


def _target_alone(found: re.Match[str]) -> str:
    role, target, alone, reference = found.groups(default="")
    if not role and not reference:
        return found[0]
    name = " ".join((target or alone).split()).lstrip("!~").lower()
    return f"{role}`{name}`{reference}"


def _breaking(odd_ones: str) -> float:
    """How surely a program breaks on codes that differ: placeholders and tags first."""
    return float(bool(_PLACEHOLDER.search(odd_ones))) - float("`" in odd_ones)


def ending(text: str) -> str:
    """How a text ends, closing quotes and brackets apart: `?`, `.`, or "" for anything else.

    A Greek question ends with `;`, an Armenian one with a full stop: it has `՞` inside.
    """
    text = text.rstrip(_CLOSERS)
    if text.endswith(";"):
        return _QUESTION if GREEK.search(text) else ""
    if text.endswith("։") and "՞" in text[text.rfind("։", 0, -1) + 1 :]:
        return _QUESTION
    return _ENDINGS.get(text[-1:], "")


def _has_hardly_any_stops(pairs: Iterable[Pair]) -> bool:
    """Whether one side writes no full stop where the other does, as Thai and Lao."""
    sides = (side for pair in pairs for side in enumerate(pair[:2]))
    counts = Counter(number for number, text in sides if ending(text) == _STOP)
    fewer, more = sorted((counts[0], counts[1]))
    return more >= _LEAST_STOPS and fewer < _HARDLY_EVER * more


def _capitals_differ(pair: Pair) -> bool:
    """Whether one side is a few words in capitals, and the other could be but is not."""
    shouted, other = pair[:2] if pair.source.isupper() else pair[1::-1]
    return (
        sum(map(str.isupper, shouted)) >= 8 and " " in shouted and sum(map(str.islower, other)) >= 8
    )


def _marks(characters: Iterable[str]) -> NDArray[np.bool_]:
    marks = np.zeros(LAST, np.bool_)
    marks[[ord(character) for character in characters]] = True
    return marks


def _either(batch: PairBatch, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The pairs of which either side has a marked character: [pairs]."""
    source, target = (_any(side, marks) for side in batch.sides)
    return source | target


def _any(side: PairSide, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return side.count(marks[side.codes]) > 0
