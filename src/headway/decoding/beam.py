"""Beam search (Graves 2012; Sutskever et al. 2014), with GNMT's length penalty."""

from collections.abc import Sequence
from itertools import islice

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.hypothesis import Hypothesis, Permissions, Trace, penalty, ranked
from headway.decoding.ranking import best
from headway.models.interfaces import StepDecoder


@torch.no_grad()
def beam_search(
    decoder: StepDecoder,
    source: Int[Tensor, "batch length"] | None,
    *,
    begin: int,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    beam: int,
    length_penalty: float,
    n_best: int = 1,
    forbidden: Sequence[int] = (),
    want_attention: bool = False,
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of highest score for each sentence, best first.

    At every step the `beam` most likely continuations of a sentence's live hypotheses are kept;
    those that end in the end marker are finished, the others live on. A sentence is done when no
    live hypothesis can still beat its `n_best`-th finished one, and then leaves the batch. It has
    fewer than `n_best` hypotheses only where the model allows fewer, or where `n_best` > `beam`.

    `max_lengths` counts tokens before the end marker, which is forced after them; `forbidden`
    tokens are never written; `length_penalty` must not be negative.
    """
    n_sentences = max_lengths.numel()
    if not n_sentences:
        return []
    device = max_lengths.device
    state = decoder.start(source)
    permissions = Permissions(forbidden, end, max_lengths)
    finished = Finished(n_sentences, n_best, device)
    trace = Trace()

    sentence = torch.arange(n_sentences, device=device)  # [live]: the sentences not yet done
    total = torch.zeros(n_sentences, 1, device=device)  # [live, width]: log-probabilities
    last = torch.full((n_sentences,), begin, device=device)  # [live * width] = [rows]
    parents = sentence  # [rows]: the choice of the step before that each row continues
    n_written = 0
    while True:
        width = total.size(1)
        limits = max_lengths[sentence]
        step = decoder.step(state, last, want_attention)
        continued = permissions.apply_(
            total.view(-1, 1) + step.log_probs, limits.repeat_interleave(width), n_written
        )  # [rows, vocabulary]
        total, row, token = most_likely(continued, beam, width)  # each [live, new width]
        trace.append(
            parents[row.flatten()],
            token.flatten(),
            step.log_probs[row.flatten(), token.flatten()],
            None if step.attention is None else step.attention[row.flatten()],
        )
        n_written += 1

        ended = token == end
        scores = (total / penalty(n_written, length_penalty)).masked_fill(~ended, -torch.inf)
        finished.add(sentence, scores, step=n_written - 1)
        total = total.masked_fill(ended, -torch.inf)
        # Log-probabilities only fall, and the penalty is largest at the limit (+ end marker).
        reachable = total.amax(dim=1) / penalty(limits + 1, length_penalty)
        going_on = (reachable > finished.worst(sentence)).nonzero().squeeze(1)
        if not len(going_on):
            return finished.read(trace, length_penalty)

        choices = torch.arange(token.numel(), device=device).view_as(token)
        unmoved = len(going_on) == len(sentence) and torch.equal(row, choices)
        state = step.state if unmoved else step.state.select(row[going_on].flatten())
        parents, last = choices[going_on].flatten(), token[going_on].flatten()
        sentence, total = sentence[going_on], total[going_on]


def most_likely(
    continued: Float[Tensor, "rows vocabulary"], beam: int, width: int
) -> tuple[
    Float[Tensor, "live new_width"], Int[Tensor, "live new_width"], Int[Tensor, "live new_width"]
]:
    """Each sentence's most likely continuations: log-probability, row continued, token written.

    A sentence has `width` rows. There are `beam` continuations, or all where there are fewer.
    """
    n_tokens = continued.size(1)
    total, place = best(continued.view(-1, width * n_tokens), min(beam, width * n_tokens))
    first_row = torch.arange(len(total), device=total.device).unsqueeze(1) * width
    return total, first_row + place // n_tokens, place % n_tokens


class Finished:
    """The `n_best` finished hypotheses of each sentence so far, as places in the trace."""

    def __init__(self, n_sentences: int, n_best: int, device: torch.device):
        places = torch.zeros(n_sentences, n_best, dtype=torch.long, device=device)
        self.scores = torch.full((n_sentences, n_best), -torch.inf, device=device)
        self.steps, self.choices = places, places.clone()

    def add(
        self, sentence: Int[Tensor, " live"], scores: Float[Tensor, "live width"], step: int
    ) -> None:
        """Offer the choices of one step; those that did not end have score -inf."""
        choices = torch.arange(scores.numel(), device=scores.device).view_as(scores)
        n_best = self.scores.size(1)
        # A stable sort: among equals the one found first stays ahead.
        scores, order = torch.cat([self.scores[sentence], scores], dim=1).sort(
            dim=1, descending=True, stable=True
        )
        steps = torch.cat([self.steps[sentence], torch.full_like(choices, step)], dim=1)
        choices = torch.cat([self.choices[sentence], choices], dim=1)
        order = order[:, :n_best]
        self.scores[sentence] = scores[:, :n_best]
        self.steps[sentence] = steps.gather(1, order)
        self.choices[sentence] = choices.gather(1, order)

    def worst(self, sentence: Int[Tensor, " live"]) -> Float[Tensor, " live"]:
        """The `n_best`-th score of these sentences; -inf while there are fewer."""
        return self.scores[sentence, -1]

    def read(self, trace: Trace, length_penalty: float) -> list[list[Hypothesis]]:
        """For each sentence its hypotheses, best first."""
        exists = self.scores > -torch.inf
        found = iter(trace.read(self.steps[exists], self.choices[exists], length_penalty))
        return [ranked(islice(found, n)) for n in exists.sum(dim=1).tolist()]
