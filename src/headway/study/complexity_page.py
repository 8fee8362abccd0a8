"""What `headway complexity` measured as one HTML file: no script, nothing from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from headway.pages import STYLE, document, table
from headway.plots import Line, log_lines
from headway.study.complexity_table import TIMES, exponents, theory
from headway.study.layer_types import LAYER_TYPES

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
    step = f"One more token with a cache, {d} (microseconds)"
    yield _plot(step, found["decoding"], "n", clock, "tokens before it", 1e6)


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
