"""Small plots as SVG, drawn from plain numbers; colours come from the page's style sheet."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 360, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 8, 10, 28
_ROW = 24  # of a bar chart with names


class Series(NamedTuple):
    """Bars that start at 0 and are equally wide."""

    name: str
    style: str
    """A class of the style sheet."""
    counts: Sequence[int]
    width: float


class Mark(NamedTuple):
    """A vertical line in a plot."""

    at: float
    label: str


def histogram(title: str, unit: str, series: Sequence[Series]) -> str:
    """Outlines of one or two histograms over the same axis, each as shares of its total."""
    top = max((len(one.counts) * one.width for one in series), default=0.0)
    shares = [_shares(one.counts) for one in series]
    peak = max((max(share, default=0.0) for share in shares), default=0.0)
    if not top or not peak:
        return ""
    parts = [_axes(top, peak, x_name=unit, y_percent=True)]
    for one, share in zip(series, shares, strict=True):
        points = [(0.0, 0.0)]
        for i, value in enumerate(share):
            points += [(i * one.width, value), ((i + 1) * one.width, value)]
        points.append((len(share) * one.width, 0.0))
        parts.append(_path(points, top, 0.0, peak, f"area {one.style}"))
    names = [(one.name, one.style) for one in series]
    return _figure(title, parts, names if len(names) > 1 else [])


def curve(title: str, unit: str, values: Sequence[float], marks: Sequence[Mark]) -> str:
    """Values between 0 and 1 (or down to -1) in their order, with marks at some of them."""
    if not values:
        return ""
    low = min(0.0, *values)
    right = float(max(len(values) - 1, 1))
    parts = [_axes(right, 1.0, x_name=unit, y_percent=False, low=low, ticks=False)]
    for mark in marks:
        x = _x(mark.at, right)
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        anchor = "start" if mark.at < right / 2 else "end"
        parts.append(
            f'<text class="mark" x="{x}" y="{_HEIGHT - _BOTTOM - 4}" text-anchor="{anchor}" '
            f'dx="{4 if anchor == "start" else -4}">{escape(mark.label)}</text>'
        )
    points = [(float(i), value) for i, value in enumerate(values)]
    parts.append(_path(points, right, low, 1.0, "curve"))
    if len(points) == 1:
        parts.append(
            f'<circle class="curve" r="3" cx="{_x(0.0, right)}" cy="{_y(values[0], low, 1.0)}"/>'
        )
    return _figure(title, parts, [])


def named_bars(title: str, rows: Sequence[tuple[str, float, str]], style: str) -> str:
    """One horizontal bar for each (name, length, label); lengths are relative to the longest."""
    longest = max((length for _, length, _ in rows), default=0.0)
    if not longest:
        return ""
    parts = []
    for i, (name, length, label) in enumerate(rows):
        y = i * _ROW
        width = max(1.0, (_WIDTH - 210) * length / longest)
        parts.append(
            f'<text x="112" y="{y + 16}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="bar {style}" x="118" y="{y + 5}" width="{width:.1f}" height="14"/>'
            f'<text x="{122 + width:.1f}" y="{y + 16}">{escape(label)}</text>'
        )
    return _figure(title, parts, [], height=len(rows) * _ROW + 4)


def _figure(
    title: str, parts: Sequence[str], names: Sequence[tuple[str, str]], height: int = _HEIGHT
) -> str:
    legend = "".join(
        f'<span class="key"><i class="{style}"></i>{escape(name)}</span>' for name, style in names
    )
    return (
        f"<figure><figcaption>{escape(title)}{legend}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _axes(
    right: float, peak: float, *, x_name: str, y_percent: bool, low: float = 0.0, ticks: bool = True
) -> str:
    parts = []
    for y in _ticks(low, peak):
        place = _y(y, low, peak)
        label = f"{y:.1%}" if y_percent else f"{y:.1f}"
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{place}" y2="{place}"/>'
            f'<text x="{_LEFT - 4}" y="{place + 4}" text-anchor="end">{label}</text>'
        )
    parts += [
        f'<text x="{_x(x, right)}" y="{_HEIGHT - 14}" text-anchor="middle">{x:g}</text>'
        for x in (_ticks(0.0, right) if ticks else ())
    ]
    parts.append(
        f'<text class="unit" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 1}" text-anchor="end">'
        f"{escape(x_name)}</text>"
    )
    return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round values from `low` to `high`."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
    first = math.ceil(low / step)
    return [round(n * step, 9) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _path(
    points: Sequence[tuple[float, float]], right: float, low: float, high: float, style: str
) -> str:
    steps = " ".join(f"{_x(x, right)},{_y(y, low, high)}" for x, y in points)
    return f'<polyline class="{style}" points="{steps}"/>'


def _x(value: float, right: float) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / right, 1)


def _y(value: float, low: float, high: float) -> float:
    return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low), 1)


def _shares(counts: Sequence[int]) -> list[float]:
    total = max(sum(counts), 1)
    return [count / total for count in counts]
