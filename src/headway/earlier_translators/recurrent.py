"""Recurrent translators: an encoder reads the source, a decoder writes the target.

Sutskever et al. 2014 and Cho et al. 2014 with one fixed vector between them, Bahdanau et al. 2015
and Luong et al. 2015 with attention.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import TokenEmbedding, output_matrix, project
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.earlier_translators.recurrent_decoders import (
    AdditiveScores,
    AttendedSource,
    AttendingFirstDecoder,
    AttendingLastDecoder,
    DecoderSizes,
    DotScores,
    FixedVectorDecoder,
    Memories,
    RecurrentDecoder,
    source_of,
)
from headway.nn.attention_weights import AttentionWeights
from headway.nn.recurrent import Recurrence, RecurrentState, TwoWayEncoder

RecurrentAttention = Literal["none", "additive", "dot"]

_MOST = {
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 1_000),
    **dict.fromkeys(("d_embedding", "d_model"), 1 << 16),
}
"""Far beyond any model; what is larger would be built for ever."""


@dataclass(frozen=True)
class RecurrentTranslatorConfig:
    """Sizes and options; the defaults are about those of Bahdanau et al. 2015, appendix B."""

    recurrence: Recurrence = "gru"
    """The cell: `rnn`, `lstm` or `gru`."""
    attention: RecurrentAttention = "additive"
    """`none`: one fixed vector. `additive`: Bahdanau et al. 2015. `dot`: Luong et al. 2015."""
    input_feeding: bool = True
    """What was gathered goes into the next step (Luong et al. 2015, section 3.3). Only `dot` can do
    without: Bahdanau's decoder has it by its nature, a fixed vector has nothing to gather."""
    encoder_layers: int = 1
    """Layers that read the source."""
    decoder_layers: int = 1
    """Layers that write the target."""
    d_embedding: int = 620
    """Size of a token's vector."""
    d_model: int = 1000
    """Of what a decoder's layer remembers, and of the encoder's output: half of it each way."""
    dropout: float = 0.2
    """On embeddings, between layers, on the encoder's and the decoder's output."""
    tied: bool = True
    """All embeddings and the output matrix are one (Press and Wolf 2017)."""
    output_bias: bool = True
    """A bias for every word of the vocabulary."""

    def __post_init__(self) -> None:
        refuse_below(self, dict.fromkeys(_MOST, 1))
        refuse_beyond(self, _MOST)
        if self.d_model % 2:
            raise ConfigError(
                "d_model must be even, half of it reads each way; "
                f"got {self.d_model}. Try {self.d_model + 1}."
            )
        if not self.input_feeding and self.attention != "dot":
            raise ConfigError(
                "input_feeding can be taken from attention = dot alone: additive attention feeds "
                "what it gathers to the same step, and one fixed vector gathers nothing; got "
                f"attention = {self.attention}. Leave it out, or set --model.attention dot."
            )
        check_dropout(self.dropout)


def decoder(config: RecurrentTranslatorConfig) -> RecurrentDecoder:
    """The decoder that the settings name."""
    sizes = DecoderSizes(
        config.recurrence,
        config.d_embedding,
        config.d_model,
        config.decoder_layers,
        config.dropout,
    )
    if config.attention == "none":
        return FixedVectorDecoder(sizes)
    if config.attention == "additive":
        return AttendingFirstDecoder(sizes, AdditiveScores(config.d_model, config.d_model))
    scores = DotScores(config.d_model, config.d_model)
    return AttendingLastDecoder(sizes, scores, feeding=config.input_feeding)


class RecurrentTranslator(nn.Module):
    """Two-way encoder, recurrent decoder; a `Seq2Seq` and a `StepDecoder`."""

    longest = None

    def __init__(
        self, config: RecurrentTranslatorConfig, *, vocabulary_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self.config, self.padding = config, padding
        size = config.d_embedding
        self.target_embedding = TokenEmbedding(vocabulary_size, size, padding=padding)
        self.source_embedding = self.target_embedding
        if not config.tied:
            self.source_embedding = TokenEmbedding(vocabulary_size, size, padding=padding)
        self.output_weight = output_matrix(self.target_embedding, tied=config.tied)
        bias = nn.Parameter(torch.zeros(vocabulary_size)) if config.output_bias else None
        self.output_bias = bias
        self.dropout = Dropout(config.dropout)
        self.encoder = TwoWayEncoder(
            config.recurrence, size, config.d_model, config.encoder_layers, dropout=config.dropout
        )
        self.decoder = decoder(config)
        self.remembers: tuple[str, ...] = self.decoder.remembers
        n_begun = len(self.remembers) * config.decoder_layers
        self.to_beginning = nn.Linear(config.d_model, n_begun * config.d_model)
        nn.init.xavier_uniform_(self.to_beginning.weight)
        nn.init.zeros_(self.to_beginning.bias)

    def embed(
        self, embedding: TokenEmbedding, ids: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch length d_embedding"]:
        """With dropout, in the type that the model computes in: embeddings are float32."""
        return self.dropout(embedding(ids).to(self.to_beginning.weight.dtype))

    def encode(self, source: Int[Tensor, "batch source"]) -> AttendedSource:
        """What the decoder may look at."""
        visible = source != self.padding
        outputs, summary = self.encoder(self.embed(self.source_embedding, source), visible)
        return source_of(outputs, visible, summary)

    def beginning(self, source: AttendedSource) -> Memories:
        """What each layer of the decoder remembers at first: tanh(W x the source as one vector).

        After Bahdanau et al. 2015, appendix A.2.2, who take the backward half of it alone.
        """
        begun = self.to_beginning(source.summary).tanh().chunk(len(self.remembers), dim=-1)
        layers = zip(*(part.chunk(self.config.decoder_layers, -1) for part in begun), strict=True)
        return [tuple(memory) for memory in layers]

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_embedding"]:
        """What is multiplied by `output_weight`; see `Seq2Seq`."""
        return self.decoded(source, target)[0]

    def decoded(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> tuple[
        Float[Tensor, "batch target d_embedding"], Float[Tensor, "batch target source"] | None
    ]:
        """Features and attention of a whole target (teacher forcing)."""
        encoded, fed = self.decoder.start(self.encode(source))
        y = self.embed(self.target_embedding, target)
        found = self.decoder(y, self.beginning(encoded), encoded, fed)
        return found.features, found.weights

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Logits for the token after each of `target`'s (`<s> y1 .. yn`)."""
        return project(self.features(source, target), self.output_weight, self.output_bias)

    def look(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> AttentionWeights:
        """See `headway.nn.attention_weights.AttentionModel`; ConfigError where there is none."""
        _, weights = self.decoded(source, target)
        if weights is None:
            raise ConfigError(
                "A recurrent translator looks at its source through attention; this one has "
                "attention = none. Train one with --model.attention additive or dot."
            )
        none = weights.new_zeros
        return AttentionWeights(
            none(0, len(source), 1, source.shape[1], source.shape[1]),
            none(0, len(target), 1, target.shape[1], target.shape[1]),
            weights[None, :, None],
        )

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> "DecoderState":
        """Read the source once, and the prefix if any; see `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        encoded, fed = self.decoder.start(self.encode(source))
        rows = torch.arange(len(source), device=source.device)
        state = DecoderState(encoded, encoded, rows, self.remembered(self.beginning(encoded), fed))
        for token in () if prefix is None else prefix.unbind(1):
            state = self.step(state, token).state
        return state

    @torch.no_grad()
    def step(
        self, state: "DecoderState", last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """Feed one token per row; see `StepDecoder`."""
        y = self.embed(self.target_embedding, last[:, None])[:, 0]
        layers = range(self.config.decoder_layers)
        memories = [state.memory.of_layer(n, self.remembers, y.dtype) for n in layers]
        found = self.decoder.step(y, memories, state.source, state.memory.memory.get("fed"))
        logits = project(found.features, self.output_weight, self.output_bias).float()
        after = state.after(self.remembered(found.memories, found.fed))
        weights = found.weights if want_attention else None
        return Step(logits, after, None if weights is None else weights.float())

    def remembered(self, memories: Memories, fed: Tensor | None) -> RecurrentState:
        """What the layers remember, and what the next step is fed, by name."""
        parts = (torch.stack(parts, 1) for parts in zip(*memories, strict=True))
        named = dict(zip(self.remembers, parts, strict=True))
        return RecurrentState(named if fed is None else {**named, "fed": fed})


@dataclass(frozen=True)
class DecoderState:
    """What a decoder remembers between steps, one row per hypothesis."""

    sentences: AttendedSource
    """Of the sentences, as they were started."""
    source: AttendedSource
    """Of each row: gathered anew only when rows change their sentence."""
    sentence: Int[Tensor, " rows"]
    """Which of the sentences each row continues."""
    memory: RecurrentState

    def select(self, rows: Int[Tensor, " kept"]) -> "DecoderState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        sentence = self.sentence[rows]
        source = self.source
        if not torch.equal(sentence, self.sentence):
            source = self.sentences.select(sentence)
        return DecoderState(self.sentences, source, sentence, self.memory.select(rows))

    def after(self, memory: RecurrentState) -> "DecoderState":
        """With what is remembered one step later."""
        return DecoderState(self.sentences, self.source, self.sentence, memory)
