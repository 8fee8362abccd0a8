"""What cleaning dropped or mended, as findings: what it means, and what to do about it."""

from collections.abc import Iterator

from headway.core.cleaning import Report
from headway.corpora.reasons import MENDED, NOTICED, REASONS
from headway.doctor.findings import Case, Finding, Severity

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
_TOLERATED = 0.01


def dropped(report: Report) -> Iterator[Finding]:
    """One finding for each reason for which pairs were dropped."""
    for reason, n in report.dropped.items():
        many = reason not in _EXPECTED and n > _TOLERATED * report.read
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
