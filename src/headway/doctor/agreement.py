"""What a translation should have in common with its source, pair by pair."""

import re
from collections import Counter
from collections.abc import Sequence

from headway.core.cleaning import Pair
from headway.core.dedup_split import Marks
from headway.doctor.batches import PairBatch, marks_of
from headway.doctor.findings import FindingsLog, Symptom
from headway.languages.numbers import odd_numbers
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
    "numbers above 12, or with a fraction, on one side only",
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
_SHOWN = 5  # codes
_CODE_HINTS = "<>%{}&`|\\@/$_!:#*["
_ROLE = re.compile(r"(:[\w:+.-]{1,60}:)?`(?:[^`<]*<([^`<>]+)>|([^`]+))`(__?)?")
_PLACEHOLDER = re.compile(r"%[\w({<#]|\{|</?[\w%?]|\$[\w({]")


class AgreementCheck:
    symptoms = NUMBERS_DIFFER, NUMBER_MISSING, CODES_DIFFER, COPY

    def __init__(self, log: FindingsLog, own: Sequence[OwnPattern] = ()) -> None:
        """`own` are patterns of codes besides those of every text."""
        self._log, self._own = log, own
        self._is_digit = marks_of(chr(code) for code in range(0x20000) if chr(code).isdecimal())
        self._hints_code = marks_of(_CODE_HINTS)

    def add(self, batch: PairBatch) -> None:
        take = self._log.take
        for pair in batch.marked(_either(batch, self._is_digit)):
            odd = odd_numbers(pair.source, pair.target)
            if odd.both:
                take(NUMBERS_DIFFER, pair, str(odd))
            elif odd.source or odd.target:
                take(NUMBER_MISSING, pair, str(odd))
        hinted = batch.marked(_either(batch, self._hints_code))
        for pair in batch.pairs if self._own else hinted:
            if odd_ones := odd_codes(pair, self._own):
                breaks = float(bool(_PLACEHOLDER.search(odd_ones))) - float("`" in odd_ones)
                take(CODES_DIFFER, pair, odd_ones, sure=breaks)
        for pair in batch.pairs:
            if pair.source == pair.target:
                take(COPY, pair)


def odd_codes(pair: Pair, own: Sequence[OwnPattern] = ()) -> str:
    """Codes that stand more often on one side than on the other, in words; "" for none.

    Where `|` divides plural forms, of which languages have different numbers, only their presence
    is compared. A reST role or reference is its target: its title may be translated.
    """
    source, target = (
        Counter(text[a:b] for a, b, _ in find(text, own))
        for text in (_ROLE.sub(_target_alone, text) if "`" in text else text for text in pair[:2])
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


def _target_alone(found: re.Match[str]) -> str:
    """:role:`title <target>` and `title <target>`_ as the target alone, in small."""
    role, target, alone, reference = found.groups(default="")
    if not role and not reference:
        return found[0]
    name = " ".join((target or alone).split()).lstrip("!~").lower()
    return f"{role}`{name}`{reference}"


def _either(batch: PairBatch, marks: Marks) -> Marks:
    """The pairs of which either side has a marked character: [pairs]."""
    source, target = (side.count(marks[side.codes]) > 0 for side in batch.sides)
    return source | target
