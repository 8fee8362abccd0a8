"""`--report F.html|.tsv|.json`: what a person should look at, in a file."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.core.disk import write_text
from headway.core.errors import ConfigError
from headway.filling.inputs import FileJob
from headway.filling.rows import FileReport, Row, summary, total
from headway.languages.codes import LanguagePair

KINDS = (".html", ".tsv", ".json")
COLUMNS = (
    "file",
    "line",
    "key",
    "source",
    "target",
    "written",
    "origin",
    "percent",
    "confidence",
    "score",
    "reasons",
    "near",
)
"""Of the table, in their order; later versions may add some at the end."""


def check_report(report: Path, jobs: Sequence[FileJob]) -> None:
    """Refuse a report that cannot be written, before anything is translated.

    Raises ConfigError: it is of no known kind, or would replace a file that is translated.
    """
    if report.suffix.lower() not in KINDS:
        raise ConfigError(
            f"a report is a page, a table or JSON; got --report {report}. "
            f"Name it with {', '.join(KINDS[:-1])} or {KINDS[-1]}."
        )
    place = os.path.realpath(report)
    for job in jobs:
        if place in (os.path.realpath(job.file), job.out and os.path.realpath(job.out)):
            raise ConfigError(f"--report {report} would replace {job.file}. Give another name.")


def write_report(report: Path, files: Sequence[FileReport], direction: LanguagePair) -> None:
    """Write it whole, in the kind that its name says.

    Raises DiskError: it cannot be written.
    """
    kind = report.suffix.lower()
    if kind == ".tsv":
        write_text(report, "".join(f"{line}\n" for line in table(rows(files))))
    elif kind == ".json":
        write_text(report, json.dumps(as_json(files), ensure_ascii=False, indent=1) + "\n")
    else:
        from headway.filling.report_page import page

        write_text(report, page(files, direction))


def rows(files: Sequence[FileReport]) -> Iterator[Row]:
    for file in files:
        yield from file.rows


def as_json(files: Sequence[FileReport]) -> dict[str, Any]:
    """Counts of all, of each file, and the rows."""
    counts = [{**asdict(file), "rows": None} for file in (total(files), *files)]
    for one in counts:
        del one["rows"]
    return {"summary": summary(total(files)), "total": counts[0], "files": counts[1:],
            "units": list(rows(files))}  # fmt: skip


def table(some: Iterator[Row]) -> Iterator[str]:
    """Lines of a TSV: a heading, then a line for each row; white space in a cell is one space."""
    yield "\t".join(COLUMNS)
    for row in some:
        yield "\t".join(" ".join(_cell(row, name).split()) for name in COLUMNS)


def _cell(row: Row, name: str) -> str:
    value = row[name]
    if name == "reasons":
        return "; ".join(f"{one['name']}: {one['why']}" for one in value)
    if name == "near":
        return "; ".join(f"{one['percent']}% {one['source']} = {one['target']}" for one in value)
    if name == "written":
        return "yes" if value else "no"
    if name == "score" and value is not None:
        return f"{value:.4f}"
    return "" if value is None else str(value)
