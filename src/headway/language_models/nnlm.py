"""The neural probabilistic language model of Bengio et al. 2003: the next word from the last few.

Each word has a vector, a row of a matrix C that is learned with everything else; to look it up is
to multiply the word's one-hot vector by C. The vectors of the last n - 1 words, one behind the
other, are x, and the scores of all words to come are

    y = b + W x + U tanh(d + H x)          (equation 1)
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout, check_dropout
from headway.core.embedding import TokenEmbedding
from headway.core.errors import refuse_below, refuse_beyond
from headway.core.interfaces import Step
from headway.language_models.interfaces import Carried, Read, TextModel, prompt

_MOST = {"order": 1_000, "d_model": 1 << 16, "d_hidden": 1 << 16}
"""Far beyond any model; what is larger would be built for ever."""


@dataclass(frozen=True)
class NnlmConfig:
    """Sizes and options; the paper's are in its table 1 (order 5, 30 or 60, 50 or 100)."""

    order: int = 5
    """n: a word is foretold from the n - 1 before it."""
    d_model: int = 60
    """m: the size of a word's vector."""
    d_hidden: int = 100
    """h: the size of the hidden layer."""
    direct: bool = True
    """Whether x reaches the output past the hidden layer as well: W. Otherwise W is zero."""
    dropout: float = 0.0
    """On x and on the hidden layer; not in the paper, which has weight decay."""

    def __post_init__(self) -> None:
        refuse_below(self, {"order": 2, "d_model": 1, "d_hidden": 1})
        refuse_beyond(self, _MOST)
        check_dropout(self.dropout, remedy="Try 0.1.")


@dataclass(frozen=True)
class NnlmState:
    """The words that the next step looks back at; a `State` of search."""

    context: Int[Tensor, "rows words"]

    def select(self, rows: Int[Tensor, " kept"]) -> "NnlmState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        return NnlmState(self.context[rows])


class Nnlm(TextModel):
    """Equation 1; a `NeuralLanguageModel` and a `StepDecoder`.

    The text is a stream: the words before the last begin marker are seen as well, for the marker is
    seen between them. Where nothing stands before, begin markers do.
    """

    carries = False
    longest = None

    def __init__(
        self, config: NnlmConfig, *, vocabulary_size: int, padding: int = 0, begin: int = 2
    ) -> None:
        super().__init__()
        self.config = config
        self.begin = begin
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        d_context = (config.order - 1) * config.d_model
        self.to_hidden = nn.Linear(d_context, config.d_hidden)  # H and d
        nn.init.xavier_uniform_(self.to_hidden.weight)
        nn.init.zeros_(self.to_hidden.bias)
        d_features = config.d_hidden + (d_context if config.direct else 0)
        self.output_weight = nn.Parameter(torch.empty(vocabulary_size, d_features))  # [U W]
        nn.init.normal_(self.output_weight, std=d_features**-0.5)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = Dropout(config.dropout)

    def word_vectors(self) -> Float[Tensor, "vocabulary d_model"]:
        """The matrix C, a row for each word: what remains of use beside the model."""
        return self.embedding.weight.detach() * self.embedding.scale

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`; what is carried are the last n - 2 words that were fed.

        The features are tanh(d + H x) and x behind it, so that [U W] is one matrix.
        """
        n_context = self.config.order - 1
        before = carried["context"] if carried else self.blank(len(fed))
        seen = torch.cat([before, fed], 1)  # [batch, n - 2 + length]
        windows = self.embedding(seen).unfold(1, n_context, 1)  # [batch, length, m, n - 1]
        x = windows.flip(-1).transpose(2, 3).flatten(2)  # the last word first, as in the paper
        x = self.dropout(x.to(self.to_hidden.weight.dtype))
        features = self.dropout(self.to_hidden(x).tanh())
        if self.config.direct:
            features = torch.cat([features, x], -1)
        return Read(features, {"context": seen[:, fed.shape[1] :]})

    def blank(self, n_rows: int) -> Int[Tensor, "rows words"]:
        """What stands before the first word."""
        shape = (n_rows, self.config.order - 2)
        return torch.full(shape, self.begin, device=self.output_weight.device)

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> NnlmState:
        """See `StepDecoder`: only the prefix's last words matter."""
        ids = prompt(source, prefix, self.output_weight)
        seen = torch.cat([self.blank(len(ids)), ids], 1)
        return NnlmState(seen[:, ids.shape[1] :])

    @torch.no_grad()
    def step(
        self, state: NnlmState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """One more word for each row; see `StepDecoder`. There is no attention."""
        features, after = self.read(last[:, None], {"context": state.context})
        return Step(self.logits(features[:, 0]).float(), NnlmState(after["context"]), None)
