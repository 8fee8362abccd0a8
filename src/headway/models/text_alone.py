"""What models of text alone have in common: how they score it, and how a prompt is begun."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.errors import ConfigError
from headway.models.interfaces import Carried, NeuralLanguageModel, Scored
from headway.nn.embedding import project


@torch.no_grad()
def scored(
    model: NeuralLanguageModel,
    fed: Int[Tensor, "batch length"],
    wanted: Int[Tensor, "batch length"],
    carried: Carried | None = None,
    chunk: int = 512,
) -> Scored:
    """`LanguageModel.log_probs` of a neural one, without gradient.

    The logits of `chunk` tokens at a time, so that memory does not grow with tokens x vocabulary.
    """
    features, after = model.read(fed, carried)
    found = [features.new_zeros(0, dtype=torch.float32)]
    rows = zip(features.flatten(0, 1).split(chunk), wanted.flatten().split(chunk), strict=True)
    for some, truth in rows:
        logits = project(some, model.output_weight, model.output_bias).float()
        found.append(logits.gather(1, truth[:, None]).squeeze(1) - logits.logsumexp(1))
    return Scored(torch.cat(found).view(wanted.shape), after)


def prompt(
    source: Int[Tensor, "rows source"] | None,
    prefix: Int[Tensor, "rows prefix"] | None,
    like: Float[Tensor, "*shape"],
) -> Int[Tensor, "rows prefix"]:
    """The prefix that a text goes on from; one row of nothing where there is none.

    Raises ConfigError for a source: there is none to read.
    """
    if source is not None:
        raise ConfigError("A language model reads no source; got one. Give it a prefix instead.")
    if prefix is None:
        return torch.zeros(1, 0, dtype=torch.long, device=like.device)
    return prefix
