"""What is told of files that were filled in: counts, and a row for each unit to be looked at."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.localization.formats.file_kinds import is_plain_text
from headway.localization.formats.piecewise import CHOICE, CUT, MISSING, SILENT
from headway.localization.formats.units import DOUBTFUL, FUZZY, Match, Outcome

UNWRITABLE = "unwritable"
NO_MATCH = "no_match"
WHY_NOT = {
    CUT: "longer than the {limit} sub-words that the model was trained to read, even in sentences",
    SILENT: "the model wrote nothing",
    MISSING: "not reached",
    NO_MATCH: "not in the memory",
    CHOICE: "a choice of texts, as in {{n, plural, ..}}, that could not be taken apart: "
    "translate each branch by hand",
    DOUBTFUL: "less sure than --leave-below asks for",
    UNWRITABLE: "the file's encoding lacks characters of the translation: "
    "make it UTF-8 (msgconv -t UTF-8 -o NEW.po OLD.po)",
}
"""Why a gap is left, in words."""
CODES_AT_END = "codes_at_end"
_NEAR = 3

Row = dict[str, Any]
"""One unit, as `--json` gives it: see docs/files.md."""


@dataclass
class FileReport:
    """A file and what became of it; all of it can be written as JSON."""

    file: str
    out: str | None
    units: int
    """All of them, with those that were left alone."""
    gaps: int
    filled: dict[str, int] = field(default_factory=dict)
    """Gaps that were filled in, by origin."""
    not_filled: dict[str, int] = field(default_factory=dict)
    """Gaps that were not, by `WHY_NOT`."""
    left: dict[str, int] = field(default_factory=dict)
    """Units without a gap, by reason."""
    codes_at_end: int = 0
    flagged: int = 0
    rows: list[Row] = field(default_factory=list)
    refused: str = ""
    """Why nothing was done of it, with `--keep-going`."""

    @property
    def n_filled(self) -> int:
        return sum(self.filled.values())


def report_of(
    file: str,
    out: str | None,
    counts: tuple[int, Mapping[str, int]],
    outcomes: Sequence[Outcome],
    *,
    limit: int | None,
    everything: bool,
) -> FileReport:
    """`counts` are all units and those without a gap, `limit` sub-words that the model reads;
    `everything` gives a row to every unit."""
    made = [one for one in outcomes if one.segment is not None]
    return FileReport(
        file,
        out,
        counts[0],
        len(outcomes),
        filled=dict(Counter(one.origin for one in made)),
        not_filled=dict(Counter(one.why_not for one in outcomes if one.segment is None)),
        left=dict(counts[1]),
        codes_at_end=sum(not one.complete for one in made),
        flagged=sum(bool(one.flags) for one in outcomes),
        rows=[row_of(one, limit) for one in outcomes if everything or to_look_at(one)],
    )


def to_look_at(outcome: Outcome) -> bool:
    if outcome.segment is None:
        return outcome.why_not not in (MISSING, NO_MATCH) or bool(outcome.near)
    return bool(outcome.flags) or not outcome.complete or outcome.origin == FUZZY


def row_of(outcome: Outcome, limit: int | None) -> Row:
    """A unit and what became of it, as JSON has it."""
    unit, target = outcome.unit, outcome.target
    return {
        "file": unit.file,
        "line": unit.line,
        "key": f"{unit.key}[{unit.form}]" if unit.form else unit.key,
        "source": unit.source.text,
        "target": "" if target is None else target.text,
        "written": outcome.segment is not None,
        "origin": outcome.origin,
        "percent": outcome.percent,
        "confidence": None if outcome.confidence is None else round(outcome.confidence, 4),
        "score": outcome.score,
        "reasons": list(_reasons(outcome, limit)),
        "near": [
            {
                "percent": match.percent,
                "source": match.source.text,
                "target": match.target.text,
                "place": match.place,
                "differs": match.differs,
                "adapted": match.adapted,
                "not_adapted": match.not_adapted,
            }
            for match in outcome.near[:_NEAR]
        ],
    }


def _reasons(outcome: Outcome, limit: int | None) -> Iterable[Row]:
    """Why it should be looked at: what was found first, then what was done about it."""
    for flag in outcome.flags:
        yield {"name": flag.name, "confidence": round(flag.confidence, 4), "why": flag.why}
    if outcome.why_not:
        words = WHY_NOT.get(outcome.why_not, outcome.why_not).format(limit=limit)
        for one in outcome.near[:1] if outcome.why_not == NO_MATCH else ():
            words += f", but for {_near_match(one.percent, [one])}"
            words += f": --fuzzy-from {min(one.percent, 85)} takes it"
        yield {"name": outcome.why_not, "confidence": None, "why": words}
    if outcome.segment is not None and not outcome.complete:
        words = "codes that the model lost stand at the end"
        yield {"name": CODES_AT_END, "confidence": None, "why": words}
    if outcome.origin == FUZZY:
        best = outcome.near[:1]
        words = _near_match(outcome.percent, best)
        words += "".join(f" ({how})" for one in best if (how := how_adapted(one._asdict())))
        yield {"name": FUZZY, "confidence": None, "why": words}


def _near_match(percent: int | None, best: Sequence[Match]) -> str:
    places = "".join(f" from {one.place}" for one in best if one.place)
    return f"a near match of {percent}%{places}"


def how_adapted(match: Row) -> str:
    """In what a near match differs, and what was put right of it: `adapted: 2 -> 3`."""
    names = "differs", "adapted", "not_adapted"
    return "; ".join(f"{name.replace('_', ' ')}: {match[name]}" for name in names if match[name])


def badness(row: Row) -> float:
    """How much a row needs a look, 0 to 1; what was left empty comes first."""
    if not row["written"]:
        return 1.0
    if row["confidence"] is not None:
        return 0.99 - 0.9 * float(row["confidence"])
    return max((reason["confidence"] or 0.5 for reason in row["reasons"]), default=0.0) * 0.99


def said_of(row: Row) -> str:
    """A row as one line on stderr."""
    reasons = row["reasons"][:3]
    names = "; ".join(f"{one['name']}: {one['why']}" for one in reasons)
    how = "look at it" if row["written"] else "left as it was"
    sure = "" if row["confidence"] is None else f", confidence {row['confidence']:.2f}"
    return f"{row['file']}:{row['line']}: {how}{sure} ({names})"


def total(reports: Sequence[FileReport]) -> FileReport:
    """The counts of several files as if they were one; no rows."""
    whole = FileReport(f"{len(reports):,} file{'s' * (len(reports) != 1)}", None, 0, 0)
    for one in reports:
        for name in ("units", "gaps", "codes_at_end", "flagged"):
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
        for name in ("filled", "not_filled", "left"):
            counts = Counter(getattr(whole, name))
            counts.update(getattr(one, name))
            setattr(whole, name, dict(counts))
    return whole


def summary(report: FileReport, noun: str = "") -> str:
    """One line: what was filled in, from where, and what was left and why; `noun`: what it has."""
    origins = ", ".join(f"{n:,} {ORIGINS[name]}" for name, n in sorted(report.filled.items()))
    names = [*sorted(report.not_filled.items()), *sorted(report.left.items())]
    left = ", ".join(f"{n:,} {_LEFT.get(reason, reason.replace('_', ' '))}" for reason, n in names)
    alone = sum(n for reason, n in report.left.items() if reason != "only_in_target")
    forms = report.gaps + alone > report.units
    told = f"{report.gaps:,} to translate{' (a plural counts once for each form)' * forms}"
    told += f", {report.n_filled:,} filled in"
    if set(report.filled) - {"model"}:
        told += f" ({origins})"
    told += f"; left as they were: {left or 'none'}"
    if report.codes_at_end:
        told += f"; {report.codes_at_end:,} with codes at the end"
    if report.flagged:
        told += f"; {report.flagged:,} look doubtful"
    noun = noun or ("lines" if is_plain_text(Path(report.file)) else "units")
    noun = noun.removesuffix("s") if report.units == 1 else noun
    return f"{report.file}: {report.units:,} {noun}, {told}"


def causes(files: Sequence[FileReport]) -> dict[str, int]:
    """Why each row is listed, by its first reason: they add up to the rows."""
    counts = Counter[str]()
    for row in (row for file in files for row in file.rows):
        names = {reason["name"] for reason in row["reasons"]}
        flagged = names - {FUZZY, CODES_AT_END}
        cause = "left as they were" if not row["written"] else "doubtful" if flagged else ""
        cause = cause or ("codes at the end" if CODES_AT_END in names else "")
        counts[cause or ("near matches" if FUZZY in names else "without remarks")] += 1
    return dict(counts.most_common())


_LEFT = {
    MISSING: "not reached",
    NO_MATCH: "not in the memory",
    "translated": "translated already",
    "blank_side": "blank",
    "line_too_long": "of more than 1 MiB, made blank",
}
ORIGINS = {
    "model": "by the model",
    "memory": "from memory",
    "fuzzy": "from near matches",
}


COLUMNS = "file line key source target written origin percent confidence score reasons near".split()
"""Of the table, in their order; later versions may add some at the end."""


def rows(files: Sequence[FileReport]) -> Iterator[Row]:
    for file in files:
        yield from file.rows


def table(some: Iterator[Row]) -> Iterator[str]:
    """Lines of a TSV: a heading, then a line for each row; white space in a cell is one space."""
    yield "\t".join(COLUMNS)
    for row in some:
        yield "\t".join(" ".join(_cell(row, name).split()) for name in COLUMNS)


def _cell(row: Row, name: str) -> str:
    value = row[name]
    if name == "reasons":
        return "; ".join(f"{one['name']}: {one['why']}" for one in value)
    if name == "near":
        return "; ".join(f"{one['percent']}% {one['source']} = {one['target']}" for one in value)
    if name == "written":
        return "yes" if value else "no"
    if name == "score" and value is not None:
        return f"{value:.4f}"
    return "" if value is None else str(value)
