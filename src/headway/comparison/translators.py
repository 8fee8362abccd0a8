"""Translators in a comparison: they translate the same sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headway.comparison.changed import refuse_changed
from headway.comparison.entrants import (
    Entrant,
    Examined,
    Figure,
    Operations,
    Part,
    Parts,
    Request,
    Rows,
    Work,
)
from headway.decoding.settings import DecodingSettings
from headway.disk import digest
from headway.efficiency.counting import operations_per_target_token
from headway.errors import ConfigError, DataError, UserError
from headway.metrics.evaluation import Measured, by_length, lengths_in_tokens, measure
from headway.runs.kind import Say
from headway.tasks.translation import pairs
from headway.tasks.translation.kind import build
from headway.text.lines import read_lines
from headway.training.run_folder import RunFolder
from headway.translator import Translator

FILES = ("source", "reference")
BEYOND = "longer than all in training"


class Held(NamedTuple):
    """What is known of the data that a run was trained on."""

    rows: Rows
    """Its validation pairs."""
    longest: int | None
    """Of its training sources, in sub-words."""


def entrant(request: Request) -> Entrant:
    """A translator, and what it may be measured on: test files, or what it was validated on.

    Raises:
        ConfigError: other files are given than a source and a reference, or a tag of no use.
        DataError: they, or those that the run was validated on, cannot be read.
        RunError: there is no trained translator.
    """
    translator, tag = Translator.load(request.run), request.tag
    if tag is not None:
        translator.chosen_tag(tag)  # refuses one that it does not know
        if not request.files:
            raise ConfigError(
                "--tag says how test texts are read; validation sentences have tags of their own. "
                "Give --source F --reference F, or leave --tag out."
            )
    if request.files:
        rows, rows_are = read_files(request.files), "sentences of the test files"
        held = Held(rows, longest_source(request.run, translator))
    else:
        held, rows_are = held_by(request.run, translator, request.say), "validation sentences"

    def beyond(rows: Rows) -> list[bool] | None:
        if held.longest is None:
            return None
        encoded = translator.subwords.encode_batch([row[0] for row in rows])
        return [len(ids) > held.longest for ids in encoded]

    return Entrant(
        model=translator.plain.model,  # type: ignore[arg-type]
        rows=held.rows,
        row="sentence",
        rows_are=rows_are,
        begin=lambda rows: work_of(translator, rows, tag),
        stand_alone=True,
        beyond=beyond,
        operations=lambda rows: operations(translator, rows),
        shown=lambda row: (row[0], row[1]),
        ways={"the search": search(translator.settings.decoding)},
    )


def search(decoding: DecodingSettings) -> str:
    """How translations are found, in words."""
    if decoding.method != "beam":
        return decoding.method
    return f"beam {decoding.beam}, length penalty {decoding.length_penalty:g}"


def read_files(given: Mapping[str, Sequence[Path]]) -> Rows:
    """Pairs of the two test files."""
    if set(given) != set(FILES) or any(len(paths) != 1 for paths in given.values()):
        told = ", ".join(f"--{name} {' '.join(map(str, paths))}" for name, paths in given.items())
        raise ConfigError(
            f"translators are compared on --source F --reference F, one file each; got {told}."
        )
    (source,), (reference,) = (given[name] for name in FILES)
    sides = [[line or "" for line in read_lines(path)] for path in (source, reference)]
    if len(sides[0]) != len(sides[1]) or not sides[0]:
        raise DataError(
            f"a test set has a reference for every source; {source} has {len(sides[0]):,} lines "
            f"and {reference} has {len(sides[1]):,}. Give the two sides of one test set."
        )
    return list(zip(*sides, strict=True))


def held_by(run: Path, translator: Translator, say: Say) -> Held:
    """What a run was validated on: its text files are read again, or found in the cache."""
    try:
        data = pairs.read(translator.settings, translator.subwords, lambda _: None)
    except UserError as error:
        raise DataError(
            f"runs are compared on what they were validated on, and that of {run} cannot be read: "
            f"{error} Or give a test set: --source F --reference F."
        ) from None
    refuse_changed(run, data.checksums)
    say(f"read the validation sentences of {run}")
    texts = data.prepared.valid_texts
    rows = data.valid_rows()[: translator.settings.training.valid_sentences]
    lengths = data.prepared.train.lengths["source"]
    return Held([texts[row] for row in rows], int(lengths.max()))


def longest_source(run: Path, translator: Translator) -> int | None:
    """Sub-words of the longest source trained on: from data.json, else from the text files."""
    folder = RunFolder.open(run)
    if folder.data.exists():
        longest = folder.record().get("longest", {}).get("source")
        if isinstance(longest, int):
            return longest
    try:
        return held_by(run, translator, lambda _: None).longest
    except DataError:
        return None


def operations(translator: Translator, rows: Rows) -> Operations:
    """For each token of the target, the source's reading shared among them, and for all of them."""
    sources, references = ([row[side] for row in rows] for side in (0, 1))
    subwords = translator.subwords
    sides = subwords.encode_batch(sources), subwords.encode_targets(references)
    source, target = (round(float(np.mean([len(ids) + 1 for ids in side]))) for side in sides)
    for_token = operations_per_target_token(
        lambda: build(translator.settings, translator.subwords),
        source_length=source,
        target_length=target,
    )
    return Operations(for_token, for_token * target)


def work_of(translator: Translator, rows: Rows, tag: str | None = None) -> Work:
    """Translating, as `headway translate` does it."""
    sources, references = ([row[side] for row in rows] for side in (0, 1))

    def examined(outputs: list[str], beyond: Sequence[bool] | None) -> Examined:
        data = translator.settings.data
        found = measure(outputs, references, target_language=data.target_language, ter=False)
        holds_for = {
            "the test text": f"{len(rows):,} sentences, {digest(list(map(list, rows)))[:12]}",
            "the target language": data.target_language or "not known",
        }
        figures = [
            Figure(name, found.statistics[key], True, holds_for)
            for name, key in (("BLEU", "bleu"), ("chrF", "chrf"))
        ]
        lengths = lengths_in_tokens(sources, data.source_language)
        others = {"exactly right, %": 100.0 * float(found.exact.mean())}
        parts = bleu_by_length(found, lengths, beyond)
        return Examined(figures, outputs.__getitem__, parts, others)

    return Work(
        all=lambda: translator.translate(sources, tag=tag),
        one=lambda i: translator.translate([sources[i]], tag=tag),
        examined=examined,
    )


def bleu_by_length(found: Measured, lengths: Sequence[int], beyond: Sequence[bool] | None) -> Parts:
    """BLEU by length of the source; what is longer than all in training has a row of its own."""
    apart = np.zeros(len(lengths), bool) if beyond is None else np.array(beyond)
    rows = []
    if not apart.all():
        for bucket in by_length(_some(found, ~apart), np.array(lengths)[~apart].tolist()):
            last = "" if bucket.longest is None else bucket.longest
            rows.append(Part(f"{bucket.shortest}-{last}", bucket.sentences, bucket.bleu))
    if apart.any():
        score = _some(found, apart).statistics["bleu"].score()
        rows.append(Part(BEYOND, int(apart.sum()), score))
    return Parts("BLEU by length of the source", "tokens", rows)


def _some(found: Measured, kept: np.ndarray) -> Measured:
    bleu = found.statistics["bleu"]
    return Measured({"bleu": replace(bleu, counts=bleu.counts[kept])}, found.exact[kept])
