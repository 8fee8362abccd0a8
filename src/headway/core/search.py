"""Search of a batch that has been started, and of many texts in batches."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.core.beam import beam_search, greedy
from headway.core.errors import ConfigError
from headway.core.hypothesis import Hypothesis, Ids, Rules, SearchRequest, diverged, length_limits
from headway.core.interfaces import State, StepDecoder

Batch = Sequence[int]
"""Places of sources."""
Method = Callable[[StepDecoder, State, Tensor, Rules], list[list[Hypothesis]]]
Work = Callable[[Batch], list[list[Hypothesis]]]
Share = Callable[[Work, Sequence[Batch]], Iterable[tuple[int, list[list[Hypothesis]]]]]
"""Has the batches worked through, in any order: each one's number and what was found."""

METHODS: Mapping[str, Method] = {"beam": beam_search, "greedy": greedy}


def search(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    methods: Mapping[str, Method] = METHODS,
) -> list[list[Hypothesis]]:
    """For each row of a started `state` its hypotheses, best first.

    `last` is what each row is fed first: the begin marker, or the last token of the prefix that it
    was started with.

    Raises `HeadwayError` where a sentence gets no output of finite log-probability, `ConfigError`
    for a method that is none of `methods`.
    """
    named = rules.settings.method
    if named not in methods:
        raise ConfigError(f"search is by {' or '.join(methods)} here; got {named}. Take one.")
    found = methods[named](decoder, state, last, rules)
    if not all(found):
        raise diverged()
    return found


def in_turn(work: Work, batches: Sequence[Batch]) -> Iterable[tuple[int, list[list[Hypothesis]]]]:
    """One batch after the other, by this process: the `Share` of one."""
    return enumerate(map(work, batches))


def like_lengths(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Indices in batches, longest first, each of at most `batch_tokens` tokens with padding."""
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    batches, end = [], 0
    while end < len(order):
        begin, end = end, end + max(1, batch_tokens // lengths[order[end]])
        batches.append(order[begin:end])
    return batches


def decode_all(
    decoder: StepDecoder,
    sources: Sequence[Ids],
    request: SearchRequest,
    methods: Mapping[str, Method] = METHODS,
    share: Share = in_turn,
    batched: Callable[[Sequence[int], int], list[list[int]]] = like_lengths,
) -> list[list[Hypothesis]]:
    """Search for the outputs of many sources (ids without markers), in their order.

    `batched` puts their lengths into batches; these are the same however they are shared out.
    """
    special, settings, device = request.special, request.settings, request.device

    def work(batch: Batch) -> list[list[Hypothesis]]:
        with torch.inference_mode():
            rows = [torch.tensor([*map(int, sources[i]), special.end]) for i in batch]
            source = pad_sequence(rows, batch_first=True, padding_value=special.padding)
            n_read = torch.tensor([len(row) for row in rows], device=device)
            limits = length_limits(n_read, settings.max_extra_length, decoder.longest)
            rules = Rules(
                settings, special.end, limits, special.unwritten,
                want_attention=request.want_attention,
                want_scores=request.want_scores,
            )  # fmt: skip
            last = torch.full_like(n_read, special.decoder_begin)
            return search(decoder, decoder.start(source.to(device)), last, rules, methods)

    lengths = [max(len(ids) + 1, request.least_tokens) * settings.rows for ids in sources]
    batches = batched(lengths, request.batch_tokens)
    results: list[list[Hypothesis]] = [[] for _ in sources]
    for number, found in share(work, batches):
        for i, one in zip(batches[number], found, strict=True):
            results[i] = one
        request.done(len(found))
    return results
