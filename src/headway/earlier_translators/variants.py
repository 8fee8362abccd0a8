"""Bricks that are not the paper's: what a Transformer gets in place of a part that is taken away.

Each takes the place of a standard brick and goes on with its weights, so that all that is left
begins as it would have. The standard bricks know nothing of them; see
`headway.earlier_translators.ablated`.
"""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, ReadyMask, masked_softmax
from headway.core.layers import FeedForward, Residual
from headway.nn.positions import PositionedAttention

# -- attention --------------------------------------------------------------------------------


class ExchangedAttention(PositionedAttention):
    """Stands where a standard attention stood, with its projections."""

    def __init__(self, standard: MultiHeadAttention) -> None:
        nn.Module.__init__(self)
        self.heads = standard.heads
        self.rotary = getattr(standard, "rotary", None)
        self.relative = getattr(standard, "relative", None)
        self.to_query, self.to_key = standard.to_query, standard.to_key
        self.to_value, self.to_output = standard.to_value, standard.to_output
        self.dropout = standard.dropout


class UnscaledAttention(ExchangedAttention):
    """softmax(Q K^T) V: equation 1 without its 1/sqrt(d_k)."""

    def prepared(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
        mask: ReadyMask | None = None,
    ) -> tuple[Float[Tensor, "batch heads query d_k"], ReadyMask | None]:
        """Queries times sqrt(d_k), which undoes the division; so too what distances add."""
        query, mask = super().prepared(query, key, mask)
        scale = query.shape[-1] ** 0.5
        if mask is not None and self.relative is not None:
            mask = mask._replace(hidden=mask.hidden * scale)
        return query * scale, mask


class WeighingAttention(ExchangedAttention):
    """Any attention that says its `weights`: their product with the values, all of it written out.

    There is no kernel for these, so that all weights lie in memory.
    """

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `x` gathers from `memory`; dropout may fall on the weights."""
        value = self.split(self.to_value(memory))
        context = self.dropout(self.weights(x, memory, mask)) @ value
        return self.to_output(context.transpose(1, 2).flatten(2))


class AdditiveHeads(WeighingAttention):
    """Scores v . tanh(W q + U k) instead of q . k, each head with its own v (Bahdanau et al. 2015,
    section A.1.2); W and U are the projections of queries and keys.

    A sum over d_k of numbers between -1 and 1, with v about 1/sqrt(d_k) at first: no scale is
    needed. It holds d_k numbers for every pair of positions, where a product holds one.
    """

    def __init__(self, standard: MultiHeadAttention) -> None:
        super().__init__(standard)
        d_k = self.to_query.out_features // self.heads
        self.to_score = nn.Parameter(torch.empty(self.heads, d_k))
        nn.init.normal_(self.to_score, std=d_k**-0.5)

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """softmax of the scores over the visible keys."""
        query, key = self.split(self.to_query(x)), self.split(self.to_key(memory))
        pairs = (query.unsqueeze(3) + key.unsqueeze(2)).tanh()  # [batch, heads, query, key, d_k]
        return masked_softmax((pairs @ self.to_score[:, None, :, None]).squeeze(-1), mask)


OneVector = Literal["mean", "last"]


class OneVectorAttention(WeighingAttention):
    """The whole source as one vector, the same for every position that asks (Cho et al. 2014;
    Sutskever et al. 2014): the mean of what is visible, or its last position.

    That is attention with weights which nobody chooses, and with no W_Q and no W_K.
    """

    def __init__(self, standard: MultiHeadAttention, vector: OneVector) -> None:
        super().__init__(standard)
        del self.to_query, self.to_key
        self.vector = vector

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """1/n on each of n visible positions, or 1 on the last of them."""
        scores = memory.new_zeros(len(memory), self.heads, x.shape[1], memory.shape[1])
        weights = masked_softmax(scores, mask)
        if self.vector == "mean":
            return weights
        visible = weights > 0
        n_from_here_on = visible.flip(-1).cumsum(-1).flip(-1)
        return (visible & (n_from_here_on == 1)).to(weights.dtype)


# -- residual connections, feed-forward -------------------------------------------------------


class WithoutResidual(Residual):
    """norm(dropout(sublayer(x))): what went in is not added to what comes out."""

    def __init__(self, standard: Residual) -> None:
        nn.Module.__init__(self)
        self.norm_first, self.norm = standard.norm_first, standard.norm
        self.dropout = standard.dropout

    def forward(
        self, x: Float[Tensor, "*batch d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "*batch d_model"]:
        """Run the sub-layer; pre-norm normalizes what goes in."""
        if self.norm_first:
            return self.dropout(sublayer(self.norm(x)))
        return self.norm(self.dropout(sublayer(x)))


class WithoutSublayer(Residual):
    """Stands around a sub-layer that is not there: no norm and no dropout either."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def forward(
        self, x: Float[Tensor, "*batch d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "*batch d_model"]:
        """Unchanged."""
        return x


class WithoutFeedForward(FeedForward):
    """Stands where a feed-forward stood, and learns nothing."""

    def __init__(self) -> None:
        nn.Module.__init__(self)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Unchanged."""
        return x


# -- norms ------------------------------------------------------------------------------------


class RealTokens:
    """Which positions of the batch at hand are no padding; told to all norms of a stack at once,
    as layers hand on nothing but vectors."""

    mask: Bool[Tensor, "batch length"] | None = None


class BatchNorm(nn.Module):
    """Each of the d_model columns with its mean and variance over all real tokens of the batch
    (Ioffe and Szegedy 2015, algorithms 1 and 2), as torch's BatchNorm1d has it.

    Outside training the running statistics stand for them, so that a sentence's translation does
    not depend on its batch-mates; in training its gradient does. A batch of one sentence has the
    statistics of that sentence; one of a single token has variance 0, and comes out as the bias.
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(
        self, d_model: int, real: RealTokens, *, epsilon: float = 1e-5, momentum: float = 0.1
    ) -> None:
        super().__init__()
        self.real, self.epsilon, self.momentum = real, epsilon, momentum
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("running_mean", torch.zeros(d_model))
        self.register_buffer("running_variance", torch.ones(d_model))

    def forward(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Padding is changed like the rest and counts for nothing; in float32 whatever x is."""
        exact = x.float()
        mean, variance = self.statistics(exact) if self.training else self.running()
        normal = (exact - mean) * (variance + self.epsilon).rsqrt()
        return (normal * self.weight.float() + self.bias.float()).to(x.dtype)

    def running(self) -> tuple[Float[Tensor, " d_model"], Float[Tensor, " d_model"]]:
        """What training has gathered."""
        return self.running_mean.float(), self.running_variance.float()

    def statistics(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> tuple[Float[Tensor, " d_model"], Float[Tensor, " d_model"]]:
        """Mean and variance of this batch, which the running ones move towards."""
        assert self.real.mask is not None
        real = self.real.mask[..., None].to(x.dtype)
        n = real.sum()
        mean = (x * real).sum((0, 1)) / n
        variance = ((x - mean).square() * real).sum((0, 1)) / n
        with torch.no_grad():
            unbiased = variance * n / (n - 1).clamp(min=1)
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
            self.running_variance.lerp_(unbiased.to(self.running_variance.dtype), self.momentum)
        return mean, variance
