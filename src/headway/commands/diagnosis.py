"""What the data doctor says of a corpus as plain values: what `--json` prints, and the verdict."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.core.cleaning import Report, refuse_unusable
from headway.core.dedup_split import held_out_size
from headway.core.errors import DataError
from headway.core.lines import printable, shown
from headway.corpora.cleaned import CleanedCorpus
from headway.corpora.corpus import Corpus, languages
from headway.corpora.mixing import format_pairs_file
from headway.doctor.examination import Examination

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
        "suspicions": [] if settings.one_language else report.suspicions,
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
