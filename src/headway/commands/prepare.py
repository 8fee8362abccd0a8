"""`headway prepare`: the data doctor. What was read, kept and dropped, and what looks wrong."""

import json as json_format
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

from cyclopts import Parameter

from headway.commands.arguments import Overrides, option_names, parse_overrides, say, takes
from headway.core.disk import DiskError, whole_text
from headway.core.errors import ConfigError, DataError
from headway.operations.locks import only_writer_of_file, only_writer_of_folder
from headway.runs.flags import PAIRS, sections_of

if TYPE_CHECKING:
    from headway.commands.curing import Curing
    from headway.commands.stages import Stages
    from headway.core.cleaning import Pair
    from headway.corpora.cleaned import CleanedCorpus
    from headway.corpora.corpus import Corpus
    from headway.doctor.examination import Examination, Tools
    from headway.doctor.findings import Symptom
    from headway.translation.pairs import TranslationData


SERIOUS = 3
"""Exit status of `--strict` where nobody should train on what was read."""

Several = Annotated[list[str] | None, Parameter(consume_multiple=True)]


@takes(PAIRS)
def prepare(
    *overrides: Overrides,
    out: Path | None = None,
    page: Path | None = None,
    suspects: Path | None = None,
    json: bool = False,
    strict: bool = False,
    drop: Several = None,
    fix: Several = None,
    memory: list[Path] | None = None,
    **flags: Any,
) -> int:
    """Read parallel text as `train` would, and say what is wrong with it and what to do.

    Parameters
    ----------
    out
        Folder to write the clean pairs to, as two text files. With --drop or --fix: the file, of
        the same kind as the one that was read, or the folder for several, to write the corpus to.
    page
        HTML file to write the report to, with plots; it needs no network.
    suspects
        TSV file to write every suspicious pair to: symptom, file, line, source, target, detail.
    json
        Print one JSON object on standard output.
    strict
        End with exit status 3 where nobody should train on this before it is mended.
    drop
        Kinds of findings (as in --json: truncated, duplicate, ..) whose pairs --out leaves out.
    fix
        What --out mends: mojibake, entities, white_space, not_nfc, invisible.
        Every other byte stays.
    memory
        Translation memories: count the words of FILE.. (.po, .xlf, ..) by how well they match.
    """
    if memory:
        from headway.commands.leverage import count_matches

        useless = {
            "out": out, "page": page, "suspects": suspects,
            "strict": strict, "drop": drop, "fix": fix,
        }  # fmt: skip
        count_matches(overrides, memory, {**flags, **useless}, json=json)
        return 0
    from headway.commands.stages import Stages
    from headway.core.config import build, merge
    from headway.corpora.mixed_languages import refuse_mixed
    from headway.translation.pairs import TranslationData

    sections = parse_overrides(overrides, options=option_names(prepare))
    if others := sorted(set(sections) - {"data"}):
        raise ConfigError(f"prepare has settings in [data] only; got [{others[0]}]. Leave it out.")
    given = merge(sections, sections_of(flags, PAIRS))
    settings = build(TranslationData, given.get("data", {}), section="data")
    own_codes = tuple(given.get("text", {}).get("own_codes", ()))
    settings.corpus().check()
    refuse_mixed(settings.corpus(), settings.validation())
    curing = _curing(drop, fix, out, settings)
    options = [*_repeated(flags, written=curing is not None), *overrides]
    clean = _clean_files(out, settings.corpus()) if out and not curing else []
    tools = _tools(own_codes, everything=curing is not None and curing.everything)
    files = _different(page, suspects, *clean, *(curing.all_files if curing else ()))
    with _only_writer(None if curing else out, [file for file in files if file not in clean]):
        with Stages() as stages:
            cleaned, examination = _examined(settings, tools, files, suspects, curing, stages)
        written = _written(settings.corpus(), clean, curing)
        found = _said(cleaned, examination, settings, written, options)
        if page is not None:
            _write_page(page, found)
        if json:
            print(json_format.dumps(found, ensure_ascii=False))
        else:
            from headway.doctor.report import report_lines

            print("\n".join(report_lines(found)))
        if clean:
            _write_clean(cleaned, clean)
        if curing:
            curing.write(cleaned, examination, settings.cleaning())
    return SERIOUS if strict and found["serious"] else 0


def _examined(
    settings: "TranslationData",
    tools: "Tools",
    written: Sequence[Path],
    suspects: Path | None,
    curing: "Curing | None",
    stages: "Stages",
) -> "tuple[CleanedCorpus, Examination]":
    """The clean corpus, and what is wrong with it; `written` are the files to be written."""
    from headway.corpora.cache import cache_root
    from headway.corpora.cleaned import clean_corpus
    from headway.corpora.corpus import directions, languages
    from headway.doctor.examination import examine

    corpus = settings.corpus()
    cleaned = clean_corpus(
        corpus,
        settings.cleaning(),
        cache_root(),
        valid=settings.validation(),
        hold_out=0,
        workers=settings.workers,
        say=say,
        progress=stages,
    )
    _refuse_overwriting(written, cleaned)
    with _listener(suspects) as listening:
        hearing = [listening] if listening else []
        hearing += [curing.hear] if curing else []

        def hear(symptom: "Symptom", pair: "Pair", detail: str) -> None:
            for one in hearing:
                one(symptom, pair, detail)

        examination = examine(
            cleaned,
            *languages(corpus),
            tools,
            directions=directions(corpus),
            hear=hear if hearing else None,
            progress=stages,
        )
    return cleaned, examination


def _said(
    cleaned: "CleanedCorpus",
    examination: "Examination",
    settings: "TranslationData",
    written: "Corpus",
    options: Sequence[str],
) -> dict[str, Any]:
    from headway.commands.diagnosis import found_in

    return found_in(cleaned, examination, settings, written, options)


def _repeated(flags: dict[str, Any], *, written: bool) -> list[str]:
    """The options that `train` needs as well; what notes leave out is not written in any case."""
    names = ["codes"] if written else ["codes", "skip_notes"]
    given = ((name.replace("_", "-"), flags.get(name)) for name in names)
    return [word for name, values in given if values for word in (f"--{name}", *values)]


def _written(corpus: "Corpus", clean: Sequence[Path], curing: "Curing | None") -> "Corpus":
    """What is there to train on afterwards: the files that are written, else those that were."""
    if curing:
        return curing.written_corpus
    if not clean:
        return corpus
    return replace(corpus, source=(clean[0],), target=(clean[1],), pairs=(), uses=())


def _curing(
    drop: list[str] | None,
    fix: list[str] | None,
    out: Path | None,
    settings: "TranslationData",
) -> "Curing | None":
    """What is to be left out and mended, if anything is."""
    if not drop and not fix:
        return None
    from headway.commands.curing import Curing

    corpus = settings.corpus()
    corpus.check()
    asked = [*(drop or ()), *(["noted"] if settings.skip_notes else ())]
    return Curing(asked, fix or (), out, corpus)


def _different(*files: Path | None) -> list[Path]:
    """All that are named; no two may be the same."""
    named = [*filter(None, files)]
    for path in named:
        if [one.absolute() for one in named].count(path.absolute()) > 1:
            raise ConfigError(
                f"--page, --suspects and --out are written each to a file of its own; got {path} "
                "for two of them. Name another."
            )
    return named


@contextmanager
def _only_writer(out: Path | None, files: Sequence[Path]) -> Iterator[None]:
    """Be the only process that writes to these; what cannot be written is refused at once."""
    with ExitStack() as stack:
        for file in files:
            if not file.parent.is_dir():
                raise _unwritable(file, "its folder is not there")
            stack.enter_context(only_writer_of_file(file, say))
        if out is not None:
            stack.enter_context(only_writer_of_folder(out, say))
        yield


def _tools(own_codes: tuple[str, ...], *, everything: bool) -> "Tools":
    from headway.doctor.examination import SLOW_PAIRS, Tools
    from headway.languages.detection import detect
    from headway.localization.placeholders.own_codes import compiled

    return Tools(
        detect=detect,
        slow_pairs=sys.maxsize if everything else SLOW_PAIRS,
        own_codes=compiled(own_codes),
    )


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
    from headway.doctor.page import page

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


def _clean_files(folder: Path, corpus: "Corpus") -> list[Path]:
    from headway.corpora.corpus import languages

    corpus.check()
    source, target = languages(corpus)
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
