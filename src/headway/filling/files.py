"""Files in, filled-in files out: one call from names to results, reports and a way to go on."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import ConfigError
from headway.corpora.pieces import Progress
from headway.filling.filling import (
    UNKNOWN,
    Filler,
    Filling,
    OpenedFile,
    languages_said,
    open_all,
    write_whole,
)
from headway.filling.inputs import FileJob, is_several, passed_over, plan, refuse, replaced
from headway.filling.journal import NAME, Journal
from headway.filling.report import FileReport
from headway.filling.report_files import check_report, write_report
from headway.languages.codes import LanguagePair, suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS, is_plain_text, paired
from headway.operations.locks import Say, only_writer_of_file, only_writer_of_folder

_KEEP_GOING = "--keep-going translates the others, and lists these."
_GO_ON = "the same command goes on with the rest"


@dataclass(frozen=True)
class FillOptions:
    out: Path | None = None
    """A file for one file, a folder for several; None: standard output, or nowhere."""
    in_place: bool = False
    """Results take the place of their files."""
    overwrite: bool = False
    """Also what is there already is translated anew."""
    direction: LanguagePair = UNKNOWN
    """What goes before the languages of the run."""
    report: Path | None = None
    everything: bool = False
    """Each unit gets a row, and without a place nothing is written."""
    onto: Path | None = None
    """A target file that is to be completed: its texts are kept."""
    keep_going: bool = False
    """Files that cannot be translated are left out, and told."""
    as_text: bool = False
    """The file is read line by line, whatever its name says."""
    name: str = ""
    """What the file is called, where that is not its own name."""


class Call(NamedTuple):
    wanted: LanguagePair
    load: Callable[[Sequence[OpenedFile]], Filler]
    """Asked once every file has been read: what cannot be is refused before that."""
    how: str
    """Stands for everything that a result depends on but its file."""
    say: Say
    progress: Progress


class Outcomes(NamedTuple):
    files: list[FileReport]
    """Those that were left out, then those that are finished, in their order; after an interrupt
    also what was begun."""
    whole: bool
    """It came to its end before an interrupt."""
    go_on: str
    """After an interrupt: what is where, and how to go on."""


def fill_files(names: Sequence[str], options: FillOptions, call: Call) -> Outcomes:
    """Fill in files, folders and patterns, and write the report.

    Raises:
        ConfigError: results have no place, or would replace something; two would be the same;
            plain text is to be translated in place.
        DataError: a file cannot be read or has other languages.
        FilesRefusedError: several reasons of these kinds; nothing was translated.
    """
    _check(options)
    several = is_several(names, options.out)
    jobs = _jobs(names, options, several=several)
    if options.in_place:
        plain = [job.file for job in jobs if is_plain_text(job.file)]
        refuse([_only_copy(file) for file in plain], len(jobs))
    tell_passed_over(names, options.out, call.say)
    opened, errors = open_all(jobs, call.wanted, overwrite=options.overwrite)
    if not (options.keep_going and opened):
        refuse(list(errors.values()), len(jobs), _KEEP_GOING)
    if options.report is not None:
        check_report(options.report, jobs)
    with ExitStack() as stack:
        if options.report is not None:
            stack.enter_context(only_writer_of_file(options.report, call.say))
        stack.enter_context(_alone(jobs, options, call.say, several=several))
        journal = Journal(_journal_place(jobs, options, several=several), call.how)
        reports = [FileReport(job.shown, None, 0, 0, refused=str(error))
                   for job, error in errors.items()]  # fmt: skip
        filling = Filling(
            call.load(opened),
            journal,
            reports.append,
            target_language=languages_said(call.wanted, opened).target_language,
            everything=options.everything,
            to_stdout=not options.everything,
        )
        whole = filling.run(opened, call.progress)
        go_on = "" if whole else _stopped(filling, opened, options, reports, several=several)
        if options.report is not None:
            write_report(options.report, reports, call.wanted)
        if whole:
            journal.remove()
    return Outcomes(reports, whole, go_on)


def tell_passed_over(names: Sequence[str], out: Path | None, say: Say) -> None:
    """Say which files of a folder are not translated, as their kind holds much else."""
    if others := passed_over(names, out):
        some = ", ".join(map(str, others[:3])) + (", .." if len(others) > 3 else "")
        kind = suffix_of(others[0])
        n = f"{len(others):,} file{'s' * (len(others) != 1)}"
        say(
            f"headway: {n} of kinds that need not be translations passed over: {some}. "
            f"If they are, name them, or give a pattern in quotes, such as 'FOLDER/**/*{kind}'"
        )


def _check(options: FillOptions) -> None:
    if options.in_place and options.out is not None:
        raise ConfigError(
            f"results go to one place; got --in-place and --out {options.out}. Leave one out."
        )
    if options.in_place and options.overwrite:
        raise ConfigError(
            "--overwrite may not replace the only copy of translations, as it would with "
            "--in-place. Give an --out instead."
        )


def _only_copy(file: Path) -> ConfigError:
    return ConfigError(
        "--in-place is for files that have a place for a translation; plain text has none, and a "
        f"line that is not reached, or left, would lose its only copy; got {file}. Give an --out "
        "instead."
    )


def _jobs(names: Sequence[str], options: FillOptions, *, several: bool) -> list[FileJob]:
    if not several:
        place = Path(names[0]) if options.in_place else options.out
        job = FileJob(Path(names[0]), place, options.onto, options.as_text, options.name)
        check_place(job, in_place=options.in_place)
        return [job]
    if options.onto is not None:
        raise ConfigError(
            f"--onto completes one file at a time; got {options.onto} for {', '.join(names)}. Give "
            "one source file, and --out as a file."
        )
    if not (options.in_place or options.out or options.everything):
        raise ConfigError(
            "results of several files go to a folder; none was given. Add --out FOLDER, or "
            "--in-place."
        )
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise ConfigError(
            f"results of several files go to a folder; --out {options.out} is a file. Give another."
        )
    return plan(names, options.out, in_place=options.in_place)


def check_place(job: FileJob, *, in_place: bool) -> None:
    """Refuse a place that the result of a single file cannot go to.

    Raises ConfigError: it is of another kind, or is the file itself.
    """
    if job.out is None:
        return
    kind = suffix_of(job.file)
    mine = FILE_KINDS.get(kind)
    if suffix_of(job.out) in FILE_KINDS and FILE_KINDS[suffix_of(job.out)] != mine:
        raise ConfigError(
            f"what comes out is of the same kind as what goes in; got {job.file} and --out "
            f"{job.out}. Name it with {kind or '.txt'}."
        )
    if not in_place and job.out.exists() and job.file.exists() and job.out.samefile(job.file):
        raise replaced(job.file)


def _alone(
    jobs: Sequence[FileJob], options: FillOptions, say: Say, *, several: bool
) -> AbstractContextManager[None]:
    """Be the only process that writes there."""
    if not several:
        return only_writer_of_file(jobs[0].out, say)
    if options.out is not None:
        return only_writer_of_folder(options.out, say)
    stack = ExitStack()
    if options.in_place:
        for folder in sorted({job.file.parent for job in jobs}):
            stack.enter_context(only_writer_of_folder(folder, say))
    return stack  # type: ignore[return-value]


def _journal_place(jobs: Sequence[FileJob], options: FillOptions, *, several: bool) -> Path | None:
    """In the folder of the results, or beside the first; what is no file has none."""
    if several and options.out is not None:
        return options.out / NAME
    place = jobs[0].out
    if place is None or (place.exists() and not place.is_file()):
        return None
    file = Path(os.path.realpath(place))
    return file.with_name(f".{file.name}{NAME}")


def _stopped(
    filling: Filling,
    opened: Sequence[OpenedFile],
    options: FillOptions,
    reports: list[FileReport],
    *,
    several: bool,
) -> str:
    """Tell of what was begun before an interrupt; says what is where and how to go on.

    In place, a file with room for both sides keeps what it has got; one of a single language would
    be half translated, and those translations translated again.
    """
    begun = [file for file in opened if not file.done and file.outcomes]
    reports += [filling.report(file) for file in begun]
    if options.in_place:
        for file in begun:
            if suffix_of(file.job.file) in paired():
                write_whole(filling.data(file), file.job.out)
        return f"what was done is kept; {_GO_ON}"
    n_done = sum(file.done for file in opened)
    if several:
        where = f" in {options.out}" if options.out is not None else ""
        return f"{n_done:,} of {len(opened):,} files are finished{where}" + (
            f"; {_GO_ON}" if where else ""
        )
    return f"what was done is kept beside {options.out}; {_GO_ON}" if options.out and begun else ""
