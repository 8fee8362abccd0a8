"""Convolutional sequence to sequence learning (ConvS2S, Gehring et al. 2017).

Encoder and decoder are stacks of gated convolutions, and each layer of the decoder looks at the
source anew. What a position knows grows with the layers: n positions are joined by n / (kernel - 1)
of them, where self-attention needs one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.attention import ReadyMask, padding_mask, softmax
from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import LearnedPositions, output_matrix, project
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.earlier_translators.convolution import (
    HALF,
    ConvolutionState,
    GatedBlock,
    refuse_lopsided,
)
from headway.nn.attention_weights import AttentionWeights

EMBEDDED = 0.1
"""Standard deviation of embeddings at first: scores d . z then begin near zero, which is why they
do without the Transformer's scale."""
_MOST = {
    "d_model": 1 << 16,
    **dict.fromkeys(("encoder_layers", "decoder_layers", "kernel"), 1_000),
    "max_length": 1 << 24,
}
"""Far beyond any model; what is larger would be built for ever."""


@dataclass(frozen=True)
class ConvolutionalConfig:
    """Sizes and options; the defaults are the model for English to Romanian (section 5)."""

    d_model: int = 512
    """Of the embeddings and of what the convolutions carry."""
    encoder_layers: int = 20
    """Convolutions that read the source."""
    decoder_layers: int = 20
    """Convolutions that write the target."""
    kernel: int = 3
    """Positions that an output is made of; odd."""
    dropout: float = 0.1
    """On the embeddings, on what each convolution is given, and on the decoder's output."""
    max_length: int = 1024
    """Learned positions end here (tokens)."""
    tied: bool = True
    """All embeddings and the output matrix are one; in the paper they are three."""
    output_bias: bool = True
    """A bias for every word of the vocabulary."""

    def __post_init__(self) -> None:
        refuse_below(self, dict.fromkeys(_MOST, 1))
        refuse_beyond(self, _MOST)
        refuse_lopsided(self.kernel, causal=False)
        check_dropout(self.dropout)


class ConvolutionMemory(NamedTuple):
    """What the decoder looks at: made once for all of its layers and steps."""

    keys: Float[Tensor, "sentences source d_model"]
    """z: what the encoder made of each word."""
    values: Float[Tensor, "sentences source d_model"]
    """z + e: with the word itself, and its place."""
    mask: ReadyMask
    root: Float[Tensor, "sentences 1 1"]
    """sqrt(m) of m words: a mean of m parts, of which this keeps the variance (section 3.4)."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "ConvolutionMemory":
        """That of the given sentences, in that order."""
        mask = ReadyMask(*(part[sentences] for part in self.mask))
        return ConvolutionMemory(
            self.keys[sentences], self.values[sentences], mask, self.root[sentences]
        )


class StepAttention(nn.Module):
    """One step of multi-step attention: a look at the source from one layer (section 3.3)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.to_query = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        fed: Float[Tensor, "batch target d_model"],
        memory: ConvolutionMemory,
    ) -> tuple[Float[Tensor, "batch target d_model"], Float[Tensor, "batch 1 target source"]]:
        """With what was found added, and the weights.

        d = W x + b + g, g being what was fed     (eq. 1)
        a = softmax(d . z)
        c = sum of a (z + e)                      (eq. 2)
        """
        query = (self.to_query(x) + fed) * HALF
        scores = (query @ memory.keys.transpose(1, 2))[:, None]  # [batch, 1, target, source]
        weights = softmax(scores + memory.mask.hidden) * memory.mask.sees_any
        found = weights[:, 0] @ memory.values * memory.root
        return (x + self.to_output(found)) * HALF, weights


def gated_block(config: ConvolutionalConfig, *, causal: bool) -> GatedBlock:
    """One layer's convolution."""
    return GatedBlock(config.d_model, config.kernel, causal=causal, dropout=config.dropout)


class DecoderLayer(nn.Module):
    """A causal block, then a look at the source."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.block = gated_block(config, causal=True)
        self.attention = StepAttention(config.d_model)


class Convolutional(nn.Module):
    """Gated convolutions on both sides; a `Seq2Seq`, a `StepDecoder`, and `AttentionModel`."""

    def __init__(
        self, config: ConvolutionalConfig, *, vocabulary_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.config, self.padding, d_model = config, padding, config.d_model
        self.target_embedding = embedding(vocabulary_size, d_model, padding)
        self.source_embedding = self.target_embedding
        if not config.tied:
            self.source_embedding = embedding(vocabulary_size, d_model, padding)
        self.output_weight = output_matrix(self.target_embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias
        self.source_positions = LearnedPositions(d_model, config.max_length)
        self.target_positions = LearnedPositions(d_model, config.max_length)
        self.dropout = Dropout(config.dropout)
        self.into_encoder = nn.Linear(d_model, d_model)
        self.encoder = nn.ModuleList(
            gated_block(config, causal=False) for _ in range(config.encoder_layers)
        )
        self.out_of_encoder = nn.Linear(d_model, d_model)
        self.into_decoder = nn.Linear(d_model, d_model)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.to_features = nn.Linear(d_model, d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Every layer keeps the variance of what it is given (section 3.5); biases are zero.

        A gate lets half through and dropout p of the rest, so that a product before a gate has
        variance 4 (1 - p) / n for n inputs, any other 1 / n. Differs from section 3.4: no weight
        normalization, and gradients into the encoder are not divided by the decoder's layers.
        """
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                nn.init.zeros_(module.bias)
            elif isinstance(module, LearnedPositions):
                nn.init.normal_(module.table, std=EMBEDDED)
        for module in self.modules():
            if isinstance(module, GatedBlock):
                mix, keep = module.convolution.mix, 1 - self.config.dropout
                nn.init.normal_(mix.weight, std=math.sqrt(4 * keep / mix.in_features))

    def layers(self) -> Iterator[DecoderLayer]:
        """The decoder's."""
        return cast("Iterator[DecoderLayer]", iter(self.decoder))

    @property
    def longest(self) -> int:
        """Where learned positions end; see `headway.core.interfaces.StepDecoder`."""
        return self.config.max_length

    def ready(self, x: Float[Tensor, "batch length d_model"]) -> Tensor:
        """With dropout, and in the type that the model computes in: embeddings are float32."""
        return self.dropout(x.to(self.to_features.weight.dtype))

    def encode(self, source: Int[Tensor, "batch source"]) -> ConvolutionMemory:
        """What the decoder looks at: padding is zero wherever a convolution could read it."""
        embedded = self.ready(self.source_positions(self.source_embedding(source)))
        real = (source != self.padding)[:, :, None].to(embedded.dtype)
        x = self.into_encoder(embedded)
        for block in self.encoder:
            x = block(x, real)
        keys = self.out_of_encoder(x)
        mask = ReadyMask.of(padding_mask(source, self.padding), x.dtype)
        return ConvolutionMemory(
            keys, (keys + embedded) * HALF, mask, real.sum(1, keepdim=True).sqrt()
        )

    def embed_target(
        self, ids: Int[Tensor, "batch target"], first: int = 0
    ) -> Float[Tensor, "batch target d_model"]:
        """What the decoder is fed; `first` is the position of the first token."""
        return self.ready(self.target_positions(self.target_embedding(ids), first))

    def decode(
        self, memory: ConvolutionMemory, target: Int[Tensor, "batch target"]
    ) -> tuple[Float[Tensor, "batch target d_model"], list[Float[Tensor, "batch 1 target source"]]]:
        """The features of all positions, and where each layer looked."""
        fed = self.embed_target(target)
        x, looked = self.into_decoder(fed), []
        for layer in self.layers():
            x, weights = layer.attention(layer.block(x), fed, memory)
            looked.append(weights)
        return self.to_features(self.dropout(x)), looked

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits; see `Seq2Seq`.

        Padding behind the target needs no mask: no real position sees that far.
        """
        return self.decode(self.encode(source), target)[0]

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Logits for the token after each of `target`'s (`<s> y1 .. yn`; teacher forcing)."""
        return project(self.features(source, target), self.output_weight, self.output_bias)

    def look(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> AttentionWeights:
        """Where each layer of the decoder looks in the source; neither side looks at itself."""
        cross = torch.stack(self.decode(self.encode(source), target)[1])
        encoder, decoder = (
            cross.new_zeros(0, len(ids), 1, ids.shape[1], ids.shape[1]) for ids in (source, target)
        )
        return AttentionWeights(encoder, decoder, cross)

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> ConvolutionState:
        """Read the source once, and the prefix if any; see `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        blank = (len(source), self.config.d_model)
        past = (layer.block.convolution.blank(*blank) for layer in self.layers())
        state = ConvolutionState(self.encode(source), tuple(past))
        for token in () if prefix is None else prefix.unbind(1):
            state = self.step(state, token).state
        return state

    @torch.no_grad()
    def step(
        self, state: ConvolutionState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row; see `StepDecoder`. Attention is the mean over the layers."""
        memory, past, looked = state.source, [], []
        fed = self.embed_target(last[:, None], state.length)[:, 0]
        x = self.into_decoder(fed)
        by_sentence = (len(memory.keys), -1, self.config.d_model)
        for layer, before in zip(self.layers(), state.past, strict=True):
            x, behind = layer.block.step(x, before)
            x, weights = layer.attention(x.view(by_sentence), fed.view(by_sentence), memory)
            x = x.flatten(0, 1)
            past.append(behind)
            looked.append(weights)
        after = replace(state, past=tuple(past), length=state.length + 1)
        logits = project(self.to_features(x), self.output_weight, self.output_bias).float()
        attention = None
        if want_attention:
            attention = torch.stack(looked).float().mean(0).flatten(0, 2)
        return Step(logits, after, attention)


def embedding(n_tokens: int, d_model: int, padding: int) -> nn.Embedding:
    """A look-up without the Transformer's factor; the row of padding is zero and stays so."""
    found = nn.Embedding(n_tokens, d_model, padding_idx=padding)
    nn.init.normal_(found.weight, std=EMBEDDED)
    found.weight.data[padding].zero_()
    return found
