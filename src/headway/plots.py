"""Small plots as SVG, drawn by matplotlib from plain numbers; colours come from the page's style
sheet, so that they follow the light or dark of the system."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("one", "two", "three", "four", "five", "six")
"""Colours of the style sheet, each a variable there; beyond them they are used again."""
DOTTED = 40
"""A line of up to so many points shows each of them."""
_SIZE = 3.75, 2.1
INK = {
    name: f"#{n:02x}fe{n:02x}" for n, name in enumerate((*STYLES, "look", "soft", "rule", "ink"), 1)
}
"""What stands for each colour of the style sheet until a plot is text."""

_FAMILIES = (
    "DejaVu Sans", "Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "PingFang SC",
    "Microsoft YaHei", "Arial Unicode MS", "Noto Sans",
)  # fmt: skip
"""Fonts, where a machine has them: a letter is of the first one that has it."""


@contextmanager
def fonts(glyphs: Path) -> Iterator[set[str]]:
    """While it is open, pictures have letters of all scripts; behind it, what told of each letter
    that no font has is in the set. `glyphs` is a font of Chinese, for machines that have none."""
    import matplotlib
    from matplotlib.font_manager import fontManager

    if "Noto Sans CJK SC" not in fontManager.get_font_names():
        fontManager.addfont(glyphs)
    families = [one for one in _FAMILIES if one in fontManager.get_font_names()]
    lacking = set[str]()
    with (
        matplotlib.rc_context({"font.family": families}),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        yield lacking
        told = (str(one.message) for one in warned)
        lacking |= {message for message in told if "missing from" in message}


class Line(NamedTuple):
    """A line through points (x, y), in the order of x."""

    name: str
    style: str
    """One of `STYLES`, or a colour such as #1f77b4."""
    points: Sequence[tuple[float, float]]


def lines(title: str, x_name: str, series: Sequence[Line]) -> str:
    """One or several lines over the same axes; x begins at 0, y at 0 or where the lowest is."""
    shown = [one for one in series if one.points]
    if max((x for one in shown for x, _ in one.points), default=0.0) <= 0:
        return ""
    axes = _drawn(shown)
    lowest, highest = (end(y for one in shown for _, y in one.points) for end in (min, max))
    axes.set(xlim=(0, None), xlabel=x_name)
    if 0 <= lowest <= 0.5 * highest or lowest == highest == 0:
        axes.set_ylim(0, highest * 1.05 or 1.0)
    return as_svg(title, axes, series, _ends(shown))


def log_lines(title: str, x_name: str, series: Sequence[Line]) -> str:
    """Lines through points above 0, both axes logarithmic; the page has a key of its own."""
    shown = [one for one in series if one.points]
    if not shown:
        return ""
    axes = _drawn(shown)
    axes.set(xscale="log", yscale="log", xlabel=x_name)
    xs = sorted({x for one in shown for x, _ in one.points})
    axes.set_xticks(xs, [f"{x:,}" for x in xs], rotation=30)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    return as_svg(title, axes, (), _ends(shown))


def _drawn(series: Sequence[Line]) -> "Axes":
    """A plot of the lines, without its title."""
    from matplotlib.figure import Figure

    axes = Figure(_SIZE, layout="constrained").add_subplot()
    axes.set_frame_on(False)
    axes.tick_params(length=0, labelsize=8, colors=INK["soft"])
    axes.xaxis.label.set(size=8, color=INK["soft"])
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=INK["rule"])
    for one in series:
        marker = "o" if len(one.points) <= DOTTED else ""
        across, up = zip(*one.points, strict=True)
        colour = INK.get(one.style, one.style)
        axes.plot(across, up, color=colour, linewidth=1.2, marker=marker, markersize=3)
    return axes


def _ends(series: Sequence[Line]) -> str:
    """In words, for who does not see."""
    return "; ".join(
        f"{one.name} from {one.points[0][1]:.4g} to {one.points[-1][1]:.4g}" for one in series
    )


def as_svg(title: str, axes: "Axes", series: Sequence[Line] = (), told: str = "") -> str:
    """A plot in colours of `INK`, with its title and a key; `told` says in words what is drawn."""
    import matplotlib

    out = io.StringIO()
    as_text: Any = {"svg.fonttype": "none", "svg.hashsalt": "headway"}
    figure: Any = axes.figure
    with matplotlib.rc_context(as_text), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a browser has the letters that a font of ours has not
        unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", transparent=True, metadata=unsaid)
    drawn, *behind = out.getvalue().partition("<svg")[2].split("<!--")
    drawn = "<svg" + drawn + "".join(one.partition("-->")[2] for one in behind)
    drawn = re.sub(r' id="(?:figure|axes|patch|text|line2d|[xy]tick|matplotlib)[\w.]*"', "", drawn)
    drawn = re.sub(r'(?:width|height)="[\d.]+pt"', "", drawn)
    for name, ink in INK.items():
        drawn = drawn.replace(ink, f"var(--{name})")
    label = escape(f"{title}: {told}" if told else title)
    drawn = drawn.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    legend = "".join(
        f'<span class="key"><i style="background: var(--{one.style})"></i>{escape(one.name)}</span>'
        for one in series
    )
    return f"<figure><figcaption>{escape(title)}{legend}</figcaption>{drawn}</figure>"
