"""The Transformer's decoder alone, as a language model (Liu et al. 2018; Radford et al. 2018).

The translator's own layers without cross-attention: each token looks at itself and at those before
it. With pre-norm, GELU and learned positions it is GPT-2, but that GELU is exact here, and the one
matrix of GPT-2 is two (`tied = false`): as embeddings it is divided by sqrt(d_model).
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core import kv_cache
from headway.core.attention import MultiHeadAttention, ReadyMask
from headway.core.dropout import Dropout
from headway.core.embedding import TokenEmbedding, output_matrix
from headway.core.interfaces import Step
from headway.core.kv_cache import Cache, StackState
from headway.core.layers import Activation, Norm, Stack
from headway.core.transformer import initialize, last_norm, layer
from headway.language_models.interfaces import Carried, Read, TextModel, prompt
from headway.nn.positioned import PositionedLayers, Positions


@dataclass(frozen=True)
class DecoderOnlyConfig(PositionedLayers):
    """Sizes and options; how much is read at once is the caller's."""

    layers: int = 6
    """Layers, one above the other."""
    norm: Norm = "pre"
    """LayerNorm behind each sub-layer (`post`) or in front of it (`pre`)."""
    positions: Positions = "rotary"
    """How the order of tokens is known."""
    activation: Activation = "gelu"
    """In the feed-forward."""


class DecoderOnly(TextModel):
    """Embedding, masked self-attention, output; a `NeuralLanguageModel` and a `StepDecoder`.

    Nothing is carried from one stretch of text to the next.
    """

    carries = False
    trunk: ClassVar = {
        "embedding": "embedding",
        "positions": "positions",
        "layers": "stack",
        "norm": "norm",
        "output_weight": "output_weight",
        "output_bias": "output_bias",
    }
    writer = trunk
    """It reads what it has written."""

    def __init__(
        self, config: DecoderOnlyConfig, *, vocabulary_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        self.output_weight = output_matrix(self.embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias
        self.positions = config.added_positions()
        self.dropout = Dropout(config.dropout)
        self.stack = Stack(layer(config, crosses=False, causal=True) for _ in range(config.layers))
        self.norm = last_norm(config)
        initialize(self, config.residual_gain)

    @property
    def longest(self) -> int | None:
        """Where learned positions end; see `StepDecoder`."""
        return self.config.max_length if self.config.positions == "learned" else None

    def embed(
        self, ids: Int[Tensor, "batch length"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """With positions and dropout, in the type that the model computes in; `first` is the
        position of the first token."""
        x = self.positions(self.embedding(ids), first)
        return self.dropout(x.to(next(self.stack.parameters()).dtype))

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`. Padding behind the text needs no mask: nothing looks at it."""
        visible = self.config.past(fed.shape[1], fed.device)
        return Read(self.norm(self.stack(self.embed(fed), visible)), {})

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> StackState:
        """Read the prefix in one pass; see `StepDecoder`."""
        ids = prompt(source, prefix, self.output_weight)
        return read_prefix(
            self.stack,
            self.embed(ids),
            kv_cache.start(self.stack, len(ids)),
            self.config.past(ids.shape[1], ids.device),
        )

    @torch.no_grad()
    def step(
        self, state: StackState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """One more token for each row; see `StepDecoder`. There is no source to attend to."""
        x, after, _ = kv_cache.step(
            self.stack, self.embed(last[:, None], state.length)[:, 0], state
        )
        return Step(self.logits(self.norm(x)).float(), after, None)


def read_prefix(
    stack: Stack,
    x: Float[Tensor, "rows length d_model"],
    state: StackState,
    visible: Bool[Tensor, "1 1 length length"] | None,
) -> StackState:
    """A started `state` after the tokens `x` of each row; of a stack without cross-attention."""
    n_rows, length, _ = x.shape
    if not length:
        return state
    mask = None if visible is None else ReadyMask.of(visible, x.dtype)
    keys: list[Tensor] = []
    values: list[Tensor] = []

    def look_back(attention: MultiHeadAttention, y: Tensor) -> Tensor:
        query, key, value = attention.projected(y, y)
        keys.append(key)
        values.append(value)
        context = attention.gather(query, key, value, mask)
        return attention.to_output(context.transpose(1, 2).flatten(2))

    for one in stack:
        x = one.around_self_attention(x, lambda y, a=one.self_attention: look_back(a, y))
        x = one.around_feed_forward(x, one.feed_forward)
    return replace(
        state,
        cache=Cache(torch.stack(keys), torch.stack(values), length),
        length=length,
        used=length,
        positions=torch.arange(length, device=x.device).expand(n_rows, -1),
        visible=torch.ones(n_rows, length, dtype=torch.bool, device=x.device),
    )
