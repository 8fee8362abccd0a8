"""Cross-entropy with label smoothing as its formula says it: what training's is compared with."""

from jaxtyping import Float, Int
from torch import Tensor

from headway.core.loss import Loss


def label_smoothed(
    logits: Float[Tensor, "*batch vocabulary"],
    target: Int[Tensor, "*batch"],
    *,
    smoothing: float,
    padding: int,
) -> Loss:
    """Cross-entropy against (1 - smoothing) on the truth + smoothing / V on every token.

    Positions whose target is padding do not count.
    """
    real = target != padding
    log_probs = logits[real].float().log_softmax(-1)
    nll = -log_probs.gather(-1, target[real][:, None]).sum()
    uniform = -log_probs.mean(-1).sum()
    return Loss((1 - smoothing) * nll + smoothing * uniform, nll.detach())
