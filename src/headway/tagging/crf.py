"""A linear chain over tags: a tag is scored with the one before it (Lafferty et al. 2001).

The score of tags y of a sentence is the sum of emissions[t, y_t] and transitions[y_t-1, y_t], with
one for how it begins and ends. Emissions are the encoder's logits. What a scheme of tags forbids
is never said.
"""

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

FORBIDDEN = -1e4
"""In place of minus infinity: its gradient is no NaN, and no sum of scores makes up for it."""

LEAST = 1e-300
"""Whose logarithm is still a number."""

Emissions = Float[Tensor, "batch tokens tags"]
Visible = Bool[Tensor, "batch tokens"]
"""False at padding, which stands behind; the first token of each row is there."""


class LinearChain(nn.Module):
    """Transitions between tags, in nats; learned, or only allowed and forbidden."""

    allowed: Tensor

    def __init__(self, allowed: Bool[np.ndarray, "before after"], *, learned: bool) -> None:
        """`allowed` has the edge of a sentence behind the tags (`schemes.transitions`)."""
        super().__init__()
        self.register_buffer("allowed", torch.from_numpy(allowed), persistent=False)
        if learned:
            self.transitions = nn.Parameter(torch.zeros(allowed.shape))
        self.learned = learned

    def scores(self) -> Float[Tensor, "before after"]:
        """Of each tag behind each, the edge last."""
        base = self.transitions.float() if self.learned else torch.zeros_like(self.allowed).float()
        return base.masked_fill(~self.allowed, FORBIDDEN)

    def log_partition(self, emissions: Emissions, visible: Visible) -> Float[Tensor, " batch"]:
        """The logarithm of the sum of exp(score) over all taggings: the forward algorithm."""
        emissions, scores = emissions.double(), self.scores().double()
        between, first, last = scores[:-1, :-1].exp(), scores[-1, :-1], scores[:-1, -1]
        total = emissions[:, 0] + first  # [batch, tags]: of all taggings that end so
        for here, emitted in zip(visible.T[1:, :, None], emissions.unbind(1)[1:], strict=True):
            most = total.detach().amax(1, keepdim=True)
            # One product in place of a logsumexp for each tag: 700 nats below `most` are nothing.
            sums = ((total - most).exp() @ between).clamp(min=LEAST)
            total = torch.where(here, sums.log() + most + emitted, total)
        return torch.logsumexp(total + last, 1)

    def score(
        self, emissions: Emissions, tags: Int[Tensor, "batch tokens"], visible: Visible
    ) -> Float[Tensor, " batch"]:
        """Of the tags that are given."""
        scores, edge = self.scores(), len(self.allowed) - 1
        emitted = emissions.gather(2, tags[:, :, None])[:, :, 0]
        moved = scores[tags[:, :-1], tags[:, 1:]] * visible[:, 1:]
        final = tags.gather(1, visible.sum(1, keepdim=True) - 1)[:, 0]
        ends = scores[edge, tags[:, 0]] + scores[final, edge]
        return (emitted * visible).sum(1) + moved.sum(1) + ends

    def loss(
        self, emissions: Emissions, tags: Int[Tensor, "batch tokens"], visible: Visible
    ) -> Float[Tensor, ""]:
        """-log p(tags), summed over sentences. Where nothing is learned of transitions, training
        takes each tag by itself: cross-entropy."""
        if not self.learned:
            return F.cross_entropy(emissions[visible].float(), tags[visible], reduction="sum")
        likelier = self.log_partition(emissions, visible) - self.score(emissions, tags, visible)
        return likelier.sum()

    def best(self, emissions: Emissions, visible: Visible) -> Int[Tensor, "batch tokens"]:
        """The tags of the highest score (Viterbi 1967); 0 at padding."""
        emissions, scores = emissions.float(), self.scores()
        between, first, last = scores[:-1, :-1], scores[-1, :-1], scores[:-1, -1]
        total = emissions[:, 0] + first
        came_from = []
        stay = torch.arange(total.shape[1], device=total.device).expand_as(total)
        for t in range(1, emissions.shape[1]):
            longer, before = (total[:, :, None] + between).max(1)
            here = visible[:, t, None]
            total = torch.where(here, longer + emissions[:, t], total)
            came_from.append(torch.where(here, before, stay))
        tag = (total + last).argmax(1)
        path = [tag]
        for before in reversed(came_from):
            tag = before.gather(1, tag[:, None])[:, 0]
            path.append(tag)
        return torch.stack(path[::-1], 1) * visible
