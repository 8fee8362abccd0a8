"""`headway evaluate`: how good are the translations, and is the difference real?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headway.commands.arguments import print_json, process_settings, say
from headway.commands.evaluate_options import (
    OF_LABELS,
    OF_RUNS,
    OF_VECTORS,
    EvaluateOptions,
    given_options,
)
from headway.core.errors import ConfigError, DataError
from headway.languages.detection import heard_otherwise

if TYPE_CHECKING:
    from headway.commands.evaluating import System, TestSet

NOTHING_TOLD = EvaluateOptions()


def evaluate(
    *runs: Path, told: Annotated[EvaluateOptions, Parameter(name="*")] = NOTHING_TOLD
) -> None:
    """Score a translator, or finished translations, against references; a language model on text;
    word vectors on sets of analogies and of similar words.

    BLEU, chrF and TER with sacreBLEU's signatures and 95 % bootstrap intervals, BLEU by length of
    the source (of the first reference where no source is given), and what may be wrong where
    something looks wrong.

    Parameters
    ----------
    runs
        Folder of a trained translator; it translates --source, and that is scored. Of several
        their ensemble, see translate. Or, with --corpus, of a language model or
        of a run that labels; with --analogies or --similarities, of a run that has word vectors, or
        a file of them.
    """
    if given_options(told, OF_VECTORS):
        from headway.commands.vector_evaluation import evaluate_vectors

        evaluate_vectors(runs, told)
        return
    from headway.commands.labelling import brings
    from headway.tasks import brought, brought_by_run, tasks_with

    behind = [files[-1] for files in (told.corpus, told.reference) if files and files[-1].is_dir()]
    if run := next(iter([*runs, *behind]), None):
        evaluate_with = brought_by_run(run, "evaluate")
    else:
        evaluate_with = brought(tasks_with("evaluate")[0], "evaluate", "no run")
    pictures = given_options(told, OF_LABELS)
    if pictures and not (run and brings(run, "evaluate labels")):
        raise ConfigError(
            f"{next(iter(pictures))} is for runs that label; got {run or 'no run'}. Leave it out."
        )
    files = [*(told.corpus or ()), *(told.reference or ()), *([told.source] if told.source else ())]
    for one in (*runs, *behind):
        from headway.study.compared_runs import trained_with

        for sentence in trained_with(one, files):
            say(f"headway: {sentence}")
    if told.threads is not None and runs:
        process_settings({"runtime": {"threads": told.threads}})
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
    files = Corpus(source=(source or reference[0],), target=(reference[0],))
    of_source, of_target = languages(files, told.source_language, told.target_language)
    from headway.metrics.evaluation import read_to_score

    places = [path.resolve() for path in reference]
    for path, place in zip(reference, places, strict=True):
        if places.count(place) > 1:
            raise ConfigError(
                f"references are different translations; got {path} twice. Name it once."
            )
    references = [read_to_score(path) for path in reference]
    sources = None if source is None else read_to_score(source)
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
        systems, own = translated(runs, sources, told)
        of_source = told.source_language or own.source_language or of_source
        of_target = told.target_language or own.target_language or of_target
    else:
        for option, given in given_options(told, OF_RUNS).items():
            raise ConfigError(
                f"{option} is for what a run translates; got {given!r} without a run."
            )
        systems = _finished(told.hypothesis or [], reference[0], len(references[0]))
    for texts, paths, language in (
        *([([sources], [source], of_source)] if sources and source else []),
        (references, reference, of_target),
        *([] if runs else [([one.lines for one in systems], told.hypothesis or [], of_target)]),
    ):
        for lines, path in zip(texts, paths, strict=True):
            if sentence := heard_otherwise(f"texts of {path}", lines, language):
                say(f"headway: WARNING: {sentence}")
    if of_target is None and told.tokenize is None:
        say(
            "headway: the target language is not known: BLEU counts words. If the translations "
            "are written without spaces, say --target-language zh, ja or th, and it counts "
            "characters."
        )
    return systems, TestSet(
        references, sources, of_source, of_target, told.tokenize, told.lowercase,
        not is_unspaced(of_target) if told.ter is None else told.ter, told.rouge,
        told.score_card,
    )  # fmt: skip


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
    from headway.metrics.evaluation import read_to_score

    if not 1 <= len(paths) <= 2:
        raise ConfigError(
            f"one or two systems can be scored; got {len(paths)} --hypothesis and no run. "
            "Try: headway evaluate --hypothesis F --reference F"
        )
    systems = []
    names_differ = len({path.name for path in paths}) == len(paths)
    for path in paths:
        lines = read_to_score(path)
        _check_counts(path, len(lines), reference, n_references)
        systems.append(System(shown(Path(path.name) if names_differ else path), lines))
    return systems
