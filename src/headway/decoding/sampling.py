"""Sampling: tokens drawn at random, by the probabilities that the model gives them."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.beam import roll_out
from headway.core.hypothesis import Hypothesis, Rules, diverged, ranked
from headway.core.interfaces import State, StepDecoder
from headway.decoding.ranking import chunked_best


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

    Raises `HeadwayError` where a row's logits are no numbers.
    """
    n_tokens = logits.size(1)
    n_ranked = min(top_k or n_tokens, n_tokens)
    if n_ranked == n_tokens and top_p >= 1:
        probabilities = probabilities_of(logits / temperature)
        return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
    highest, tokens = chunked_best(logits, logits.new_zeros(len(logits), 1), n_ranked)
    probabilities = probabilities_of(highest / temperature)
    before = probabilities.cumsum(dim=1) - probabilities  # of all the tokens that rank higher
    beyond = (before >= top_p) & (before > 0)  # a smallest top_p is 0 in float32: the first stays
    probabilities = probabilities.masked_fill(beyond, 0.0)
    drawn = torch.multinomial(probabilities, 1, generator=generator)
    return tokens.gather(1, drawn).squeeze(1)


def probabilities_of(logits: Float[Tensor, "rows tokens"]) -> Float[Tensor, "rows tokens"]:
    """Their softmax; a row that holds something which has none is NaN throughout, and refused."""
    probabilities = logits.softmax(dim=1)
    if probabilities[:, 0].isnan().any():
        raise diverged()
    return probabilities


@torch.no_grad()
def sample(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """`n_best` independent draws for each sentence (they may coincide), best score first.

    Reported log-probabilities are the model's own, before temperature and cut-offs. The same
    generator state and the same batch give the same output; without a generator a new one is
    seeded with the settings' seed, so that every call draws alike.
    """
    settings: Any = rules.settings  # with those of `headway.translation.decoding`
    if generator is None:
        generator = torch.Generator(last.device).manual_seed(settings.seed)

    def choose(scores: Tensor) -> Tensor:
        return draw(
            scores,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            generator=generator,
        )

    n = settings.n_best
    sentence = torch.arange(len(last), device=last.device).repeat_interleave(n)
    if n > 1:
        state, last = state.select(sentence), last[sentence]
    limits = rules.max_lengths[sentence]
    rules = rules._replace(max_lengths=limits, want_scores=True)
    found = roll_out(decoder, state, last, rules, choose)
    return [ranked(found[i : i + n]) for i in range(0, len(found), n)]
