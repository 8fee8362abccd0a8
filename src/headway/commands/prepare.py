"""`headway prepare`: the data doctor. What was read, kept and dropped, and what looks wrong."""

import json as json_format
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from headway.commands.arguments import Overrides, option_names, say, takes
from headway.disk import DiskError, whole_text
from headway.errors import ConfigError, DataError
from headway.locks import only_writer_of_file, only_writer_of_folder
from headway.runs.flags import PAIRS, sections_of
from headway.text.lines import printable, shown

if TYPE_CHECKING:
    from headway.data.cleaned import CleanedCorpus
    from headway.data.doctor.examination import Examination, Tools
    from headway.data.doctor.findings import Symptom
    from headway.data.prepared import DataSettings
    from headway.text.cleaning import Pair, Report
    from headway.text.corpora import Corpus


@takes(PAIRS)
def prepare(
    *overrides: Overrides,
    tokenizer: Path | None = None,
    out: Path | None = None,
    page: Path | None = None,
    suspects: Path | None = None,
    json: bool = False,
    **flags: Any,
) -> None:
    """Read parallel text as `train` would, and say what is wrong with it and what to do.

    Parameters
    ----------
    tokenizer
        A run, tokenizer.json or vocab.txt: how well does its vocabulary suit this text?
    out
        Folder to write the clean pairs to, as two text files.
    page
        HTML file to write the report to, with plots; it needs no network.
    suspects
        TSV file to write every suspicious pair to: symptom, file, line, source, target, detail.
    json
        Print one JSON object on standard output.
    """
    from headway.commands.stages import Stages
    from headway.config import build, merge, parse_overrides
    from headway.data.cache import cache_root
    from headway.data.cleaned import clean_corpus
    from headway.data.doctor.examination import examine
    from headway.data.doctor.report import report_lines
    from headway.tasks.translation.pairs import TranslationData
    from headway.text.corpora import directions, languages

    sections = parse_overrides(overrides, options=option_names(prepare))
    if others := sorted(set(sections) - {"data"}):
        raise ConfigError(f"prepare has settings in [data] only; got [{others[0]}]. Leave it out.")
    given = merge(sections, sections_of(flags, PAIRS)).get("data", {})
    settings = build(TranslationData, given, section="data")
    corpus, valid = settings.corpus(), settings.validation()
    tools = _tools(tokenizer, settings)
    with _only_writer(out, page, suspects):
        with Stages() as stages:
            cleaned = clean_corpus(
                corpus,
                settings.cleaning(),
                cache_root(),
                valid=valid,
                hold_out=0,
                workers=settings.workers,
                say=say,
                progress=stages,
            )
            named = languages(corpus)
            clean_files = _clean_files(out, *named) if out else []
            _refuse_overwriting([*filter(None, (page, suspects)), *clean_files], cleaned)
            with _listener(suspects) as hear:
                examination = examine(
                    cleaned,
                    *named,
                    tools,
                    directions=directions(corpus),
                    hear=hear,
                    progress=stages,
                )
        found = _found(cleaned, examination, corpus, valid, named, tools)
        if page is not None:
            _write_page(page, found)
        if json:
            print(json_format.dumps(found, ensure_ascii=False))
        else:
            print("\n".join(report_lines(found)))
        if clean_files:
            _write_clean(cleaned, clean_files)


@contextmanager
def _only_writer(out: Path | None, *files: Path | None) -> Iterator[None]:
    """Be the only process that writes to these; what cannot be written is refused at once."""
    with ExitStack() as stack:
        for file in filter(None, files):
            if not file.parent.is_dir():
                raise _unwritable(file, "its folder is not there")
            stack.enter_context(only_writer_of_file(file, say))
        if out is not None:
            stack.enter_context(only_writer_of_folder(out, say))
        yield


def _tools(tokenizer: Path | None, settings: "DataSettings") -> "Tools":
    from headway.data.doctor.examination import Tools
    from headway.data.doctor.languages import detector, installed
    from headway.text.subwords import Subwords

    return Tools(
        detect=detector() if installed() else None,
        subwords=Subwords.load(tokenizer) if tokenizer else None,
        max_length=settings.max_length,
    )


def _found(
    cleaned: "CleanedCorpus",
    examination: "Examination",
    corpus: "Corpus",
    valid_corpus: "Corpus | None",
    named: tuple[str | None, str | None],
    tools: "Tools",
) -> dict[str, Any]:
    """Everything the doctor says, as plain values; `read`, `kept`, `dropped`, .. of training."""
    from headway.data.doctor.figures import figures
    from headway.data.doctor.languages import HOW_TO_GET

    report = cleaned.reports["train"]
    valid = cleaned.reports["valid"]
    problems = _problems(report)
    return {
        **report.as_dict(),
        "problems": problems,
        "files": [shown(path) for path in corpus.files],
        "source_language": named[0],
        "target_language": named[1],
        "lengths": examination.sizes.summary(),
        "valid": valid.as_dict() if valid.read else None,
        "findings": [finding.as_dict() for finding in examination.findings],
        "scripts": examination.scripts,
        "languages": examination.languages,
        "languages_missing": "" if tools.detect else f"needs py3langid ({HOW_TO_GET})",
        "subwords": examination.subwords,
        "n_sampled": examination.n_sampled,
        "figures": figures(examination),
        "next": _next(corpus, valid_corpus, problems, examination),
    }


def _problems(report: "Report") -> list[str]:
    """Why `train` would refuse this, if it would."""
    from headway.text.cleaning import refuse_unusable

    try:
        refuse_unusable(report)
    except DataError as error:
        return [str(error)]
    return []


def _next(
    corpus: "Corpus", valid: "Corpus | None", problems: list[str], examination: "Examination"
) -> str:
    """What to do after reading the report: `train` with all that was said here of the files."""
    if problems:
        return "Next: mend what train would refuse, then run headway prepare again."
    command = ["headway", "train", *_named(corpus, "--"), *_named(valid, "--valid-")]
    for side, code in (("source", corpus.source_language), ("target", corpus.target_language)):
        command += [f"--{side}-language", code] if code else []
    urgent = any(finding.severity == "look" for finding in examination.findings)
    first = "when you have looked at what was found, " if urgent else ""
    return printable(f"Next: {first}{shlex.join(command)} --out RUN")


def _named(corpus: "Corpus | None", dashes: str) -> "Iterator[str]":
    """Files as flags name them, with their weights, tags and languages."""
    if corpus is None:
        return
    from headway.text.mixing import format_pairs_file

    uses = zip(corpus.pairs, corpus.uses, strict=True)
    files = {
        "source": list(map(str, corpus.source)),
        "target": list(map(str, corpus.target)),
        "pairs": [format_pairs_file(path, use) for path, use in uses],
    }
    for name, given in files.items():
        yield from [dashes + name, *given] if given else []


@contextmanager
def _listener(path: Path | None) -> "Iterator[Callable[[Symptom, Pair, str], None] | None]":
    """Writes each suspicious pair to a TSV file, if one is named."""
    if path is None:
        yield None
        return
    with _text(path) as file:
        file.write("symptom\tfile\tline\tsource\ttarget\tdetail\n")

        def hear(symptom: "Symptom", pair: "Pair", detail: str) -> None:
            cells = (symptom.name, pair.file, str(pair.line), pair.source, pair.target, detail)
            file.write("\t".join(cells) + "\n")

        yield hear
    say(f"suspicious pairs: {path}")


def _write_page(path: Path, found: dict[str, Any]) -> None:
    from headway.data.doctor.page import page

    with _text(path) as file:
        file.write(page(found))
    say(f"page: {path}")


def _refuse_overwriting(written: Sequence[Path], cleaned: "CleanedCorpus") -> None:
    for path in written:
        if path.exists() and any(path.samefile(read) for read in cleaned.checksums):
            raise ConfigError(
                f"--out, --page and --suspects must not overwrite what was read; got {path}. "
                "Name another."
            )


def _clean_files(folder: Path, source: str | None, target: str | None) -> list[Path]:
    suffixes = (source, target) if source and target and source != target else ("source", "target")
    return [folder / f"train.{suffix}" for suffix in suffixes]


def _write_clean(cleaned: "CleanedCorpus", finals: Sequence[Path]) -> None:
    """Write the clean training pairs as two files, complete or not at all."""
    with whole_text(finals[0]) as sources, whole_text(finals[1]) as targets:
        for pair in cleaned.pairs("train"):
            sources.write(pair.source + "\n")
            targets.write(pair.target + "\n")
    say(f"clean pairs: {finals[0]} and {finals[1]}")


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    try:
        with whole_text(path) as file:
            yield file
    except DiskError as error:
        raise _unwritable(path, str(error.__cause__)) from None


def _unwritable(path: Path, why: str) -> DataError:
    return DataError(f"cannot write {path}: {why}. Check its folder and permissions.")
