"""ELMo: embeddings from language models, one that reads forward and one that reads backward.

Peters et al. 2018. Words come in by their letters, so that none is unknown and every word of the
corpus may be in the vocabulary; what is foretold are the most frequent ones. The two halves share
the letters and the output matrix, and know nothing of each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from headway.core.dropout import Dropout, check_dropout
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.interfaces import Step
from headway.core.loss import Loss, projected_label_smoothed
from headway.language_models.interfaces import (
    Carried,
    LanguageModel,
    Read,
    StretchLoss,
    TextModel,
    prompt,
)
from headway.nn.character_words import PADDING, CharacterWords, spelled
from headway.nn.projected_lstm import ProjectedLstm, ProjectedMemory
from headway.nn.recurrent import RecurrentState, mirror_of, mirrored
from headway.nn.sampled_softmax import sampled_cross_entropy
from headway.tokenizers.words import OpenWords, Words

N_MARKERS = 4
"""The first ids of a vocabulary are markers; they have no letters."""
FORWARD, BACKWARD, BOTH = slice(0, 1), slice(1, 2), slice(0, 2)
_MOST = {"layers": 100, "d_model": 1 << 16, "d_cell": 1 << 16, "d_character": 1 << 12,
         "highways": 100, "output_words": 1 << 24, "samples": 1 << 24}  # fmt: skip
"""Far beyond any model; what is larger would be built for ever."""
_MOST_FILTERS = 1 << 14


@dataclass(frozen=True)
class ElmoConfig:
    """Sizes and options; the paper's are 2 layers, 512, 4096, 16, (32, 32, 64, 128, 256, 512,
    1024), 2, 0.1, 800,000 and 8192."""

    layers: int = 2
    """LSTM layers in each half."""
    d_model: int = 128
    """Of a word's vector, and of each layer's output in each half."""
    d_cell: int = 512
    """Cells of each layer, which are projected to its output."""
    d_character: int = 16
    """Of a letter's vector."""
    filters: tuple[int, ...] = (32, 32, 64, 64, 64)
    """How many look at one byte of a word, at two, at three, .."""
    highways: int = 1
    """Highway layers behind the filters."""
    dropout: float = 0.1
    """Before each layer, and on the last one's output."""
    output_words: int = 20_000
    """The most frequent words of the vocabulary, which are foretold; each other one is the unknown
    word there. 0: all are."""
    samples: int = 2048
    """Draws of the softmax while training, by frequency; 0: over all words that are foretold."""

    def __post_init__(self) -> None:
        none = dict.fromkeys(("highways", "output_words", "samples"), 0)
        refuse_below(self, {**dict.fromkeys(_MOST, 1), **none})
        if not self.filters or any(not 1 <= n <= _MOST_FILTERS for n in self.filters):
            raise ConfigError(
                f"filters must be numbers from 1 to {_MOST_FILTERS:,}, one a width; got "
                f"{self.filters}. Try 32,32,64: 32 filters of one byte, 32 of two, 64 of three."
            )
        if self.output_words == 1:
            raise ConfigError(
                "output_words are foretold, each other one is the unknown word; got 1, of which "
                "nothing is to be told. Try 20000, or 0 for all."
            )
        refuse_beyond(self, _MOST)
        check_dropout(self.dropout)


class Elmo(TextModel):
    """A `NeuralLanguageModel` and a `StepDecoder`, which its forward half is."""

    carries = True
    longest = None
    spellings: UInt8[Tensor, "vocabulary bytes"]

    def __init__(
        self,
        config: ElmoConfig,
        *,
        vocabulary_size: int,
        padding: int = 0,
        unknown: int = 1,
        begin: int = 2,
        end: int = 3,
        pieces: Sequence[str] | None = None,
    ) -> None:
        """`pieces` are the words of the vocabulary, which are no part of the weights; without them
        each is called by its number."""
        super().__init__()
        self.config, self.padding = config, padding
        self.unknown, self.begin, self.end = unknown, begin, end
        table = spelled(pieces or [*map(str, range(vocabulary_size))], N_MARKERS)
        self.vocabulary: OpenWords | None = None
        self.register_buffer("spellings", torch.tensor(table), persistent=False)
        d = config.d_model
        self.words = CharacterWords(
            d, d_character=config.d_character, filters=config.filters, n_highways=config.highways
        )
        self.layers = torch.nn.ModuleList(
            ProjectedLstm(d, config.d_cell, d, n_readers=2) for _ in range(config.layers)
        )
        self.dropout = Dropout(config.dropout)
        n_foretold = min(vocabulary_size, config.output_words or vocabulary_size)
        self.output_weight = torch.nn.Parameter(torch.empty(n_foretold, d))
        torch.nn.init.normal_(self.output_weight, std=d**-0.5)
        self.output_bias = torch.nn.Parameter(torch.zeros(n_foretold))

    def foretold(self, ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """See `LanguageModel`."""
        return torch.where(ids < len(self.output_weight), ids, self.unknown)

    def opened(self, vocabulary: Words) -> OpenWords:
        """A vocabulary for use: it gives ids to words that it meets, and this model reads them."""
        self.spellings = self.spellings[: len(vocabulary)]
        self.vocabulary = OpenWords.of(vocabulary)
        return self.vocabulary

    @property
    def backward_half(self) -> LanguageModel:
        """See `LanguageModel`."""
        return _BackwardHalf(self)

    def lstms(self) -> Iterator[ProjectedLstm]:
        """The layers, from the lowest."""
        return cast("Iterator[ProjectedLstm]", iter(self.layers))

    def embed(self, ids: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape d_model"]:
        """By their letters: each word of a batch is read once."""
        if ids.is_meta:  # nothing is there that could be found twice
            return self.words(self.spellings[ids.flatten()]).view(*ids.shape, -1)
        if self.vocabulary and self.vocabulary.n_met > len(self.spellings):
            new = self.vocabulary.pieces(range(len(self.spellings), self.vocabulary.n_met))
            tables = self.spellings, torch.tensor(spelled(new), device=ids.device)
            width = max(table.shape[1] for table in tables)
            wide = [F.pad(one, (0, width - one.shape[1]), value=PADDING) for one in tables]
            self.spellings = torch.cat(wide)
        different, where = ids.unique(return_inverse=True)
        letters = self.spellings[different]
        n_bytes = int((letters != PADDING).any(0).sum())
        return F.embedding(where, self.words(letters[:, :n_bytes]))

    def outputs(
        self,
        x: Float[Tensor, "readers batch length d_model"],
        before: Carried | None,
        readers: slice,
    ) -> tuple[list[Tensor], list[ProjectedMemory]]:
        """Each layer's output, and what it remembers; `before` is the first reader's memory.

        From the second layer on, what comes in is added to what comes out.
        """
        found, memories = [], []
        for n, layer in enumerate(self.lstms()):
            hidden, cell = (part[readers] for part in layer.blank(x.shape[1]))
            if before:
                hidden[0], cell[0] = before["hidden"][:, n], before["cell"][:, n]
            y, memory = layer(self.dropout(x), ProjectedMemory(hidden, cell), readers)
            x = x + y if n else y
            found.append(x)
            memories.append(memory)
        return found, memories

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`: the forward half."""
        return self.read_half(fed, carried, FORWARD)

    def read_half(
        self, fed: Int[Tensor, "batch length"], carried: Carried | None, half: slice
    ) -> Read:
        """One half; the backward one is given a text from its end."""
        outputs, memories = self.outputs(self.embed(fed)[None], carried, half)
        return Read(self.dropout(outputs[-1][0]), _carried(memories))

    def loss(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None,
        *,
        smoothing: float,
        padding: int,
    ) -> StretchLoss:
        """The mean of both halves' losses.

        The forward half reads what is fed, and goes on where it was; the backward one reads what is
        wanted, from the end of the stretch on, and foretells what is fed: at the beginning of a
        line its begin marker. The softmax is sampled while training, unless there is smoothing.
        """
        x = self.embed(torch.stack([fed, wanted.flip(1)]))
        outputs, memories = self.outputs(x, carried, BOTH)
        features = self.dropout(outputs[-1])
        targets = self.foretold(torch.stack([wanted, fed.flip(1)]))
        if self.training and self.config.samples and not smoothing:
            n_samples, matrix = self.config.samples, (self.output_weight, self.output_bias)
            loss = sampled_cross_entropy(
                features, *matrix, targets, n_samples=n_samples, padding=padding
            )
        else:
            loss = projected_label_smoothed(
                features, self.output_weight, targets, output_bias=self.output_bias,
                smoothing=smoothing, padding=padding,
            )  # fmt: skip
        return StretchLoss(Loss(loss.smoothed / 2, loss.nll / 2), _carried(memories))

    @torch.no_grad()
    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> RecurrentState:
        """Read the prefix in one pass; see `StepDecoder`."""
        ids = prompt(source, prefix, self.output_weight)
        if ids.shape[1]:
            return RecurrentState(self.read(ids).carried)
        return RecurrentState(_carried([layer.blank(len(ids)) for layer in self.lstms()]))

    @torch.no_grad()
    def step(
        self, state: RecurrentState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """One more token for each row; see `StepDecoder`. There is no attention."""
        x, memories = self.embed(last), []
        for n, layer in enumerate(self.lstms()):
            before = (state.memory[name][None, :, n] for name in ("hidden", "cell"))
            memory = layer.step(x, ProjectedMemory(*before))
            x = x + memory.hidden[0] if n else memory.hidden[0]
            memories.append(memory)
        return Step(self.logits(x).float(), RecurrentState(_carried(memories)), None)

    @torch.no_grad()
    def contextual(
        self, words: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "layers batch length d_both"]:
        """The vectors of each word of some sentences: that of its letters (twice, to be as wide as
        the others), then of each layer, the forward half's beside the backward half's.

        A sentence is read by itself, between its markers; padding stands behind a shorter one, and
        what is found there means nothing.
        """
        mirror = mirror_of((words != self.padding).sum(1), words.shape[1])
        x = self.embed(words)
        ways = torch.stack([x, mirrored(x, mirror)])
        ends = self.embed(torch.tensor([self.begin, self.end], device=words.device))
        first = ends[:, None, None].expand(-1, len(x), -1, -1)
        outputs, _ = self.outputs(torch.cat([first, ways], 2), None, BOTH)
        both = [torch.cat([y[0, :, 1:], mirrored(y[1, :, 1:], mirror)], -1) for y in outputs]
        return torch.stack([torch.cat([x, x], -1), *both])


class _BackwardHalf(TextModel):
    """The half that reads from the end, as a model of texts that are given that way round."""

    carries = True

    def __init__(self, whole: Elmo) -> None:
        super().__init__()
        self.whole = whole
        self.output_weight, self.output_bias = whole.output_weight, whole.output_bias

    def foretold(self, ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """See `LanguageModel`."""
        return self.whole.foretold(ids)

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`."""
        return self.whole.read_half(fed, carried, BACKWARD)


def _carried(memories: Sequence[ProjectedMemory]) -> Carried:
    """What the first reader remembers: [batch, layers, size] each."""
    hidden, cell = (torch.stack([part[0] for part in of], 1) for of in zip(*memories, strict=True))
    return {"hidden": hidden.detach(), "cell": cell.detach()}
