"""`headway evaluate`: how good are the translations, and is the difference real?"""

import json as json_format
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter

from headway.errors import ConfigError, DataError

if TYPE_CHECKING:
    from headway.metrics.translation import Difference, LengthBucket, Measured, TranslationScores


Tokenizer = Literal[
    "13a",
    "intl",
    "zh",
    "ja-mecab",
    "ko-mecab",
    "char",
    "flores101",
    "flores200",
    "none",
    "moses",
    "moses-split",
]


class System(NamedTuple):
    """Finished translations, and what to call them."""

    name: str
    lines: list[str]


class Outcome(NamedTuple):
    """All figures of one system."""

    name: str
    scores: "TranslationScores"
    by_length: "list[LengthBucket]"


def evaluate(
    run: Path | None = None,
    /,
    *,
    reference: Path,
    source: Path | None = None,
    hypothesis: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    source_language: str | None = None,
    target_language: str | None = None,
    tokenize: Tokenizer | None = None,
    lowercase: bool = False,
    json: bool = False,
) -> None:
    """Score a translator, or finished translations, against references.

    BLEU, chrF and TER with sacreBLEU's signatures and 95 % bootstrap intervals, and BLEU by length
    of the source (of the reference where no source is given).

    Parameters
    ----------
    run
        Folder of a trained translator; it translates --source, and that is scored.
    reference
        File of right translations, one a line.
    source
        File of the texts that were, or are to be, translated, one a line.
    hypothesis
        File of finished translations, instead of a run. Name two to compare the second system
        with the first, with the p-values of a paired bootstrap test.
    source_language
        Such as en; else from the suffix (test.en).
    target_language
        Such as de; else the run's, or from the suffix of the reference (test.de). Of Chinese and
        Japanese, characters are scored, not words.
    tokenize
        sacreBLEU's tokenizer for BLEU; else by language. Use none for text tokenized already.
    lowercase
        Ignore case in BLEU and chrF (TER always does).
    json
        Print one JSON object on standard output.
    """
    from headway.text.corpora import Corpus, languages

    corpus = Corpus(source=(source or reference,), target=(reference,))
    of_source, of_target = languages(corpus, source_language, target_language)
    references = _read(reference)
    sources = None if source is None else _read(source)
    if source is not None and sources is not None:
        _check_counts(source, len(sources), reference, len(references))
    if run is not None:
        if hypothesis or sources is None:
            raise ConfigError(
                "a run is scored on --source, without --hypothesis; got "
                f"{'--hypothesis as well' if hypothesis else 'no --source'}. "
                "Try: headway evaluate RUN --source F --reference F"
            )
        system, language_of_run = _translate(run, sources)
        systems, of_target = [system], target_language or language_of_run or of_target
    else:
        systems = _finished(hypothesis or [], reference, len(references))
    if of_target is None and tokenize is None:
        print(
            "headway: the target language is not known: BLEU counts words. If the translations "
            "are Chinese or Japanese, say --target-language zh or ja, and it counts characters.",
            file=sys.stderr,
        )
    outcomes, differences = _score(
        systems, references, sources, of_source, of_target, tokenize, lowercase
    )
    if json:
        print(json_format.dumps(_as_dict(outcomes, differences), ensure_ascii=False))
    else:
        _print_tables(outcomes, differences, "references" if sources is None else "sources")


def _read(path: Path) -> list[str]:
    from headway.text.lines import MAX_LINE_BYTES, read_lines

    lines = []
    for number, line in enumerate(read_lines(path), 1):
        if line is None:
            raise DataError(
                f"a line to be scored may have {MAX_LINE_BYTES:,} bytes; line {number:,} of {path} "
                "has more. Split it, in every file alike."
            )
        lines.append(line)
    return lines


def _check_counts(path: Path, n: int, reference: Path, n_references: int) -> None:
    if n != n_references:
        raise DataError(
            "files that are compared must have equally many lines; "
            f"{path} has {n:,} and {reference} has {n_references:,}. "
            "Give the two sides of the same test set, with nothing skipped."
        )


def _finished(paths: list[Path], reference: Path, n_references: int) -> list[System]:
    if not 1 <= len(paths) <= 2:
        raise ConfigError(
            f"one or two systems can be scored; got {len(paths)} --hypothesis and no run. "
            "Try: headway evaluate --hypothesis F --reference F"
        )
    systems = []
    names_differ = len({path.name for path in paths}) == len(paths)
    for path in paths:
        lines = _read(path)
        _check_counts(path, len(lines), reference, n_references)
        systems.append(System(path.name if names_differ else str(path), lines))
    return systems


def _translate(run: Path, sources: list[str]) -> tuple[System, str | None]:
    """Its translations, and the language that it translates into, if it knows."""
    from headway.translator import Translator

    print(f"headway: translating {len(sources):,} lines with {run}", file=sys.stderr)
    translator = Translator.load(run)
    return System(str(run), translator.translate(sources)), translator.target_language


def _score(
    systems: list[System],
    references: list[str],
    sources: list[str] | None,
    source_language: str | None,
    target_language: str | None,
    tokenize: str | None,
    lowercase: bool,
) -> tuple[list[Outcome], "dict[str, Difference] | None"]:
    from headway.commands.stages import Stages
    from headway.metrics.translation import (
        METRICS,
        by_length,
        compare,
        lengths_in_tokens,
        measure,
        summarize,
    )

    lengths = None if sources is None else lengths_in_tokens(sources, source_language)
    outcomes: list[Outcome] = []
    measured: list[Measured] = []
    n_done, total = 0, len(systems) * len(METRICS) * len(references)
    with Stages() as stages:

        def advance(n_sentences: int) -> None:
            nonlocal n_done
            n_done += n_sentences
            stages("scoring", n_done, total)

        for name, lines in systems:
            found = measure(
                lines,
                references,
                target_language=target_language,
                tokenize=tokenize,
                lowercase=lowercase,
                advance=advance,
            )
            measured.append(found)
            outcomes.append(Outcome(name, summarize(found), by_length(found, lengths)))
    return outcomes, compare(*measured) if len(measured) == 2 else None


def _as_dict(
    outcomes: list[Outcome], differences: "dict[str, Difference] | None"
) -> dict[str, Any]:
    """The first system's figures; with two, the second's under `second`, and `difference`."""
    first, *others = (
        {
            **asdict(outcome.scores),
            "by_length": [asdict(bucket) for bucket in outcome.by_length],
            "system": outcome.name,
        }
        for outcome in outcomes
    )
    for other in others:
        first["second"] = other
    if differences is not None:
        first["difference"] = {name: asdict(value) for name, value in differences.items()}
    return first


def _print_tables(
    outcomes: list[Outcome], differences: "dict[str, Difference] | None", lengths_of: str
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from headway.metrics.translation import METRICS

    titles = dict(zip(METRICS, ("BLEU", "chrF", "TER (lower is better)"), strict=True))
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE)
    table.add_column("")
    for outcome in outcomes:
        table.add_column(Text(outcome.name, overflow="fold"), justify="right")
    if differences is not None:
        table.add_column("difference", justify="right")
        table.add_column("p", justify="right")
    for metric, title in titles.items():
        scores = [getattr(outcome.scores, metric) for outcome in outcomes]
        cells = [f"{s.score:.2f} [{s.low:.2f}, {s.high:.2f}]" for s in scores]
        if differences is not None:
            change = differences[metric]
            cells += [f"{change.difference:+.2f}", f"{change.p_value:.3f}"]
        table.add_row(title, *(Text(cell) for cell in cells))
    exact = [f"{outcome.scores.exact_match:.2f}" for outcome in outcomes]
    table.add_row("exactly right, %", *exact)
    console.print(table)

    table = Table(box=box.SIMPLE, title=f"BLEU by length of the {lengths_of}", title_justify="left")
    for heading in ("tokens", "sentences", *("BLEU (output/reference length)" for _ in outcomes)):
        table.add_column(heading, justify="right")
    for buckets in zip(*(outcome.by_length for outcome in outcomes), strict=True):
        last = "" if buckets[0].longest is None else buckets[0].longest
        table.add_row(
            f"{buckets[0].shortest}-{last}",
            f"{buckets[0].sentences:,}",
            *(f"{bucket.bleu:.2f} ({bucket.length_ratio:.2f})" for bucket in buckets),
        )
    console.print(table)
    first = outcomes[0].scores
    for metric, title in titles.items():
        line = f"{title.split()[0]}: {getattr(first, metric).signature}"
        console.print(Text(line), soft_wrap=True)
    if differences is not None:
        console.print("p: paired bootstrap; below 0.05 chance is a poor explanation.")
