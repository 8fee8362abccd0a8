"""Beam search (Graves 2012; Sutskever et al. 2014), with GNMT's length penalty."""

from collections.abc import Callable
from itertools import islice

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.hypothesis import (
    Choices,
    Hypothesis,
    Permissions,
    Rules,
    Trace,
    normalize_,
    penalty,
    ranked,
    worth_leaving,
)
from headway.core.interfaces import State, StepDecoder

Chosen = tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]


@torch.no_grad()
def beam_search(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    choose: Callable[[Tensor, Tensor, int], Chosen] | None = None,
) -> list[list[Hypothesis]]:
    """The `n_best` hypotheses of highest score for each sentence, best first.

    At every step the `beam` most likely continuations of a sentence's live hypotheses are kept;
    those that end in the end marker are finished, the others live on. A sentence is done when no
    live hypothesis can still beat its `n_best`-th finished one, and then leaves the batch. It has
    fewer than `n_best` hypotheses only where the model allows fewer, or where `n_best` > `beam`.

    Among equally likely continuations that of the better hypothesis comes first, and of one
    hypothesis that with the lower id. `choose` takes the place of `best` for
    whoever looks on: see `headway.inspection.beam_tree`.
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
        scores, after, attention = decoder.step(state, last, rules.want_attention)
        normalize_(scores)
        permissions.apply_(scores, limits.repeat_interleave(width), n_written)
        total, place = (choose or best)(scores, total, beam)  # all of [live, new width]
        first_row = torch.arange(len(total), device=device).unsqueeze(1) * width
        row, token = first_row + place // scores.size(1), place % scores.size(1)
        looked = None if attention is None else attention[row.flatten()]
        log_probs = scores[row, token].flatten()
        trace.choices.append(Choices(parents[row.flatten()], token.flatten(), log_probs, looked))
        n_written += 1

        ended = token == rules.end
        final = (total / penalty(n_written, length_penalty)).masked_fill(~ended, -torch.inf)
        finished.add(sentence, final, step=n_written - 1)
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


CHUNK = 128


def best(
    scores: Float[Tensor, "rows tokens"], before: Float[Tensor, "sentences width"], count: int
) -> tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]:
    """The `count` highest sums of what a row had before and a token's score, highest first.

    With each goes its place among the `width` * `tokens` of its sentence; among equals the earlier
    place comes first. There are fewer where there are fewer places. Only the `count` chunks of
    tokens that have the highest maxima are searched: no place elsewhere can be among the best,
    because each of these chunks holds one that precedes it.
    """
    (n_sentences, width), n_tokens = before.shape, scores.shape[1]
    n_whole, n_left = divmod(n_tokens, CHUNK)
    n_chunks = n_whole + bool(n_left)
    if n_chunks * width <= count:
        return first_best((before.view(-1, 1) + scores).view(n_sentences, -1), count)
    body, tail = scores.split([n_whole * CHUNK, n_left], dim=1)
    maxima = body.unflatten(1, (n_whole, CHUNK)).amax(2)
    if n_left:
        maxima = torch.cat([maxima, tail.amax(1, keepdim=True)], 1)
    maxima = (before.view(-1, 1) + maxima).view(n_sentences, -1)
    chosen = first_best(maxima, count)[1].sort(dim=1).values.unsqueeze(2)  # in order of place
    row, chunk = chosen // n_chunks, chosen % n_chunks
    token = chunk * CHUNK + torch.arange(CHUNK, device=scores.device)  # [sentences, count, CHUNK]
    places = (row * n_tokens + token.clamp(max=n_tokens - 1)).flatten(1)
    found = scores.view(n_sentences, -1).gather(1, places).view_as(token)
    sums = (before.gather(1, row.squeeze(2)).unsqueeze(2) + found).masked_fill(
        token >= n_tokens, -torch.inf
    )
    values, order = first_best(sums.flatten(1), count)
    return values, places.gather(1, order)


def first_best(
    scores: Float[Tensor, "rows places"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """By top-k, and where there are equals, whose order that leaves open, by a stable sort."""
    values, places = scores.topk(min(count + 1, scores.shape[1]), dim=1)
    if (values[:, 1:] == values[:, :-1]).any():
        values, places = scores.sort(dim=1, descending=True, stable=True)
    return values[:, :count], places[:, :count]


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
