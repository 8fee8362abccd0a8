"""What hangs on the core's search: sampling, the best of a large vocabulary found quickly, and
batches that several processes share."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.beam import first_best, roll_out
from headway.core.hypothesis import Hypothesis, Rules, diverged, ranked
from headway.core.interfaces import State, StepDecoder
from headway.core.runtime import available_cores
from headway.core.search import Batch, Work, in_turn, like_lengths
from headway.operations.processes import may_fork, shared

SHARES = 4
"""More than one batch are evened to a multiple of so many, for several processes to share."""
LEAST_SHARE = 2048
"""Batches are not made smaller than this many tokens for it."""


def even_batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Batches of at most `batch_tokens`: of several a multiple of `SHARES`, of like size, as far as
    none gets smaller than `LEAST_SHARE`."""
    n_tokens = sum(lengths)
    n_batches = len(batches := like_lengths(lengths, batch_tokens))
    wanted = min(-(-n_batches // SHARES) * SHARES, n_tokens // LEAST_SHARE)
    if wanted <= n_batches:
        return batches
    share = n_tokens // wanted
    while len(batches := like_lengths(lengths, share)) > wanted:  # padding and whole rows
        share += 1 + share // 32
    return batches


def in_processes(
    work: Work, batches: Sequence[Batch]
) -> Iterable[tuple[int, list[list[Hypothesis]]]]:
    """As many processes as torch has threads share the batches, if there is enough to do."""
    if len(batches) < SHARES:
        return in_turn(work, batches)
    n = min(torch.get_num_threads(), available_cores())
    return shared(work, batches, n) if n > 1 and may_fork() else in_turn(work, batches)


CHUNK = 128


def chunked_best(
    scores: Float[Tensor, "rows tokens"], before: Float[Tensor, "sentences width"], count: int
) -> tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]:
    """What `best` gives, several times faster of a large vocabulary.

    Only the `count` chunks of tokens with the highest maxima are searched: each
    of them holds a place that precedes all those elsewhere.
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
    probabilities = probabilities.masked_fill(before >= top_p, 0.0)
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
