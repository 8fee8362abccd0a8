"""Translation files, many at once: opened, taken through one flow, and written whole."""

import codecs
import gzip
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from headway.core.disk import write_bytes
from headway.core.errors import DataError, UserError
from headway.core.lines import check_file, read_lines, shown
from headway.corpora.pieces import Progress
from headway.filling.flow import Cut, Flow, Steps, Translate
from headway.filling.inputs import FileJob
from headway.filling.journal import Journal
from headway.filling.report import UNWRITABLE, FileReport, report_of
from headway.languages.codes import LanguagePair, Languages, same_language, suffix_of
from headway.languages.path_languages import named_language
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import is_plain_text, opener_of
from headway.localization.formats.keyed import completed
from headway.localization.formats.piecewise import MISSING
from headway.localization.formats.spans import Decoded, Entry, of_entries
from headway.localization.formats.splitting import lines_of
from headway.localization.formats.units import Outcome, Unit
from headway.localization.placeholders.accelerators import sign_of
from headway.localization.placeholders.segments import Segment

AT_ONCE = 2048
"""Units that go through the flow together, whatever files they are of."""
FILES_AT_ONCE = 500

UNKNOWN = LanguagePair()


class Filler(NamedTuple):
    translate: Translate | None
    """None: what no memory has is left."""
    longest: int | None
    """Sub-words that it reads at once."""
    steps: Steps = Steps()
    """What else a unit goes through."""
    cut: Cut = lines_of
    """What of a text is translated at once."""


@dataclass
class OpenedFile:
    """A file that can be filled in, and what was made of its gaps so far."""

    job: FileJob
    n_gaps: int
    document: Document | None
    """None once its result is written."""
    outcomes: list[Outcome] = field(default_factory=list)
    done: bool = False
    """Its result is written, and told."""


def open_all(
    jobs: Sequence[FileJob], wanted: LanguagePair, *, overwrite: bool
) -> tuple[list[OpenedFile], dict[FileJob, UserError]]:
    """Open every file; those that cannot be filled in by a run of these languages, and why."""
    opened, errors = list[OpenedFile](), dict[FileJob, UserError]()
    for job in jobs:
        try:
            document = open_one(job, wanted, overwrite=overwrite)
        except UserError as error:
            errors[job] = error
            continue
        opened.append(OpenedFile(job, len(document.gaps), document))
    return opened, errors


def open_one(job: FileJob, wanted: LanguagePair, *, overwrite: bool) -> Document:
    """A file as its kind is opened; one of no kind is plain text.

    Raises DataError: a template, or as its opener and `check_languages`.
    """
    file = job.file
    opener = open_text if job.as_text or is_plain_text(file) else opener_of(file)
    check_file(file)
    document = opener(file, *wanted, overwrite)
    check_languages(document, wanted, file)
    if job.onto is None:
        return document
    check_file(job.onto)
    return completed(document, file, job.onto)


def open_text(path: Path, *_: object) -> Document:
    """Plain text: as many lines come out as go in, each with its own line end, and one that is left
    is blank.

    Raises DataError as `read_lines`.
    """
    text, entries, mended = "", list[Entry | str](), Counter[str]()
    n_crlf = 0
    for number, line in enumerate(read_lines(path, mended), start=1):
        if line is None or Segment((line,)).blank:
            text += line or ""
            entries.append("line_too_long" if line is None else "blank_side")
        else:
            at = len(text), len(text)
            entries.append(Entry(line, number, *at, _as_line, beside=True))
        text += "\r\n" if mended["crlf"] > n_crlf else "\n"
        n_crlf = mended["crlf"]
    mark = codecs.BOM_UTF8 if mended["byte_order_mark"] else b""
    return of_entries(Decoded(path, text, mark=mark), entries, (None, None), overwrite=False)


def _as_line(new: Segment) -> str:
    return new.text.replace("\n", " ")


def languages_said(given: LanguagePair, files: Sequence[OpenedFile]) -> LanguagePair:
    """What the call does not say, the first file does that says it."""
    said: list[Languages] = [given, *(file.document for file in files if file.document)]
    source = next((one.source_language for one in said if one.source_language), None)
    target = next((one.target_language for one in said if one.target_language), None)
    return LanguagePair(source, target)


class OtherLanguageError(DataError):
    """A file says that it is in another language."""

    def __init__(self, message: str, side: str, found: str, expected: str) -> None:
        super().__init__(message)
        self.side, self.found, self.expected = side, found, expected


def check_languages(document: Document, wanted: LanguagePair, file: Path) -> None:
    """Refuse to write one language where the file says another.

    Raises OtherLanguageError: the file's source or target is not the run's.
    """
    for side in ("source_language", "target_language"):
        found, expected = getattr(document, side), getattr(wanted, side)
        if found and expected and not same_language(found, expected):
            option, words = "--" + side.replace("_", "-"), side.replace("_", " ")
            by, remedy = "", "mend the file"
            if side == "source_language" and found == named_language(file):
                by, remedy = " (at least its name or folder)", "mend the file or its name"
            raise OtherLanguageError(
                f"a file is filled in by a run of its own languages; the run translates "
                f"{wanted.source_language or 'an unknown language'} into "
                f"{wanted.target_language or 'an unknown one'}, and {file}{by} says that "
                f"its {words} is {found}. Take another run, {remedy}, or, if that "
                f"is the same language, give {option} {found}.",
                words, found, expected,
            )  # fmt: skip


class Filling:
    def __init__(
        self,
        filler: Filler,
        journal: Journal,
        hear: Callable[[FileReport], None],
        *,
        target_language: str | None = None,
        everything: bool = False,
        to_stdout: bool = False,
    ) -> None:
        """`hear` is told of each file as soon as its result is written.

        `everything` gives a row to every unit; `to_stdout`: a file without a place goes there.
        """
        self._limit = filler.longest
        self._flow = Flow(filler.translate, filler.steps, target_language, filler.cut)
        self._journal, self._hear = journal, hear
        self._everything, self._to_stdout = everything, to_stdout

    def run(self, files: Sequence[OpenedFile], progress: Progress) -> bool:
        """Fill in the files; whether that came to its end before an interrupt.

        What was made of a file that is not `done` is in its `outcomes`.
        """
        for file in files:
            if report := self._journal.finished(file.job):
                file.done, file.document = True, None
                self._hear(report)
        n_units = sum(file.n_gaps for file in files)
        n_done = sum(file.n_gaps for file in files if file.done)
        for window in self._windows([file for file in files if not file.done]):
            units = [unit for _, some in window for unit in some]
            whole = True
            try:
                for done, total in self._flow.run(units):
                    progress("translating", n_done + len(units) * done // total, n_units)
            except KeyboardInterrupt:
                whole = False
            n_done += len(units)
            for file, some in window:
                self._take(file, [self._flow.outcome(unit) for unit in some])
            if not whole:
                return False
            self._flow.forget()
        return True

    def report(self, file: OpenedFile) -> FileReport:
        """What is to be told of a file."""
        document = _document(file)
        counts = document.counts
        return report_of(
            file.job.shown,
            None if file.job.out is None else shown(file.job.out),
            (counts.units, counts.left),
            file.outcomes,
            limit=self._limit,
            everything=self._everything,
        )

    def data(self, file: OpenedFile) -> bytes:
        """The file with what was made of it so far."""
        document = _document(file)
        missing = [None] * (len(document.gaps) - len(file.outcomes))
        return document.filled(
            [*(one.segment for one in file.outcomes), *missing],
            [*(one.percent for one in file.outcomes), *missing],
        )

    def _windows(
        self, files: Sequence[OpenedFile]
    ) -> Iterator[list[tuple[OpenedFile, list[Unit]]]]:
        """Units of the files in their order, `AT_ONCE` at a time; a file may lie in several."""
        window: list[tuple[OpenedFile, list[Unit]]] = []
        room = AT_ONCE
        for file in files:
            gaps = _document(file).gaps
            sign = sign_of(suffix_of(file.job.file), [gap.source for gap in gaps])
            units = [unit_of(gap, file.job.shown, sign) for gap in gaps]
            file.n_gaps, file.outcomes = len(units), self._journal.begun(file.job, units)
            units = units[len(file.outcomes) :]
            more = True
            while more:
                some, units = units[:room], units[room:]
                window.append((file, some))
                room -= len(some)
                more = bool(units)
                if not room or len(window) == FILES_AT_ONCE:
                    yield window
                    window, room = [], AT_ONCE
        if window:
            yield window

    def _take(self, file: OpenedFile, outcomes: Sequence[Outcome]) -> None:
        """What was made of the next units of a file; with the last of them it is written."""
        document = _document(file)
        made = [writable(document, replace(one, evidence=())) for one in outcomes]
        file.outcomes += made
        reached = next((n for n, one in enumerate(made) if one.why_not == MISSING), len(made))
        if reached < len(made) or len(file.outcomes) < file.n_gaps:
            self._journal.note_begun(file.job, made[:reached])
            return
        job, report = file.job, self.report(file)
        if job.out is not None and (job.out != job.file or report.n_filled):
            write_whole(self.data(file), job.out)
        elif job.out is None and self._to_stdout:
            write_whole(self.data(file), None)
        self._journal.note_finished(job, report)
        self._hear(report)
        file.done, file.document, file.outcomes = True, None, []


def _document(file: OpenedFile) -> Document:
    assert file.document, "it is asked for before its result is written"
    return file.document


def unit_of(gap: Unit, file: str, accelerator: str = "") -> Unit:
    """A gap as a unit of its file; `accelerator` is how that writes these."""
    return replace(gap, file=file, accelerator=accelerator)


def writable(document: Document, outcome: Outcome) -> Outcome:
    """The outcome, but left out where the file cannot hold its characters."""
    if outcome.segment is None or document.can_hold(outcome.segment):
        return outcome
    return replace(outcome, segment=None, why_not=UNWRITABLE, rejected=outcome.segment)


def write_whole(data: bytes, out: Path | None) -> None:
    """Write a file in one instant, packed if it ends in `.gz`; None is standard output.

    Raises OSError: it cannot be written; what was there before is as it was.
    """
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_bytes(out, gzip.compress(data, mtime=0) if out.suffix.lower() == ".gz" else data)
