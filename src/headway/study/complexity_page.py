"""What `headway complexity` measured as one HTML file: no script, nothing from elsewhere."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from headway.pages import STYLE, document
from headway.study.complexity_table import TIMES, exponents, theory
from headway.study.layer_types import CONTENDERS

_CURVES = """
svg text { font-size: 11px; fill: var(--soft); } .grid { stroke: var(--rule); }
.trace { fill: none; stroke-width: 1.8; } .key { margin: 0 0.9rem 0 0; }
.key i { width: 1em; height: 0.25em; vertical-align: middle; }
"""
COLOURS = dict(
    zip(
        CONTENDERS,
        ("#1f77b4", "#17becf", "#9467bd", "#888888", "#d62728", "#2e7d4f", "#c2600c", "#e377c2"),
        strict=True,
    )
)
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 440, 280, 56, 20, 12, 34


def page(found: dict[str, Any]) -> str:
    """The whole page, from what `--json` prints."""
    title = f"Why self-attention: table 1 at d = {found['d']:,}"
    passes = "forward and backward" if found["backward"] else "forward"
    constants = f"k = {found['kernel']}, r = {found['window']}, {passes}, one text"
    parts = (
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(constants)}; {escape(found["machine"])}</p>',
        _table("In theory", theory(found)),
        _table("Exponents: theory beside what was fitted", exponents(found)),
        f"<h2>As measured</h2><p>{_keys(found)}</p>",
        f'<div class="plots">{"".join(_plots(found))}</div>',
    )
    return document(title, parts, STYLE + _CURVES)


def _table(title: str, rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    table = f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
    return f"<h2>{escape(title)}</h2>{table}"


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
    yield log_log(f"{time} by length, {d}", over_n, "n", clock, length, 1e3, "ms")
    yield log_log(f"Operations counted by length, {d}", over_n, "n", "operations", length, 1, "")
    yield log_log(f"{time} by size, {n}", over_d, "d", clock, width, 1e3, "ms")
    yield log_log(
        f"Memory beyond the input, at most, {d}", over_n, "n", "peak_bytes", length, 1e-6, "MB"
    )
    yield log_log(
        f"One more token with a cache, {d}", found["decoding"], "n", clock,
        "tokens before it", 1e6, "microseconds",
    )  # fmt: skip


def log_log(
    title: str,
    points: Sequence[dict[str, Any]],
    of: str,
    value: str,
    x_name: str,
    times: int | float,
    unit: str,
) -> str:
    """A line for each layer, both axes logarithmic."""
    known = [(p["layer"], p[of], float(times * p[value])) for p in points if p[value] > 0]
    if not known:
        return ""
    left, right = (math.log10(end(x for _, x, _ in known)) for end in (min, max))
    low = math.floor(math.log10(min(y for *_, y in known)))
    high = math.ceil(math.log10(max(y for *_, y in known)))

    def place(x: int | float, y: int | float) -> tuple[float, float]:
        across = (math.log10(x) - left) / max(right - left, 1e-9)
        up = (math.log10(y) - low) / max(high - low, 1)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = []
    for power in range(low, high + 1):
        y = place(10**left, 10.0**power)[1]
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    parts += [
        f'<text x="{place(x, 10.0**low)[0]:.1f}" y="{_HEIGHT - _BOTTOM + 14}" '
        f'text-anchor="middle">{x}</text>'
        for x in sorted({x for _, x, _ in known})
    ]
    for name in dict.fromkeys(name for name, *_ in known):
        line = " ".join(
            "{:.1f},{:.1f}".format(*place(x, y)) for other, x, y in known if other == name
        )
        parts.append(f'<polyline class="trace" stroke="{COLOURS[name]}" points="{line}"/>')
    parts.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end">{escape(x_name)}</text>'
    )
    caption = f"{title} ({unit})" if unit else title
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(caption)}">'
        f"{''.join(parts)}</svg></figure>"
    )
