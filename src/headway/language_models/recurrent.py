"""Recurrent language models: Elman networks, LSTM and GRU over words.

Mikolov et al. 2010 for the first, Zaremba et al. 2014 for dropout between LSTM layers, Press and
Wolf 2017 for one matrix as embedding and output.

What such a layer puts out is small, about 0.15 each, and a matrix that makes large logits of it has
large rows: as inputs these drive every gate to 0 or 1, where nothing more is learned. So features
are multiplied by `output_scale`, and embeddings by no more than `embedding_scale`.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.dropout import check_dropout
from headway.core.embedding import TokenEmbedding, output_matrix
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.interfaces import Step
from headway.language_models.interfaces import Carried, Read, TextModel, prompt
from headway.nn.recurrent import Recurrence, RecurrentStack, RecurrentState

_MOST = {"layers": 1_000, "d_model": 1 << 16}
"""Far beyond any model; what is larger would be built for ever."""
_LARGEST_SCALE = 1e4


@dataclass(frozen=True)
class RecurrentConfig:
    """Sizes and options of the three; which one it is, is not among them."""

    layers: int = 2
    """Recurrent layers, one above the other."""
    d_model: int = 512
    """Of the embeddings, of what each layer remembers, and of its output."""
    dropout: float = 0.2
    """On embeddings, between layers, and on the last one's output."""
    variational: bool = False
    """One dropout mask for all tokens of a stretch (Gal and Ghahramani 2016)."""
    tied: bool = True
    """Embedding and output matrix are one (Press and Wolf 2017)."""
    output_bias: bool = True
    """A bias for every word of the vocabulary."""
    embedding_scale: float = 0.0
    """What embeddings are multiplied by; 0: sqrt(d_model), as in the Transformer."""
    output_scale: float = 1.0
    """What the last layer's outputs are multiplied by, in front of the output matrix."""

    def __post_init__(self) -> None:
        refuse_below(self, dict.fromkeys(_MOST, 1))
        for name, least in (("embedding_scale", 0.0), ("output_scale", 1e-6)):
            value = getattr(self, name)
            if not least <= value <= _LARGEST_SCALE:
                raise ConfigError(
                    f"{name} must be from {least:g} to {_LARGEST_SCALE:g}; got {value}. Leave it "
                    "out, for the preset's."
                )
        refuse_beyond(self, _MOST)
        check_dropout(self.dropout)


class RecurrentLanguageModel(TextModel):
    """Embedding, recurrent layers, output; a `NeuralLanguageModel` and a `StepDecoder`."""

    carries = True
    longest = None
    trunk: ClassVar = {"embedding": "embedding", "layers": "stack.layers"}

    def __init__(
        self,
        config: RecurrentConfig,
        *,
        recurrence: Recurrence,
        vocabulary_size: int,
        padding: int = 0,
    ) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        self.embedding.scale = config.embedding_scale or math.sqrt(config.d_model)
        self.stack = RecurrentStack(
            recurrence,
            config.d_model,
            config.layers,
            dropout=config.dropout,
            variational=config.variational,
        )
        self.output_weight = output_matrix(self.embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias

    def embed(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length d_model"]:
        """In the type that the model computes in: embeddings are float32."""
        return self.embedding(ids).to(next(self.stack.parameters()).dtype)

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`; what is carried is each layer's memory."""
        x = self.embed(fed)
        before = RecurrentState(carried) if carried else self.stack.blank(x)
        features, after = self.stack(x, before)
        features = features * self.config.output_scale
        return Read(features, {name: part.detach() for name, part in after.memory.items()})

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> RecurrentState:
        """Read the prefix in one pass; see `StepDecoder`."""
        x = self.embed(prompt(source, prefix, self.output_weight))
        return self.stack(x, self.stack.blank(x))[1] if x.shape[1] else self.stack.blank(x)

    @torch.no_grad()
    def step(
        self, state: RecurrentState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """One more token for each row; see `StepDecoder`. There is no attention."""
        features, after = self.stack.step(self.embed(last[:, None])[:, 0], state)
        features = features * self.config.output_scale
        return Step(self.logits(features).float(), after, None)
