"""A map of words as a picture: points, labels that do not hide each other, chance beside it."""

import re
import textwrap
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.pages import STYLE
from headway.plots import INK, STYLES, as_svg, fonts
from headway.vectors.word_map import WordMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, HIGH, SMALL = 720.0, 520.0, 330.0
"""Sizes in points: of a map, and of the side of the small one that shows chance."""
MARKERS = "o^sDvPX"
_LIGHT = dict(re.findall(r"--(\w+): (#\w+)", STYLE.partition("@media")[0]))
"""The colours of pages in the light."""
_GAPS = (3.0, 9.0, 17.0, 27.0, 39.0)
_WAYS = [(x, y) for x, y in product((1, 0, -1), (0, 1, -1)) if (x, y) != (0, 0)]


def map_figure(found: WordMap, title: str, *, random: bool = False) -> str:
    """The map as a figure of a page, in the page's colours; its letters are the browser's. With
    `random`, as many random vectors in groups of the same sizes."""
    from matplotlib.figure import Figure

    size = (SMALL, SMALL) if random else (WIDE, HIGH)
    axes = _axes(Figure((size[0] / 72, size[1] / 72)), (0.0, 0.0), size)
    title += _nameless(_draw(axes, found, INK, random=random))
    return as_svg(title, axes, told="" if random else "; ".join(one for one, _ in found.told()))


def save_map(found: WordMap, path: Path, title: str, glyphs: Path) -> int:
    """Write the map, chance and what is known of both as a PNG; how many letters no font has.

    `glyphs` is a font of Chinese, for machines that have none.
    """
    from matplotlib.figure import Figure

    figure = Figure(((WIDE + SMALL + 30) / 72, (HIGH + 40) / 72), 150, facecolor=_LIGHT["paper"])
    with fonts(glyphs) as lacking:
        large = _axes(figure, (0.0, 0.0), (WIDE, HIGH))
        small = _axes(figure, (WIDE + 20, HIGH - SMALL - 10), (SMALL, SMALL))
        title += _nameless(_draw(large, found, _LIGHT))
        _draw(small, found, _LIGHT, random=True)
        ink: dict[str, Any] = {"color": _LIGHT["ink"], "parse_math": False}
        large.text(8, HIGH + 12, title, fontsize=14, **ink)
        small.text(0, SMALL + 8, "Chance: as many random vectors, in the same groups", **ink)
        lines = [line for told, _ in found.told() for line in textwrap.wrap(told, 64)]
        small.text(0, -14, "\n".join(lines), va="top", linespacing=1.6, fontsize=9, **ink)
        figure.savefig(path, format="png")
    return len(lacking)


def _axes(figure: "Figure", corner: tuple[float, float], size: tuple[float, float]) -> "Axes":
    """A part of a figure, measured in points, without frame and ticks."""
    whole = figure.get_size_inches() * 72
    axes = figure.add_axes((*(corner / whole), *(size / whole)))
    axes.set(xlim=(0, size[0]), ylim=(0, size[1]), xticks=[], yticks=[], frame_on=False)
    return axes


def _draw(axes: "Axes", found: WordMap, colours: Mapping[str, str], *, random: bool = False) -> int:
    """Points, each group by its colour and mark; words and a key where they are not `random`. The
    number of words that had no room."""
    room = np.array([axes.get_xlim()[1], axes.get_ylim()[1]])
    plane, floor = (found.random_plane, 0.0) if random else (found.plane, 22.0)
    lifted = np.array([0.0, floor])
    points = fitted(plane.places, room - lifted, 14.0 if random else 30.0) + lifted
    styles = [colours[STYLES[group % len(STYLES)]] for group in range(len(found.groups))]
    for group, name in enumerate(found.groups):
        across, up = points[found.group_of == group].T
        mark = MARKERS[group % len(MARKERS)]
        axes.scatter(across, up, s=16, c=styles[group], linewidths=0, marker=mark, label=name)
    if random:
        return 0
    size = 9.0 if len(points) <= 90 else 7.0
    written = [word if len(word) <= 24 else f"{word[:23]}…" for word in found.words]
    boxes = np.array([[size * _width(word), size * 1.25] for word in written])
    corners = label_corners(points, boxes, room, floor)
    for i in np.flatnonzero(~np.isnan(corners[:, 0])):
        x, y = corners[i]
        axes.text(x, y + size * 0.25, written[i], color=styles[found.group_of[i]], fontsize=size,
                  parse_math=False)  # fmt: skip
        nearest = np.clip(points[i], corners[i], corners[i] + boxes[i])
        if np.hypot(*(nearest - points[i])) > 5:
            axes.plot(*zip(points[i], nearest, strict=True), color=colours["soft"], linewidth=0.5)
    if len(found.groups) > 1:
        key = axes.legend(loc="lower left", ncols=8, frameon=False, borderaxespad=0.2, fontsize=9,
                          labelcolor=colours["ink"], handletextpad=0.1)  # fmt: skip
        for text in key.get_texts():
            text.set_parse_math(False)
    return int(np.isnan(corners[:, 0]).sum())


def _nameless(n_words: int) -> str:
    return f" ({n_words:,} points have no room for their words)" if n_words else ""


def fitted(
    places: Float[NDArray, "words 2"], room: Float[NDArray, "2"], margin: float
) -> Float[NDArray, "words 2"]:
    """Moved and scaled, both ways alike, into the middle of a room."""
    low, high = places.min(0), places.max(0)
    scale = float(((room - 2 * margin) / np.maximum(high - low, 1e-12)).min())
    return np.asarray((places - (low + high) / 2) * scale + room / 2)


def label_corners(
    points: Float[NDArray, "words 2"],
    boxes: Float[NDArray, "words 2"],
    room: Float[NDArray, "2"],
    floor: float = 0.0,
) -> Float[NDArray, "words 2"]:
    """The lower left corners of labels: each near its point, in the frame, over no other label.

    `boxes` are their widths and heights. nan where there is no such place. Labels in a crowd choose
    first: of eight sides and five distances the one that hides least.
    """
    apart = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    corners = np.full(points.shape, np.nan)
    ways = np.array([(*way, gap) for gap in _GAPS for way in _WAYS])
    for i in np.argsort(np.sort(apart, axis=1)[:, :6].sum(1)):
        box = boxes[i]
        lows = points[i] + ways[:, :2] * (box / 2 + ways[:, 2:]) - box / 2
        hidden = _overlap(lows, box, corners, boxes)
        dots = _overlap(lows, box, points - 2.5, np.full(boxes.shape, 5.0))
        outside = ((lows < [0.0, floor]) | (lows + box > room)).any(1)
        best = int((hidden + dots + np.where(outside, 1e9, 0.0) + ways[:, 2] * 1.5).argmin())
        if hidden[best] <= 0.1 * box.prod() and not outside[best]:
            corners[i] = lows[best]
    return corners


def _overlap(
    lows: Float[NDArray, "ways 2"],
    box: Float[NDArray, "2"],
    others: Float[NDArray, "words 2"],
    sizes: Float[NDArray, "words 2"],
) -> Float[NDArray, " ways"]:
    """The areas of others that boxes at some corners hide; a corner that is nan is nowhere."""
    low = np.maximum(lows[:, None], others)
    high = np.minimum(lows[:, None] + box, others + sizes)
    return np.asarray(np.nan_to_num(np.maximum(high - low, 0.0)).prod(2).sum(1))


def _width(text: str) -> float:
    """About how wide a text is, in heights of its letters."""
    return sum(1.05 if east_asian_width(one) in "WF" else 0.62 for one in text)
