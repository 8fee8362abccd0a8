"""What the data doctor finds: symptoms in words, and the pairs that show them; and what cleaning
dropped or mended, what it means, and what to do about it."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from headway.core.cleaning import Pair, Report
from headway.corpora.reasons import MENDED, NOTICED, REASONS

EXAMPLES = 10
"""How many pairs of each symptom are shown."""

FEW = 2
"""Cases of a symptom that are never serious: they may be chance."""

_EXAMPLE_CHARACTERS = 200


class Severity(StrEnum):
    """What a finding asks of its reader, the most urgent first."""

    LOOK = "look"
    DROPPED = "dropped"
    INFORMATION = "information"


class Case(NamedTuple):
    """A pair that shows a symptom; its texts are cut to 200 characters."""

    file: str
    line: int
    source: str
    target: str
    detail: str = ""
    """What is odd about it, if the texts alone do not say it."""

    @classmethod
    def of(cls, pair: Pair, detail: str = "") -> "Case":
        source, target = (text[:_EXAMPLE_CHARACTERS] for text in pair[:2])
        return cls(pair.file, pair.line, source, target, detail)


@dataclass(frozen=True)
class Symptom:
    name: str
    """As JSON has it: `numbers_differ`."""
    title: str
    """As people read it: "numbers that differ"."""
    meaning: str
    remedy: str
    tolerated: float = 0.0
    """The share of pairs that good corpora show as well; more of them ask for a look."""
    serious: float = math.inf
    """The share of pairs from which on nobody should train on them."""


@dataclass(frozen=True)
class Finding:
    name: str
    severity: Severity
    title: str
    n: int
    """How many pairs show it."""
    of: int
    """How many were looked at: fewer than all if a sample was drawn."""
    meaning: str
    remedy: str
    examples: list[Case] = field(default_factory=list)
    """The surest first."""
    serious: bool = False
    """Whether nobody should train on this."""

    @property
    def share(self) -> float:
        return self.n / max(self.of, 1)

    def as_dict(self) -> dict[str, Any]:
        examples = [example._asdict() for example in self.examples]
        return {**asdict(self), "share": round(self.share, 6), "examples": examples}


class FindingsLog:
    """Takes down each case, counts it, and keeps the surest ten of each symptom."""

    def __init__(self, hear: Callable[[Symptom, Pair, str], None] | None = None) -> None:
        """`hear` is told of every case, not only of the first ones."""
        self._hear = hear
        self._n_cases: dict[Symptom, int] = {}
        self._examples: dict[Symptom, list[tuple[float, Case]]] = {}
        self._whole: list[Finding] = []

    def take(self, symptom: Symptom, pair: Pair, detail: str = "", sure: float = 0.0) -> None:
        """Count a case; of all those of a symptom the surest are shown, of equals the first."""
        self._n_cases[symptom] = self._n_cases.get(symptom, 0) + 1
        examples = self._examples.setdefault(symptom, [])
        if len(examples) < EXAMPLES or sure > examples[-1][0]:
            place = sum(sure <= other for other, _ in examples)
            examples.insert(place, (sure, Case.of(pair, detail)))
            del examples[EXAMPLES:]
        if self._hear is not None:
            self._hear(symptom, pair, detail)

    @property
    def heard(self) -> bool:
        """Whether somebody wants to be told of every case."""
        return self._hear is not None

    def count(self, symptom: Symptom, n_more: int) -> None:
        self._n_cases[symptom] = self._n_cases.get(symptom, 0) + n_more

    def add(self, finding: Finding) -> None:
        """Take down what is not a matter of single pairs."""
        self._whole.append(finding)

    def conclude(self, symptoms: Iterable[Symptom], of: int) -> None:
        """Make findings of some symptoms, `of` pairs having been looked at."""
        for symptom in symptoms:
            n_cases = self._n_cases.get(symptom, 0)
            if n_cases:
                urgent = n_cases > symptom.tolerated * of
                self.add(
                    Finding(
                        name=symptom.name,
                        severity=Severity.LOOK if urgent else Severity.INFORMATION,
                        title=symptom.title,
                        n=n_cases,
                        of=of,
                        meaning=symptom.meaning,
                        remedy=symptom.remedy,
                        examples=[case for _, case in self._examples.get(symptom, ())],
                        serious=n_cases > max(symptom.serious * of, FEW),
                    )
                )

    def findings(self) -> list[Finding]:
        """Everything concluded: the most urgent first, the serious of it, what most pairs show."""
        order = list(Severity)
        return sorted(
            self._whole,
            key=lambda found: (
                order.index(found.severity),
                not found.serious,
                -found.share,
                found.name,
            ),
        )


_SEPARATOR = " ||| "

_REMEDIES = {
    "blank_side": "Nothing, if they were not translated yet. Else look whether a line is missing.",
    "line_too_long": "Look whether the file has line ends at all.",
    "too_long": "Split them into sentences, or raise --data.max-characters.",
    "length_ratio": "Look at the examples: often lines are misaligned or cut. --data.max-ratio 0 "
    "keeps them.",
    "duplicate": "Nothing: a repeated pair teaches nothing new. --no-data.deduplicate keeps them.",
    "leakage": "Nothing: training on them would make the validation score a lie.",
    "held_out": "Nothing: they serve to validate.",
    "header": "Nothing.",
    "one_column": "Look whether columns are separated by tabs, not by spaces or commas.",
    "not_json": "Look whether each line is one complete JSON object.",
    "missing_language": "Look at the languages in the file, and choose with --source-language and "
    "--target-language.",
    "fuzzy": "Nothing, or have them confirmed in the program that marked them as unsure.",
    "noted": "Nothing: that was asked for.",
    "untranslated": "Nothing: `headway translate RUN FILE` can fill them in later.",
    "no_tokens": "Look at the examples.",
    "too_many_tokens": "Split them into sentences, or raise --data.max-length.",
}
_EXPECTED = frozenset("noted duplicate held_out header untranslated fuzzy leakage".split())
_MANY = 0.01


def dropped(report: Report) -> Iterator[Finding]:
    """One finding for each reason for which pairs were dropped."""
    for reason, n in report.dropped.items():
        many = reason not in _EXPECTED and n > _MANY * report.read
        yield Finding(
            name=reason,
            severity=Severity.DROPPED,
            title=f"{reason}: {REASONS[reason]}",
            n=n,
            of=report.read,
            meaning="That is many: look at them before you go on." if many else "",
            remedy=_REMEDIES.get(reason, "Look at the examples."),
            examples=_examples(report, reason),
        )


def mended(report: Report) -> Iterator[Finding]:
    """One finding for each kind of thing that was put right or noticed in passing."""
    for kind, n in report.mended.items():
        yield Finding(
            name=kind,
            severity=Severity.INFORMATION,
            title=f"mended: {MENDED[kind]}",
            n=n,
            of=2 * report.read,
            meaning="Corrected while reading; counted once a line.",
            remedy="Nothing." if kind != "control_character" else _CONTROLS,
        )
    for kind, n in (+report.noticed).items():
        if kind != "copy":  # which the doctor counts himself, with examples
            yield Finding(
                name=kind,
                severity=Severity.LOOK if kind == "doubtful_note" else Severity.INFORMATION,
                title=NOTICED[kind],
                n=n,
                of=report.read,
                meaning="Kept as it is: nothing was changed or left out.",
                remedy=_NOTICED_REMEDIES[kind],
                examples=_examples(report, kind),
                serious=kind == "doubtful_note" and n > _SERIOUS_NOTES * report.read,
            )


_CONTROLS = (
    "If there are many, look for UTF-8 that was read as Latin-1 in the original files: half of "
    "such characters are controls."
)


_SERIOUS_NOTES = 0.02
_NOTICED_REMEDIES = {
    "extra_columns": "Look whether the file has the columns that you expect.",
    "doubtful_note": "Have them corrected, or leave them out: --skip-notes doubtful (all such "
    'notes), or the words of those that you mean: --skip-notes "not ok".',
}


def _examples(report: Report, kind: str) -> list[Case]:
    return [
        Case(example.file, example.line, *_parts(example.text))
        for example in report.examples.get(kind, ())
    ]


def _parts(text: str) -> tuple[str, str, str]:
    """Source, target, and what is odd about them."""
    source, target, detail = [*text.split(_SEPARATOR, 2), "", ""][:3]
    return source, target, detail
