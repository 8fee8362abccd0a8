"""A Transformer that is told which language to write, as M2M-100 is (Fan et al. 2021)."""

from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headway.core import kv_cache
from headway.core.attention import padding_mask
from headway.core.errors import ConfigError
from headway.core.interfaces import NEEDS_SOURCE, Step
from headway.core.transformer import Transformer


class LanguageState(NamedTuple):
    """A decoder's state, and the language that each row is written in."""

    inner: kv_cache.StackState
    languages: Int[Tensor, " rows"]

    def select(self, rows: Int[Tensor, " kept"]) -> "LanguageState":
        """See `headway.core.interfaces.State`."""
        return LanguageState(self.inner.select(rows), self.languages[rows])


class MultilingualTransformer(Transformer):
    """The first id of a source is the language of its target, which no layer of the encoder sees:
    the decoder is fed it behind the begin marker. So outputs have no language in them, nor has what
    is trained on; weights and all else are the `Transformer`'s."""

    fed_languages: ClassVar[bool] = True
    """The decoder has a position more than it is given tokens."""

    @property
    def longest(self) -> int | None:
        """See `StepDecoder`; the language takes one place."""
        whole = super().longest
        return None if whole is None else whole - 1

    def encode(
        self, source: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """The encoder's output, and which of its positions are real: the language's is not."""
        visible = padding_mask(source, self.padding)
        visible[..., 0] = False
        x = self.source_embedding(source)
        x = torch.cat([x[:, :1], self.source_positions(x[:, 1:])], 1)
        return self.encoder_norm(self.encoder(self.ready(x), visible)), visible

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """What is multiplied by `output_weight` to give the logits; after the begin marker those
        after the language."""
        fed = torch.cat([target[:, :1], source[:, :1], target[:, 1:]], 1)
        return super().features(source, fed)[:, 1:]

    @torch.no_grad()
    def start(  # type: ignore[override]  # its state knows the languages, too
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> LanguageState:
        """See `StepDecoder`."""
        if source is None:
            raise ConfigError(NEEDS_SOURCE)
        inner = kv_cache.start(self.decoder, len(source), *self.encode(source))
        state = LanguageState(inner, source[:, 0])
        for token in () if prefix is None else prefix.unbind(1):
            state = self.step(state, token).state
        return state

    @torch.no_grad()
    def step(  # type: ignore[override]
        self, state: LanguageState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """See `StepDecoder`; behind the first token the language is fed."""
        step = super().step(state.inner, last, want_attention)
        if not state.inner.length:
            step = super().step(step.state, state.languages, want_attention)
        return step._replace(state=LanguageState(step.state, state.languages))
