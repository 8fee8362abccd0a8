"""Greedy search, and what it shares with sampling: each hypothesis written on its own."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.beam import best
from headway.core.hypothesis import (
    Choices,
    Hypothesis,
    Permissions,
    Rules,
    Trace,
    normalize_,
    ranked,
    worth_leaving,
)
from headway.core.interfaces import State, StepDecoder

Choice = Callable[[Float[Tensor, "rows vocabulary"]], Int[Tensor, " rows"]]
"""Picks each row's next token from scores that are -inf where a token may not come."""


def greedy(
    decoder: StepDecoder, state: State, last: Int[Tensor, " batch"], rules: Rules
) -> list[list[Hypothesis]]:
    """One hypothesis for each sentence: always the most likely next token, as a beam of 1 would.

    Among equals it is the one with the lowest id.
    """

    def most_likely(scores: Tensor) -> Tensor:
        return best(scores, scores.new_zeros(len(scores), 1), 1)[1].squeeze(1)

    return roll_out(decoder, state, last, rules, choose=most_likely, copies=1)


@torch.no_grad()
def roll_out(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    *,
    choose: Choice,
    copies: int,
) -> list[list[Hypothesis]]:
    """`copies` hypotheses for each sentence, best first; those that have ended leave the batch."""
    n_sentences = rules.max_lengths.numel()
    if not n_sentences:
        return []
    written = torch.arange(n_sentences * copies, device=last.device)
    sentence = written // copies  # [rows]: the sentence that each row writes
    if copies > 1:
        state, last = state.select(sentence), last[sentence]
    permissions = Permissions(rules)
    last_step = torch.full_like(written, -1)  # for each hypothesis: where its end marker is
    last_choice = torch.zeros_like(written)
    parents = written
    trace = Trace(rules)
    n_written = 0
    while True:
        scores, state, attention = decoder.step(state, last, rules.want_attention)
        if rules.want_scores:
            normalize_(scores)
        permissions.apply_(scores, rules.max_lengths[sentence], n_written)
        last = choose(scores)
        log_probs = scores.gather(1, last.unsqueeze(1)).squeeze(1)
        trace.choices.append(Choices(parents, last, log_probs, attention))

        ending = ((last == rules.end) & (last_step[written] < 0)).nonzero().squeeze(1)
        last_step[written[ending]] = n_written
        last_choice[written[ending]] = ending
        going_on = (last_step[written] < 0).nonzero().squeeze(1)
        if not len(going_on):
            break
        parents = torch.arange(len(written), device=written.device)
        if worth_leaving(len(going_on), len(written)):
            state, parents, last = state.select(going_on), going_on, last[going_on]
            written, sentence = written[going_on], sentence[going_on]
        n_written += 1
    found = trace.read(last_step, last_choice)
    groups = (found[i : i + copies] for i in range(0, len(found), copies))
    return [ranked(group) for group in groups]
