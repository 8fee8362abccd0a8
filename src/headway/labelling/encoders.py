"""What may read a text that is labelled, by the name that `--model.type` calls it: a new one is a
dataclass, a module and a line in `ENCODERS`."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import TokenEmbedding
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.nn.encoder import Encoded, Encoder, EncoderConfig
from headway.nn.recurrent import TwoWayLayer, mirror_of

_SIZES = dict.fromkeys(("d_embedding", "d_model", "maps"), 1 << 16) | {"layers": 1 << 10}


@dataclass(frozen=True)
class EncoderSizes:
    """What encoders other than the Transformer have in common."""

    d_model: int = 128
    """Size of each token's embedding."""
    dropout: float = 0.3
    """Between layers, and in front of the head."""

    def __post_init__(self) -> None:
        sizes = {name: most for name, most in _SIZES.items() if hasattr(self, name)}
        refuse_below(self, dict.fromkeys(sizes, 1))
        refuse_beyond(self, sizes)
        check_dropout(self.dropout, remedy="Try 0.3.")


@dataclass(frozen=True)
class BagConfig(EncoderSizes):
    """Of embeddings alone."""


class BagOfWords(nn.Module):
    """Each place is its token's embedding, whatever stands beside it: what a model gains by order
    is measured against this (Iyyer et al. 2015, without their layers)."""

    def __init__(self, config: BagConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__()
        self.padding, self.d_output = padding, config.d_model
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)

    def forward(self, ids: Int[Tensor, "batch length"]) -> Encoded:
        """Of some texts, padded behind."""
        return Encoded(self.embedding(ids), ids != self.padding)


@dataclass(frozen=True)
class CnnConfig(EncoderSizes):
    """As in Kim 2014, section 3.1, but for the size of embeddings (there 300)."""

    dropout: float = 0.5
    """In front of the head."""
    widths: tuple[int, ...] = (3, 4, 5)
    """How many tokens a filter sees; there may be any number of widths."""
    maps: int = 100
    """Filters of each width."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.widths or not all(0 < width <= 64 for width in self.widths):
            raise ConfigError(
                f"widths of filters are one or more of 1 to 64 tokens; got {self.widths}. Try "
                "--model.widths 3,4,5."
            )


class ConvolutionalEncoder(nn.Module):
    """Filters of several widths over embeddings (Kim 2014); with `max` pooling it is his model.

    Differs from it: every place has its filters, those at the ends see zeros beyond them.
    """

    def __init__(self, config: CnnConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__()
        self.padding, self.d_output = padding, len(config.widths) * config.maps
        self.widths = config.widths
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        self.layers = nn.ModuleList(
            nn.Conv1d(config.d_model, config.maps, width) for width in config.widths
        )

    def forward(self, ids: Int[Tensor, "batch length"]) -> Encoded:
        """Of some texts, padded behind: padding is the zeros that are beyond the end."""
        x = self.embedding(ids).transpose(1, 2)  # [batch, d_model, length]
        x = x.to(next(self.layers.parameters()).dtype)
        around = [((width - 1) // 2, width // 2) for width in self.widths]
        each = [layer(F.pad(x, ends)) for layer, ends in zip(self.layers, around, strict=True)]
        found = torch.cat(each, 1).relu()  # [batch, widths * maps, length]
        return Encoded(found.transpose(1, 2), ids != self.padding)


@dataclass(frozen=True)
class LstmConfig(EncoderSizes):
    """Sizes of one that reads both ways."""

    d_embedding: int = 128
    """Size of each token's embedding."""
    d_model: int = 256
    """Units of a layer: half of them read from the left, half from the right."""
    layers: int = 1
    """One above the other."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d_model % 2:
            raise ConfigError(f"d_model is parted in two halves; got {self.d_model}. Make it even.")


class LstmEncoder(nn.Module):
    """Layers of LSTM that read both ways (Graves and Schmidhuber 2005)."""

    def __init__(self, config: LstmConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__()
        self.padding, self.d_output = padding, config.d_model
        self.embedding = TokenEmbedding(vocabulary_size, config.d_embedding, padding=padding)
        self.layers = nn.ModuleList(
            TwoWayLayer("lstm", config.d_model if n else config.d_embedding, config.d_model)
            for n in range(config.layers)
        )
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Int[Tensor, "batch length"]) -> Encoded:
        """Of some texts, padded behind."""
        return self.encode(self.embedding(ids), ids != self.padding)

    def encode(
        self, embedded: Float[Tensor, "batch length d"], visible: Bool[Tensor, "batch length"]
    ) -> Encoded:
        """Of embeddings, to which something may have been added."""
        mirror = mirror_of(visible.sum(1), visible.shape[1])
        x = embedded.to(next(self.layers.parameters()).dtype)
        for layer in self.layers:
            x = layer(self.dropout(x), mirror)
        return Encoded(x, visible)


ENCODERS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (EncoderConfig, Encoder),
    "lstm": (LstmConfig, LstmEncoder),
    "cnn": (CnnConfig, ConvolutionalEncoder),
    "bag": (BagConfig, BagOfWords),
}
"""The dataclass of [model], and a `headway.nn.encoder.TextEncoder` that is built from it with
`vocabulary_size` and `padding`."""
