"""Attention as a PNG picture: who looks at whom, one panel a head."""

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontProperties
    from matplotlib.image import AxesImage

_COLOURS = "Blues"
_MARK = "#d62728"
_SMALL_A_ROW = 4


@dataclass(frozen=True)
class AttentionMap:
    """What the rows look at, in every head of one layer."""

    weights: Float[np.ndarray, "heads rows columns"]
    rows: Sequence[str]
    """Who looks."""
    columns: Sequence[str]
    """What is looked at."""
    title: str
    head: int | None = None
    """The head that is drawn large, from 0; None draws the mean of all."""
    focus: int | None = None
    """The row that the picture is about, from 0: it is framed and its largest weight written."""


def draw_attention(maps: Sequence[AttentionMap], path: Path, *, title: str = "") -> None:
    """Write a PNG with the maps side by side: a large panel each, and all its heads below it.

    The colours of all panels mean the same. In a large panel a dot marks each row's largest weight.
    """
    from matplotlib.figure import Figure

    labels = [label for each in maps for label in (*each.rows, *each.columns)]
    font = font_for("".join([*labels, title, *(each.title for each in maps)]))
    n_small_rows = max(math.ceil(len(each.weights) / _SMALL_A_ROW) for each in maps)
    width = max(4.5, 0.43 * max(len(each.columns) for each in maps) + 1.0)
    height = max(3.0, 0.43 * max(len(each.rows) for each in maps) + 1.0)
    small = height / _SMALL_A_ROW
    figure = Figure((width * len(maps) + 0.8, height + 0.9 + small * n_small_rows), dpi=150)
    figure.set_layout_engine("constrained", w_pad=0.06, h_pad=0.06)
    if title:
        figure.suptitle(title, fontproperties=font, fontsize=14)
    ratios = [*[1.0] * len(maps), 0.03], [height, small * n_small_rows]
    grid = figure.add_gridspec(2, len(maps) + 1, width_ratios=ratios[0], height_ratios=ratios[1])
    strongest = max(float(each.weights.max()) for each in maps)
    for i, each in enumerate(maps):
        image = _draw_large(figure.add_subplot(grid[0, i]), each, strongest, font)
        heads = grid[1, i].subgridspec(n_small_rows, _SMALL_A_ROW)
        for head, weights in enumerate(each.weights):
            axes = figure.add_subplot(heads[divmod(head, _SMALL_A_ROW)], xticks=[], yticks=[])
            axes.imshow(weights, cmap=_COLOURS, vmin=0.0, vmax=strongest, aspect="auto")
            colour = _MARK if head == each.head else "black"
            axes.set_title(f"head {head}", fontsize=9, color=colour)
            axes.spines[:].set(edgecolor=colour, linewidth=2.0 if head == each.head else 0.5)
    bar = figure.colorbar(image, cax=figure.add_subplot(grid[0, len(maps)]))
    bar.set_label("attention weight")
    with quiet_matplotlib():
        figure.savefig(path, format="png")


def _draw_large(
    axes: "Axes",
    each: AttentionMap,
    strongest: float,
    font: "FontProperties | None",
) -> "AxesImage":
    rows, columns = each.rows, each.columns
    weights = each.weights.mean(axis=0) if each.head is None else each.weights[each.head]
    image = axes.imshow(weights, cmap=_COLOURS, vmin=0.0, vmax=strongest, aspect="auto")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns, rotation=50, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_fontproperties(font)
        label.set_fontsize(11)
    axes.tick_params(length=0)
    axes.set_xticks([i - 0.5 for i in range(1, len(columns))], minor=True)
    axes.set_yticks([i - 0.5 for i in range(1, len(rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    axes.set_xlabel(each.title, fontproperties=font, fontsize=11)
    for row, column in enumerate(weights.argmax(axis=1)):
        if row != each.focus:
            axes.plot(column, row, "o", color=_MARK, markersize=3.5)
    if each.focus is not None:
        _mark_focus(axes, weights, each.focus)
    return image


def _mark_focus(axes: "Axes", weights: Float[np.ndarray, "rows columns"], row: int) -> None:
    from matplotlib.patches import Rectangle

    corner = (-0.5, row - 0.5)
    frame = Rectangle(
        corner, weights.shape[1], 1, fill=False, edgecolor=_MARK, linewidth=2, zorder=5
    )
    frame.set_clip_on(False)
    axes.add_patch(frame)
    axes.get_yticklabels()[row].set_color(_MARK)
    column = int(weights[row].argmax())
    dark = weights[row, column] > 0.5 * axes.get_images()[0].get_clim()[1]
    colour = "white" if dark else "black"
    written = f"{weights[row, column]:.2f}".removeprefix("0")
    axes.text(column, row, written, ha="center", va="center", color=colour, fontsize=10)
    axes.get_xticklabels()[column].set_color(_MARK)


EVERYDAY_GLYPHS = Path(__file__).with_name("everyday_glyphs.otf")
"""The characters of the demo's corpus, so that its pictures are whole on any machine."""


def font_for(text: str) -> "FontProperties | None":
    """A font that has every character of `text`: matplotlib's own, ours, or None."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    needed = {ord(character) for character in text if not character.isspace()}
    with quiet_matplotlib():
        for path in (findfont(FontProperties(family="DejaVu Sans")), str(EVERYDAY_GLYPHS)):
            font = FT2Font(path)
            if all(font.get_char_index(character) for character in needed):
                return FontProperties(fname=path)
    return None


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """matplotlib logs that it builds its font cache, or that it has no folder for it: not here."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
