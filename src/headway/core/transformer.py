"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017, section 3).

`Transformer(TransformerConfig(), vocabulary_size=37000)` is the base model of table 3. It is a
plain `torch.nn.Module`: token ids in, logits out; it knows no file, text or optimizer.
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import kv_cache
from headway.core.attention import MultiHeadAttention, causal_mask, padding_mask
from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import (
    LearnedPositions,
    SinusoidalPositions,
    TokenEmbedding,
    output_matrix,
    project,
)
from headway.core.errors import ConfigError, refuse_below
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.core.layers import Activation, FeedForward, Layer, Norm, Stack


@dataclass(frozen=True)
class LayerConfig:
    """Sizes and options of one layer; the defaults are the row "base" of table 3."""

    d_model: int = 512
    """Size of each position between layers."""
    d_ff: int = 2048
    """Size inside the feed-forward (section 3.3)."""
    heads: int = 8
    """Attention heads of each layer; without d_k and d_v they divide d_model."""
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
    """LayerNorm behind each sub-layer (`post`, the paper) or in front of it (`pre`)."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """How the order of tokens is known; `sinusoidal` is section 3.5, `learned` row E of table 3."""
    activation: Activation = "relu"
    """In the feed-forward; `relu` is equation 2."""
    tied: bool = True
    """All embeddings and the output matrix are one (section 3.4)."""
    max_length: int = 1024
    """Learned positions end here (tokens); the others do not end."""
    layer_norm_epsilon: float = 1e-5
    """Added to the variance in every LayerNorm; the paper names none."""
    residual_gain: float = 1.0
    """The last matrix of a sublayer begins as Xavier's times this; GPT-2: 1 / sqrt(sublayers)."""
    output_bias: bool = False
    """A bias for every word of the vocabulary; not in the paper."""

    def __post_init__(self) -> None:
        layers = [field.name for field in fields(self) if field.name.endswith("layers")]
        refuse_below(self, dict.fromkeys((*layers, "d_model", "d_ff", "heads", "max_length"), 1))
        if not self.layer_norm_epsilon > 0:
            raise ConfigError(
                f"layer_norm_epsilon must be above 0; got {self.layer_norm_epsilon}. Try 1e-5."
            )
        refuse_below(self, {"d_k": 0, "d_v": 0, "residual_gain": 0})
        for name in ("dropout", "attention_dropout", "activation_dropout"):
            check_dropout(getattr(self, name), name, remedy="The paper drops 0.1.")
        if self.d_model % self.heads and not (self.d_k and self.d_v):
            fewer = range(min(self.heads, self.d_model), 0, -1)
            best = next(h for h in fewer if self.d_model % h == 0)
            raise ConfigError(
                f"heads must divide d_model; got {self.heads} heads, and d_model is "
                f"{self.d_model}. Try heads={best}, or set d_model, or d_k and d_v."
            )

    @property
    def key_size(self) -> int:
        """d_k in effect."""
        return self.d_k or self.d_model // self.heads

    @property
    def value_size(self) -> int:
        """d_v in effect."""
        return self.d_v or self.d_model // self.heads

    def attention(self) -> MultiHeadAttention:
        """Attention to what an encoder gave, or to all of the own text."""
        sizes = {"d_k": self.key_size, "d_v": self.value_size}
        return MultiHeadAttention(self.d_model, self.heads, **sizes, dropout=self.attention_dropout)

    def self_attention(self, *, causal: bool) -> MultiHeadAttention:
        """Of one layer; `causal`: it is to see nothing that comes later."""
        return self.attention()

    def past(
        self, length: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "1 1 query key"] | None:
        """The mask of a decoder, which hides the future; None if its attention does so itself."""
        return causal_mask(length, device)

    def added_positions(self) -> nn.Module:
        """What is added to the embeddings."""
        if self.positions == "sinusoidal":
            return SinusoidalPositions(self.d_model)
        return LearnedPositions(self.d_model, self.max_length)


@dataclass(frozen=True)
class TransformerConfig(LayerConfig):
    """A row of table 3; the defaults are the row "base"."""

    encoder_layers: int = 6
    """Layers that read the source."""
    decoder_layers: int = 6
    """Layers that write the target."""


def layer(config: LayerConfig, *, crosses: bool, causal: bool = False) -> Layer:
    """One layer of the encoder, or with cross-attention of the decoder; one alone is `causal`."""
    return Layer(
        config.d_model,
        config.self_attention(causal=crosses or causal),
        FeedForward(
            config.d_model,
            config.d_ff,
            activation=config.activation,
            dropout=config.activation_dropout,
        ),
        config.attention() if crosses else None,
        norm=config.norm,
        dropout=config.dropout,
        epsilon=config.layer_norm_epsilon,
    )


def initialize(model: nn.Module, residual_gain: float) -> None:
    """Matrices by Glorot and Bengio 2010, those that end a sublayer times `residual_gain`."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            gain = residual_gain if name.endswith(".to_output") else 1.0
            nn.init.xavier_uniform_(module.weight, gain)
            nn.init.zeros_(module.bias)


class Transformer(nn.Module):
    """Encoder and decoder stacks with their embeddings; a `StepDecoder` as well."""

    trunk: ClassVar = {"embedding": "source_embedding", "positions": "source_positions"}
    trunk |= {"layers": "encoder", "norm": "encoder_norm"}  # models of other tasks may begin here
    writer: ClassVar = {"embedding": "target_embedding", "positions": "target_positions"}
    writer |= {"layers": "decoder", "norm": "decoder_norm", "output_weight": "output_weight"}
    writer |= {"output_bias": "output_bias"}

    def __init__(
        self, config: TransformerConfig, *, vocabulary_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.config = config
        self.padding = padding
        embedding = partial(TokenEmbedding, vocabulary_size, config.d_model, padding=padding)
        self.target_embedding = embedding()
        self.source_embedding = self.target_embedding if config.tied else embedding()
        self.output_weight = output_matrix(self.target_embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias
        self.source_positions = config.added_positions()
        self.target_positions = config.added_positions()
        self.dropout = Dropout(config.dropout)
        self.encoder = Stack(layer(config, crosses=False) for _ in range(config.encoder_layers))
        self.decoder = Stack(layer(config, crosses=True) for _ in range(config.decoder_layers))
        self.encoder_norm = last_norm(config)
        self.decoder_norm = last_norm(config)
        initialize(self, config.residual_gain)

    @property
    def longest(self) -> int | None:
        """Where learned positions end; see `headway.core.interfaces.StepDecoder`."""
        return self.config.max_length if self.config.positions == "learned" else None

    def encode(
        self, source: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """The encoder's output, and which of its positions are real."""
        visible = padding_mask(source, self.padding)
        x = self.source_positions(self.source_embedding(source))
        return self.encoder_norm(self.encoder(self.ready(x), visible)), visible

    def embed_target(
        self, ids: Int[Tensor, "batch target"], first: int = 0
    ) -> Float[Tensor, "batch target d_model"]:
        """What the decoder is fed; `first` is the position of the first token."""
        return self.ready(self.target_positions(self.target_embedding(ids), first))

    def ready(self, x: Float[Tensor, "batch length d_model"]) -> Tensor:
        """With dropout, and in the type that the model computes in: embeddings are float32."""
        return self.dropout(x.to(next(self.encoder.parameters()).dtype))

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits.

        The causal mask lets one pass stand for feeding the truth step by step (section 3.1).
        Padding behind the target needs no mask: no real position looks that far.
        """
        encoded, source_visible = self.encode(source)
        visible = self.config.past(target.shape[1], target.device)
        x = self.decoder(self.embed_target(target), visible, encoded, source_visible)
        return self.decoder_norm(x)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Logits for the token after each of `target`'s (`<s> y1 .. yn`; teacher forcing)."""
        return project(self.features(source, target), self.output_weight, self.output_bias)

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> kv_cache.StackState:
        """Read the source once, and the prefix if any; see `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        state = kv_cache.start(self.decoder, len(source), *self.encode(source))
        for token in () if prefix is None else prefix.unbind(1):
            x = self.embed_target(token[:, None], state.length)[:, 0]
            _, state, _ = kv_cache.step(self.decoder, x, state)
        return state

    @torch.no_grad()
    def step(
        self, state: kv_cache.StackState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row behind the cached ones; see `StepDecoder`."""
        x = self.embed_target(last[:, None], state.length)[:, 0]
        x, after, weights = kv_cache.step(self.decoder, x, state)
        logits = project(self.decoder_norm(x), self.output_weight, self.output_bias).float()
        attention = None
        if want_attention and weights is not None:
            attention = weights.float().mean(1).flatten(0, 1)
        return Step(logits, after, attention)


def last_norm(config: LayerConfig) -> nn.Module:
    """The end of a pre-norm stack. Post-norm ends in a norm already; the paper has no further."""
    if config.norm == "post":
        return nn.Identity()
    return nn.LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
