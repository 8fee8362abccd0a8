"""Small plots as SVG, drawn from plain numbers; colours come from the page's style sheet."""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 360, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 8, 10, 28
_ROW = 24  # of a bar chart with names

STYLES = ("one", "two", "three", "four", "five", "six")
"""Classes of the style sheet, each of a colour of its own; beyond them they are used again."""
DOTTED = 40
"""A line of up to so many points shows each of them."""


class Series(NamedTuple):
    """Bars that start at 0 and are equally wide."""

    name: str
    style: str
    """A class of the style sheet."""
    counts: Sequence[int]
    width: float


class VerticalMark(NamedTuple):
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


def curve(title: str, unit: str, values: Sequence[float], marks: Sequence[VerticalMark]) -> str:
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


class Line(NamedTuple):
    """A line through points (x, y), in the order of x."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def lines(title: str, x_name: str, y_name: str, series: Sequence[Line]) -> str:
    """One or several lines over the same axes; x begins at 0, y where the lowest is."""
    shown = [one for one in series if one.points]
    xs = [x for one in shown for x, _ in one.points]
    ys = [y for one in shown for _, y in one.points]
    right = max(xs, default=0.0)
    if right <= 0:
        return ""
    low, high = min(ys), max(ys)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = (0.0 if 0 <= low <= 0.5 * high else low - room), high + room
    parts = [_plain_axes(right, low, high, x_name, y_name)]
    for one in shown:
        parts.append(_path(one.points, right, low, high, f"line {one.style}"))
        if len(one.points) <= DOTTED:
            parts += [
                f'<circle class="dot {one.style}" r="2.5" cx="{_x(x, right)}" '
                f'cy="{_y(y, low, high)}"/>'
                for x, y in one.points
            ]
    ends = "; ".join(
        f"{one.name} from {one.points[0][1]:.4g} to {one.points[-1][1]:.4g}" for one in shown
    )
    return _figure(title, parts, [(one.name, one.style) for one in series], told=ends)


class Bars(NamedTuple):
    """A bar for each label; None where there is nothing to be shown."""

    name: str
    style: str
    heights: Sequence[float | None]


def grouped_bars(title: str, x_name: str, labels: Sequence[str], series: Sequence[Bars]) -> str:
    """Bars from 0, those of one label beside each other."""
    high = 1.05 * max((h for one in series for h in one.heights if h is not None), default=0.0)
    if high <= 0:
        return ""
    parts = [_plain_axes(None, 0.0, high, x_name, "")]
    group = (_WIDTH - _LEFT - _RIGHT) / len(labels)
    width = 0.8 * group / len(series)
    for i, label in enumerate(labels):
        begin = _LEFT + i * group
        parts.append(
            f'<text x="{begin + group / 2:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">'
            f"{escape(label)}</text>"
        )
        for k, one in enumerate(series):
            height = one.heights[i]
            if height is not None:
                top = _y(height, 0.0, high)
                parts.append(
                    f'<rect class="bar {one.style}" x="{begin + 0.1 * group + k * width:.1f}" '
                    f'y="{top}" width="{0.92 * width:.1f}" height="{_HEIGHT - _BOTTOM - top:.1f}"/>'
                )
    return _figure(title, parts, [(one.name, one.style) for one in series])


class Interval(NamedTuple):
    """A value between two bounds."""

    name: str
    style: str
    low: float
    value: float
    high: float


def intervals(title: str, rows: Sequence[Interval]) -> str:
    """A dot with its interval for each row, over one axis."""
    if not rows:
        return ""
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    room = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    left, span = low - room, high - low + 2 * room
    height = len(rows) * _ROW + 24

    def place(value: float) -> float:
        return round(118 + (_WIDTH - 118 - 12) * (value - left) / span, 1)

    parts = [
        f'<line class="grid" x1="{place(x)}" x2="{place(x)}" y1="2" y2="{height - 18}"/>'
        f'<text x="{place(x)}" y="{height - 5}" text-anchor="middle">{_short(x)}</text>'
        for x in _ticks(left, left + span)
    ]
    for i, row in enumerate(rows):
        y = i * _ROW + 14
        parts.append(
            f'<text x="112" y="{y + 4}" text-anchor="end">{escape(row.name)}</text>'
            f'<line class="line {row.style}" x1="{place(row.low)}" x2="{place(row.high)}" '
            f'y1="{y}" y2="{y}"/>'
            f'<circle class="dot {row.style}" r="4" cx="{place(row.value)}" cy="{y}"/>'
        )
    told = "; ".join(f"{row.name} {row.value:.4g}" for row in rows)
    return _figure(title, parts, [], height=height, told=told)


def _plain_axes(right: float | None, low: float, high: float, x_name: str, y_name: str) -> str:
    """Numbers on both axes; on the x axis none where `right` is None."""
    parts = []
    for y in _ticks(low, high):
        place = _y(y, low, high)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{place}" y2="{place}"/>'
            f'<text x="{_LEFT - 4}" y="{place + 4}" text-anchor="end">{_short(y)}</text>'
        )
    for x in _ticks(0.0, right) if right else ():
        anchor = "middle" if _x(x, right or 1.0) < _WIDTH - 24 else "end"
        parts.append(
            f'<text x="{_x(x, right or 1.0)}" y="{_HEIGHT - 14}" text-anchor="{anchor}">'
            f"{_short(x)}</text>"
        )
    for name, x_at, anchor, y_at in (
        (x_name, _WIDTH - _RIGHT, "end", _HEIGHT - 1),
        (y_name, _LEFT + 4, "start", _TOP + 2),
    ):
        if name:
            parts.append(
                f'<text class="unit" x="{x_at}" y="{y_at}" text-anchor="{anchor}">'
                f"{escape(name)}</text>"
            )
    return "".join(parts)


def _short(value: float) -> str:
    """With thousands and millions as k and M."""
    for power, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= power:
            return f"{value / power:.4g}{letter}"
    return f"{value:.4g}"


def _figure(
    title: str,
    parts: Sequence[str],
    names: Sequence[tuple[str, str]],
    height: int = _HEIGHT,
    told: str = "",
) -> str:
    """`told` says in words what is drawn."""
    label = escape(f"{title}: {told}" if told else title)
    legend = "".join(
        f'<span class="key"><i class="{style}"></i>{escape(name)}</span>' for name, style in names
    )
    return (
        f"<figure><figcaption>{escape(title)}{legend}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{label}">'
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
