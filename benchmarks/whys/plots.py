"""The pictures: English and numbers only, so that they need no Chinese font; both pages say below
each what is drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from whys.question import Found, Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff9d2e", "#9467bd", "#8c564b", "#17a2b8", "#7f7f7f")


def drawn(question: Question, found: Found, path: Path) -> None:
    """The picture of a question, as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=question.size, layout="constrained")
    question.draw(found, figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def bars(axes: "Axes", groups: Mapping[str, Sequence[float]], *, title: str, unit: str) -> None:
    """A bar for each setting, and a dot for each seed."""
    names = [name for name, some in groups.items() if some]
    for place, name in enumerate(names):
        some = groups[name]
        axes.bar(place, mean(some), color=COLOURS[place % len(COLOURS)], alpha=0.75, width=0.7)
        axes.plot([place] * len(some), some, "o", color="black", ms=3.5)
    longest = max(map(len, names), default=0)
    turned = {"rotation": 30, "ha": "right"} if longest * len(names) > 42 else {}
    axes.set_xticks(range(len(names)), names, fontsize=8, **turned)
    axes.set(title=title, ylabel=unit)
    axes.grid(axis="y", alpha=0.3)


def lines(
    axes: "Axes",
    curves: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    x: str,
    y: str,
    **more: Any,
) -> None:
    """A line for each setting."""
    for number, (name, points) in enumerate(curves.items()):
        if points:
            across, up = zip(*points, strict=True)
            axes.plot(across, up, "o-", ms=4, label=name, color=COLOURS[number % len(COLOURS)])
    axes.set(title=title, xlabel=x, ylabel=y, **more)
    axes.grid(alpha=0.3)
    if any(curves.values()):
        axes.legend(fontsize=8)


def mean_curve(rows: Sequence[Sequence[float]]) -> list[float]:
    """Point by point over the seeds."""
    return [mean(column) for column in zip(*rows, strict=True)]
