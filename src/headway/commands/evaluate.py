"""`headway evaluate`: how good are the translations, and is the difference real?"""

import json as json_format
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter

from headway.errors import ConfigError, DataError

if TYPE_CHECKING:
    from headway.metrics.diagnosis import Note
    from headway.metrics.score_card import ScoreCard
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


@dataclass(frozen=True)
class TestSet:
    """What systems are scored on, and how."""

    references: list[list[str]]
    """One or more translations of every line."""
    sources: list[str] | None
    source_language: str | None
    target_language: str | None
    tokenize: Tokenizer | None
    lowercase: bool
    ter: bool
    score_card: bool


class Outcome(NamedTuple):
    """All figures of one system."""

    name: str
    scores: "TranslationScores"
    by_length: "list[LengthBucket]"
    notes: "list[Note]"
    card: "ScoreCard | None"


def evaluate(
    run: Path | None = None,
    /,
    *,
    reference: Annotated[list[Path], Parameter(consume_multiple=True)],
    source: Path | None = None,
    hypothesis: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    source_language: str | None = None,
    target_language: str | None = None,
    tag: str | None = None,
    tokenize: Tokenizer | None = None,
    lowercase: bool = False,
    ter: Annotated[bool | None, Parameter(negative="--no-ter")] = None,
    score_card: bool = False,
    json: bool = False,
) -> None:
    """Score a translator, or finished translations, against references.

    BLEU, chrF and TER with sacreBLEU's signatures and 95 % bootstrap intervals, BLEU by length of
    the source (of the reference where no source is given), and what may be wrong where something
    looks wrong.

    Parameters
    ----------
    run
        Folder of a trained translator; it translates --source, and that is scored.
    reference
        File of right translations, one a line; several files if every line has several.
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
    tag
        Which of the run's tags stands before each source text; as in translate.
    tokenize
        What cuts text into BLEU's tokens; else by language. none is for text tokenized already,
        moses and moses-split (words with hyphens cut too) are for older papers' figures.
    lowercase
        Ignore case in BLEU and chrF (TER always does).
    ter
        Count TER; --no-ter leaves it out. Else it is counted but for Chinese and Japanese, where a
        thousand long lines take minutes.
    score_card
        BLEU under every convention as well, and what each compares to.
    json
        Print one JSON object on standard output.
    """
    from headway.metrics.tokenizers import is_unspaced
    from headway.text.corpora import Corpus, languages

    if run is None and len(reference) > 1 and reference[-1].is_dir():
        run = reference.pop()  # RUN was written last, behind the names of the references
    corpus = Corpus(source=(source or reference[0],), target=(reference[0],))
    of_source, of_target = languages(corpus, source_language, target_language)
    references = [_read(path) for path in reference]
    sources = None if source is None else _read(source)
    for path, lines in zip(reference[1:], references[1:], strict=True):
        _check_counts(path, len(lines), reference[0], len(references[0]))
    if source is not None and sources is not None:
        _check_counts(source, len(sources), reference[0], len(references[0]))
    if run is not None:
        if hypothesis or sources is None:
            raise ConfigError(
                "a run is scored on --source, without --hypothesis; got "
                f"{'--hypothesis as well' if hypothesis else 'no --source'}. "
                "Try: headway evaluate RUN --source F --reference F"
            )
        system, language_of_run = _translate(run, sources, tag)
        systems, of_target = [system], target_language or language_of_run or of_target
    else:
        if tag is not None:
            raise ConfigError(f"--tag is for what a run translates; got {tag!r} without a run.")
        systems = _finished(hypothesis or [], reference[0], len(references[0]))
    if of_target is None and tokenize is None:
        print(
            "headway: the target language is not known: BLEU counts words. If the translations "
            "are Chinese or Japanese, say --target-language zh or ja, and it counts characters.",
            file=sys.stderr,
        )
    if ter is None:
        ter = not is_unspaced(of_target)
    test_set = TestSet(
        references, sources, of_source, of_target, tokenize, lowercase, ter, score_card
    )
    outcomes, differences = _score(systems, test_set)
    if json:
        print(json_format.dumps(_as_dict(outcomes, differences), ensure_ascii=False))
    else:
        from headway.commands.evaluation_tables import print_tables

        print_tables(outcomes, differences, "references" if sources is None else "sources")


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


def _translate(run: Path, sources: list[str], tag: str | None) -> tuple[System, str | None]:
    """Its translations, and the language that it translates into, if it knows."""
    from headway.commands.tags import announced_tag
    from headway.runtime import set_threads
    from headway.translator import Translator

    print(f"headway: translating {len(sources):,} lines with {run}", file=sys.stderr)
    set_threads(0)
    translator = Translator.load(run)
    translations = translator.translate(sources, tag=announced_tag(translator, tag))
    return System(str(run), translations), translator.target_language


def _score(
    systems: list[System], test_set: TestSet
) -> tuple[list[Outcome], "dict[str, Difference] | None"]:
    from headway.commands.stages import Stages
    from headway.metrics.diagnosis import diagnose
    from headway.metrics.score_card import score_card
    from headway.metrics.translation import (
        METRICS,
        by_length,
        compare,
        lengths_in_tokens,
        measure,
        summarize,
    )

    references, *more_references = test_set.references
    sources = test_set.sources
    lengths = None if sources is None else lengths_in_tokens(sources, test_set.source_language)
    outcomes: list[Outcome] = []
    measured: list[Measured] = []
    n_metrics = len(METRICS) - (not test_set.ter)
    n_done, total = 0, len(systems) * n_metrics * len(references)
    with Stages() as stages:

        def advance(n_sentences: int) -> None:
            nonlocal n_done
            n_done += n_sentences
            stages("scoring", n_done, None if test_set.score_card else total)

        for name, lines in systems:
            found = measure(
                lines,
                references,
                more_references=more_references,
                target_language=test_set.target_language,
                tokenize=test_set.tokenize,
                lowercase=test_set.lowercase,
                ter=test_set.ter,
                advance=advance,
            )
            notes = diagnose(
                lines,
                references,
                more_references=more_references,
                sources=sources,
                bleu=found.statistics["bleu"],
            )
            card = None
            if test_set.score_card:
                card = score_card(
                    lines,
                    references,
                    more_references=more_references,
                    target_language=test_set.target_language,
                    ter=found.statistics.get("ter", False),
                    advance=advance,
                )
            measured.append(found)
            outcomes.append(Outcome(name, summarize(found), by_length(found, lengths), notes, card))
    return outcomes, compare(*measured) if len(measured) == 2 else None


def _as_dict(
    outcomes: Sequence[Outcome], differences: "dict[str, Difference] | None"
) -> dict[str, Any]:
    """The first system's figures; with two, the second's under `second`, and `difference`."""
    first, *others = (_outcome_as_dict(outcome) for outcome in outcomes)
    for other in others:
        first["second"] = other
    if differences is not None:
        first["difference"] = {name: asdict(value) for name, value in differences.items()}
    return first


def _outcome_as_dict(outcome: Outcome) -> dict[str, Any]:
    figures = {
        **asdict(outcome.scores),
        "by_length": [asdict(bucket) for bucket in outcome.by_length],
        "notes": [asdict(note) for note in outcome.notes],
        "system": outcome.name,
    }
    if outcome.card is not None:
        figures["score_card"] = [asdict(row) for row in outcome.card.rows]
        figures["left_out"] = [asdict(convention) for convention in outcome.card.left_out]
    return figures
