"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, section 3).

`Transformer(TransformerConfig(), vocabulary_size=37000)` is the base model of table 3. It is a
plain `torch.nn.Module`: token ids in, logits out; it knows no file, text or optimizer.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.errors import ConfigError
from headway.models.interfaces import Step
from headway.nn.attention import KeysAndValues, MultiHeadAttention, Weights
from headway.nn.dropout import Dropout
from headway.nn.embedding import TokenEmbedding, compute_dtype, project
from headway.nn.feed_forward import Activation, FeedForward
from headway.nn.masks import causal_mask, padding_mask
from headway.nn.positions import (
    LearnedPositions,
    NoPositions,
    RelativePositions,
    SinusoidalPositions,
)
from headway.nn.residual import Norm, Residual

Positions = Literal["sinusoidal", "learned", "relative", "rotary", "none"]


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and options; the defaults are the row "base" of table 3."""

    encoder_layers: int = 6
    decoder_layers: int = 6
    d_model: int = 512
    d_ff: int = 2048
    heads: int = 8
    d_k: int = 0
    """Per head; 0 = d_model / heads, as in the paper."""
    d_v: int = 0
    """Per head; 0 = d_model / heads, as in the paper."""
    dropout: float = 0.1
    """On every sub-layer's output and on embedding + position (section 5.4)."""
    attention_dropout: float = 0.0
    """On the attention weights; not in the paper."""
    activation_dropout: float = 0.0
    """Inside the feed-forward; not in the paper."""
    norm: Norm = "post"
    positions: Positions = "sinusoidal"
    activation: Activation = "relu"
    tied: bool = True
    """Source embedding, target embedding and output matrix are one (section 3.4)."""
    max_length: int = 1024
    """Learned positions end here (tokens); the others do not end."""

    def __post_init__(self) -> None:
        for name in ("encoder_layers", "decoder_layers", "d_model", "d_ff", "heads", "max_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1; got {getattr(self, name)}.")
        for name in ("d_k", "d_v"):
            if getattr(self, name) < 0:
                raise ConfigError(
                    f"{name} must not be negative; got {getattr(self, name)}. "
                    "0 takes d_model / heads, as in the paper."
                )
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(
                    f"{name} must be at least 0 and below 1; got {getattr(self, name)}. "
                    "The paper drops 0.1."
                )
        if self.d_model % self.heads and not (self.d_k and self.d_v):
            best = max(h for h in range(1, self.heads + 1) if self.d_model % h == 0)
            raise ConfigError(
                f"d_model must be a multiple of heads; got {self.d_model} and {self.heads}. "
                f"Try heads={best}, or set d_k and d_v."
            )
        if self.positions == "rotary" and self.key_size % 2:
            raise ConfigError(
                f"Rotary positions turn pairs, so d_k must be even; got {self.key_size}. "
                "Set --model.d-k or choose other positions."
            )

    @property
    def key_size(self) -> int:
        """d_k in effect."""
        return self.d_k or self.d_model // self.heads

    @property
    def value_size(self) -> int:
        """d_v in effect."""
        return self.d_v or self.d_model // self.heads


def self_attention(config: TransformerConfig) -> MultiHeadAttention:
    """Attention within one sequence: the only place where relative and rotary positions act."""
    relative = RelativePositions(config.key_size) if config.positions == "relative" else None
    return MultiHeadAttention(
        config.d_model,
        config.heads,
        d_k=config.key_size,
        d_v=config.value_size,
        dropout=config.attention_dropout,
        rotary=config.positions == "rotary",
        relative=relative,
    )


def feed_forward(config: TransformerConfig) -> FeedForward:
    """The position-wise network of one layer."""
    return FeedForward(
        config.d_model,
        config.d_ff,
        activation=config.activation,
        dropout=config.activation_dropout,
    )


def residual(config: TransformerConfig) -> Residual:
    """The connection around one sub-layer."""
    return Residual(config.d_model, norm=config.norm, dropout=config.dropout)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (figure 1, left)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = self_attention(config)
        self.feed_forward = feed_forward(config)
        self.around_self_attention = residual(config)
        self.around_feed_forward = residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch source d_model"],
        visible: Bool[Tensor, "batch 1 1 source"],
        look: Weights | None = None,
    ) -> Float[Tensor, "batch source d_model"]:
        """Every source position looks at all real source positions."""
        attention = self.self_attention
        x = self.around_self_attention(
            x, lambda y: attention(y, attention.keys_and_values(y), visible, look=look)
        )
        return self.around_feed_forward(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, then feed-forward (figure 1, right)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = self_attention(config)
        self.cross_attention = MultiHeadAttention(
            config.d_model,
            config.heads,
            d_k=config.key_size,
            d_v=config.value_size,
            dropout=config.attention_dropout,
        )
        self.feed_forward = feed_forward(config)
        self.around_self_attention = residual(config)
        self.around_cross_attention = residual(config)
        self.around_feed_forward = residual(config)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        source: KeysAndValues,
        source_visible: Bool[Tensor, "batch 1 1 source"],
        visible: Bool[Tensor, "1 1 target target"] | None,
        *,
        past: KeysAndValues | None = None,
        look: "DecoderLook | None" = None,
    ) -> tuple[Float[Tensor, "batch target d_model"], KeysAndValues]:
        """The layer's output, and its keys and values so far for the next step.

        `past` holds the positions already decoded; x then continues behind them.
        """
        first = 0 if past is None else past.keys.shape[2]
        so_far: list[KeysAndValues] = []

        def look_back(y: Tensor) -> Tensor:
            here = self.self_attention.keys_and_values(y, first)
            so_far.append(here if past is None else past.append(here))
            seen = None if look is None else look.decoder
            return self.self_attention(y, so_far[0], visible, first=first, look=seen)

        def look_at_source(y: Tensor) -> Tensor:
            seen = None if look is None else look.cross
            return self.cross_attention(y, source, source_visible, look=seen)

        x = self.around_self_attention(x, look_back)
        x = self.around_cross_attention(x, look_at_source)
        return self.around_feed_forward(x, self.feed_forward), so_far[0]


class DecoderLook(NamedTuple):
    """Where a decoder's weights are collected, one tensor a layer."""

    decoder: Weights
    cross: Weights


class AttentionWeights(NamedTuple):
    """All weights of one pass; first axis is the layer."""

    encoder: Float[Tensor, "layers batch heads source source"]
    decoder: Float[Tensor, "layers batch heads target target"]
    cross: Float[Tensor, "layers batch heads target source"]


@dataclass(frozen=True)
class TransformerState:
    """The cache of step-by-step decoding; one row per hypothesis.

    Rows that share a source sentence share nothing in memory, but as long as search only reorders
    hypotheses of the same sentence, the source's keys and values are not copied again.
    """

    source: tuple[KeysAndValues, ...]
    source_visible: Bool[Tensor, "rows 1 1 source"]
    sentence: Int[Tensor, " rows"]
    past: tuple[KeysAndValues, ...] | None

    def select(self, rows: Int[Tensor, " kept"]) -> Self:
        """The state of the given rows; see `headway.models.interfaces.State`."""
        sentence = self.sentence.index_select(0, rows)
        source, visible = self.source, self.source_visible
        if not torch.equal(sentence, self.sentence):
            source = tuple(layer.select(rows) for layer in source)
            visible = visible.index_select(0, rows)
        past = None if self.past is None else tuple(layer.select(rows) for layer in self.past)
        return type(self)(source, visible, sentence, past)


class Transformer(nn.Module):
    """Encoder and decoder stacks with their embeddings; a `StepDecoder` as well."""

    def __init__(
        self, config: TransformerConfig, *, vocabulary_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.config = config
        self.padding = padding
        self.target_embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        self.source_embedding = self.target_embedding
        self.output_weight = self.target_embedding.weight
        if not config.tied:
            self.source_embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
            self.output_weight = nn.Parameter(torch.empty(vocabulary_size, config.d_model))
            nn.init.normal_(self.output_weight, std=config.d_model**-0.5)
        self.source_positions = positions(config)
        self.target_positions = positions(config)
        self.dropout = Dropout(config.dropout)
        encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder = cast("list[EncoderLayer]", encoder)
        self.decoder = cast("list[DecoderLayer]", decoder)
        # Post-norm stacks end in a norm already; the paper has no further one.
        pre_norm = config.norm == "pre"
        self.encoder_norm = nn.LayerNorm(config.d_model) if pre_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(config.d_model) if pre_norm else nn.Identity()
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    @property
    def longest(self) -> int | None:
        """Tokens that it can read, or be fed, markers included: learned positions end."""
        return self.config.max_length if self.config.positions == "learned" else None

    def encode(
        self, source: Int[Tensor, "batch source"], look: Weights | None = None
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """The encoder's output, and which of its positions are real."""
        visible = padding_mask(source, self.padding)
        x = self.source_positions(self.source_embedding(source))
        x = self.dropout(x.to(compute_dtype(self)))
        for layer in self.encoder:
            x = layer(x, visible, look)
        return self.encoder_norm(x), visible

    def features(
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        look: tuple[Weights, DecoderLook] | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits.

        The causal mask lets one pass stand for feeding the truth step by step (section 3.1).
        Padding behind the target needs no mask: no real position looks that far.
        """
        encoded, source_visible = self.encode(source, None if look is None else look[0])
        visible = causal_mask(target.shape[1], target.device)
        x = self.target_positions(self.target_embedding(target))
        x = self.dropout(x.to(encoded.dtype))
        for layer in self.decoder:
            memory = layer.cross_attention.keys_and_values(encoded)
            seen = None if look is None else look[1]
            x, _ = layer(x, memory, source_visible, visible, look=seen)
        return self.decoder_norm(x)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Logits for the token after each of `target`'s (`<s> y1 .. yn`; teacher forcing)."""
        return project(self.features(source, target), self.output_weight)

    def look(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> AttentionWeights:
        """The attention weights of every layer and head in one pass."""
        encoder: Weights = []
        seen = DecoderLook([], [])
        self.features(source, target, look=(encoder, seen))
        return AttentionWeights(
            torch.stack(encoder), torch.stack(seen.decoder), torch.stack(seen.cross)
        )

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> TransformerState:
        """Read the source once, and the prefix if any; see `StepDecoder`."""
        if source is None:
            raise ConfigError("An encoder-decoder model needs a source to start from; got none.")
        encoded, visible = self.encode(source)
        memory = tuple(layer.cross_attention.keys_and_values(encoded) for layer in self.decoder)
        sentence = torch.arange(source.shape[0], device=source.device)
        state = TransformerState(memory, visible, sentence, None)
        for token in () if prefix is None else prefix.unbind(1):
            state = self.step(state, token).state
        return state

    def step(
        self, state: TransformerState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row behind the cached ones; see `StepDecoder`."""
        first = 0 if state.past is None else state.past[0].keys.shape[2]
        x = self.target_positions(self.target_embedding(last[:, None]), first)
        x = self.dropout(x.to(compute_dtype(self)))
        look = DecoderLook([], []) if want_attention else None
        past: list[KeysAndValues] = []
        for i, layer in enumerate(self.decoder):
            before = None if state.past is None else state.past[i]
            x, so_far = layer(
                x, state.source[i], state.source_visible, None, past=before, look=look
            )
            past.append(so_far)
        logits = project(self.decoder_norm(x[:, 0]), self.output_weight)
        after = TransformerState(state.source, state.source_visible, state.sentence, tuple(past))
        attention = None if look is None else look.cross[-1][:, :, 0].float().mean(1)
        return Step(logits.float().log_softmax(-1), after, attention)


def positions(config: TransformerConfig) -> nn.Module:
    """What is added to the embeddings; relative and rotary positions act inside attention."""
    if config.positions == "sinusoidal":
        return SinusoidalPositions(config.d_model)
    if config.positions == "learned":
        return LearnedPositions(config.d_model, config.max_length)
    return NoPositions()
