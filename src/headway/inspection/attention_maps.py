"""Attention as the page draws it: all maps of all layers and heads, in steps of 1/255."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

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
    """Every kind of attention that the model has, with the maps of all its layers.

    The page joins pieces into words where that is wanted; which they are is said by the tokens.
    """
    found = {kind: _maps(analysis.trace, kind) for kind in kinds_of(analysis.trace)}
    if not found:
        return missing("This model has no attention to look at.", "这个模型没有可看的注意力。")
    largest = max(maps.size for maps, _ in found.values())
    if largest > MOST:
        return missing(
            f"This text is too long for its maps: {largest:,} weights, {MOST:,} are drawn. "
            "Look at a shorter one.",
            f"这个句子太长，画不下：有 {largest:,} 个权重，最多画 {MOST:,} 个。请换短一些的。",
        )
    return {
        "kinds": [
            {
                "kind": kind,
                "shape": list(maps.shape),
                "maps": packed(in_steps(maps), "u8", deflate=True),
                "visible": packed(visible, "u8", deflate=True),
            }
            for kind, (maps, visible) in found.items()
        ],
    }


def kinds_of(names: Iterable[str]) -> list[str]:
    """Kinds of attention among the tensors' names, in the order in which a text meets them."""
    found = {(match[1], match[3]) for match in map(_WEIGHTS.fullmatch, names) if match}
    order = [("encoder", "self"), ("decoder", "self"), ("decoder", "cross")]
    return [f"{stack}.{kind}" for stack, kind in order if (stack, kind) in found]


def _maps(
    trace: Mapping[str, np.ndarray], kind: str
) -> tuple[Float[np.ndarray, "layers heads rows columns"], Bool[np.ndarray, "rows columns"]]:
    """All layers of one kind of attention, such as "decoder.cross", and who may look at whom."""
    matches = [match for match in map(_WEIGHTS.fullmatch, trace) if match]
    layers = {int(match[2] or 0): match[0] for match in matches
              if f"{match[1]}.{match[3]}" == kind}  # fmt: skip
    maps = np.stack([trace[layers[number]] for number in sorted(layers)])
    visible = trace.get(layers[min(layers)].replace(".weights", ".visible"), np.True_)
    return maps, np.broadcast_to(visible, maps.shape[-2:])
