"""How a translator searches, by headway's own search with what hangs on it here: sampling,
processes that share the batches, an engine in the search's place; and translations with all that is
known of them, with what stands around a translator of texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from headway.core.beam import beam_search, greedy
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.hypothesis import DecodingSettings, Hypothesis
from headway.core.interfaces import StepDecoder
from headway.core.runtime import EngineName
from headway.core.search import (
    METHODS,
    Decode,
    Ids,
    Method,
    SearchRequest,
    decode_all,
    in_turn,
)
from headway.core.translate import Searched, TextTranslator
from headway.decoding.methods import chunked_best, even_batches, in_processes, sample
from headway.engine.engine import EngineChoice

ONLY_DRAWN = ("temperature", "top_k", "top_p", "seed")
"""Settings of sampling, which no other method looks at."""


_MOST = {"beam": 200, "n_best": 200, "max_extra_length": 10_000, "length_penalty": 10.0}


@dataclass(frozen=True)
class SamplingSettings(DecodingSettings):
    """The `[decoding]` section. Raises `ConfigError` where a value makes no sense."""

    method: Literal["beam", "greedy", "sampling"] = "beam"  # type: ignore[assignment]
    """`beam` search, `greedy` (the likeliest token each time) or `sampling` (drawn at random)."""
    temperature: float = 1.0
    """Sampling: below 1 prefers likely tokens, above 1 evens them out."""
    top_k: int = 0
    """Sampling: draw from this many most likely tokens only; 0 = from all."""
    top_p: float = 1.0
    """Sampling: draw from the fewest tokens that together have this probability; 1 = from all."""
    seed: int = 1
    """Sampling: the same seed and the same batches give the same translations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"top_k": 0}, above="decoding.")
        refuse_beyond(self, {**_MOST, "temperature": 1e6}, above="decoding.")
        if self.temperature < 1e-6:
            raise ConfigError(
                f"decoding.temperature must be at least 1e-6; got {self.temperature}. "
                "For the most likely token at each step, choose decoding.method greedy."
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError(
                f"decoding.top_p must be above 0 and at most 1; got {self.top_p}. "
                "1 draws from the whole vocabulary."
            )


@runtime_checkable
class Engine(Protocol):
    """A search from outside, prepared for one model, of whose weights it may hold a copy."""

    def search(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """What `decode_all` gives; of a source that is left to our own search nothing."""
        ...


def decode(
    decoder: StepDecoder,
    sources: Sequence[Ids],
    request: SearchRequest,
    engine: Engine | None = None,
) -> list[list[Hypothesis]]:
    """As `decode_all`, with what hangs on it here; torch searches for what `engine` leaves."""
    drawn = partial(sample, generator=request.generator)
    methods: dict[str, Method] = {
        "beam": partial(beam_search, choose=chunked_best),
        "greedy": partial(greedy, choose=chunked_best),
        "sampling": drawn,
    }
    together = request.device.type == "cpu" and request.settings.method in METHODS
    share = in_processes if together else in_turn
    results: list[list[Hypothesis]] = [[] for _ in sources]
    if engine is not None:
        results = engine.search(decoder, sources, request)
    left = [i for i, one in enumerate(results) if not one]
    some = [sources[i] for i in left]
    found = decode_all(decoder, some, request, methods, share, even_batches) if some else []
    for i, one in zip(left, found, strict=True):
        results[i] = one
    return results


class EngineSearch:
    """`decode` by an engine that is prepared at the first search: it has the weights as they are
    then, and torch searches where there is none."""

    def __init__(self, choice: EngineChoice = EngineChoice()) -> None:  # noqa: B008  (a tuple)
        self.choice = choice
        self.prepared: tuple[Engine | None] | None = None

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `decode`."""
        if self.prepared is None:
            self.prepared = (self.choice.prepare(decoder, request.device),)
        return decode(decoder, sources, request, *self.prepared)

    def refresh(self) -> None:
        """Have the next search take up the weights and the choice of an engine as they are then."""
        self.prepared = None

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without what an engine made of the weights in this process."""
        name, precision, _ = self.choice
        choice = EngineChoice("auto" if name == "ctranslate2" else name, precision)
        return {"choice": choice, "prepared": None}


def decode_anew(engine: EngineName = "auto") -> Decode:
    """`decode` by an engine that is prepared for every call: for a model in training, whose weights
    are others each time."""
    if engine == "torch":
        return decode
    choice = EngineChoice(engine)
    return lambda model, sources, request: decode(
        model, sources, request, choice.prepare(model, request.device)
    )


# -- translations, and what stands around a translator ----------------------------------------


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
        return [
            Translation(
                source=text,
                source_tokens=self.subwords.pieces(one.ids),
                n_best=self._alternatives(one),
                n_cut=one.n_cut,
            )
            for text, one in zip(texts, self.search(texts, request), strict=True)
        ]

    def _alternatives(self, searched: Searched) -> list[Alternative]:
        found, source_length = searched.hypotheses, len(searched.ids)
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
