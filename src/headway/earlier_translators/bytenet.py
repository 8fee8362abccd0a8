"""Neural machine translation in linear time (ByteNet, Kalchbrenner et al. 2016).

Dilated convolutions, the decoder set upon the encoder place by place: no attention. The dilation
doubles from layer to layer, so that n positions are joined by about log n layers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import TokenEmbedding, output_matrix, project
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.earlier_translators.convolution import Convolution, ConvolutionState, refuse_lopsided

_MOST = {
    **dict.fromkeys(("d_model", "max_dilation"), 1 << 16),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "kernel"), 1_000),
}
"""Far beyond any model; what is larger would be built for ever."""


@dataclass(frozen=True)
class ByteNetConfig:
    """Sizes and options; the defaults are the paper's model for translation (section 6)."""

    d_model: int = 1600
    """What is carried from block to block: 2d in the paper."""
    d_inner: int = 0
    """Within a block; 0 = d_model / 2, as in the paper."""
    encoder_layers: int = 30
    """Blocks that read the source."""
    decoder_layers: int = 30
    """Blocks that write the target."""
    kernel: int = 3
    """Positions that an output is made of; odd."""
    max_dilation: int = 16
    """Dilations are 1, 2, 4 .. up to this, and then 1 again."""
    stretch: float = 1.2
    """A source of n tokens is read on to stretch * n + extra places (section 3.2)."""
    extra: int = 0
    """Places of a source beside stretch * n: see stretch."""
    dropout: float = 0.1
    """On the embeddings and on what each block adds; not in the paper."""
    tied: bool = True
    """All embeddings and the output matrix are one."""
    output_bias: bool = True
    """A bias for every word of the vocabulary."""

    def __post_init__(self) -> None:
        refuse_below(self, {**dict.fromkeys(_MOST, 1), "d_inner": 0, "stretch": 1, "extra": 0})
        refuse_beyond(self, {**_MOST, "d_inner": 1 << 16, "stretch": 100.0, "extra": 10_000})
        refuse_lopsided(self.kernel, causal=False)
        check_dropout(self.dropout)

    @property
    def inner_size(self) -> int:
        """d_inner in effect."""
        return self.d_inner or max(1, self.d_model // 2)

    def dilation(self, layer: int) -> int:
        """That of a layer, counted from 0."""
        return 1 << layer % self.max_dilation.bit_length()


class Block(nn.Module):
    """x + convolutions of kernel 1, k and 1, a LayerNorm and a ReLU before each (figure 3)."""

    def __init__(self, config: ByteNetConfig, *, dilation: int, causal: bool) -> None:
        super().__init__()
        d_model, d_inner = config.d_model, config.inner_size
        self.norm = nn.LayerNorm(d_model)
        self.to_inner = nn.Linear(d_model, d_inner)
        self.inner_norm = nn.LayerNorm(d_inner)
        self.convolution = Convolution(
            d_inner, d_inner, config.kernel, dilation=dilation, causal=causal
        )
        self.output_norm = nn.LayerNorm(d_inner)
        self.to_output = nn.Linear(d_inner, d_model)
        self.dropout = Dropout(config.dropout)

    def before(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_inner"]:
        """What the convolution over positions is given."""
        return self.inner_norm(self.to_inner(self.norm(x).relu())).relu()

    def behind(self, y: Float[Tensor, "*batch d_inner"]) -> Float[Tensor, "*batch d_model"]:
        """From what it gives to what the block adds."""
        return self.dropout(self.to_output(self.output_norm(y).relu()))

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        real: Float[Tensor, "batch length 1"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """All positions at once."""
        return x + self.behind(self.convolution(self.before(x), real))

    def step(
        self, x: Float[Tensor, "rows d_model"], past: Float[Tensor, "rows reach d_inner"]
    ) -> tuple[Float[Tensor, "rows d_model"], Float[Tensor, "rows reach d_inner"]]:
        """One more position; with it, the past of the next."""
        y, past = self.convolution.step(self.before(x), past)
        return x + self.behind(y), past


class EncodedSource(NamedTuple):
    """What the encoder made of a source, and of the places behind it."""

    places: Float[Tensor, "sentences places d_model"]
    """Zero where a source's own places end."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "EncodedSource":
        """That of the given sentences, in that order."""
        return EncodedSource(self.places[sentences])

    def at(self, place: int) -> Float[Tensor, "sentences d_model"]:
        """That which the decoder is given at one position; zeros behind the last."""
        if place < self.places.shape[1]:
            return self.places[:, place]
        n_sentences, _, d_model = self.places.shape
        return self.places.new_zeros(n_sentences, d_model)

    def up_to(self, length: int) -> Float[Tensor, "sentences length d_model"]:
        """The same for the first `length` positions."""
        missing = max(0, length - self.places.shape[1])
        return F.pad(self.places, (0, 0, 0, missing))[:, :length]


class ByteNet(nn.Module):
    """Two stacks of dilated convolutions, one upon the other; a `Seq2Seq` and a `StepDecoder`."""

    longest = None

    def __init__(self, config: ByteNetConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__()
        self.config = config
        self.padding = padding
        d_model = config.d_model
        self.target_embedding = TokenEmbedding(vocabulary_size, d_model, padding=padding)
        self.source_embedding = self.target_embedding
        if not config.tied:
            self.source_embedding = TokenEmbedding(vocabulary_size, d_model, padding=padding)
        self.output_weight = output_matrix(self.target_embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias
        self.dropout = Dropout(config.dropout)
        self.encoder, self.decoder = (
            nn.ModuleList(
                Block(config, dilation=config.dilation(layer), causal=causal)
                for layer in range(n_layers)
            )
            for n_layers, causal in ((config.encoder_layers, False), (config.decoder_layers, True))
        )
        self.encoder_norm = nn.LayerNorm(d_model)
        self.from_source = nn.Linear(d_model, d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        self.to_features = nn.Linear(d_model, d_model)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def blocks(self) -> Iterator[Block]:
        """The decoder's."""
        return cast("Iterator[Block]", iter(self.decoder))

    def ready(self, x: Float[Tensor, "batch length d_model"]) -> Tensor:
        """With dropout, and in the type that the model computes in: embeddings are float32."""
        return self.dropout(x.to(self.to_features.weight.dtype))

    def encode(self, source: Int[Tensor, "batch source"]) -> EncodedSource:
        """Each source on its own places: `stretch` times as many as it has tokens, and `extra`."""
        n_tokens = (source != self.padding).sum(1)
        n_places = (self.config.stretch * n_tokens).round().long() + self.config.extra
        length = math.ceil(self.config.stretch * source.shape[1]) + self.config.extra
        placed = F.pad(source, (0, length - source.shape[1]), value=self.padding)
        x = self.ready(self.source_embedding(placed))
        own = torch.arange(length, device=source.device) < n_places[:, None]
        real = own[:, :, None].to(x.dtype)
        for block in self.encoder:
            x = block(x, real)
        return EncodedSource(self.from_source(self.encoder_norm(x)) * real)

    def embed_target(
        self, ids: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """The words that the decoder is fed."""
        return self.ready(self.target_embedding(ids))

    def last_features(self, x: Float[Tensor, "*batch d_model"]) -> Tensor:
        """From what the last block gives."""
        return self.to_features(self.decoder_norm(x).relu())

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits; see `Seq2Seq`.

        Position t is given word t and place t of the source (section 3.1).
        """
        x = self.embed_target(target) + self.encode(source).up_to(target.shape[1])
        for block in self.blocks():
            x = block(x)
        return self.last_features(x)

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
    ) -> ConvolutionState:
        """Read the source once, and the prefix if any; see `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        n_rows, d_inner = len(source), self.config.inner_size
        past = (block.convolution.blank(n_rows, d_inner) for block in self.blocks())
        state = ConvolutionState(self.encode(source), tuple(past))
        for token in () if prefix is None else prefix.unbind(1):
            state = self.step(state, token).state
        return state

    @torch.no_grad()
    def step(
        self, state: ConvolutionState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row; see `StepDecoder`. There is no attention."""
        place, past = state.source.at(state.length), []
        x = self.embed_target(last[:, None])[:, 0]
        x = x + place.repeat_interleave(len(x) // len(place), 0)
        for block, before in zip(self.blocks(), state.past, strict=True):
            x, after = block.step(x, before)
            past.append(after)
        logits = project(self.last_features(x), self.output_weight, self.output_bias).float()
        return Step(logits, replace(state, past=tuple(past), length=state.length + 1), None)
