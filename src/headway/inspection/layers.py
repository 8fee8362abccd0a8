"""What each layer would already say, whether positions become alike, which source words matter."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.embedding import project
from headway.decoding.forced import attention_over
from headway.inspection.html_page import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis
from headway.inspection.word_merging import words_of

N_TOP = 3
COLLAPSED = 0.95
"""A mean similarity of positions from which on they can hardly be told apart."""
MOST_WORDS = 200
"""Words that are removed one by one: each costs a pass through the model."""
_LOGITS_AT_ONCE = 16_000_000


def layers(analysis: PassageAnalysis) -> dict[str, Any]:
    """All that is measured by layer, and what the source words are worth; None for what a model
    has not got."""
    found = {
        "lens": _lens(analysis),
        "encoder": _stream(analysis, "encoder"),
        "decoder": _stream(analysis, "decoder"),
        "importance": _importance(analysis),
    }
    if not any(found.values()):
        return missing(
            "This model has no layers of one stream, and no source.",
            "这个模型没有可看的层，也没有原文。",
        )
    return found | {"collapsed": COLLAPSED}


# -- what each layer would already say ----------------------------------------------------------


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


def streams_of(analysis: PassageAnalysis, stack: str) -> list[Float[Tensor, "length d_model"]]:
    """What goes into the first layer of a stack, then what comes out of each."""
    trace, found, layer = analysis.trace, [], 0
    if f"{stack}.input" not in trace:
        return []
    found.append(trace[f"{stack}.input"])
    while f"{stack}.{layer}.output" in trace:
        found.append(trace[f"{stack}.{layer}.output"])
        layer += 1
    return [torch.from_numpy(np.ascontiguousarray(each)) for each in found]


@torch.inference_mode()
def _lens(analysis: PassageAnalysis) -> dict[str, Any] | None:
    """The logit lens (nostalgebraist 2020): each layer's stream through the last norm and the
    output matrix, as if no layer came behind it. The last layer's is what the model says."""
    streams = streams_of(analysis, "decoder")
    if not streams:
        return None
    model, passage = analysis.inspected.model, analysis.passage
    norm = model.decoder_norm if passage.source else model.norm

    def said() -> Iterator[Tensor]:
        for x in streams:
            features = norm(x.to(model.output_weight.device))
            logits = project(features, model.output_weight, model.output_bias)
            yield logits.float().softmax(-1).cpu()

    return _shown(analysis, guesses(said(), [*passage.target_ids, analysis.inspected.special.end]))


def _shown(analysis: PassageAnalysis, found: Guesses) -> dict[str, Any]:
    return {
        "pieces": analysis.spelled(found.ids.flatten().tolist()),
        "ids": packed(found.ids.numpy(), "i32"),
        "values": packed(found.values.numpy()),
        "rank": packed(found.rank.numpy(), "i32"),
        "value": packed(found.value.numpy()),
    }


# -- whether positions become alike -------------------------------------------------------------


def similarity(x: Float[Tensor, "length d_model"]) -> float | None:
    """Mean cosine of all pairs of different positions; None where there is one position."""
    if len(x) < 2:
        return None
    unit = F.normalize(x.double(), dim=1)
    cosines = unit @ unit.T
    return float((cosines.sum() - cosines.trace()) / (len(x) * (len(x) - 1)))


def _stream(analysis: PassageAnalysis, stack: str) -> dict[str, Any] | None:
    streams = streams_of(analysis, stack)
    if not streams:
        return None
    return {
        "norms": packed(torch.stack([x.norm(dim=1) for x in streams]).numpy()),
        "similarity": [similarity(x) for x in streams],
    }


# -- which words of the source matter -----------------------------------------------------------


@torch.inference_mode()
def log_probs_without(
    analysis: PassageAnalysis, removed: Sequence[Sequence[int]]
) -> Float[Tensor, "removed target"]:
    """Log-probabilities of the target's tokens (nats), the end marker last, when each of several
    groups of source positions is left out in turn."""
    inspected, passage = analysis.inspected, analysis.passage
    model, padding = inspected.model, inspected.special.padding
    kept = [
        [one for i, one in enumerate(passage.source) if i not in set(positions)]
        for positions in removed
    ]
    wanted = torch.tensor([*passage.target_ids, inspected.special.end], device=inspected.device)
    fed = torch.tensor([passage.fed], device=inspected.device)
    at_once = max(1, _LOGITS_AT_ONCE // (fed.shape[1] * len(model.output_weight)))
    found = []
    for start in range(0, len(kept), at_once):
        some = kept[start : start + at_once]
        longest = max(map(len, some))
        read = [[*ids, *[padding] * (longest - len(ids))] for ids in some]
        source = torch.tensor(read, device=inspected.device)
        features = model.features(source, fed.expand(len(some), -1))
        logits = project(features, model.output_weight, model.output_bias).float()
        taken = wanted.expand(len(some), -1)[..., None]
        found.append(logits.log_softmax(-1).gather(-1, taken).squeeze(-1).cpu())
    return torch.cat(found)


def _importance(analysis: PassageAnalysis) -> dict[str, Any] | None:
    """Attention on each word beside what is lost without it; see `log_probs_without`.

    Attention is that of the alignment layer, the mean over its heads and over the
    tokens that are written, the end marker not among them.
    """
    inspected, passage = analysis.inspected, analysis.passage
    if not passage.source:
        return None
    words = words_of(inspected.pieces(passage.source))
    end = inspected.special.end
    removable = [i for i, group in enumerate(words.groups) if passage.source[group[0]] != end]
    if not removable:
        return None
    if len(removable) > MOST_WORDS:
        return {"n_words": len(removable), "most": MOST_WORDS}
    groups = [words.groups[i] for i in removable]
    log_probs = log_probs_without(analysis, [[], *groups])
    lost = (log_probs[0] - log_probs[1:]).numpy()
    attention = _attention_on(analysis, groups)
    result: dict[str, Any] = {
        "words": [passage.names.get(words.labels[i], words.labels[i]) for i in removable],
        "lost": packed(lost),
        "log_prob": float(log_probs[0].sum()),
    }
    return result if attention is None else result | {"attention": attention}


def _attention_on(analysis: PassageAnalysis, groups: Sequence[Sequence[int]]) -> list[float] | None:
    """The share of each group of source positions."""
    inspected, passage = analysis.inspected, analysis.passage
    if not passage.target_ids:
        return None
    weights = attention_over(
        inspected.model,
        [passage.source[:-1]],
        [passage.target_ids],
        inspected.special,
        inspected.device,
    )[0]
    if weights is None:
        return None
    mean = weights.mean(0)
    return [float(mean[list(group)].sum()) for group in groups]
