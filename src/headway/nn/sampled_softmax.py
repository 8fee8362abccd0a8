"""Cross-entropy over a sample of the vocabulary: what it costs does not grow with the words.

Jean et al. 2015; Jozefowicz et al. 2016. Ids are in the order of frequency, so words are drawn
log-uniformly: one of rank r about 1 / r times as often as the first.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.loss import Loss, projected_label_smoothed


def share_of_samples(n_words: int, n_samples: int) -> Float[Tensor, " words"]:
    """How probable it is that a word is among so many draws from the log-uniform distribution."""
    rank = torch.arange(n_words, dtype=torch.float64)
    probability = torch.log1p(1 / (rank + 1)) / math.log(n_words + 1)
    return -torch.expm1(n_samples * torch.log1p(-probability)).float()


def sampled_cross_entropy(
    features: Float[Tensor, "*batch d_model"],
    output_weight: Float[Tensor, "vocabulary d_model"],
    output_bias: Float[Tensor, " vocabulary"] | None,
    target: Int[Tensor, "*batch"],
    *,
    n_samples: int,
    padding: int,
) -> Loss:
    """As `headway.core.loss.projected_label_smoothed` without smoothing, in expectation: what is
    summed up in the denominator is unbiased.

    In the running are all targets of the batch, and each other word with a probability q of its
    own; exp of its logit counts 1 / q times. Draws are from torch's generator.
    """
    n_words = len(output_weight)
    share = share_of_samples(n_words, n_samples).to(target.device)
    drawn = torch.rand(n_words).to(target.device) < share
    certain = F.pad(target.flatten(), (0, 1), value=padding)  # padding has a place among them
    drawn[certain], share[certain] = True, 1.0
    candidates = drawn.nonzero().squeeze(1)
    place = torch.cumsum(drawn, 0) - 1
    bias = -share.log() if output_bias is None else output_bias.float() - share.log()
    return projected_label_smoothed(
        features,
        output_weight.index_select(0, candidates),
        place[target],
        smoothing=0.0,
        padding=int(place[padding]),
        output_bias=bias.index_select(0, candidates),
    )
