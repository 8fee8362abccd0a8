"""Sampling: the next token is drawn, not chosen."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.hypothesis import Hypothesis
from headway.decoding.ranking import best
from headway.decoding.rollout import roll_out
from headway.models.interfaces import StepDecoder


def draw(
    log_probs: Float[Tensor, "rows vocabulary"],
    *,
    temperature: float,
    top_k: int,
    top_p: float,
    generator: torch.Generator | None,
) -> Int[Tensor, " rows"]:
    """One token for each row, from softmax(log_probs / temperature).

    First only the `top_k` most likely tokens stay (0 = all; Fan et al. 2018), then only the fewest
    whose probabilities sum to `top_p` or more (the nucleus; Holtzman et al. 2020).
    """
    n_tokens = log_probs.size(1)
    n_ranked = min(top_k or n_tokens, n_tokens)
    if n_ranked == n_tokens and top_p >= 1:
        probabilities = (log_probs / temperature).softmax(dim=1)
        return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
    ranked, tokens = best(log_probs, n_ranked)
    probabilities = (ranked / temperature).softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities  # of all the tokens that rank higher
    probabilities = probabilities.masked_fill(before >= top_p, 0.0)
    drawn = torch.multinomial(probabilities, 1, generator=generator)
    return tokens.gather(1, drawn).squeeze(1)


@torch.no_grad()
def sample(
    decoder: StepDecoder,
    source: Int[Tensor, "batch length"] | None,
    *,
    begin: int,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    n_best: int = 1,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
    length_penalty: float = 0.0,
    forbidden: Sequence[int] = (),
    want_attention: bool = False,
) -> list[list[Hypothesis]]:
    """`n_best` independent draws for each sentence (they may coincide), best score first.

    `max_lengths` counts tokens before the end marker, which is forced after them; `forbidden`
    tokens are never written. Reported log-probabilities are the model's own, before temperature
    and cut-offs. The same generator state and the same batch give the same output.
    """

    def choose(log_probs: Float[Tensor, "rows vocabulary"]) -> Int[Tensor, " rows"]:
        return draw(
            log_probs, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator
        )

    return roll_out(
        decoder,
        source,
        choose,
        begin=begin,
        end=end,
        max_lengths=max_lengths,
        copies=n_best,
        length_penalty=length_penalty,
        forbidden=forbidden,
        want_attention=want_attention,
    )
