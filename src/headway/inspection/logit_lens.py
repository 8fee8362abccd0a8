"""What each layer would already write: the logit lens (nostalgebraist 2020)."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.embedding import project
from headway.inspection.html_page import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis

N_TOP = 3


class Guesses(NamedTuple):
    """What tokens a stream of vectors comes close to, at every position."""

    ids: Int[Tensor, "layers length top"]
    values: Float[Tensor, "layers length top"]
    """Probabilities."""
    rank: Int[Tensor, "layers length"]
    """Of the token that is right, from 1."""
    value: Float[Tensor, "layers length"]
    """And its own."""


def guesses(
    by_layer: Iterator[Float[Tensor, "length vocabulary"]], right: Sequence[int]
) -> Guesses:
    """The likeliest tokens of each layer, and the place of the right one among all."""
    rows, wanted = torch.arange(len(right)), torch.tensor(right)
    found = []
    for scores in by_layer:
        values, ids = scores.topk(min(N_TOP, scores.shape[1]), dim=1)
        value = scores[rows, wanted]
        found.append((ids, values, (scores > value[:, None]).sum(1) + 1, value))
    return Guesses(*(torch.stack(each) for each in zip(*found, strict=True)))


def streams_of(analysis: PassageAnalysis) -> list[Float[Tensor, "length d_model"]]:
    """What goes into the decoder's first layer, then what comes out of each."""
    trace, names = analysis.trace, ["decoder.input"]
    while f"decoder.{len(names) - 1}.output" in trace:
        names.append(f"decoder.{len(names) - 1}.output")
    return [torch.from_numpy(np.ascontiguousarray(trace[name])) for name in names if name in trace]


@torch.inference_mode()
def lens(analysis: PassageAnalysis) -> dict[str, Any]:
    """Each layer's stream through the last norm and the output matrix, as if no layer came behind
    it. The last layer's is what the model says."""
    streams = streams_of(analysis)
    if not streams:
        return missing("This model has no layers of one stream.", "这个模型没有由层组成的残差流。")
    model, passage = analysis.inspected.model, analysis.passage
    norm = model.decoder_norm if passage.source else model.norm

    def said() -> Iterator[Tensor]:
        for x in streams:
            features = norm(x.to(model.output_weight.device))
            logits = project(features, model.output_weight, model.output_bias)
            yield logits.float().softmax(-1).cpu()

    found = guesses(said(), [*passage.target_ids, analysis.inspected.special.end])
    return {
        "pieces": analysis.spelled(found.ids.flatten().tolist()),
        "ids": packed(found.ids.numpy(), "i32"),
        "values": packed(found.values.numpy()),
        "rank": packed(found.rank.numpy(), "i32"),
        "value": packed(found.value.numpy()),
    }
