"""`headway translate` of lines of text with memory, terms, a report or a floor of confidence."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from json import dump
from pathlib import Path
from typing import Any, NamedTuple

from headway.commands.arguments import in_chunks, say
from headway.commands.filling import Told, tell
from headway.commands.stages import Stages
from headway.commands.standard_input import typed_lines
from headway.core.disk import whole_text
from headway.core.errors import ConfigError
from headway.core.lines import check_file, read_lines, shown
from headway.filling.calls import languages_of
from headway.filling.flow import Flow
from headway.filling.inputs import FileJob, replaced
from headway.filling.report import check_report, write_report
from headway.filling.rows import FileReport, Row, report_of, row_of, total
from headway.filling.steps import Aids, Ready, filler
from headway.languages.codes import LanguagePair
from headway.localization.formats.units import Outcome, Unit
from headway.localization.placeholders.segments import Segment
from headway.operations.locks import only_writer_of_file


class TextOutput(NamedTuple):
    """Where the lines and the report go, and which languages they are in."""

    out: Path | None
    report: Path | None
    direction: LanguagePair


def translate_text(
    run: Path, file: Path | None, place: TextOutput, aids: Aids, told: Told, ready: Ready
) -> None:
    """Every line of `file` (or standard input) through the flow; N lines in, N lines out.

    Raises:
        ConfigError: alignments are asked for, or a place is the file itself.
        DataError: the text, a memory or a glossary cannot be read.
    """
    if told.alignment:
        raise ConfigError(
            "--alignment is for what a model alone translates; a memory, terms, --report and "
            "--leave-below go without it. Leave out --alignment."
        )
    if file is not None:
        check_file(file)
        if place.out is not None and place.out.exists() and place.out.samefile(file):
            raise replaced(file)
    if place.report is not None:
        check_report(place.report, [FileJob(file, place.out)] if file is not None else [])
    wanted = languages_of(run, place.direction)
    name = "standard input" if file is None else shown(file)
    parts: list[FileReport] = []
    with ExitStack() as opened:
        opened.enter_context(only_writer_of_file(place.out, say))
        opened.enter_context(only_writer_of_file(place.report, say))
        stages = opened.enter_context(Stages())
        filled = filler(run, (), wanted, aids, ready, say, stages)
        flow = Flow(filled.translate, filled.steps, wanted.target_language, filled.cut)
        output = sys.stdout if place.out is None else opened.enter_context(whole_text(place.out))
        collected: list[Row] = []
        for units in _chunks(file, name):
            outcomes = _through(flow, units)
            worded = [one for one in outcomes if not one.unit.source.blank]
            counts = len(units), {"blank_side": len(units) - len(worded)}
            limit = filled.longest
            parts.append(report_of(name, None, counts, worded, limit=limit, everything=False))
            if told.json:
                collected += (row_of(one, limit) for one in outcomes)
            else:
                output.writelines(_lines(outcomes, told))
                output.flush()
            flow.forget()
        if told.json:
            dump({"translations": collected}, output, ensure_ascii=False)
            output.write("\n")
    whole = replace(total(parts), file=name, rows=[row for part in parts for row in part.rows])
    whole.left = {reason: n for reason, n in whole.left.items() if n}
    if place.report is not None:
        write_report(place.report, [whole], wanted)
    tell([whole], listed=place.report is not None, noun="lines")


def _chunks(file: Path | None, name: str) -> Iterator[list[Unit]]:
    """The lines as units, many at a time, each with its neighbours."""
    number, before = 0, ""
    for lines in in_chunks(read_lines(file)) if file else typed_lines():
        units = []
        for n, line in enumerate(lines):
            number += 1
            after = lines[n + 1] if n + 1 < len(lines) else None
            units.append(Unit(Segment((line,)), name, number, before=before, after=after))
            before = line
        yield units


def _through(flow: Flow, units: list[Unit]) -> list[Outcome]:
    """What becomes of some lines; one without words stays as it is."""
    worded = [unit for unit in units if not unit.source.blank]
    for _ in flow.run(worded):
        pass
    return [
        Outcome(unit, unit.source if unit.source.text.strip() else None)
        if unit.source.blank
        else replace(flow.outcome(unit), evidence=())
        for unit in units
    ]


def _lines(outcomes: list[Outcome], told: Told) -> Iterator[str]:
    for outcome in outcomes:
        text = "" if outcome.segment is None else outcome.segment.text.replace("\n", " ")
        found: list[tuple[str, Any]] = [(text, outcome.score)]
        if told.n_best and outcome.segment is not None and outcome.n_best:
            found = [(one.segment.text.replace("\n", " "), one.score) for one in outcome.n_best]
        for one, score in found:
            cell = "" if score is None else f"{score:.4f}"
            in_front = f"{cell}\t" if told.scores and text else ""
            yield f"{in_front}{one}\n"
