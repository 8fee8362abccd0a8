"""The door to decoding: `search` for a batch that has been started, `decode_all` for many texts."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.decoding.beam import beam_search
from headway.decoding.greedy import greedy
from headway.decoding.hypothesis import Hypothesis, Rules, diverged, length_limits
from headway.decoding.settings import DecodingSettings
from headway.models.interfaces import State, StepDecoder
from headway.runtime import EngineName, available_cores
from headway.text.subwords import SpecialIds

if TYPE_CHECKING:
    from headway.native.matrices import Precision

Ids = Sequence[int] | np.ndarray[Any, np.dtype[Any]]
BATCH_TOKENS = 8192
"""The most source tokens of a batch, padding included, times hypotheses of each sentence."""
SHARES = 4
"""More than one batch are evened to a multiple of so many, for several processes to share."""
LEAST_SHARE = 2048
"""Batches are not made smaller than this many tokens for it."""


def search(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    settings: DecodingSettings,
    *,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    forbidden: Sequence[int] = (),
    want_attention: bool = False,
    want_scores: bool = True,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """For each row of a started `state` its hypotheses, best first.

    `last` is what each row is fed first: the begin marker, or the last token of the prefix that it
    was started with. `max_lengths` and `last` are on the decoder's device; for the others see
    `headway.decoding.hypothesis.Rules`. Sampling draws from `generator`; without one, from a new
    one seeded with `settings.seed`, so that every call draws alike.

    Raises `HeadwayError` where a sentence gets no output of finite log-probability.
    """
    rules = Rules(settings, end, max_lengths, forbidden, want_attention, want_scores, generator)
    if settings.draws:
        from headway.decoding.sampling import sample  # a side room

        found = sample(decoder, state, last, rules)
    else:
        found = METHODS[settings.method](decoder, state, last, rules)
    if not all(found):
        raise diverged()
    return found


METHODS: dict[str, Callable[[StepDecoder, State, Tensor, Rules], list[list[Hypothesis]]]] = {
    "beam": beam_search,
    "greedy": greedy,
}


def decode_all(
    decoder: StepDecoder,
    sources: Sequence[Ids],
    special: SpecialIds,
    settings: DecodingSettings,
    *,
    device: torch.device,
    batch_tokens: int = BATCH_TOKENS,
    least_tokens: int = 0,
    processes: int = 0,
    want_attention: bool = False,
    want_scores: bool = True,
    generator: torch.Generator | None = None,
    done: Callable[[int], None] = lambda n: None,
    engine: EngineName = "auto",
    precision: "Precision" = "fp32",
    kept: dict[str, Any] | None = None,
) -> list[list[Hypothesis]]:
    """Search for the outputs of many sources (ids without markers), in their order.

    Sentences of like length share a batch of at most `batch_tokens` source tokens times hypotheses;
    each counts as `least_tokens` at least. On a CPU, `processes` (0: as many as torch has threads)
    share the batches if there is enough to do; the batches are the same for any number. `done`
    hears how many sentences each finished. `engine` is that of `compiled`, which keeps what it
    makes of the weights in `kept`; `precision` that of its products.
    """
    processes = processes or min(torch.get_num_threads(), available_cores() if sources[1:] else 1)
    results: list[list[Hypothesis]] = [[] for _ in sources]
    if engine != "torch":
        from headway.decoding.compiled import Asked, compiled_search  # a side room

        given = special, settings, device, processes, want_scores, want_attention, done
        results = compiled_search(decoder, sources, Asked(*given), engine, precision, kept)

    def work(batch: Sequence[int]) -> list[list[Hypothesis]]:
        with torch.inference_mode():
            rows = [torch.tensor([*map(int, sources[i]), special.end]) for i in batch]
            source = pad_sequence(rows, batch_first=True, padding_value=special.padding)
            n_read = torch.tensor([len(row) for row in rows], device=device)
            return search(
                decoder,
                decoder.start(source.to(device)),
                torch.full_like(n_read, special.decoder_begin),
                settings,
                end=special.end,
                max_lengths=length_limits(n_read, settings.max_extra_length, decoder.longest),
                forbidden=special.unwritten,
                want_attention=want_attention,
                want_scores=want_scores,
                generator=generator,
            )

    left = [i for i, one in enumerate(results) if not one]
    lengths = [max(len(sources[i]) + 1, least_tokens) * settings.rows for i in left]
    batches = [[left[n] for n in batch] for batch in even_batches(lengths, batch_tokens)]
    found: Iterable[tuple[int, list[list[Hypothesis]]]] = enumerate(map(work, batches))
    if device.type == "cpu" and processes > 1 and len(batches) >= SHARES and not settings.draws:
        from headway.decoding.processes import may_fork, shared  # a side room

        if may_fork():
            found = shared(work, batches, processes)
    for number, hypotheses in found:
        for i, one in zip(batches[number], hypotheses, strict=True):
            results[i] = one
        done(len(hypotheses))
    return results


def even_batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Batches of at most `batch_tokens`: where there are several, `SHARES` of them, or twice as
    many, .., of like size, as far as none gets smaller than `LEAST_SHARE`."""
    n_tokens = sum(lengths)
    n_batches = len(batches := like_lengths(lengths, batch_tokens))
    wanted = min(-(-n_batches // SHARES) * SHARES, n_tokens // LEAST_SHARE)
    if wanted <= n_batches:
        return batches
    share = n_tokens // wanted
    while len(batches := like_lengths(lengths, share)) > wanted:  # padding and whole rows
        share += 1 + share // 32
    return batches


def like_lengths(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Indices in batches, longest first, each of at most `batch_tokens` tokens with padding."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batches = []
    while order:
        n_rows = max(1, batch_tokens // lengths[order[0]])
        batches.append(order[:n_rows])
        order = order[n_rows:]
    return batches
