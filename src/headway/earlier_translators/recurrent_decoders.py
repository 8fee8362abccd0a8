"""Three ways in which a recurrent decoder learns of its source: one vector, or attention, scored as
in the two papers that brought it to translation.

Each gives the same features for a whole target in one pass (training) and token by token (search).
Where a step needs what was attended to in the step before, a pass is a loop over the target.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.attention import ReadyMask, softmax
from headway.core.dropout import Dropout
from headway.nn.recurrent import Memory, Recurrence, RecurrentLayer

# -- attention: one query, a decoder's state, over all that the encoder gave; one head ----------


class AttendedSource(NamedTuple):
    """What a decoder looks at: made once for all steps, a row a sentence."""

    values: Float[Tensor, "batch source d_model"]
    keys: Float[Tensor, "batch source d_key"]
    """What a query is compared with; see `AdditiveScores.prepared`."""
    hidden: Float[Tensor, "batch 1 source"]
    """0 or minus infinity, to be added to the scores."""
    sees_any: Bool[Tensor, "batch 1 1"]
    """False for a source of padding alone: what is gathered from it is zero."""
    summary: Float[Tensor, "batch d_model"]
    """The source as one vector: the last state of the encoder, each way."""

    def select(self, rows: Int[Tensor, " kept"]) -> "AttendedSource":
        """That of the given rows; a row may repeat or vanish."""
        return AttendedSource(*(part.index_select(0, rows) for part in self))


def source_of(
    values: Float[Tensor, "batch source d_model"],
    visible: Bool[Tensor, "batch source"],
    summary: Float[Tensor, "batch d_model"],
) -> AttendedSource:
    """An encoder's output, keys being the values; `visible` is False where a token is padding."""
    mask = ReadyMask.of(visible[:, None, None], values.dtype)
    return AttendedSource(values, values, mask.hidden[:, 0], mask.sees_any[:, 0], summary)


class AdditiveScores(nn.Module):
    """v . tanh(W s + U h) (Bahdanau et al. 2015, appendix A.1.2).

    A feed-forward network with one hidden layer: as many tanh as queries times keys times d_model.
    """

    def __init__(self, d_query: int, d_model: int) -> None:
        super().__init__()
        self.from_query = nn.Linear(d_query, d_model, bias=False)
        self.from_value = nn.Linear(d_model, d_model)
        self.to_score = nn.Linear(d_model, 1, bias=False)
        for linear in (self.from_query, self.from_value, self.to_score):
            nn.init.xavier_uniform_(linear.weight)
        nn.init.zeros_(self.from_value.bias)

    def prepared(
        self, values: Float[Tensor, "batch source d_model"]
    ) -> Float[Tensor, "batch source d_model"]:
        """The keys, U h: the same for every query."""
        return self.from_value(values)

    def forward(
        self,
        query: Float[Tensor, "batch query d_query"],
        keys: Float[Tensor, "batch source d_model"],
    ) -> Float[Tensor, "batch query source"]:
        """A score for each query and key."""
        inner = (self.from_query(query)[:, :, None] + keys[:, None]).tanh()
        return self.to_score(inner).squeeze(-1)


class DotScores(nn.Module):
    """s . W h (Luong et al. 2015, eq. 8, "general"): a product of matrices for all queries.

    W begins so that scores do not grow with its size; the paper has no scale.
    """

    def __init__(self, d_query: int, d_model: int) -> None:
        super().__init__()
        self.from_value = nn.Linear(d_model, d_query, bias=False)
        nn.init.normal_(self.from_value.weight, std=1 / math.sqrt(d_query * d_model))

    def prepared(
        self, values: Float[Tensor, "batch source d_model"]
    ) -> Float[Tensor, "batch source d_query"]:
        """The keys, W h: the same for every query."""
        return self.from_value(values)

    def forward(
        self,
        query: Float[Tensor, "batch query d_query"],
        keys: Float[Tensor, "batch source d_query"],
    ) -> Float[Tensor, "batch query source"]:
        """A score for each query and key."""
        return query @ keys.transpose(1, 2)


Scores = AdditiveScores | DotScores


class Attended(NamedTuple):
    """What attention finds for each query."""

    context: Float[Tensor, "batch query d_model"]
    weights: Float[Tensor, "batch query source"]


def gather(
    scores: Scores, query: Float[Tensor, "batch query d_query"], source: AttendedSource
) -> Attended:
    """The values, weighted by the softmax of their scores (Bahdanau et al. 2015, eq. 5 and 6)."""
    weights = softmax(scores(query, source.keys) + source.hidden) * source.sees_any
    return Attended(weights @ source.values, weights)


# -- decoders -------------------------------------------------------------------------------

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


class FirstLayerInput(NamedTuple):
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
            found = self.one(FirstLayerInput(token, of_token, beside), memories, source, fed)
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
        return self.one(FirstLayerInput(y, *self.given(y)), memories, source, fed)

    @abstractmethod
    def one(
        self,
        first: FirstLayerInput,
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

    def remember(self, first: FirstLayerInput, more: Tensor | None, memories: Memories) -> Memories:
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
        self, first: FirstLayerInput, memories: Memories, source: AttendedSource, fed: Tensor | None
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
        return source._replace(keys=self.scores.prepared(source.values)), None

    def one(
        self, first: FirstLayerInput, memories: Memories, source: AttendedSource, fed: Tensor | None
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
        return source._replace(keys=keys), blank if self.feeding else None

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
        self, first: FirstLayerInput, memories: Memories, source: AttendedSource, fed: Tensor | None
    ) -> DecoderOutput:
        """See `RecurrentDecoder.one`."""
        memories = self.remember(first, fed, memories)
        h = memories[-1][0]
        context, weights = (part[:, 0] for part in gather(self.scores, h[:, None], source))
        features = self.output(h, context)
        return DecoderOutput(features, memories, features if self.feeding else None, weights)
