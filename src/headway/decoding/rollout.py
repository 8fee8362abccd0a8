"""Writing one token at a time, each hypothesis on its own: what greedy and sampling share."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.hypothesis import Hypothesis, Permissions, Trace, ranked
from headway.models.interfaces import StepDecoder

Choice = Callable[[Float[Tensor, "rows vocabulary"]], Int[Tensor, " rows"]]
"""Picks each row's next token from log-probabilities that are -inf where a token may not come."""


def roll_out(
    decoder: StepDecoder,
    source: Int[Tensor, "batch length"] | None,
    choose: Choice,
    *,
    begin: int,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    copies: int,
    length_penalty: float,
    forbidden: Sequence[int],
    want_attention: bool,
) -> list[list[Hypothesis]]:
    """`copies` hypotheses for each sentence, best first; each leaves the batch when it ends."""
    n_sentences = max_lengths.numel()
    if not n_sentences:
        return []
    state = decoder.start(source)
    written = torch.arange(n_sentences * copies, device=max_lengths.device)
    sentence = written // copies  # [rows]: the sentence that each row writes
    if copies > 1:
        state = state.select(sentence)
    permissions = Permissions(forbidden, end, max_lengths)
    last = torch.full_like(written, begin)
    last_step = torch.zeros_like(written)  # for each hypothesis: where its end marker is
    last_choice = torch.zeros_like(written)
    parents = written
    trace = Trace()
    n_written = 0
    while True:
        step = decoder.step(state, last, want_attention)
        permitted = permissions.apply_(step.log_probs.clone(), max_lengths[sentence], n_written)
        token = choose(permitted)
        log_probs = permitted.gather(1, token.unsqueeze(1)).squeeze(1)
        trace.append(parents, token, log_probs, step.attention)

        last_step[written] = n_written  # right for those that end here, later ones overwrite it
        last_choice[written] = torch.arange(len(written), device=written.device)
        alive = (token != end).nonzero().squeeze(1)
        if not len(alive):
            break
        state = step.state if len(alive) == len(written) else step.state.select(alive)
        written, sentence, last, parents = written[alive], sentence[alive], token[alive], alive
        n_written += 1
    found = trace.read(last_step, last_choice, length_penalty)
    groups = (found[i : i + copies] for i in range(0, len(found), copies))
    return [ranked(group) for group in groups]
