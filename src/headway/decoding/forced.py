"""Outputs that are known, in whole or at their beginning: fed to a decoder, which is asked where it
looks and how likely they are; or begun with, for search to go on from."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from headway.core.embedding import project
from headway.core.interfaces import Seq2Seq, State, Step, StepDecoder
from headway.core.subwords import SpecialIds

AT_ONCE = 128
TOKENS_AT_ONCE = 512


@torch.no_grad()
def attention_over(
    decoder: StepDecoder,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    special: SpecialIds,
    device: torch.device,
) -> list[Float[Tensor, "length source"] | None]:
    """For each target the weights on the source positions with which each token is written, on the
    CPU; None from a decoder that gives none. Ids are without markers."""
    found: list[Float[Tensor, "length source"] | None] = []
    for start in range(0, len(sources), AT_ONCE):
        some = targets[start : start + AT_ONCE]
        rows = [torch.tensor([*ids, special.end]) for ids in sources[start : start + AT_ONCE]]
        state = decoder.start(
            pad_sequence(rows, batch_first=True, padding_value=special.padding).to(device)
        )
        last = torch.full((len(rows),), special.decoder_begin, device=device)
        fed = pad_sequence(
            [torch.tensor(ids, dtype=torch.long) for ids in some],
            batch_first=True,
            padding_value=special.padding,
        ).to(device)
        looks: list[Tensor] = []
        for n in range(fed.shape[1]):
            _, state, attention = decoder.step(state, last, True)
            if attention is None:
                break
            looks.append(attention.float().cpu())
            last = fed[:, n]
        whole = torch.stack(looks, 1) if looks else None
        found += [None if whole is None else whole[n, : len(ids)] for n, ids in enumerate(some)]
    return found


@torch.no_grad()
def log_probs_over(
    model: Seq2Seq,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    special: SpecialIds,
    device: torch.device,
) -> list[list[float]]:
    """Of each target the log-probability (nats) of each of its tokens behind those before it. Ids
    are without markers, and so is what is found."""

    def padded(rows: Sequence[Sequence[int]]) -> Tensor:
        some = [torch.tensor(ids, dtype=torch.long) for ids in rows]
        return pad_sequence(some, batch_first=True, padding_value=special.padding).to(device)

    found: list[list[float]] = [[] for _ in sources]
    order = sorted(range(len(sources)), key=lambda i: (len(targets[i]), len(sources[i])))
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        lengths = [len(targets[i]) for i in some]
        features = model.features(
            padded([[*sources[i], special.end] for i in some]),
            padded([[special.decoder_begin, *targets[i]][:-1] for i in some]),
        )
        written = torch.tensor([token for i in some for token in targets[i]], device=device)
        rows = torch.cat([row[:n] for row, n in zip(features, lengths, strict=True)])
        log_probs: list[Tensor] = []
        for few, tokens in zip(
            rows.split(TOKENS_AT_ONCE), written.split(TOKENS_AT_ONCE), strict=True
        ):
            logits = project(few, model.output_weight, model.output_bias).float()
            log_probs.append(logits.gather(1, tokens[:, None]).squeeze(1) - logits.logsumexp(1))
        for i, row in zip(some, torch.cat(log_probs).split(lengths), strict=True):
            found[i] = row.tolist()
    return found


# -- beginnings -------------------------------------------------------------------------------


class PrefixedState(NamedTuple):
    """A decoder's state, and how many tokens it has been asked for."""

    inner: State
    n_written: int

    def select(self, rows: Int[Tensor, " kept"]) -> "PrefixedState":
        """See `headway.core.interfaces.State`."""
        return self._replace(inner=self.inner.select(rows))


class PrefixedDecoder:
    """A `StepDecoder` whose every output begins with `beginning`.

    The tokens are scored as ever: a text has the score that it has, whoever began it. So a
    beginning that search would have written by itself changes nothing.
    """

    def __init__(self, decoder: StepDecoder, beginning: Sequence[int], unwritten: int) -> None:
        """`unwritten` is a token that search forbids."""
        self.decoder, self.beginning, self.unwritten = decoder, list(beginning), unwritten

    @property
    def longest(self) -> int | None:
        """See `StepDecoder`."""
        return self.decoder.longest

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> PrefixedState:
        """See `StepDecoder`."""
        return PrefixedState(self.decoder.start(source, prefix), 0)

    def step(
        self, state: PrefixedState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """See `StepDecoder`."""
        logits, after, attention = self.decoder.step(state.inner, last, want_attention)
        n = state.n_written
        if n < len(self.beginning):
            logits = self._only(logits, self.beginning[n])
        return Step(logits, PrefixedState(after, n + 1), attention)

    def _only(
        self, logits: Float[Tensor, "rows vocabulary"], token: int
    ) -> Float[Tensor, "rows vocabulary"]:
        """This token with its probability; all that is left goes to the one that is never written,
        so that to normalize them again changes nothing."""
        log_prob = logits.log_softmax(1)[:, token]
        found = torch.full_like(logits, -torch.inf)
        found[:, token] = log_prob
        found[:, self.unwritten] = torch.log(-torch.expm1(log_prob))
        return found


def without_prefix(decoder: StepDecoder) -> tuple[StepDecoder, list[int]]:
    """A decoder that begins as it likes, and what its outputs were to begin with, if anything."""
    if type(decoder) is PrefixedDecoder:
        return decoder.decoder, decoder.beginning
    return decoder, []
