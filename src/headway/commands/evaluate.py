"""`headway evaluate`: how good are the translations, and is the difference real?"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from headway.commands.arguments import MOST_USED, group, print_json
from headway.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from headway.commands.evaluating import System, TestSet

CONVENTIONS = group("Conventions", 1)
Tokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "flores101", "flores200", "none", "moses",
    "moses-split",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """What `headway evaluate` is told.

    Parameters
    ----------
    source
        File of the texts that were, or are to be, translated, one a line.
    reference
        File of right translations, one a line; several files if every line has several.
    hypothesis
        File of finished translations, instead of a run. Name two to compare the second
        system with the first, with the p-values of a paired bootstrap test.
    corpus
        Text file(s) for language models: perplexity per token and per word, bits per
        character, each with what it is divided by.
    json
        Print one JSON object on standard output.
    score_card
        BLEU under every convention as well, and what each compares to.
    tokenize
        What cuts text into BLEU's tokens; else by language. none is for text tokenized
        already, moses and moses-split (words with hyphens cut too) are for older papers'
        figures.
    lowercase
        Ignore case in BLEU and chrF (TER always does).
    ter
        Count TER; --no-ter leaves it out. Else it is counted but for languages without
        spaces: of Chinese and Japanese a thousand long lines take minutes, of others it
        splits no characters.
    source_language
        Such as en; else the run's, or from the suffix (test.en).
    target_language
        Such as de; else the run's, or from the suffix of the reference (test.de). Of
        languages without spaces (zh, ja, th, lo, km, my, bo), characters are scored, not
        words.
    tag
        Which of the run's tags stands before each source text; as in translate.
    glossary
        Terms that are to hold in what the run translates: .tsv, .csv or .tbx; else those of
        the run, if it has some; none for no terms. How many do is said.
    off
        Parts of the run's model, such as encoder.2.head.3, cross.1 or
        decoder.0.feed_forward: what they are worth is measured by translating without them
        as well, with the p-values of a paired bootstrap test. docs/inspect.md names the
        parts.
    precision
        Of the compiled engine's products while the run translates: auto, fp32, bf16 or int8
        (docs/speed.md).
    engine
        What searches while the run translates: auto, torch, native or ctranslate2
        (docs/speed.md).
    shortlist
        As in translate.
    """

    source: Annotated[Path | None, MOST_USED] = None
    reference: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    hypothesis: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    corpus: Annotated[list[Path] | None, Parameter(consume_multiple=True), MOST_USED] = None
    json: Annotated[bool, MOST_USED] = False
    score_card: Annotated[bool, MOST_USED] = False
    tokenize: Annotated[Tokenizer | None, CONVENTIONS] = None
    lowercase: Annotated[bool, CONVENTIONS] = False
    ter: Annotated[bool | None, Parameter(negative="--no-ter"), CONVENTIONS] = None
    source_language: Annotated[str | None, CONVENTIONS] = None
    target_language: Annotated[str | None, CONVENTIONS] = None
    tag: str | None = None
    glossary: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None
    off: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    precision: str | None = None
    engine: Annotated[str | None, Parameter(name="--runtime.engine")] = None
    shortlist: int | None = None


NOTHING_TOLD = EvaluateOptions()
OF_TRANSLATIONS = (
    "reference", "source", "hypothesis", "off", "precision", "shortlist", "tag", "glossary",
    "engine", "tokenize", "lowercase", "ter", "score_card", "source_language", "target_language",
)  # fmt: skip
_OF_RUNS = ("tag", "glossary", "off", "precision", "engine", "shortlist")


def evaluate(
    *runs: Path, told: Annotated[EvaluateOptions, Parameter(name="*")] = NOTHING_TOLD
) -> None:
    """Score a translator, or finished translations, against references; a language model on text.

    BLEU, chrF and TER with sacreBLEU's signatures and 95 % bootstrap intervals, BLEU by length of
    the source (of the first reference where no source is given), and what may be wrong where
    something looks wrong.

    Parameters
    ----------
    runs
        Folder of a trained translator; it translates --source, and that is scored. Or, with
        --corpus, of one or several language models.
    """
    from headway.tasks import brought, brought_by_run, tasks_with

    behind = [files[-1] for files in (told.corpus, told.reference) if files and files[-1].is_dir()]
    if run := next(iter([*runs, *behind]), None):
        evaluate_with = brought_by_run(run, "evaluate")
    else:
        evaluate_with = brought(tasks_with("evaluate")[0], "evaluate", "no run")
    evaluate_with(list(runs), told)


def evaluate_translations(runs: Sequence[Path], told: EvaluateOptions) -> None:
    """Score a translator on references, or finished translations."""
    if told.corpus:
        raise ConfigError(
            "--corpus is what language models are scored on; got "
            f"{f'{runs[0]}, a translator' if runs else 'no run'}. Try: headway evaluate RUN "
            "--corpus F"
        )
    from headway.commands.evaluating import as_dict, score

    systems, test_set = _systems(runs, told)
    outcomes, differences = score(systems, test_set)
    if told.json:
        print_json(as_dict(outcomes, differences))
    else:
        from headway.commands.evaluation_tables import print_tables

        print_tables(outcomes, differences, "references" if told.source is None else "sources")


def given_options(told: EvaluateOptions, names: Sequence[str]) -> dict[str, Any]:
    """Which of some options were given, as they are written, and what with."""
    values = {name: getattr(told, name) for name in names}
    return {
        "--runtime.engine" if name == "engine" else f"--{name.replace('_', '-')}": value
        for name, value in values.items()
        if value is not None and (value is not False or name == "ter")
    }


def _systems(runs: Sequence[Path], told: EvaluateOptions) -> "tuple[list[System], TestSet]":
    """What is scored: a run's translations or finished ones; and what on."""
    from headway.commands.evaluating import TestSet, translated
    from headway.corpora.corpus import Corpus, languages
    from headway.metrics.evaluation import is_unspaced

    reference, source = told.reference, told.source
    if not reference:
        raise ConfigError(
            "translations are scored against --reference F, language models on --corpus F; got "
            "neither. Try: headway evaluate RUN --source F --reference F"
        )
    if not runs and len(reference) > 1 and reference[-1].is_dir():
        runs = [reference.pop()]  # RUN was written last, behind the names of the references
    if len(runs) > 1:
        raise ConfigError(
            f"one translator is scored at a time; got {len(runs)} folders. Compare the files that "
            "they write: --hypothesis F F2."
        )
    files = Corpus(source=(source or reference[0],), target=(reference[0],))
    of_source, of_target = languages(files, told.source_language, told.target_language)
    references = [_read(path) for path in reference]
    sources = None if source is None else _read(source)
    for path, lines in zip(reference[1:], references[1:], strict=True):
        _check_counts(path, len(lines), reference[0], len(references[0]))
    if source is not None and sources is not None:
        _check_counts(source, len(sources), reference[0], len(references[0]))
    systems: list[System]
    if runs:
        if told.hypothesis or sources is None:
            raise ConfigError(
                "a run is scored on --source, without --hypothesis; got "
                f"{'--hypothesis as well' if told.hypothesis else 'no --source'}. "
                "Try: headway evaluate RUN --source F --reference F"
            )
        found = translated(
            runs[0], sources, told.tag, told.glossary or (), told.off or (), told.precision,
            told.shortlist, told.engine,
        )  # fmt: skip
        systems = found.systems
        of_source = told.source_language or found.source_language or of_source
        of_target = told.target_language or found.target_language or of_target
    else:
        for option, given in given_options(told, _OF_RUNS).items():
            raise ConfigError(
                f"{option} is for what a run translates; got {given!r} without a run."
            )
        systems = _finished(told.hypothesis or [], reference[0], len(references[0]))
    if of_target is None and told.tokenize is None:
        print(
            "headway: the target language is not known: BLEU counts words. If the translations "
            "are written without spaces, say --target-language zh, ja or th, and it counts "
            "characters.",
            file=sys.stderr,
        )
    return systems, TestSet(
        references, sources, of_source, of_target, told.tokenize, told.lowercase,
        not is_unspaced(of_target) if told.ter is None else told.ter, told.score_card,
    )  # fmt: skip


def _read(path: Path) -> list[str]:
    from headway.core.lines import MAX_LINE_BYTES, read_lines
    from headway.localization.formats.file_kinds import NO_TEXT, no_plain_text, suffix_of

    if suffix_of(path) in NO_TEXT:
        raise no_plain_text(path)
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


def _finished(paths: list[Path], reference: Path, n_references: int) -> "list[System]":
    from headway.commands.evaluating import System
    from headway.core.lines import shown

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
        systems.append(System(shown(Path(path.name) if names_differ else path), lines))
    return systems
