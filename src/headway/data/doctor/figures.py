"""What the plots show, as plain numbers: part of the JSON, and what the page is drawn from."""

from typing import Any

import numpy as np

from headway.data.doctor.examination import Examination
from headway.data.doctor.sizes import Histogram
from headway.text.shifts import LengthBlock

_BARS = 40
_POINTS = 300
_SHOWN = 0.995  # of all values; the longest few would squeeze the others


def figures(examination: Examination) -> dict[str, Any]:
    """Lengths and ratios in at most 40 bars, the alignment in at most 300 points."""
    sizes = examination.sizes
    lengths = sizes.source.characters, sizes.target.characters
    top = max((histogram.quantile(_SHOWN) for histogram in lengths if histogram.total), default=0.0)
    ratio_top = sizes.ratio.quantile(_SHOWN) if sizes.ratio.total else 0.0
    return {
        "source_characters": _bars(sizes.source.characters, top),
        "target_characters": _bars(sizes.target.characters, top),
        "target_over_source": _bars(sizes.ratio, ratio_top),
        "alignment": _points(examination.alignment),
    }


def _bars(histogram: Histogram, top: float) -> dict[str, Any]:
    """Counts of values in steps of equal `width` from 0 up to `top`, and of those `above`."""
    n_values = round(top / histogram.unit) + 1
    step = -(-n_values // _BARS)
    shown = histogram.counts[:n_values]
    padded = np.pad(shown, (0, -len(shown) % step))
    counts = padded.reshape(-1, step).sum(axis=1)
    return {
        "width": round(step * histogram.unit, 6),
        "counts": counts.tolist(),
        "above": histogram.total - int(shown.sum()),
    }


def _points(blocks: list[LengthBlock]) -> list[dict[str, Any]]:
    """The correlation of each block and where it begins; of many blocks the lowest in a row."""
    step = -(-len(blocks) // _POINTS) or 1
    chosen = [
        min(blocks[i : i + step], key=lambda block: block.correlation)
        for i in range(0, len(blocks), step)
    ]
    return [
        {
            "file": block.first.file,
            "line": block.first.line,
            "correlation": round(block.correlation, 4),
        }
        for block in chosen
    ]
