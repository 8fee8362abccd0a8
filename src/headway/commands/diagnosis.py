"""What the data doctor says of a corpus as plain values: what `--json` prints, and the verdict."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.core.cleaning import Report, refuse_unusable
from headway.core.dedup_split import held_out_size
from headway.core.errors import DataError
from headway.core.lines import printable, shown
from headway.corpora.cleaned import CleanedCorpus
from headway.corpora.corpus import Corpus, languages
from headway.corpora.mixing import format_pairs_file
from headway.corpora.shifts import LengthBlock
from headway.doctor.examination import Examination
from headway.doctor.lengths import Histogram

if TYPE_CHECKING:
    from headway.translation.pairs import TranslationData


def found_in(
    cleaned: CleanedCorpus,
    examination: Examination,
    settings: "TranslationData",
    trained_on: Corpus,
    options: Sequence[str],
) -> dict[str, Any]:
    """Everything the doctor says, as plain values; `read`, `kept`, `dropped`, .. of training.

    The next command is told for `trained_on`, the corpus itself or what is written of it, with the
    `options` that training needs besides.
    """
    corpus, valid_corpus = settings.corpus(), settings.validation()
    report = cleaned.reports["train"]
    valid = cleaned.reports["valid"]
    held_out = _held_out(report.kept, settings.valid_size) if valid_corpus is None else 0
    problems = _problems(report, held_out)
    named = languages(corpus)
    serious = [finding.title for finding in examination.findings if finding.serious]
    return {
        **report.as_dict(),
        "problems": problems,
        "serious": [*problems, *serious],
        "files": [shown(path) for path in corpus.files],
        "source_language": named[0],
        "target_language": named[1],
        "lengths": examination.sizes.summary(),
        "valid": valid.as_dict() if valid.read else None,
        "findings": [finding.as_dict() for finding in examination.findings],
        "scripts": examination.scripts,
        "languages": examination.languages,
        "n_sampled": examination.n_sampled,
        "figures": figures(examination),
        "next": _next(trained_on, valid_corpus, options, problems, examination),
    }


def _held_out(n_pairs: int, wanted: int) -> int:
    """How many pairs `train` would set aside to validate on."""
    return min(wanted or held_out_size(n_pairs), n_pairs // 2)


def _problems(report: Report, held_out: int) -> list[str]:
    """Why `train` would refuse this, if it would, some pairs being set aside."""
    left = replace(
        report,
        kept=report.kept - held_out,
        dropped=report.dropped + Counter(held_out=held_out),
        noticed=Counter(),
    )
    try:
        for one in (left, report):
            refuse_unusable(one)
    except DataError as error:
        return [str(error)]
    return []


def _next(
    corpus: Corpus,
    valid: Corpus | None,
    options: Sequence[str],
    problems: list[str],
    examination: Examination,
) -> str:
    """What to do after reading the report: `train` with all that was said here of the files."""
    if problems:
        return "Next: mend what train would refuse, then run headway prepare again."
    command = ["headway", "train", *_named(corpus, "--"), *_named(valid, "--valid-")]
    for side, code in (("source", corpus.source_language), ("target", corpus.target_language)):
        command += [f"--{side}-language", code] if code else []
    command += options
    urgent = any(finding.severity == "look" for finding in examination.findings)
    first = "when you have looked at what was found, " if urgent else ""
    return printable(f"Next: {first}{shlex.join(command)} --out RUN")


def _named(corpus: Corpus | None, dashes: str) -> Iterator[str]:
    """Files as flags name them, with their weights, tags and languages."""
    if corpus is None:
        return
    uses = zip(corpus.pairs, corpus.uses, strict=True)
    files = {
        "source": list(map(str, corpus.source)),
        "target": list(map(str, corpus.target)),
        "pairs": [format_pairs_file(path, use) for path, use in uses],
    }
    for name, given in files.items():
        yield from [dashes + name, *given] if given else []


_BARS = 40
_POINTS = 300
_SHOWN = 0.995  # of all values; the longest few would squeeze the others


def figures(examination: Examination) -> dict[str, Any]:
    """Lengths and ratios in at most 40 bars, the alignment in at most 300 points."""
    sizes = examination.sizes
    lengths = sizes.source.characters, sizes.target.characters
    top = max((histogram.quantile(_SHOWN) for histogram in lengths if histogram.total), default=0.0)
    ratio_top = sizes.ratio.quantile(_SHOWN) if sizes.ratio.total else 0.0
    return {
        "source_characters": _bars(sizes.source.characters, top),
        "target_characters": _bars(sizes.target.characters, top),
        "target_over_source": _bars(sizes.ratio, ratio_top),
        "alignment": _points(examination.alignment),
    }


def _bars(histogram: Histogram, top: float) -> dict[str, Any]:
    """Counts of values in steps of equal `width` from 0 up to `top`, and of those `above`."""
    n_values = round(top / histogram.unit) + 1
    step = -(-n_values // _BARS)
    shown = histogram.counts[:n_values]
    padded = np.pad(shown, (0, -len(shown) % step))
    counts = padded.reshape(-1, step).sum(axis=1)
    return {
        "width": round(step * histogram.unit, 6),
        "counts": counts.tolist(),
        "above": histogram.total - int(shown.sum()),
    }


def _points(blocks: list[LengthBlock]) -> list[dict[str, Any]]:
    """The correlation of each block and where it begins; of many blocks the lowest in a row."""
    step = -(-len(blocks) // _POINTS) or 1
    chosen = [
        min(blocks[i : i + step], key=lambda block: block.correlation)
        for i in range(0, len(blocks), step)
    ]
    return [
        {
            "file": block.first.file,
            "line": block.first.line,
            "correlation": round(block.correlation, 4),
        }
        for block in chosen
    ]
