"""Sampling: the next token is drawn, not chosen."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.beam import best
from headway.decoding.hypothesis import (
    Hypothesis,
    Permissions,
    Rules,
    Trace,
    normalize_,
    ranked,
    worth_leaving,
)
from headway.models.interfaces import State, StepDecoder


def draw(
    logits: Float[Tensor, "rows vocabulary"],
    *,
    temperature: float,
    top_k: int,
    top_p: float,
    generator: torch.Generator | None,
) -> Int[Tensor, " rows"]:
    """One token for each row, from softmax(logits / temperature).

    First only the `top_k` most likely tokens stay (0 = all; Fan et al. 2018), then only the fewest
    whose probabilities sum to `top_p` or more (the nucleus; Holtzman et al. 2020).
    """
    n_tokens = logits.size(1)
    n_ranked = min(top_k or n_tokens, n_tokens)
    if n_ranked == n_tokens and top_p >= 1:
        probabilities = (logits / temperature).softmax(dim=1)
        return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
    highest, tokens = best(logits, logits.new_zeros(len(logits), 1), n_ranked)
    probabilities = (highest / temperature).softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities  # of all the tokens that rank higher
    probabilities = probabilities.masked_fill(before >= top_p, 0.0)
    drawn = torch.multinomial(probabilities, 1, generator=generator)
    return tokens.gather(1, drawn).squeeze(1)


@torch.no_grad()
def sample(
    decoder: StepDecoder, state: State, last: Int[Tensor, " batch"], rules: Rules
) -> list[list[Hypothesis]]:
    """`n_best` independent draws for each sentence (they may coincide), best score first.

    Reported log-probabilities are the model's own, before temperature and cut-offs. The same
    generator state and the same batch give the same output.
    """
    settings, generator = rules.settings, rules.generator
    if generator is None:
        generator = torch.Generator(last.device).manual_seed(settings.seed)
    copies = settings.n_best
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
    trace = Trace(rules._replace(want_scores=True))
    n_written = 0
    while True:
        scores, state, attention = decoder.step(state, last, rules.want_attention)
        normalize_(scores)
        permissions.apply_(scores, rules.max_lengths[sentence], n_written)
        last = draw(
            scores,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            generator=generator,
        )
        trace.append(parents, last, scores.gather(1, last.unsqueeze(1)).squeeze(1), attention)

        ending = ((last == rules.end) & (last_step[written] < 0)).nonzero().squeeze(1)
        last_step[written[ending]] = n_written
        last_choice[written[ending]] = ending
        going_on = (last_step[written] < 0).nonzero().squeeze(1)
        if not len(going_on):
            break
        parents = torch.arange(len(written), device=written.device)
        if worth_leaving(len(going_on), len(written)):
            # What has ended leaves the batch.
            state, parents, last = state.select(going_on), going_on, last[going_on]
            written, sentence = written[going_on], sentence[going_on]
        n_written += 1
    found = trace.read(last_step, last_choice)
    return [ranked(found[i : i + copies]) for i in range(0, len(found), copies)]
