"""The Transformer with parts taken away or exchanged, to see what each is there for.

`AblatedConfig` names the parts; with its defaults nothing is taken, and the model is the
Transformer bit for bit. One head, no positions, another feed-forward width, pre- or post-norm are
settings of the Transformer itself.
"""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, causal_mask, padding_mask
from headway.core.embedding import project
from headway.core.errors import ConfigError
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.core.layers import Layer, Residual, Stack, alignment_layer
from headway.core.transformer import Transformer
from headway.earlier_translators.variants import (
    AdditiveHeads,
    BatchNorm,
    OneVectorAttention,
    RealTokens,
    UnscaledAttention,
    WithoutFeedForward,
    WithoutResidual,
    WithoutSublayer,
)
from headway.nn.attention_weights import watched
from headway.nn.positioned import PositionedConfig


@dataclass(frozen=True)
class AblatedConfig(PositionedConfig):
    """What is left of the Transformer; the defaults leave all of it."""

    scale: bool = True
    """Scores are divided by sqrt(d_k) (eq. 1)."""
    score: Literal["dot", "additive"] = "dot"
    """q . k, or v . tanh(W q + U k) (Bahdanau et al. 2015)."""
    query_is_key: bool = False
    """W_Q and W_K of every attention are one matrix, and their biases one."""
    causal: bool = True
    """The decoder is kept from seeing the tokens that it is to write. Without it training shows
    them to it; when it translates it sees what it has written, of which there is less."""
    cross: Literal["attention", "mean", "last", "none"] = "attention"
    """How the decoder knows the source: by attention; by one vector for all positions, the mean of
    the encoder's output or the last of it; or not at all."""
    residual: bool = True
    """What goes into a sub-layer is added to what comes out."""
    normalize: Literal["layer", "batch", "none"] = "layer"
    """LayerNorm, BatchNorm over the real tokens of a batch, or nothing."""
    feed_forward: Literal["full", "linear", "none"] = "full"
    """Equation 2; without its activation, which makes it one linear map; or no such sub-layer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window:
            raise ConfigError(
                "parts are taken away from full attention; got window "
                f"{self.window}. Leave it out, or choose --model.type transformer."
            )
        if self.score == "additive" and not self.scale:
            raise ConfigError(
                "an additive score has no scale that could be taken away; got score 'additive' and "
                "scale false. Leave one of them out."
            )
        if self.score == "additive" and self.positions in ("relative", "rotary"):
            raise ConfigError(
                f"{self.positions} positions act within the product of query and key, which an "
                "additive score has not. Choose --model.positions sinusoidal, learned or none."
            )
        if self.feed_forward == "linear" and self.activation == "swiglu":
            raise ConfigError(
                "swiglu multiplies two maps of its input, which is not linear without its "
                "activation either; got feed_forward 'linear'. Choose --model.activation relu."
            )
        if self.cross in ("mean", "last") and not self.residual:
            raise ConfigError(
                f"with cross '{self.cross}' every position of the decoder gets the same vector, "
                "and without the residual connection it has nothing else; got residual false. "
                "Keep one of them."
            )


@dataclass(frozen=True)
class AblatedState:
    """The source as it was read, and what each row was fed; a `State` of search."""

    encoded: Float[Tensor, "rows source d_model"]
    source_visible: Bool[Tensor, "rows 1 1 source"]
    fed: Int[Tensor, "rows fed"]

    def select(self, rows: Int[Tensor, " kept"]) -> "AblatedState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        return AblatedState(self.encoded[rows], self.source_visible[rows], self.fed[rows])


class Ablated(Transformer):
    """A Transformer some of whose bricks were exchanged once it stood.

    So all that is left begins with the weights that the whole Transformer has from the same seed.
    Decoding runs the decoder over all that was written, at every step: without the causal mask a
    new token changes those before it, and `headway.core.kv_cache` knows the standard bricks
    only. It is slower by the length of the text, and one pass by construction.
    """

    config: AblatedConfig

    def __init__(self, config: AblatedConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__(config, vocabulary_size=vocabulary_size, padding=padding)
        self.source_real, self.target_real = RealTokens(), RealTokens()
        exchange(self.encoder, config, self.source_real)
        exchange(self.decoder, config, self.target_real)
        if config.norm == "pre":
            self.encoder_norm = norm(self.encoder_norm, config, self.source_real)
            self.decoder_norm = norm(self.decoder_norm, config, self.target_real)

    def encode(
        self, source: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """The encoder's output, and which of its positions are real."""
        self.source_real.mask = source != self.padding
        return super().encode(source)

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits; see `Transformer`."""
        return self.decode(target, *self.encode(source))

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        encoded: Float[Tensor, "batch source d_model"],
        source_visible: Bool[Tensor, "batch 1 1 source"],
    ) -> Float[Tensor, "batch target d_model"]:
        """The same of a source that is read already.

        Without the causal mask it is padding that must be hidden; not what is fed first, which
        some vocabularies have no id of its own for.
        """
        real = padding_mask(target, self.padding)
        real[..., 0] = True
        self.target_real.mask = real[:, 0, 0]
        visible = causal_mask(target.shape[1], target.device) if self.config.causal else real
        x = self.decoder(self.embed_target(target), visible, encoded, source_visible)
        return self.decoder_norm(x)

    @torch.no_grad()
    def start(  # type: ignore[override]  # its own kind of state, which only its own step sees
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> AblatedState:
        """Read the source once; see `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        return AblatedState(*self.encode(source), source[:, :0] if prefix is None else prefix)

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, state: AblatedState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row, and with it again all that were fed before; see `StepDecoder`."""
        state = replace(state, fed=torch.cat([state.fed, last[:, None]], 1))
        layers = list(self.decoder)
        across = layers[alignment_layer(len(layers))].cross_attention
        with watched([across] if want_attention and across is not None else []) as maps:
            features = self.decode(state.fed, state.encoded, state.source_visible)
        logits = project(features[:, -1], self.output_weight, self.output_bias).float()
        return Step(logits, state, maps[0][:, :, -1].float().mean(1) if maps else None)


def exchange(stack: Stack, config: AblatedConfig, real: RealTokens) -> None:
    """Put other bricks in the place of those that the config takes away."""
    for layer in stack:
        layer.self_attention = attention(layer.self_attention, config)
        layer.around_self_attention = residual(layer.around_self_attention, config, real)
        if layer.cross_attention is not None and layer.around_cross_attention is not None:
            around = residual(layer.around_cross_attention, config, real)
            layer.around_cross_attention = None if config.cross == "none" else around
            layer.cross_attention = cross_attention(layer.cross_attention, config)
        layer.around_feed_forward = residual(layer.around_feed_forward, config, real)
        exchange_feed_forward(layer, config)


def attention(standard: MultiHeadAttention, config: AblatedConfig) -> MultiHeadAttention:
    """With the score that the config names."""
    if config.query_is_key:
        standard.to_key = standard.to_query
    if config.score == "additive":
        return AdditiveHeads(standard)
    return standard if config.scale else UnscaledAttention(standard)


def cross_attention(
    standard: MultiHeadAttention, config: AblatedConfig
) -> MultiHeadAttention | None:
    """How the decoder knows the source; None if it does not."""
    if config.cross == "none":
        return None
    if config.cross == "attention":
        return attention(standard, config)
    return OneVectorAttention(standard, config.cross)


def residual(standard: Residual, config: AblatedConfig, real: RealTokens) -> Residual:
    """The connection around a sub-layer, with its norm."""
    standard.norm = norm(standard.norm, config, real)
    return standard if config.residual else WithoutResidual(standard)


def norm(standard: nn.Module, config: AblatedConfig, real: RealTokens) -> nn.Module:
    """In the place of a LayerNorm."""
    if config.normalize == "batch":
        return BatchNorm(config.d_model, real, epsilon=config.layer_norm_epsilon)
    return standard if config.normalize == "layer" else nn.Identity()


def exchange_feed_forward(layer: Layer, config: AblatedConfig) -> None:
    """Its activation taken away, or all of it."""
    if config.feed_forward == "linear":
        layer.feed_forward.activate = nn.Identity()
    elif config.feed_forward == "none":
        layer.around_feed_forward = WithoutSublayer()
        layer.feed_forward = WithoutFeedForward()
