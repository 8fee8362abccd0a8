"""The Transformer's encoder alone: what reads a text, a picture or a sound, and writes nothing.

Its parts have the same names in every model that has one: `encoder.embedding`, `encoder.positions`,
`encoder.layers.0`, `encoder.norm`.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.core.embedding import TokenEmbedding
from headway.core.errors import refuse_below, refuse_beyond
from headway.core.layers import Activation, Norm, Stack
from headway.core.transformer import initialize, last_norm, layer
from headway.nn.positioned import PositionedLayers, Positions


class Encoded(NamedTuple):
    """What an encoder makes of some texts."""

    features: Float[Tensor, "batch length d_output"]
    visible: Bool[Tensor, "batch length"]
    """False at padding."""


@runtime_checkable
class TextEncoder(Protocol):
    """Ids in, a vector for each place out: a Transformer's encoder, an LSTM, convolutions."""

    d_output: int
    """The size of these vectors."""

    def __call__(self, ids: Int[Tensor, "batch length"]) -> Encoded: ...


@dataclass(frozen=True)
class EncoderConfig(PositionedLayers):
    """Sizes and options."""

    d_model: int = 128
    """Size of each position between layers."""
    d_ff: int = 512
    """Size inside the feed-forward."""
    heads: int = 4
    """Attention heads of each layer; without d_k and d_v they divide d_model."""
    layers: int = 4
    """Layers, one above the other."""
    norm: Norm = "pre"
    """LayerNorm behind each sub-layer (`post`) or in front of it (`pre`)."""
    positions: Positions = "rotary"
    """How the order of tokens is known."""
    activation: Activation = "gelu"
    """In the feed-forward."""
    causal: bool = False
    """Whether a place sees only those before it: so is what begins with a language model."""
    embedding_norm: bool = False
    """LayerNorm on embedding + position, as in BERT."""
    embedding_scale: float = 0.0
    """What embeddings are multiplied by; 0 is sqrt(d_model), as in the paper. BERT has 1."""

    def __post_init__(self) -> None:
        refuse_beyond(self, {"embedding_scale": 1_000.0})
        refuse_below(self, {"embedding_scale": 0})
        super().__post_init__()


class Encoder(nn.Module):
    """Embedding, positions, layers of self-attention in which every place sees every other."""

    def __init__(
        self, config: EncoderConfig, *, vocabulary_size: int = 0, padding: int = 0, d_input: int = 0
    ) -> None:
        """It reads ids, vectors of `d_input` numbers, or both: what is 0 is not read."""
        super().__init__()
        self.config, self.padding, self.d_output = config, padding, config.d_model
        if vocabulary_size:
            self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
            self.embedding.scale = config.embedding_scale or self.embedding.scale
        if d_input:
            self.from_vectors = nn.Linear(d_input, config.d_model)
        self.positions = config.added_positions()
        has_norm, epsilon = config.embedding_norm, config.layer_norm_epsilon
        self.embedding_norm: nn.Module = nn.Identity()
        if has_norm:
            self.embedding_norm = nn.LayerNorm(config.d_model, eps=epsilon)
        self.dropout = Dropout(config.dropout)
        self.layers = Stack(
            layer(config, crosses=False, causal=config.causal) for _ in range(config.layers)
        )
        self.norm = last_norm(config)
        initialize(self, config.residual_gain)

    @property
    def longest(self) -> int | None:
        """Where learned positions end; None where there is no end."""
        return self.config.max_length if self.config.positions == "learned" else None

    def forward(self, ids: Int[Tensor, "batch length"]) -> Encoded:
        """Of some texts, padded behind."""
        return self.encode(self.embedding(ids), ids != self.padding)

    def of_vectors(
        self,
        vectors: Float[Tensor, "batch length d_input"],
        visible: Bool[Tensor, "batch length"] | None = None,
    ) -> Encoded:
        """Of what is no text: patches of a picture, frames of a sound or a film, one vector each.
        Without `visible` all of them are there."""
        if visible is None:
            visible = vectors.new_ones(vectors.shape[:2], dtype=torch.bool)
        given = vectors.to(self.from_vectors.weight.dtype)
        return self.encode(self.from_vectors(given), visible)

    def encode(
        self, embedded: Float[Tensor, "batch length d_model"], visible: Bool[Tensor, "batch length"]
    ) -> Encoded:
        """Of vectors that are as long as the layers are wide: embeddings, to which positions are
        added here."""
        x = self.positions(embedded).to(next(self.layers.parameters()).dtype)
        x = self.dropout(self.embedding_norm(x))
        seen = visible[:, None, None, :]
        if self.config.causal and (past := self.config.past(x.shape[1], x.device)) is not None:
            seen = seen & past
        return Encoded(self.norm(self.layers(x, seen)), visible)
