"""Translators in a comparison: they translate the same sentences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from headway.core.disk import digest
from headway.core.errors import ConfigError, DataError, UserError
from headway.core.hypothesis import DecodingSettings
from headway.core.search import METHODS
from headway.corpora.corpus import Corpus, languages
from headway.corpora.mixing import Use
from headway.languages.detection import heard_otherwise
from headway.metrics.corpus_scores import bleu_by_language, chrf_statistics
from headway.metrics.evaluation import read_to_score
from headway.operations.shipped import open_folder
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.study.compared_runs import (
    ComparisonRequest,
    Entrant,
    Figure,
    Rows,
    RunResults,
    Work,
    refuse_changed,
)
from headway.translation import run_data
from headway.translation.decoding import SamplingSettings
from headway.translation.spec import SPEC, read
from headway.translator import Translator

FILES = ("source", "reference")
UNKNOWN = (
    "the target language is not known: BLEU counts words. If the translations are written without "
    "spaces, give test files that say so by their names, such as test.zh, and it counts characters."
)

Group = TypeVar("Group")
Made = TypeVar("Made")
Uses = Mapping[tuple[str, ...], Use]
"""Of each row: the tag that it is read with, and its languages where they are known."""


class TestData(NamedTuple):
    """What a run is measured on."""

    rows: Rows
    uses: Uses
    learned: Collection[tuple[str, ...]] = ()
    """Rows that the run, or its parent, has learned from."""


def entrant(request: ComparisonRequest) -> Entrant:
    """A translator, and what it may be measured on: test files, or what it was validated on.

    Raises:
        ConfigError: other files are given than a source and a reference, or a tag that a run with
            tags does not know.
        DataError: they, or those that the run was validated on, cannot be read.
        RunError: there is no trained translator.
    """
    if request.tag is not None and not request.files:
        raise ConfigError(
            "--tag says how test texts are read; validation sentences have the tags of their own "
            "files. Give --source F --reference F, or leave --tag out."
        )
    translator = Translator.load(request.run)
    if request.files:
        held, rows_are = of_files(request, translator), "sentences of the test files"
    else:
        held, rows_are = held_by(request.run, translator, request.say), "validation sentences"

    terms = translator.processors.own_terms

    def ways(rows: Rows) -> dict[str, str]:
        return {
            "the search": search(translator.settings.decoding),
            "the glossary": f"its own, {len(terms.glossary.terms):,} terms" if terms else "none",
            "the tag before a sentence": ", ".join(
                sorted({held.uses[row].tag or "none" for row in rows})
            ),
        }

    def notes(rows: Rows) -> list[str]:
        found = [UNKNOWN] if any(held.uses[row].target_language is None for row in rows) else []
        directions = {(use.source_language, use.target_language) for use in held.uses.values()}
        wanted = directions.pop() if len(directions) == 1 else ()
        for n, language in enumerate(wanted):
            if told := heard_otherwise(f"{FILES[n]}s", [row[n] for row in rows], language):
                found.append(f"{told}.")
        if n := sum(row in held.learned for row in rows):
            found.append(
                f"{n:,} of the {len(rows):,} sentences were learned from by {request.run}, or its "
                "parent: its new pairs were too few for some to be held out. Give test files."
            )
        return found

    return Entrant(
        model=translator.plain.model,  # type: ignore[arg-type]
        rows=held.rows,
        row="sentence",
        rows_are=rows_are,
        begin=lambda rows: work_of(translator, rows, held.uses),
        stand_alone=True,
        shown=lambda row: (row[0], row[1]),
        ways=ways,
        notes=notes,
        tag=next(iter(held.uses.values())).tag if request.files else "",
    )


def search(decoding: DecodingSettings) -> str:
    """How translations are found, in words: what is not as usual is said too."""
    how, others, usual = str(decoding.method), ["max_extra_length"], SamplingSettings()
    if decoding.method == "beam":
        how = f"beam {decoding.beam}, length penalty {decoding.length_penalty:g}"
    elif decoding.method not in METHODS:
        others += ["temperature", "top_k", "top_p"]
    for name in others:
        if (value := getattr(decoding, name)) != getattr(usual, name):
            how += f", {name.replace('_', ' ')} {value:g}"
    return how


def of_files(request: ComparisonRequest, translator: Translator) -> TestData:
    """The pairs of the test files, under the tag that is asked for if the run reads tags, in the
    run's languages; where it has none, in those that the names of the files say."""
    data = translator.settings.data
    tag = translator.chosen_tag(request.tag if any(data.tags) else None)
    rows = read_files(request.files)
    files = Corpus(tuple(request.files["source"]), tuple(request.files["reference"]))
    use = Use(1.0, tag, *languages(files, data.source_language, data.target_language))
    return TestData(rows, dict.fromkeys(rows, use))


def read_files(given: Mapping[str, Sequence[Path]]) -> Rows:
    """Pairs of the two test files."""
    if set(given) != set(FILES) or any(len(paths) != 1 for paths in given.values()):
        told = ", ".join(f"--{name} {' '.join(map(str, paths))}" for name, paths in given.items())
        raise ConfigError(
            f"translators are compared on --source F --reference F, one file each; got {told}."
        )
    (source,), (reference,) = (given[name] for name in FILES)
    sides = [read_to_score(path) for path in (source, reference)]
    if len(sides[0]) != len(sides[1]) or not sides[0]:
        raise DataError(
            f"a test set has a reference for every source; {source} has {len(sides[0]):,} lines "
            f"and {reference} has {len(sides[1]):,}. Give the two sides of one test set."
        )
    return list(zip(*sides, strict=True))


def held_by(run: Path, translator: Translator, say: Say) -> TestData:
    """What a run was validated on: its text files are read again, or found in the cache; those of
    its parent too, where it went on from one.

    A row without a tag, of a model that has read none without, is read as `translate` reads it.
    """
    named = translator.settings.data
    if not (named.prepared or named.corpus().files):
        raise ConfigError(
            f"runs are compared on what they were validated on; {run} names no texts, as it was "
            "imported, or came with headway. Give a test set: --source F --reference F."
        )
    try:
        settings = Settings.of_run(open_folder(run), SPEC)
        data = read(settings, translator.subwords, lambda _: None)
        prepared, scored = data.prepared, run_data.scored_rows(data, settings)
        uses = [prepared.valid_uses[row] for row in scored]
        uses = [replace(use, tag=translator.chosen_tag(use.tag or None)) for use in uses]
    except UserError as error:
        raise DataError(
            f"runs are compared on what they were validated on, and that of {run} cannot be read: "
            f"{error} Or give a test set: --source F --reference F."
        ) from None
    refuse_changed(run, data.checksums)
    say(f"read the validation sentences of {run}")
    rows: Rows = [prepared.valid_texts[row] for row in scored]
    learned = {*rows} - {*rows[data.unlearned]}
    return TestData(rows, dict(zip(rows, uses, strict=True)), learned)


def work_of(translator: Translator, rows: Rows, uses: Uses) -> Work:
    """Translating, as `headway translate` does it, each row under its tag."""
    given, references = ([row[side] for row in rows] for side in (0, 1))
    tags = [uses[row].tag for row in rows]

    def translated(texts: list[str], tag: str) -> list[str]:
        return translator.translate(texts, tag=tag)

    def examined(outputs: list[str]) -> RunResults:
        into = [uses[row].target_language for row in rows]
        bleu = bleu_by_language(outputs, references, into)
        both = zip(outputs, references, strict=True)
        exact = np.array([output.strip() == reference.strip() for output, reference in both])
        holds_for = {
            "the test text": f"{len(rows):,} sentences, {digest(list(map(list, rows)))[:12]}",
            "the target language": ", ".join(dict.fromkeys(one or "not known" for one in into)),
        }
        figures = [
            Figure("BLEU", bleu, True, holds_for),
            Figure("chrF", chrf_statistics(outputs, references), True, holds_for),
        ]
        others = {"exactly right, %": 100.0 * float(exact.mean())}
        return RunResults(figures, outputs.__getitem__, others)

    return Work(
        all=lambda: of_each(given, tags, translated),
        one=lambda i: translated([given[i]], tags[i]),
        examined=examined,
    )


def of_each(
    texts: Sequence[str],
    groups: Sequence[Group],
    make: Callable[[list[str], Group], Sequence[Made]],
) -> list[Made]:
    """What is made of each text, in order; those of one group are given together."""
    made: dict[int, Made] = {}
    for group in dict.fromkeys(groups):
        rows = [row for row, other in enumerate(groups) if other == group]
        made.update(zip(rows, make([texts[row] for row in rows], group), strict=True))
    return [made[row] for row in range(len(texts))]
