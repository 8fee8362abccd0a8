"""What training minimizes: cross-entropy with label smoothing (section 5.4)."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.embedding import project

UNDERFLOW = 1e-30
"""A probability below this is not exact enough to take its logarithm."""

LOGITS_AT_ONCE = 2_500_000
"""On a CPU, where with more of them the cache is of no use, and with fewer products are slower."""


class Loss(NamedTuple):
    """Sums over the real target tokens of a batch, in nats."""

    smoothed: Float[Tensor, ""]
    """What is minimized; carries the gradient."""
    nll: Float[Tensor, ""]
    """The plain negative log-likelihood: perplexity is exp(nll / tokens)."""


def projected_label_smoothed(
    features: Float[Tensor, "*batch d_model"],
    output_weight: Float[Tensor, "vocabulary d_model"],
    target: Int[Tensor, "*batch"],
    *,
    smoothing: float,
    padding: int,
    output_bias: Float[Tensor, " vocabulary"] | None = None,
    chunk: int = 0,
    one_shape: bool = False,
) -> Loss:
    """Cross-entropy against (1 - smoothing) on the truth + smoothing / V on every token.

    Positions whose target is padding do not count. The logits of `chunk` tokens at a time are
    turned into their gradient at once: little memory is needed; 0 takes as many as suit a CPU's
    cache, or a GPU. `one_shape` computes padding too, as zeros, and caps a token's loss at 69 nats:
    then the size of no tensor depends on the numbers in another.
    """
    fitting = LOGITS_AT_ONCE // len(output_weight)
    chunk = chunk or (2048 if features.is_cuda else min(max(fitting, 128), 2048))
    features, target = features.flatten(0, -2), target.flatten()
    counts = target != padding
    if one_shape:
        features = features * counts[:, None]
    else:
        real = counts.nonzero().squeeze(1)
        features, target, counts = (x.index_select(0, real) for x in (features, target, counts))
    smoothed, nll = _ChunkedCrossEntropy.apply(
        features, output_weight, output_bias, target, counts, smoothing, chunk, one_shape
    )
    return Loss(smoothed, nll)


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Gradients are made during the forward pass, while a chunk's softmax is at hand.

    For one token with features h and truth y: the smoothed loss is
    logsumexp(W h) - (1 - eps) w_y . h - eps mean_v(w_v . h), so its gradient with respect to the
    logits is softmax - (1 - eps) onehot(y) - eps / V. The last term is the same for all tokens and
    is applied once, outside the chunks.
    """

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        counts: Tensor,
        smoothing: float,
        chunk: int,
        one_shape: bool,
    ) -> tuple[Tensor, Tensor]:
        n_tokens, n_words = features.shape[0], weight.shape[0]
        table = weight.to(features.dtype)
        added = features.new_zeros(1) if bias is None else bias.to(features.dtype)
        bias_gradient = None if bias is None else torch.zeros_like(bias, dtype=torch.float32)
        feature_gradient = torch.empty_like(features)
        weight_gradient = torch.zeros_like(weight, dtype=torch.float32)
        truth_logit, truth_probability = features.new_empty(2, n_tokens, dtype=torch.float32)
        # Memory that is new to a process is slow to touch: each chunk has that of the one before.
        room = features.new_empty(2, min(chunk, n_tokens), n_words)
        for begin in range(0, n_tokens, chunk):
            here = slice(begin, begin + chunk)
            some, truth = features[here], target[here]
            rows = torch.arange(len(truth), device=truth.device)
            logits, error = room[:, : len(some)]
            torch.addmm(added, some, table.T, out=logits)
            torch.softmax(logits, -1, out=error)
            truth_logit[here] = logits[rows, truth]
            truth_probability[here] = error[rows, truth]
            error[rows, truth] -= 1 - smoothing  # scatter_add_ copies it all where deterministic
            feature_gradient[here] = error @ table
            if error.dtype == torch.float32:
                weight_gradient.addmm_(error.T, some)
            else:
                weight_gradient += error.T @ some
            if bias_gradient is not None:
                bias_gradient += (error * counts[here, None]).sum(0, dtype=torch.float32)
        surprise = -truth_probability.clamp(min=UNDERFLOW).log()
        if not one_shape:
            lost = (truth_probability < UNDERFLOW).nonzero().squeeze(1)  # mostly none
            lost_logits = project(features[lost], table, bias).float()
            surprise[lost] = lost_logits.logsumexp(-1) - truth_logit[lost]
        mean_weight = weight.float().mean(0)
        feature_sum = features.sum(0, dtype=torch.float32)
        feature_gradient -= (smoothing * mean_weight).to(features.dtype)
        weight_gradient -= smoothing / n_words * feature_sum
        nll, n_real = surprise @ counts.float(), counts.sum()
        smoothed = nll + smoothing * (truth_logit @ counts.float() - feature_sum @ mean_weight)
        if bias is not None and bias_gradient is not None:
            smoothed = smoothed - smoothing * n_real * bias.float().mean()
            bias_gradient = (bias_gradient - smoothing / n_words * n_real).to(bias.dtype)
        ctx.save_for_backward(feature_gradient, weight_gradient.to(weight.dtype), bias_gradient)
        ctx.mark_non_differentiable(nll)
        return smoothed, nll

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        scale = gradients[0]
        scaled = (None if saved is None else saved.mul_(scale) for saved in ctx.saved_tensors)
        return *scaled, None, None, None, None, None
