"""Clean text in, translations out: to ids, through the search, and back to text."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch

from headway.core.hypothesis import Hypothesis
from headway.core.interfaces import StepDecoder
from headway.core.search import Engine, SearchRequest
from headway.core.search_settings import DecodingSettings
from headway.core.subwords import Subwords
from headway.engine.engine import EngineChoice
from headway.translation.decoding import decode


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
    """What it was put together from, where the source was cut; see `portions.combined`."""

    @property
    def target(self) -> str:
        """The best translation; blank for a blank line."""
        return self.n_best[0].target if self.n_best else ""

    @property
    def codes_complete(self) -> bool:
        """Nothing had to be mended in the best translation."""
        return not self.n_best or self.n_best[0].codes_complete


class TextTranslator:
    """A model and its sub-words; it knows nothing of codes."""

    def __init__(
        self, model: StepDecoder, subwords: Subwords, device: torch.device, longest: int | None
    ) -> None:
        """`longest`: sub-words of a source that are read; the rest is cut. None for all."""
        self.model, self.subwords, self.device, self.longest = model, subwords, device, longest
        self.choice = EngineChoice()

    @cached_property
    def engine(self) -> Engine | None:
        """What searches in the place of torch, prepared when it is first asked for: it holds the
        weights as they are then. None where torch searches."""
        torchs = self.choice.name == "torch"
        return None if torchs else self.choice.prepare(self.model, self.device)

    def refresh(self) -> None:
        """Have the next search take up the weights and the choice of an engine as they are then."""
        vars(self).pop("engine", None)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without what an engine made of the weights in this process."""
        name, precision, _ = self.choice
        choice = EngineChoice("auto" if name == "ctranslate2" else name, precision)
        held = {k: v for k, v in vars(self).items() if k not in ("engine", "spellings")}
        return {**held, "choice": choice}

    def __call__(
        self,
        texts: Sequence[str],
        settings: DecodingSettings,
        *,
        want_alignment: bool = False,
        want_scores: bool = True,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
    ) -> list[Translation]:
        """The `n_best` translations of each text; `done` hears how many each batch finished."""
        encoded = self.subwords.encode_batch(texts)
        read = [ids[: self.longest] for ids in encoded]
        worded = [i for i, ids in enumerate(read) if ids]
        done(len(texts) - len(worded))
        request = SearchRequest(
            self.subwords.special, settings, self.device, want_scores, want_alignment, done,
            least_tokens=settings.least_tokens(len(self.subwords)),
        )  # fmt: skip
        some = [read[i] for i in worded]
        hypotheses = decode(self.model, some, request, self.engine, generator)
        found = dict(zip(worded, hypotheses, strict=True))
        return [
            Translation(
                source=text,
                source_tokens=self.subwords.pieces(read[i]),
                n_best=self._alternatives(found.get(i, []), len(read[i])),
                n_cut=len(encoded[i]) - len(read[i]),
            )
            for i, text in enumerate(texts)
        ]

    def knows(self, text: str, start: int, end: int) -> bool:
        """Whether the word from here to there is a piece of the vocabulary."""
        return self.subwords.has(f"▁{text[start:end]}") or self.subwords.has(text[start:end])

    def _alternatives(self, found: Sequence[Hypothesis], source_length: int) -> list[Alternative]:
        texts = self.subwords.decode_batch([hypothesis.ids for hypothesis in found])
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
