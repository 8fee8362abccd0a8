"""Dropout whose random numbers are cheap on a CPU (Srivastava et al. 2014; section 5.4)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.errors import ConfigError

LANES = 4  # 16-bit numbers in one 64-bit draw


def check_dropout(probability: float, name: str = "dropout", *, remedy: str = "Try 0.2.") -> None:
    """Raise ConfigError for what is no probability, or drops everything."""
    if not 0 <= probability < 1:
        raise ConfigError(f"{name} must be at least 0 and below 1; got {probability}. {remedy}")


class Dropout(nn.Module):
    """Zero each element with the given probability, scale the others by 1 / (1 - probability).

    On a CPU torch draws 64 bits per element; here four elements share a draw, which is several
    times faster and makes the probability exact to 2^-16.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        check_dropout(probability)
        self.probability = probability
        self.strength = probability
        """The probability in effect; see `set_dropout`."""

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The identity outside training."""
        if not (self.training and self.strength):
            return x
        if x.is_cuda:
            return F.dropout(x, self.strength)
        return x * self.scaled_mask(x)

    def scaled_mask(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """0 where dropped, 1 / (1 - probability) elsewhere, from torch's default generator."""
        draws = torch.empty(-(-x.numel() // LANES), dtype=torch.int64)
        uniform = draws.random_(-(2**63), None).view(torch.int16)[: x.numel()]
        dropped = min(max(round(self.strength * 2**16), 1), 2**16 - 1)  # from -2^15 up
        last = dropped - 2**15 - 1
        keep = uniform.clamp_(last, last + 1).sub_(last)  # 0 or 1, branch-free
        return keep.to(x.dtype).mul_(2**16 / (2**16 - dropped)).view(x.shape)


def set_dropout(model: nn.Module, share: float) -> None:
    """Put `share` (0 to 1) of every dropout's probability into effect: with all of it from the
    first step, a post-norm Transformer may never learn to look at its source (curriculum dropout,
    Morerio et al. 2017)."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.strength = share * module.probability
