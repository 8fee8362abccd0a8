"""What `headway complexity` measured, theory beside measurement: as tables for a terminal, and as
one HTML page."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from headway.pages import STYLE, document, table
from headway.plots import Line, log_lines
from headway.study.cost_table import amount, size
from headway.study.layer_types import LAYER_TYPES

TIMES = {"cpu_s": "time of the processor", "wall_s": "time on the clock"}
"""By their names in what was measured."""


def lines(found: dict[str, Any]) -> list[str]:
    """All that was measured, from what `--json` prints."""
    passes = "forward and backward" if found["backward"] else "forward"
    clock = found["clock"]
    return [
        f"table 1 at d = {found['d']:,}, k = {found['kernel']}, r = {found['window']}; {passes}, "
        f"one text; {found['machine']}",
        "",
        *aligned(theory(found)),
        *dilation_lines(found),
        "",
        *aligned(exponents(found)),
        *exponent_notes(found),
        "",
        f"time of the processor (ms), d = {found['d']:,}",
        *aligned(grid(found["over_n"], "n", lambda p: f"{1e3 * p['cpu_s']:,.3g}")),
        "",
        "time on the clock (ms)",
        *aligned(grid(found["over_n"], "n", lambda p: f"{1e3 * p['wall_s']:,.3g}")),
        "",
        "memory beyond the input, at most",
        *aligned(grid(found["over_n"], "n", lambda p: size(p["peak_bytes"]))),
        "",
        "operations counted",
        *aligned(grid(found["over_n"], "n", lambda p: amount(p["operations"]))),
        "",
        f"{TIMES[clock]} (ms), n = {found['n']:,}",
        *aligned(grid(found["over_d"], "d", lambda p: f"{1e3 * p[clock]:,.3g}")),
    ]


def theory(found: dict[str, Any]) -> Sequence[Sequence[str]]:
    """The paper's three columns, and paths in numbers."""
    at = f"at n = {found['reached']:,}"
    rows = [("layer", "operations", "sequential", "longest path", at)]
    for row in found["layers"]:
        path = f"{row['longest_path']:,}"
        rows.append((row["title"], f"O({row['cost']})", row["sequential"], row["path"], path))
    return rows


def exponents(found: dict[str, Any]) -> Sequence[Sequence[str]]:
    """What was fitted, beside theory."""
    rows = [("exponents", "n: theory", "time", "operations", "d: theory", "time", "operations")]
    for row in found["layers"]:
        cells = []
        for of in ("in_n", "in_d"):
            cells.append(str(row[of]["theory"]))
            cells += [_number(row[of][value]) for value in ("time", "operations")]
        rows.append((row["title"], *cells))
    return rows


def grid(points: list[dict[str, Any]], of: str, shown: Any) -> Sequence[Sequence[str]]:
    """Layers down, sizes across."""
    sizes = sorted({point[of] for point in points})
    rows = [(of, *(f"{value:,}" for value in sizes))]
    for name in dict.fromkeys(point["layer"] for point in points):
        cells = {point[of]: shown(point) for point in points if point["layer"] == name}
        rows.append((LAYER_TYPES[name].title, *(cells.get(value, "-") for value in sizes)))
    return rows


def dilation_lines(found: dict[str, Any]) -> list[str]:
    """Which of the dilated layers is measured."""
    if all(row["layer"] != "dilated" for row in found["layers"]):
        return []
    return [
        "dilated: the middle one of the layers that reach from end to end, at "
        f"n = {found['reached']:,} of inputs {found['dilation']:,} apart"
    ]


def exponent_notes(found: dict[str, Any]) -> list[str]:
    """Why an exponent is missing, or is another than in theory, where the sizes are the reason."""
    notes = []
    for of in ("n", "d"):
        sizes = sorted({point[of] for point in found[f"over_{of}"]})
        if len(sizes) < 2:
            wider = "" if of == "n" else ": a larger --d has more"
            notes.append(f"over {of}: no exponent, of one size ({of} = {sizes[0]:,}){wider}")
    sees = 2 * found["window"] + 1
    longest = max((p["n"] for p in found["over_n"] if p["layer"] == "windowed"), default=0)
    if 0 < longest <= sees:
        notes.append(
            f"restricted: with r = {found['window']} it sees {sees:,} positions, which is all of "
            f"up to n = {longest:,}, so that it is full attention there. Take a smaller --r or "
            "longer --n."
        )
    return notes


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of one width, numbers to the right."""
    if len(rows) < 2:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            f"{cell:{width}}" if column == 0 else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


_KEY = (
    ".key { margin: 0 0.9rem 0 0; } .key i { width: 1em; height: 0.25em; vertical-align: middle; }"
)
COLOURS = dict(
    zip(
        LAYER_TYPES,
        ("#1f77b4", "#17becf", "#9467bd", "#888888", "#d62728", "#2e7d4f", "#c2600c", "#e377c2"),
        strict=True,
    )
)


def page(found: dict[str, Any]) -> str:
    """The whole page, from what `--json` prints."""
    title = f"Why self-attention: table 1 at d = {found['d']:,}"
    passes = "forward and backward" if found["backward"] else "forward"
    constants = f"k = {found['kernel']}, r = {found['window']}, {passes}, one text"
    parts = (
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(constants)}; {escape(found["machine"])}</p>',
        f"<h2>In theory</h2>{table(theory(found))}",
        f"<h2>Exponents: theory beside what was fitted</h2>{table(exponents(found))}",
        *(f'<p class="soft">{escape(note)}</p>' for note in exponent_notes(found)),
        f"<h2>As measured</h2><p>{_keys(found)}</p>",
        f'<div class="plots">{"".join(_plots(found))}</div>',
    )
    return document(title, parts, STYLE + _KEY)


def _keys(found: dict[str, Any]) -> str:
    return "".join(
        f'<span class="key"><i style="background:{COLOURS[row["layer"]]}"></i>'
        f"{escape(row['title'])}</span>"
        for row in found["layers"]
    )


def _plots(found: dict[str, Any]) -> Iterator[str]:
    d, n = f"d = {found['d']:,}", f"n = {found['n']:,}"
    over_n, over_d = found["over_n"], found["over_d"]
    length, width = "length n (positions)", "size d"
    clock = found["clock"]
    time = TIMES[clock].capitalize()
    yield _plot(f"{time} by length, {d} (ms)", over_n, "n", clock, length, 1e3)
    yield _plot(f"Operations counted by length, {d}", over_n, "n", "operations", length)
    yield _plot(f"{time} by size, {n} (ms)", over_d, "d", clock, width, 1e3)
    memory = f"Memory beyond the input, at most, {d} (MB)"
    yield _plot(memory, over_n, "n", "peak_bytes", length, 1e-6)


def _plot(
    title: str,
    points: Sequence[dict[str, Any]],
    of: str,
    value: str,
    x_name: str,
    times: int | float = 1,
) -> str:
    """A line for each layer, both axes logarithmic."""
    series: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        if point[value] > 0:
            series.setdefault(point["layer"], []).append((point[of], times * point[value]))
    named = (Line(LAYER_TYPES[name].title, COLOURS[name], known) for name, known in series.items())
    return log_lines(title, x_name, list(named))
