"""The ideas of the paper, live on this model: positions, masks, the scale."""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import nn

from headway.core.attention import MultiHeadAttention
from headway.earlier_translators.convolution import Convolution
from headway.inspection.html_page import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis
from headway.nn.positions import PositionedAttention
from headway.nn.recurrent import RecurrentLayer

N_POSITIONS = 64
_ATTENTION = ".scores"


def ideas(analysis: PassageAnalysis) -> dict[str, Any]:
    """What this model has of them; a part that it has not is None."""
    if not analysis.trace:
        return missing(
            "This model counts: it has no positions and no masks.",
            "这个模型靠计数：没有位置或掩码。",
        )
    return {
        "causal": causal(analysis.trace),
        "scale": scale(analysis.trace),
    }


@torch.inference_mode()
def positions(model: nn.Module, config: Any) -> dict[str, Any] | None:
    """What is added to the first tokens' embeddings, and how alike positions are by distance.

    `similarity[k]` is the mean cosine of two positions that are k apart. None for a model that adds
    nothing: `order_known_by` says what then tells the order of its tokens.
    """
    adds = next(
        (
            getattr(model, name)
            for name in ("source_positions", "positions")
            if hasattr(model, name)
        ),
        None,
    )
    if not isinstance(adds, nn.Module):
        return None
    length = min(N_POSITIONS, getattr(model, "longest", None) or N_POSITIONS)
    device = next(model.parameters()).device
    table = adds(torch.zeros(1, length, config.d_model, device=device))[0].float().cpu().numpy()
    sizes = np.linalg.norm(table, axis=1, keepdims=True)
    if not sizes.all():
        return None
    unit = table / sizes
    cosines = unit @ unit.T
    similarity = [float(np.diagonal(cosines, k).mean()) for k in range(length)]
    return {
        "kind": getattr(config, "positions", "learned"),  # a convolutional model has no others
        "table": packed(table),
        "similarity": [round(value, 5) for value in similarity],
    }


def order_known_by(model: nn.Module, config: Any) -> str:
    """What tells the order of the tokens where nothing is added to their embeddings: a name that
    the page has words for."""
    bricks = list(model.modules())
    attentions = [brick for brick in bricks if isinstance(brick, MultiHeadAttention)]
    if any(
        isinstance(one, PositionedAttention) and (one.rotary or one.relative is not None)
        for one in attentions
    ):
        return "attention"
    if getattr(config, "order", 0):
        return "window"
    for kind, name in ((RecurrentLayer, "recurrence"), (Convolution, "convolution")):
        if any(isinstance(brick, kind) for brick in bricks):
            return name
    return "mask" if attentions and getattr(config, "causal", True) else "nothing"


def causal(trace: dict[str, np.ndarray]) -> dict[str, Any] | None:
    """Which of the tokens that are fed each of them may look at."""
    names = [name for name in trace if name.endswith(".self.visible") and "encoder" not in name]
    if not names:
        return None
    visible: Bool[np.ndarray, "target target"] = trace[names[0]]
    return packed(visible, "u8")


def scale(trace: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Each attention with its scale and without: how peaked softmax is, and how much gradient it
    lets through.

    `largest` is the mean over heads and queries of the largest weight, `gradient` that of the sum
    of p (1 - p): the trace of softmax's Jacobian, 0 where all weight is on one key. `spread` is the
    standard deviation of the scores.
    """
    found = []
    for name in (name.removesuffix(_ATTENTION) for name in trace if name.endswith(_ATTENTION)):
        if f"{name}.visible" not in trace:  # a recurrent model's, which has no such scale
            continue
        d_k = trace[f"{name}.query"].shape[-1]
        scores, visible = trace[f"{name}.scores"], trace[f"{name}.visible"]
        found.append(
            {
                "name": name,
                "d_k": d_k,
                "scaled": _peaked(scores, visible),
                "unscaled": _peaked(scores * math.sqrt(d_k), visible),
            }
        )
    return found


def _peaked(
    scores: Float[np.ndarray, "heads query key"], visible: Bool[np.ndarray, "query key"]
) -> dict[str, float]:
    shown = np.where(visible, scores, -np.inf)
    weights = np.exp(shown - shown.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    several = visible.sum(axis=-1) > 1  # a query that sees one key has no choice
    if not several.any():
        several = ~several
    rows = weights[:, several]
    return {
        "spread": round(float(scores[:, visible].std()), 4),
        "largest": round(float(rows.max(axis=-1).mean()), 4),
        "gradient": round(float((rows * (1 - rows)).sum(axis=-1).mean()), 4),
    }
