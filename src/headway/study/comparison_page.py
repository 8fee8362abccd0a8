"""A comparison as one HTML file: the terminal's tables, learning curves, texts side by side."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

from headway.pages import STYLE, document, table
from headway.plots import STYLES, Line, lines
from headway.study import comparison_tables as wording

_STYLE = """
caption { text-align: left; font-weight: 600; padding: 0.2rem 0; }
th[scope="row"] { text-align: left; font-weight: normal; white-space: pre; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); }
@media (min-width: 60rem) { .plots.three { grid-template-columns: 1fr 1fr 1fr; } }
.plots.three { margin-bottom: 0.8rem; }
.side td, .side th { overflow-wrap: anywhere; text-align: left; white-space: normal;
  vertical-align: top; }
.side { width: 100%; table-layout: fixed; margin-bottom: 1rem; } .side th { width: 12rem; }
.refused { border-left: 4px solid var(--look); padding-left: 0.6rem; }
"""
_AXES = (
    ("updates", "updates", "updates"),
    ("tokens", "tokens", "tokens seen, each run's own"),
    ("time_s", "time", "{} of training"),
)
"""Of a point what is drawn, and that axis in a title and by itself."""


def page(found: Mapping[str, Any]) -> str:
    """The whole page, from what `--json` prints."""
    parts = (
        f"<h1>{escape(_title(found))}</h1>",
        f"<p>{escape(wording.heading(found))}.</p>",
        *_rankings(found),
        *_figures(found),
        *_curves(found),
        *_side_by_side(found),
        *_notes(found),
    )
    return document(_title(found), parts, STYLE + _STYLE)


def _title(found: Mapping[str, Any]) -> str:
    return f"Compared: {', '.join(run['name'] for run in found['runs'])}"


def _rankings(found: Mapping[str, Any]) -> Iterator[str]:
    refused = [bool(ranking["refused"]) for ranking in found["rankings"]]
    for sentence, unfair in zip(wording.rankings(found), refused, strict=True):
        yield f'<p class="{"refused" if unfair else "fair"}">{escape(sentence)}</p>'
    if not all(refused):
        yield (
            '<p class="soft">In brackets what each is behind the best, and p of the paired '
            f"bootstrap test against it{wording.sides(found)}: below 0.05 chance is a poor "
            "explanation.</p>"
        )


def _figures(found: Mapping[str, Any]) -> Iterator[str]:
    quality = wording.quality(found)
    if quality:
        yield "<h2>Quality</h2>"
        yield _table(found, "Figures with their 95 % intervals", quality)
    yield "<h2>Cost</h2>"
    yield _table(found, "Size, training, speed and memory", wording.costs(found))


def _curves(found: Mapping[str, Any]) -> Iterator[str]:
    names = dict.fromkeys(name for run in found["runs"] for name in run["curves"])
    yield "<h2>Learning curves</h2>"
    yield (
        '<p class="soft">As each run logged them, on its own validation text. Losses are nats per '
        "token of its own vocabulary: with other vocabularies they do not compare.</p>"
    )
    last = max((point["time_s"] for run in found["runs"] for curve in run["curves"].values()
                for point in curve), default=0.0)  # fmt: skip
    unit, seconds = next(
        (name, s) for name, s in (("hours", 3600), ("minutes", 60), ("seconds", 1))
        if last >= 2 * s or s == 1
    )  # fmt: skip
    for name in names:
        title = name.replace("_", " ")
        plots = []
        for axis, short, words in _AXES:
            scale = seconds if axis == "time_s" else 1
            series = [
                Line(
                    run["name"],
                    style,
                    [(p[axis] / scale, p["value"]) for p in run["curves"].get(name, ())],
                )
                for run, style in zip(found["runs"], cycle(STYLES), strict=False)
            ]
            plots.append(lines(f"{title} over {short}", words.format(unit), series))
        yield f'<div class="plots three">{"".join(plots)}</div>'


def _side_by_side(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["side_by_side"]:
        return
    yield "<h2>Side by side</h2>"
    for number, example in enumerate(found["side_by_side"], 1):
        rows = [("given", example["given"]), ("wanted", example["wanted"])]
        rows += [(output["run"], output["text"]) for output in example["outputs"]]
        cells = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td dir="auto">{escape(text)}</td></tr>'
            for name, text in rows
        )
        yield f'<table class="side"><caption>{number}</caption>{cells}</table>'


def _notes(found: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>What is to be known</h2>"
    yield f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in wording.notes(found))}</ul>"
    signed = {
        name: figure["signature"]
        for run in found["runs"]
        for name, figure in run.get("figures", {}).items()
    }
    for name, signature in signed.items():
        yield f'<p class="soft">{escape(name)}: <code>{escape(signature)}</code></p>'


def _table(found: Mapping[str, Any], caption: str, rows: Sequence[wording.TableRow]) -> str:
    names = ["", *(run["name"] for run in found["runs"])]
    return table([names, *((row.name, *row.cells) for row in rows)], caption)
