"""Confusions, and how far probabilities are to be trusted, as pictures: PNG or SVG."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.labelling.scores import Confusion, LabelCalibration
from headway.plots import fonts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NUMBERED = 25
"""With more labels no numbers stand in the cells, and labels are small."""
_PLAIN: dict[str, Any] = {"parse_math": False}
"""A $ in a label is a $."""


def save_confusion(found: Confusion, path: Path, glyphs: Path) -> int:
    """A row for each label that is right, a column for each that was said: how many, coloured by
    their share of the row. `glyphs` is a font of Chinese for machines that have none.

    How many letters no font has.
    """
    from matplotlib.figure import Figure

    counts = np.array(found.counts)
    n = len(counts)
    names = [label if len(label) <= 24 else f"{label[:23]}…" for label in found.labels]
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    numbered, side = n <= MOST_NUMBERED, max(2.5, min(14.0, 0.55 * n))
    figure = Figure((side + 2.4, side + 1.6), 150, layout="constrained")
    with fonts(glyphs) as lacking:
        axes = figure.add_subplot()
        image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        size = min(9.0, 50 * side / n)
        how = {**_PLAIN, "fontsize": size}
        axes.set_xticks(range(n), names, rotation=45, ha="right", rotation_mode="anchor", **how)
        axes.set_yticks(range(n), names, **how)
        axes.set(xlabel="said", ylabel="right")
        axes.tick_params(length=0)
        for (i, j), count in np.ndenumerate(counts):
            if numbered and count:
                colour = "white" if shares[i, j] > 0.6 else "black"
                axes.text(j, i, f"{count:,}", ha="center", va="center", color=colour, fontsize=9)
        figure.colorbar(image, shrink=0.8, label="share of the row", format=lambda x, _: f"{x:.0%}")
        _save(figure, path)
    return len(lacking)


def save_calibration(found: LabelCalibration, path: Path) -> None:
    """A reliability diagram (Guo et al. 2017, figure 1): how often answers of a confidence are
    right, beside the line where they would be right as often as they say; below, how many there
    are."""
    from matplotlib.figure import Figure

    figure = Figure((4.6, 5.2), 150, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for one in found.bins:
        middle, width = (one.low + one.high) / 2, 0.92 * (one.high - one.low)
        lower.bar(middle, one.n, width, color="#9aa5b1")
        if one.n:
            upper.bar(middle, one.accuracy, width, color="#2563a8")
            upper.plot(one.confidence, one.accuracy, "o", color="#c2600c", markersize=4)
    upper.plot((0, 1), (0, 1), linestyle="--", color="#1c2430", linewidth=1)
    upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right")
    upper.set_title(f"expected calibration error {found.error:.1f} %", fontsize=11)
    lower.set(xlabel="confidence", ylabel="answers")
    _save(figure, path)


def _save(figure: "Figure", path: Path) -> None:
    from matplotlib import rc_context

    kind = path.suffix.lower().removeprefix(".")
    unsaid = {"Date": None} if kind == "svg" else {}
    with rc_context({"svg.hashsalt": "headway"}):
        figure.savefig(path, format=kind, metadata=unsaid)
