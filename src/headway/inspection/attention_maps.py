"""Attention as the page draws it: all maps of all layers and heads, in steps of 1/255."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from headway.inspection.head_habits import HeadStatistics, Weights, habits
from headway.inspection.html_page import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis

LARGEST_ERROR = 0.5 / 255
"""Of a weight in a map, against the model's own: half a step. A row's sum may be off by that much
for each of its columns. The cell view has the exact numbers."""
MOST = 32_000_000
"""Weights of one kind of attention that a page draws: 12 layers and 8 heads of 577 tokens."""
_WEIGHTS = re.compile(r"(encoder|decoder)\.(?:(\d+)\.)?(self|cross)\.weights")


def in_steps(weights: Float[np.ndarray, "*maps"]) -> UInt8[np.ndarray, "*maps"]:
    """Weights between 0 and 1 rounded to 255ths; none is off by more than `LARGEST_ERROR`."""
    return np.rint(np.clip(weights, 0.0, 1.0) * 255).astype(np.uint8)


def attention(analysis: PassageAnalysis) -> dict[str, Any]:
    """Every kind of attention that the model has: its maps, and what its heads do in this text.

    The page joins pieces into words where that is wanted; which they are is said by the tokens.
    """
    found = {name: weights_of(analysis, name) for name in kinds_of(analysis.trace)}
    largest = max((weights.maps.size for weights in found.values()), default=0)
    if largest > MOST:
        return missing(
            f"This text is too long for its maps: {largest:,} weights, {MOST:,} are drawn. "
            "Look at a shorter one.",
            f"这个句子太长，画不下：有 {largest:,} 个权重，最多画 {MOST:,} 个。请换短一些的。",
        )
    if not found:
        return missing("This model has no attention to look at.", "这个模型没有可看的注意力。")
    return {
        "kinds": [{"kind": name, **_kind(weights)} for name, weights in found.items()],
    }


def kinds_of(names: Iterable[str]) -> list[str]:
    """Kinds of attention among the tensors' names, in the order in which a text meets them."""
    found = {(match[1], match[3]) for match in map(_WEIGHTS.fullmatch, names) if match}
    order = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
    return [f"{stack}.{kind}" for stack, kind in order if (stack, kind) in found]


def weights_of(analysis: PassageAnalysis, kind: str) -> Weights:
    """All layers of one kind of attention, such as "decoder.cross"."""
    stack, which = kind.split(".")
    matches = [match for match in map(_WEIGHTS.fullmatch, analysis.trace) if match]
    layers = {
        int(match[2] or 0): match[0] for match in matches if (match[1], match[3]) == (stack, which)
    }
    maps = np.stack([analysis.trace[layers[number]] for number in sorted(layers)])
    visible = analysis.trace.get(layers[min(layers)].replace(".weights", ".visible"), np.True_)
    read, fed = analysis.shown(analysis.passage.source), analysis.shown(analysis.passage.fed)
    special = analysis.inspected.special
    ids = analysis.passage.fed if kind == "decoder.self" else analysis.passage.source
    return Weights(
        maps,
        np.broadcast_to(visible, maps.shape[-2:]),
        read if stack == "encoder" else fed,
        fed if kind == "decoder.self" else read,
        np.array([one in (special.decoder_begin, special.begin, special.end) for one in ids]),
        across=which == "cross",
    )


def _kind(weights: Weights) -> dict[str, Any]:
    maps = in_steps(weights.maps)
    return {
        "shape": list(maps.shape),
        "maps": packed(maps, "u8", deflate=True),
        "visible": packed(weights.visible, "u8", deflate=True),
        "habits": told_of(habits(weights)),
    }


def told_of(measured: HeadStatistics) -> dict[str, Any]:
    """Habits as a document has them."""
    return {
        "names": measured.names,
        "shares": _rounded(measured.shares),
        "even": _rounded(measured.even),
        "spread": _rounded(measured.spread),
        "heads": measured.names_of_heads(),
    }


def _rounded(array: np.ndarray) -> Any:
    """As lists, four digits; None where nothing could be measured."""
    rounded = np.round(array, 4).astype(object)
    rounded[np.isnan(array)] = None
    return rounded.tolist()
