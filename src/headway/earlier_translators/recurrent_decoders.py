"""Three ways in which a recurrent decoder learns of its source: one vector, or attention.

Each gives the same features for a whole target in one pass (training) and token by token (search).
Where a step needs what was attended to in the step before, a pass is a loop over the target.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.earlier_translators.recurrent_attention import AttendedSource, Scores, gather
from headway.nn.recurrent import Memory, Recurrence, RecurrentLayer

Memories = list[Memory]
"""What each layer remembers."""


class DecoderOutput(NamedTuple):
    """What a decoder makes of one token of each row, or of many."""

    features: Float[Tensor, "batch *length d_output"]
    memories: Memories
    fed: Float[Tensor, "batch d_output"] | None
    """What goes into the next step beside its token (input feeding)."""
    weights: Float[Tensor, "batch *length source"] | None
    """On the source; None where there is no attention."""


class First(NamedTuple):
    """What the first layer is given of one token of each row."""

    token: Float[Tensor, "batch d_input"]
    given: Float[Tensor, "batch gates"]
    """Its part of W x + b."""
    beside: Float[Tensor, "gates d_more"]
    """The columns of W for what stands beside it."""


class DecoderSizes(NamedTuple):
    """Of a decoder."""

    recurrence: Recurrence
    d_input: int
    """Of a token's embedding, and of the output."""
    d_model: int
    """Of what each layer remembers, and of what the encoder gives."""
    n_layers: int
    dropout: float = 0.0


class RecurrentDecoder(nn.Module, ABC):
    """Layers one upon another, the first of which reads a token and `d_more` numbers more, and an
    output made of `d_output_from` numbers.

    The output is tanh of one product, as large as an embedding, so that the vocabulary's matrix may
    be that of the embeddings. Differs from Bahdanau et al. 2015, appendix A.2.2: tanh for maxout.
    """

    def __init__(self, sizes: DecoderSizes, *, d_more: int, d_output_from: int) -> None:
        super().__init__()
        recurrence, self.d_input, d_model, n_layers, dropout = sizes
        self.first = RecurrentLayer(recurrence, self.d_input + d_more, d_model)
        self.others = nn.ModuleList(
            RecurrentLayer(recurrence, d_model, d_model) for _ in range(n_layers - 1)
        )
        self.remembers = self.first.cell.remembers
        self.to_output = nn.Linear(d_output_from, self.d_input)
        nn.init.xavier_uniform_(self.to_output.weight)
        nn.init.zeros_(self.to_output.bias)
        self.dropout = Dropout(dropout)

    def start(self, source: AttendedSource) -> tuple[AttendedSource, Tensor | None]:
        """The source ready to be attended to, and what the first step is fed beside its token."""
        return source, None

    def forward(
        self,
        y: Float[Tensor, "batch target d_input"],
        memories: Memories,
        source: AttendedSource,
        fed: Float[Tensor, "batch d_output"] | None,
    ) -> DecoderOutput:
        """All tokens of a target, one after the other."""
        given, beside = self.given(y)
        features, weights = [], []
        for token, of_token in zip(y.unbind(1), given.unbind(1), strict=True):
            found = self.one(First(token, of_token, beside), memories, source, fed)
            memories, fed = found.memories, found.fed
            features.append(found.features)
            weights.append(found.weights)
        looked = [some for some in weights if some is not None]
        return DecoderOutput(
            torch.stack(features, 1), memories, fed, torch.stack(looked, 1) if looked else None
        )

    def step(
        self,
        y: Float[Tensor, "batch d_input"],
        memories: Memories,
        source: AttendedSource,
        fed: Float[Tensor, "batch d_output"] | None,
    ) -> DecoderOutput:
        """One token of each row."""
        return self.one(First(y, *self.given(y)), memories, source, fed)

    @abstractmethod
    def one(
        self,
        first: First,
        memories: Memories,
        source: AttendedSource,
        fed: Float[Tensor, "batch d_output"] | None,
    ) -> DecoderOutput:
        """One token of each row, of which the first layer has made what it can already."""

    def upper(self) -> Iterator[RecurrentLayer]:
        """The layers above the first."""
        return cast("Iterator[RecurrentLayer]", iter(self.others))

    # -- pieces -----------------------------------------------------------------------------------

    def given(
        self, y: Float[Tensor, "*batch d_input"]
    ) -> tuple[Float[Tensor, "*batch gates"], Float[Tensor, "gates d_more"]]:
        """The tokens' part of the first layer's W x + b, the same whatever stands beside them, and
        the columns of W for what does."""
        weight, bias = self.first.from_input.weight, self.first.from_input.bias
        of_token, beside = weight.split([self.d_input, weight.shape[1] - self.d_input], dim=1)
        return F.linear(y, of_token, bias), beside

    def remember(self, first: First, more: Tensor | None, memories: Memories) -> Memories:
        """One step of every layer; `more` stands beside the token in the first one's input."""
        given = first.given
        if more is not None:
            given = given + F.linear(more, first.beside)
        after = [self.first.after(given, memories[0])]
        for layer, before in zip(self.upper(), memories[1:], strict=True):
            after.append(layer.step(self.dropout(after[-1][0]), before))
        return after

    def read_all(
        self, x: Float[Tensor, "batch target d"], memories: Memories
    ) -> tuple[Float[Tensor, "batch target d_model"], Memories]:
        """All steps of every layer by the fast kernel, where no step waits for attention."""
        x, memory = self.first(x, memories[0])
        after = [memory]
        for layer, before in zip(self.upper(), memories[1:], strict=True):
            x, memory = layer(self.dropout(x), before)
            after.append(memory)
        return x, after

    def output(self, *parts: Float[Tensor, "batch *length _"]) -> Tensor:
        """What is multiplied by the vocabulary's matrix."""
        return self.dropout(self.to_output(torch.cat(parts, -1)).tanh())


class FixedVectorDecoder(RecurrentDecoder):
    """The whole source is one vector c (Cho et al. 2014, section 2.2; Sutskever et al. 2014).

        s_t = f(s_{t-1}, [y_{t-1}; c])
        output from [s_t; y_{t-1}; c]

    Sutskever et al. begin with it alone; Cho et al. feed it to every step as well, as here.
    """

    def __init__(self, sizes: DecoderSizes) -> None:
        d_from = 2 * sizes.d_model + sizes.d_input
        super().__init__(sizes, d_more=sizes.d_model, d_output_from=d_from)

    def forward(
        self, y: Tensor, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """All steps at once; see `RecurrentDecoder.forward`."""
        c = source.summary[:, None].expand(-1, y.shape[1], -1)
        s, memories = self.read_all(torch.cat([y, c], -1), memories)
        return DecoderOutput(self.output(s, c, y), memories, None, None)

    def one(
        self, first: First, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """See `RecurrentDecoder.one`."""
        memories = self.remember(first, source.summary, memories)
        features = self.output(memories[-1][0], source.summary, first.token)
        return DecoderOutput(features, memories, None, None)


class AttendingFirstDecoder(RecurrentDecoder):
    """Look, then remember (Bahdanau et al. 2015, section 3.1 and appendix A.2).

    c_t = the source, weighted by how it scores with s_{t-1}
    s_t = f(s_{t-1}, [y_{t-1}; c_t])
    output from [s_t; y_{t-1}; c_t]

    Differs from appendix A.2.2, whose output is made of s_{t-1}; section 3.1 has s_t (eq. 4).
    """

    def __init__(self, sizes: DecoderSizes, scores: Scores) -> None:
        d_from = 2 * sizes.d_model + sizes.d_input
        super().__init__(sizes, d_more=sizes.d_model, d_output_from=d_from)
        self.scores = scores

    def start(self, source: AttendedSource) -> tuple[AttendedSource, Tensor | None]:
        """See `RecurrentDecoder.start`."""
        return source.compared_by(self.scores.prepared(source.values)), None

    def one(
        self, first: First, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """See `RecurrentDecoder.one`."""
        found = gather(self.scores, memories[-1][0][:, None], source)
        context, weights = (part[:, 0] for part in found)
        memories = self.remember(first, context, memories)
        return DecoderOutput(
            self.output(memories[-1][0], context, first.token), memories, None, weights
        )


class AttendingLastDecoder(RecurrentDecoder):
    """Remember, then look (Luong et al. 2015, section 3).

        h_t = f(h_{t-1}, [y_{t-1}; a_{t-1}])
        c_t = the source, weighted by how it scores with h_t
        a_t = tanh(W [h_t; c_t]), the output

    Without `feeding`, h_t knows nothing of a_{t-1}: then no step waits for attention, and all are
    one pass.
    """

    def __init__(self, sizes: DecoderSizes, scores: Scores, *, feeding: bool) -> None:
        d_more = sizes.d_input if feeding else 0
        super().__init__(sizes, d_more=d_more, d_output_from=2 * sizes.d_model)
        self.scores, self.feeding = scores, feeding

    def start(self, source: AttendedSource) -> tuple[AttendedSource, Tensor | None]:
        """See `RecurrentDecoder.start`."""
        blank = source.values.new_zeros(len(source.values), self.d_input)
        keys = self.scores.prepared(source.values)
        return source.compared_by(keys), blank if self.feeding else None

    def forward(
        self, y: Tensor, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """All tokens of a target; see `RecurrentDecoder.forward`."""
        if fed is not None:
            return super().forward(y, memories, source, fed)
        h, memories = self.read_all(y, memories)
        found = gather(self.scores, h, source)
        return DecoderOutput(self.output(h, found.context), memories, None, found.weights)

    def one(
        self, first: First, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """See `RecurrentDecoder.one`."""
        memories = self.remember(first, fed, memories)
        h = memories[-1][0]
        context, weights = (part[:, 0] for part in gather(self.scores, h[:, None], source))
        features = self.output(h, context)
        return DecoderOutput(features, memories, features if self.feeding else None, weights)
