"""The report as one HTML file: no script, nothing from elsewhere, every text escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from headway.filling.rows import FileReport, Row, causes, total
from headway.languages.codes import LanguagePair
from headway.pages import STYLE, document

_STYLE = """
:root { --unsure: #9a5b00; } body { max-width: 76rem; }
@media (prefers-color-scheme: dark) { :root { --unsure: #f0a35e; } }
article { display: grid; grid-template-columns: 1fr 1fr; gap: 0.2rem 1.2rem; background: none;
  border-left: 4px solid var(--unsure); }
article.left { border-left-color: var(--look); } article > header, article > ul, article > details
  { grid-column: 1 / -1; }
article > header { display: flex; flex-wrap: wrap; gap: 0 1rem; color: var(--soft);
  font-size: 0.9rem; font-variant-numeric: tabular-nums; }
article header b { color: var(--ink); } .text { white-space: pre-wrap; }
.text.rejected { text-decoration: line-through; color: var(--soft); }
ul { margin: 0.3rem 0 0; padding-inline-start: 1.2rem; } li b { color: var(--look); }
@media (max-width: 40rem) { article { grid-template-columns: 1fr; } }
"""
"""Beside that of all pages."""
_WORST = 10


def page(files: Sequence[FileReport], direction: LanguagePair) -> str:
    """The whole page: counts, the files, then every unit that should be looked at."""
    parts = (*_head(files), *_files(files), *_units(files, direction))
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
    tiles = [(n, _ORIGINS.get(name, name)) for name, n in sorted(counts.filled.items())]
    tiles += [(n, f"left: {name}") for name, n in sorted(counts.not_filled.items())]
    yield '<div class="tiles">'
    for n, name in tiles:
        if n:
            yield f"<div><b>{n:,}</b>{escape(name.replace('_', ' '))}</div>"
    yield "</div>"


_ORIGINS = {"model": "by the model", "memory": "from memory", "fuzzy": "near matches"}


def _files(files: Sequence[FileReport]) -> Iterator[str]:
    if len(files) < 2:
        return
    yield f"<details{' open' * (len(files) <= _WORST)}><summary>All files</summary>"
    yield '<div class="wide"><table><tr><th>file</th><th>units</th>'
    yield "<th>to translate</th><th>filled in</th>"
    yield "<th>to look at</th></tr>"
    for file in files:
        numbers = (file.units, file.gaps, file.n_filled, len(file.rows))
        cells = "".join(f"<td>{n:,}</td>" for n in numbers)
        why = f"<p>could not be translated: {escape(file.refused)}</p>" if file.refused else ""
        yield f"<tr><td><bdi>{escape(file.file)}</bdi>{why}</td>{cells}</tr>"
    yield "</table></div></details>"


def _units(files: Sequence[FileReport], direction: LanguagePair) -> Iterator[str]:
    for file in files:
        if not file.rows:
            continue
        yield f"<section><h2><bdi>{escape(file.file)}</bdi></h2>"
        for row in file.rows:
            yield from _unit(row, direction)
        yield "</section>"


def _unit(row: Row, direction: LanguagePair) -> Iterator[str]:
    yield f'<article class="{"unsure" if row["written"] else "left"}">'
    yield f"<header>{''.join(_facts(row))}</header>"
    yield _text(row["source"], direction.source_language, "")
    gone = "" if row["written"] or not row["target"] else " rejected"
    yield _text(row["target"], direction.target_language, gone)
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
            place = f" <bdi>{escape(match['place'])}</bdi>" if match["place"] else ""
            differs = f" differs: {escape(match['differs'])}" if match["differs"] else ""
            yield f"<p>{match['percent']}%{place}{differs}</p>"
            yield _text(match["source"], direction.source_language, "")
            yield _text(match["target"], direction.target_language, "")
        yield "</details>"
    yield "</article>"


def _facts(row: Row) -> Iterator[str]:
    yield f"<span><bdi>{escape(row['file'])}</bdi>:{row['line']}</span>"
    if row["key"]:
        yield f"<span><bdi>{escape(row['key'])}</bdi></span>"
    percent = "" if row["percent"] is None else f" {row['percent']}%"
    if row["origin"]:
        yield f"<span>{escape(row['origin'])}{percent}</span>"
    if not row["written"]:
        yield "<b>left as it was</b>"
    if row["confidence"] is not None:
        yield f"<span>confidence {row['confidence']:.2f}</span>"


def _text(text: str, language: str | None, more: str) -> str:
    """A text in its own direction and, for the shapes of its characters, language."""
    code = "" if language is None else f' lang="{escape(language.replace("_", "-"))}"'
    return f'<div class="text{more}" dir="auto"{code}>{escape(text)}</div>'
