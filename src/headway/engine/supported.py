"""Which models the compiled engine knows: a Transformer, with every part as it was built."""

from typing import Any

import torch
from torch import nn

from headway.core.attention import MultiHeadAttention
from headway.core.dropout import Dropout
from headway.core.embedding import LearnedPositions, SinusoidalPositions, TokenEmbedding
from headway.core.interfaces import StepDecoder
from headway.core.layers import ACTIVATIONS, FeedForward, Layer, Residual, Stack
from headway.core.transformer import Transformer, TransformerConfig
from headway.nn.positions import NoPositions

CHANGED = "something changes it, or looks into it"


def unsupported(decoder: StepDecoder, device: torch.device) -> str:
    """Why the engine cannot do this model; nothing if it can."""
    if device.type != "cpu":
        return f"the model is on {device.type}"
    if type(decoder) is not Transformer:
        return f"{type(decoder).__name__} is no plain Transformer"
    config = decoder.config
    if window := getattr(config, "window", 0):
        return f"its self-attention has a window of {window}"
    if str(config.positions) in ("relative", "rotary"):
        return f"its positions are {config.positions}"
    if decoder.training or {one.dtype for one in decoder.parameters()} != {torch.float32}:
        return "it is being trained"
    layers = len(decoder.encoder), len(decoder.decoder)
    if layers != (config.encoder_layers, config.decoder_layers):
        return "layers were taken out of it"
    if any(map(changed, decoder.modules())):
        return CHANGED
    return "parts of it were exchanged" if exchanged(decoder) else ""


def changed(module: nn.Module) -> bool:
    """Whether it has hooks, or methods of its own in the place of its class's: whoever switches
    parts off works so, and the engine would know nothing of it."""
    own = (name for name in vars(module) if callable(getattr(type(module), name, None)))
    return bool(module._forward_hooks or module._forward_pre_hooks or any(own))


def exchanged(model: Transformer) -> bool:
    """Whether a part is not the one that stands there when a Transformer is built by its config, or
    was told something else: whatever it computes, the engine would compute the usual."""
    parts = list(model.modules())
    if list(map(type, parts)) != built(model.config):
        return True
    if any(one is None for part in parts for one in part._parameters.values()):
        return True  # such as a product without its bias
    usual = told(model).items()
    return any(vars(part).get(name, value) != value for part in parts for name, value in usual)


def built(config: TransformerConfig) -> list[type]:
    """The types of a Transformer's parts, in the order of `modules()`."""
    attention: list[type] = [MultiHeadAttention, *[nn.Linear] * 4, Dropout]
    n_products = 3 if config.activation == "swiglu" else 2
    feed_forward: list[type] = [FeedForward, *[nn.Linear] * n_products, Dropout]
    residual: list[type] = [Residual, nn.LayerNorm, Dropout]
    encoder = [Layer, *attention, *feed_forward, *residual * 2]
    decoder = [Layer, *attention * 2, *feed_forward, *residual * 3]
    adding: dict[str, type] = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
    positions = [adding.get(config.positions, NoPositions)] * 2
    return [
        Transformer, *[TokenEmbedding] * (1 if config.tied else 2), *positions, Dropout,
        Stack, *encoder * config.encoder_layers,
        Stack, *decoder * config.decoder_layers,
        *[nn.Identity if config.norm == "post" else nn.LayerNorm] * 2,
    ]  # fmt: skip


def told(model: Transformer) -> dict[str, Any]:
    """What its parts were told beside their sizes, under the names that they keep it by."""
    config = model.config
    return {
        "activate": ACTIVATIONS[config.activation],
        "heads": config.heads,
        "norm_first": config.norm == "pre",
        "eps": config.layer_norm_epsilon,
        "scale": model.target_embedding.scale,
    }
