"""Beam search (Graves 2012; Sutskever et al. 2014), with GNMT's length penalty."""

from itertools import islice

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.hypothesis import (
    Hypothesis,
    Permissions,
    Rules,
    Trace,
    best,
    log_normalizers,
    penalty,
    ranked,
    worth_leaving,
)
from headway.models.interfaces import State, StepDecoder


@torch.no_grad()
def beam_search(
    decoder: StepDecoder, state: State, last: Int[Tensor, " batch"], rules: Rules
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of highest score for each sentence, best first.

    At every step the `beam` most likely continuations of a sentence's live hypotheses are kept;
    those that end in the end marker are finished, the others live on. A sentence is done when no
    live hypothesis can still beat its `n_best`-th finished one, and then leaves the batch. It has
    fewer than `n_best` hypotheses only where the model allows fewer, or where `n_best` > `beam`.

    Among equally likely continuations that of the better hypothesis comes first, and of one
    hypothesis that with the lower id.
    """
    max_lengths, settings = rules.max_lengths, rules.settings
    beam, length_penalty = settings.beam, settings.length_penalty
    n_sentences = max_lengths.numel()
    if not n_sentences:
        return []
    device = max_lengths.device
    permissions = Permissions(rules)
    finished = Finished(n_sentences, settings.n_best, device)
    trace = Trace(rules)

    sentence = torch.arange(n_sentences, device=device)  # [live]: the sentences not yet done
    total = torch.zeros(n_sentences, 1, device=device)  # [live, width]: log-probabilities
    parents = sentence  # [live * width] = [rows]: the choice of the step before it continues
    n_written = 0
    while True:
        width = total.size(1)
        limits = max_lengths[sentence]
        logits, after, attention = decoder.step(state, last, rules.want_attention)
        normalizers = log_normalizers(logits)
        permissions.apply_(logits, limits.repeat_interleave(width), n_written)
        # The best of a sentence are among the best of its rows.
        values, tokens = best(logits, min(beam, logits.shape[1]))
        log_probs = values - normalizers
        total, row, place = most_likely(total.view(-1, 1) + log_probs, beam, width)
        token = tokens[row, place]  # all of [live, new width]
        trace.append(
            parents[row.flatten()],
            token.flatten(),
            log_probs[row, place].flatten(),
            None if attention is None else attention[row.flatten()],
        )
        n_written += 1

        ended = token == rules.end
        scores = (total / penalty(n_written, length_penalty)).masked_fill(~ended, -torch.inf)
        finished.add(sentence, scores, step=n_written - 1)
        total = total.masked_fill(ended, -torch.inf)
        # Log-probabilities only fall, and the penalty is largest at the limit (+ end marker).
        reachable = total.amax(dim=1) / penalty(limits + 1, length_penalty)
        going_on = (reachable > finished.worst(sentence)).nonzero().squeeze(1)
        if not len(going_on):
            return finished.read(trace)

        choices = torch.arange(token.numel(), device=device).view_as(token)
        if worth_leaving(len(going_on), len(sentence)):
            sentence, total = sentence[going_on], total[going_on]
            row, token, choices = row[going_on], token[going_on], choices[going_on]
        unmoved = row.numel() == len(parents) and bool((row.flatten().diff() == 1).all())
        state = after if unmoved else after.select(row.flatten())
        parents, last = choices.flatten(), token.flatten()


def most_likely(
    continued: Float[Tensor, "rows places"], beam: int, width: int
) -> tuple[
    Float[Tensor, "live new_width"], Int[Tensor, "live new_width"], Int[Tensor, "live new_width"]
]:
    """Each sentence's most likely continuations: log-probability, row continued, place in it.

    A sentence has `width` rows. There are `beam` continuations, or all where there are fewer; among
    equals the earlier row, and in it the earlier place, comes first.
    """
    n_places = continued.size(1)
    total, place = continued.view(-1, width * n_places).sort(dim=1, descending=True, stable=True)
    total, place = total[:, :beam], place[:, :beam]
    first_row = torch.arange(len(total), device=total.device).unsqueeze(1) * width
    return total, first_row + place // n_places, place % n_places


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

    def read(self, trace: Trace) -> list[list[Hypothesis]]:
        """For each sentence its hypotheses, best first."""
        exists = self.scores > -torch.inf
        found = iter(trace.read(self.steps[exists], self.choices[exists]))
        return [ranked(islice(found, n)) for n in exists.sum(dim=1).tolist()]
