"""`--report F.html|.tsv|.json`: what a person should look at, in a file.

The page has no script and nothing from elsewhere, and every text is escaped.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from html import escape
from pathlib import Path
from typing import Any

from headway.core.disk import write_text
from headway.core.errors import ConfigError
from headway.filling.inputs import FileJob
from headway.filling.report import (
    ORIGINS,
    FileReport,
    Row,
    causes,
    how_adapted,
    rows,
    summary,
    table,
    total,
)
from headway.languages.codes import LanguagePair
from headway.pages import STYLE, document

KINDS = (".html", ".tsv", ".json")
_STYLE = """
:root { --unsure: #9a5b00; } body { max-width: 76rem; }
@media (prefers-color-scheme: dark) { :root { --unsure: #f0a35e; } }
article { display: grid; grid-template-columns: 1fr 1fr; gap: 0.2rem 1.2rem; background: none;
  border-left: 4px solid var(--unsure); }
article.left { border-left-color: var(--look); } article > header, article > ul, article > details
  { grid-column: 1 / -1; }
article > header { color: var(--soft); font-size: 0.9rem; font-variant-numeric: tabular-nums; }
article header b { color: var(--ink); } .text { white-space: pre-wrap; }
.text.rejected { text-decoration: line-through; color: var(--soft); }
ul { margin: 0.3rem 0 0; padding-inline-start: 1.2rem; } li b { color: var(--look); }
td.why { white-space: normal; }
@media (max-width: 40rem) { article { grid-template-columns: 1fr; } }
"""
"""Beside that of all pages."""


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
        if place in (os.path.realpath(one) for one in (job.file, job.onto, job.out) if one):
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
        write_text(report, page(files, direction))


def as_json(files: Sequence[FileReport]) -> dict[str, Any]:
    """Counts of all, of each file, and the rows."""
    counts = [asdict(replace(file, rows=[])) for file in (total(files), *files)]
    for one in counts:
        del one["rows"]
    return {"summary": summary(total(files), "units"), "total": counts[0], "files": counts[1:],
            "units": list(rows(files))}  # fmt: skip


def page(files: Sequence[FileReport], direction: LanguagePair) -> str:
    """The whole page: counts, the files, then every unit that should be looked at."""
    parts = [*_head(files)]
    for file in files:
        parts.append(f"<section><h2><bdi>{escape(file.file)}</bdi></h2>" if file.rows else "")
        parts += (part for row in file.rows for part in _unit(row, direction))
        parts.append("</section>" if file.rows else "")
    return document("Translations to look at", parts, STYLE + _STYLE)


def _head(files: Sequence[FileReport]) -> Iterator[str]:
    counts = total(files)
    n_rows = sum(len(file.rows) for file in files)
    yield "<h1>Translations to look at</h1>"
    why = ", ".join(f"{n:,} {cause}" for cause, n in causes(files).items())
    yield (
        f"<p>Of {counts.gaps:,} to translate in {len(files):,} file{'s' * (len(files) != 1)} "
        f"{counts.n_filled:,} were filled in. {n_rows:,} {'is' if n_rows == 1 else 'are'} listed "
        f"below{': ' * bool(why)}{why}.</p>"
    )
    tiles = [(n, ORIGINS.get(name, name)) for name, n in sorted(counts.filled.items())]
    tiles += [(n, f"left: {name}") for name, n in sorted(counts.not_filled.items())]
    yield '<div class="tiles">'
    yield from (f"<div><b>{n:,}</b>{escape(name.replace('_', ' '))}</div>" for n, name in tiles)
    yield "</div>"
    if len(files) > 1:
        yield '<div class="wide"><table><tr><th>file</th><th>units</th><th>to translate</th>'
        yield "<th>filled in</th><th>to look at</th></tr>"
        for file in files:
            numbers = (file.units, file.gaps, file.n_filled, len(file.rows))
            cells = "".join(f"<td>{n:,}</td>" for n in numbers)
            yield f"<tr><td><bdi>{escape(file.file)}</bdi></td>{cells}</tr>"
            if file.refused:
                why = f"could not be translated: {escape(file.refused)}"
                yield f'<tr><td colspan="5" class="why">{why}</td></tr>'
        yield "</table></div>"


def _unit(row: Row, direction: LanguagePair) -> Iterator[str]:
    percent = "" if row["percent"] is None else f" {row['percent']}%"
    sure = "" if row["confidence"] is None else f"confidence {row['confidence']:.2f}"
    facts = (f"{row['file']}:{row['line']}", row["key"], f"{row['origin']}{percent}".strip(), sure)
    shown = " &nbsp; ".join(f"<bdi>{escape(fact)}</bdi>" for fact in facts if fact)
    left = "" if row["written"] else " <b>left as it was</b>"
    yield f'<article class="{"unsure" if row["written"] else "left"}">'
    yield f"<header>{shown}{left}</header>"
    gone = "" if row["written"] or not row["target"] else " rejected"
    yield from _both(row, direction, gone)
    if row["reasons"]:
        yield "<ul>"
        for reason in row["reasons"]:
            sure = "" if reason["confidence"] is None else f" ({reason['confidence']:.0%})"
            name = reason["name"].replace("_", " ")
            yield f"<li><b>{escape(name)}</b>{sure}: <bdi>{escape(reason['why'])}</bdi></li>"
        yield "</ul>"
    if row["near"]:
        yield "<details><summary>Near matches</summary>"
        for match in row["near"]:
            said = f"{match['place']} {how_adapted(match)}".strip()
            yield f"<p>{match['percent']}% <bdi>{escape(said)}</bdi></p>"
            yield from _both(match, direction, "")
        yield "</details>"
    yield "</article>"


def _both(texts: Row, direction: LanguagePair, gone: str) -> Iterator[str]:
    """Each in its own direction and, for the shapes of its characters, language."""
    for name, language, more in zip(("source", "target"), direction, ("", gone), strict=True):
        code = "" if language is None else f' lang="{escape(language.replace("_", "-"))}"'
        yield f'<div class="text{more}" dir="auto"{code}>{escape(texts[name])}</div>'
