"""Translations with all that is known of them, and what stands around a translator of texts."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from headway.core.hypothesis import Hypothesis, SearchRequest
from headway.core.translate import Searched, TextTranslator


class Alternative(NamedTuple):
    """One translation of a sentence."""

    target: str
    score: float
    """Log-probability divided by the length penalty."""
    ids: list[int]
    tokens: list[str]
    """Its sub-words, as a reader would write them."""
    token_log_probs: list[float]
    """Of each sub-word, then of the end marker, in nats."""
    alignment: list[tuple[int, int]]
    """For each target sub-word: (source sub-word it looks at most, its own index), from 0."""
    written: str
    """What the model wrote, before anything was mended."""
    codes_complete: bool = True
    """The model wrote just the codes of the source. Where it did not, `target` is mended: what was
    invented is gone, what was missing stands at the end; the tokens are as they were."""
    attended: Sequence[float] = ()
    """How much attention each source sub-word got in all, where alignments were wanted."""


class Translation(NamedTuple):
    """A sentence and what became of it."""

    source: str
    source_tokens: list[str]
    n_best: list[Alternative]
    """Best first; empty for a blank line."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""
    parts: "tuple[Translation, ...]" = ()
    """What it was put together from, where the source was cut."""

    @property
    def target(self) -> str:
        """The best translation; blank for a blank line."""
        return self.n_best[0].target if self.n_best else ""

    @property
    def codes_complete(self) -> bool:
        """Nothing had to be mended in the best translation."""
        return not self.n_best or self.n_best[0].codes_complete


Translate = Callable[[Sequence[str], SearchRequest], list[Translation]]
"""What a `DetailedTranslator` is, alone or with processors around it."""


@runtime_checkable
class Processor(Protocol):
    """What stands before and after a translation."""

    def __call__(
        self, texts: Sequence[str], request: SearchRequest, translate: Translate
    ) -> list[Translation]:
        """Have texts translated, perhaps others or more often than was asked for, and make of that
        the translations of those that were given."""
        ...


def within(processors: Iterable[Processor], translate: Translate) -> Translate:
    """`translate` with processors around it, the first of them outermost."""
    for one in reversed([*processors]):
        translate = partial(one, translate=translate)
    return translate


class DetailedTranslator(TextTranslator):
    """A model and its sub-words, which says of each translation how it came about."""

    def __call__(self, texts: Sequence[str], request: SearchRequest) -> list[Translation]:
        """The `n_best` translations of each clean text."""
        # A short text counts as so many tokens that the scores of a step stay below 256 MB.
        least = max(-(-len(self.subwords) >> 13), request.settings.max_extra_length >> 4)
        request = request._replace(least_tokens=least)
        return list(map(self.told, texts, self.search(texts, request)))

    def told(self, text: str, searched: Searched) -> Translation:
        """What is told of a clean text that was searched for."""
        return Translation(
            source=text,
            source_tokens=self.subwords.pieces(searched.ids),
            n_best=self._alternatives(searched),
            n_cut=searched.n_cut,
        )

    def _alternatives(self, searched: Searched) -> list[Alternative]:
        found, source_length = searched.hypotheses, len(searched.ids)
        decoded = self.subwords.decode_batch([one.ids for one in found])
        texts = [text.strip() or text for text in decoded]  # spaces alone are a loop, not silence
        return [
            Alternative(
                target=text,
                score=hypothesis.score,
                ids=hypothesis.ids,
                tokens=self.subwords.pieces(hypothesis.ids),
                token_log_probs=hypothesis.token_log_probs,
                alignment=alignment(hypothesis, source_length),
                written=text,
                attended=attended(hypothesis, source_length),
            )
            for hypothesis, text in zip(found, texts, strict=True)
        ]


def alignment(hypothesis: Hypothesis, source_length: int) -> list[tuple[int, int]]:
    """For each token of a hypothesis that has its attention, the source token it looks at most."""
    if hypothesis.attention is None:
        return []
    looked_at = hypothesis.attention[: len(hypothesis.ids), :source_length].argmax(-1).tolist()
    return [(source, target) for target, source in enumerate(looked_at)]


def attended(hypothesis: Hypothesis, source_length: int) -> list[float]:
    """How much attention each source token got in all; nothing where it was not asked for."""
    if hypothesis.attention is None:
        return []
    total: list[float] = hypothesis.attention[:, :source_length].sum(0).tolist()
    return total
