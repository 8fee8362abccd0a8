"""Attention of a recurrent decoder: one query, its state, over all that the encoder gave.

One head, no projection of the values. The two ways to score are the papers' that brought attention
to translation; the Transformer's is `headway.core.attention`.
"""

import math
from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.attention import ReadyMask, softmax


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

    def compared_by(self, keys: Float[Tensor, "batch source d_key"]) -> "AttendedSource":
        """With these keys."""
        return self._replace(keys=keys)


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
