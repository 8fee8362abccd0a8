"""Search for translations in which every code of the source arrives."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from headway.decoding.hypothesis import Hypothesis
from headway.decoding.search import decode_all
from headway.decoding.settings import DecodingSettings
from headway.models.interfaces import StepDecoder
from headway.text.codes import Codes, check, mask, parsed, unmask
from headway.text.memories.segments import Segment
from headway.text.mixing import tagged
from headway.text.subwords import Subwords

Ids = np.ndarray[Any, np.dtype[np.int64]]


class Source(NamedTuple):
    """A clean text, what the model reads of it, and the codes that must arrive."""

    segment: Segment
    """With its codes found."""
    text: str
    codes: Codes
    """What the placeholders of `text` stand for."""

    @classmethod
    def of(cls, segment: Segment, *, masked: bool) -> "Source":
        """A segment with placeholders for its codes, or as plain text."""
        whole = parsed(segment)
        return cls(whole, *mask(whole)) if masked else cls(whole, segment.text, {})


class Candidate(NamedTuple):
    """A hypothesis as text."""

    hypothesis: Hypothesis
    segment: Segment
    """What the model wrote, with its codes found and put back, not mended."""
    complete: bool
    """All codes of the source are there, and no others."""


class Found(NamedTuple):
    """What became of one source."""

    ids: Ids
    """Of what the model has read, without markers."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""
    candidates: list[Candidate]
    """Those with complete codes first, then by score; none for a blank text."""


class CodedSearch:
    """A model that translates texts with codes."""

    def __init__(
        self, model: StepDecoder, subwords: Subwords, max_length: int, device: torch.device
    ) -> None:
        """`max_length`: the longest source, in sub-words; 0 for any."""
        self.model, self.subwords, self.max_length = model, subwords, max_length
        self.device = device

    def __call__(
        self,
        sources: Sequence[Source],
        tag: str,
        settings: DecodingSettings,
        *,
        want_attention: bool = False,
        want_scores: bool = True,
        done: Callable[[int], None] = lambda n: None,
        generator: torch.Generator | None = None,
    ) -> list[Found]:
        """The `n_best` candidates of each source, in their order.

        Where the best one is incomplete, a beam search gives all hypotheses of its beam, and the
        complete ones come first.
        """
        encoded = self.subwords.encode_batch([tagged(source.text, tag) for source in sources])
        limits = [self.max_length or None, self.model.longest and self.model.longest - 1]
        limit = min((limit for limit in limits if limit), default=None)
        read = [np.array(ids[:limit], dtype=np.int64) for ids in encoded]
        found: list[list[Candidate]] = [[] for _ in sources]

        def look(
            places: Sequence[int], wanted: DecodingSettings, tell: Callable[[int], None]
        ) -> None:
            hypotheses = decode_all(
                self.model,
                [read[i] for i in places],
                self.subwords.special,
                wanted,
                device=self.device,
                want_attention=want_attention,
                want_scores=want_scores,
                done=tell,
                generator=generator,
            )
            for i, best in zip(places, hypotheses, strict=True):
                candidates = self._candidates(sources[i], best)
                candidates.sort(key=lambda candidate: not candidate.complete)  # stable
                found[i] = candidates[: settings.n_best]

        filled = [i for i, ids in enumerate(read) if len(ids)]
        done(len(sources) - len(filled))
        look(filled, settings, done)
        if settings.method == "beam" and settings.beam > settings.n_best:
            incomplete = [i for i in filled if not found[i][0].complete]
            look(incomplete, replace(settings, n_best=settings.beam), lambda n: None)
        return [
            Found(ids, len(whole) - len(ids), candidates)
            for ids, whole, candidates in zip(read, encoded, found, strict=True)
        ]

    def _candidates(self, source: Source, hypotheses: Sequence[Hypothesis]) -> list[Candidate]:
        texts = self.subwords.decode_batch([hypothesis.ids for hypothesis in hypotheses])
        candidates = []
        for hypothesis, text in zip(hypotheses, texts, strict=True):
            segment = parsed(unmask(text, source.codes))
            complete = check(source.segment, segment).complete
            candidates.append(Candidate(hypothesis, segment, complete))
        return candidates
