"""A Transformer's weights under the names of `transformers`' Marian and Pegasus, both ways.

There the sinusoids stand in another order: first all sines, then all cosines. Nothing else in a
Transformer depends on the order of its d_model dimensions (the heads' are others), so the weights
are put into that order, or out of it, and the model computes the same.
"""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from headway.core.transformer import Transformer, TransformerConfig

SHARED, HEAD, BIAS = "model.shared.weight", "lm_head.weight", "final_logits_bias"
SOURCE, TARGET = (f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder"))
POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))

READS, WRITES = ("weight", 1), ("weight bias", 0)
"""Parameters of a linear map that have the d_model dimensions, and on which axis: of one that reads
them, and of one that writes them (a LayerNorm has them so, too)."""
_ATTENTION = {
    "to_query": ("q_proj", READS),
    "to_key": ("k_proj", READS),
    "to_value": ("v_proj", READS),
    "to_output": ("out_proj", WRITES),
}
_FEED_FORWARD = {
    "feed_forward.to_inner": ("fc1", READS),
    "feed_forward.to_output": ("fc2", WRITES),
    "around_feed_forward.norm": ("final_layer_norm", WRITES),
}


class StoredParameter(NamedTuple):
    """Where a parameter is kept there."""

    name: str
    axis: int | None
    """Of the d_model dimensions; None where it has none."""


def places(config: TransformerConfig) -> dict[str, StoredParameter]:
    """The place of each parameter that is no embedding, by its name here."""
    found = {}
    for part, there, axes in _parts(config):
        for kind in ("weight", "bias"):
            axis = axes[1] if kind in axes[0].split() else None
            found[f"{part}.{kind}"] = StoredParameter(f"{there}.{kind}", axis)
    return found


def _parts(config: TransformerConfig) -> Iterator[tuple[str, str, tuple[str, int]]]:
    """Each linear map and LayerNorm: its name here, there, and what of it has d_model."""
    for side, n_layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        crosses = {"cross_attention": "encoder_attn"} if side == "decoder" else {}
        for i in range(n_layers):
            here, there = f"{side}.{i}", f"model.{side}.layers.{i}"
            for kind, name in {"self_attention": "self_attn", **crosses}.items():
                for part, (projection, axes) in _ATTENTION.items():
                    yield f"{here}.{kind}.{part}", f"{there}.{name}.{projection}", axes
                yield f"{here}.around_{kind}.norm", f"{there}.{name}_layer_norm", WRITES
            for part, (name, axes) in _FEED_FORWARD.items():
                yield f"{here}.{part}", f"{there}.{name}", axes
        if config.norm == "pre":
            yield f"{side}_norm", f"model.{side}.layer_norm", WRITES


def sines_first(d_model: int) -> Int[torch.Tensor, " d_model"]:
    """For each dimension there the one here: sines at even places, then cosines at odd ones."""
    dimensions = torch.arange(d_model)
    return torch.cat([dimensions[0::2], dimensions[1::2]])


def to_theirs(model: Transformer) -> dict[str, Tensor]:
    """The weights of a model as they are kept there."""
    order = sines_first(model.config.d_model)
    own = {name: tensor.detach().float().cpu() for name, tensor in model.named_parameters()}
    found = {}
    for name, place in places(model.config).items():
        tensor = own[name]
        ordered = tensor if place.axis is None else tensor.index_select(place.axis, order)
        found[place.name] = ordered.contiguous()
    embeddings = {SHARED: model.target_embedding.weight}
    if not model.config.tied:
        embeddings = {
            SOURCE: model.source_embedding.weight,
            TARGET: model.target_embedding.weight,
            HEAD: model.output_weight,
        }
    for name, weight in embeddings.items():
        found[name] = weight.detach().float().cpu()[:, order].contiguous()
    bias = model.output_bias
    n_tokens = len(model.output_weight)
    found[BIAS] = torch.zeros(1, n_tokens) if bias is None else bias.detach().float().cpu()[None]
    return found


def from_theirs(
    tensors: Mapping[str, Tensor],
    config: TransformerConfig,
    *,
    scaled: bool,
    order: Int[torch.Tensor, " d_model"] | None,
) -> dict[str, Tensor]:
    """The other way round: what a model of this config has, by name.

    `scaled` is whether embeddings are multiplied by sqrt(d_model) there, as they are here; else
    that is taken out of them, which needs a model that is not tied. `order` has for each dimension
    there the one here, as `sines_first` does; None: they are in one order.
    """
    back = None if order is None else order.argsort()

    def ordered(tensor: Tensor, axis: int | None) -> Tensor:
        found = tensor.float()
        return found if axis is None or back is None else found.index_select(axis, back)

    found = {
        name: ordered(tensors[place.name], place.axis) for name, place in places(config).items()
    }
    source, target, output = (ordered(tensor, 1) for tensor in embeddings(tensors))
    scale = 1.0 if scaled else sqrt(config.d_model)
    found["output_weight"] = output  # of a tied model the name of all three
    if not config.tied:
        found["source_embedding.weight"] = source / scale
        found["target_embedding.weight"] = target / scale
    if config.output_bias:
        found["output_bias"] = tensors[BIAS].float()[0]
    return {name: tensor.contiguous() for name, tensor in found.items()}


def embeddings(tensors: Mapping[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Of the source, of the target, and the output's: each is another's where it has none."""
    shared = tensors.get(SHARED)
    source = tensors.get(SOURCE, shared)
    target = tensors.get(TARGET, shared)
    assert source is not None
    assert target is not None
    return source, target, tensors.get(HEAD, target)
