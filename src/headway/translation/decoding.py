"""How a translator searches: the core's search with what hangs on it here, which is sampling,
processes that share the batches, and an engine in the search's place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import torch

from headway.core.beam import beam_search, greedy
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.hypothesis import Decode, DecodingSettings, Hypothesis, Ids, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.runtime import EngineName, ProductPrecision
from headway.core.search import METHODS, Method, decode_all, in_turn
from headway.corpora.cache_place import silent
from headway.decoding.ranking import chunked_best
from headway.decoding.sampling import sample
from headway.decoding.shares import even_batches, in_processes

if TYPE_CHECKING:
    from headway.engine.engine import NativeEngine

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


class EngineChoice(NamedTuple):
    """What [runtime] says of search on a processor: which engine, products in which precision."""

    name: EngineName = "auto"
    precision: ProductPrecision = "fp32"
    say: Callable[[str], None] = silent
    """Hears where torch searches although products of fewer bits were asked for."""

    def prepare(self, decoder: StepDecoder, device: torch.device) -> "NativeEngine | None":
        """With the model's weights as they are now; None where torch searches.

        Raises ConfigError where it is asked for by name and there is none for this model or
        machine, and for another program, which has the weights of a run's folder and no others.
        """
        if self.name == "torch":
            return None
        if self.name == "ctranslate2":
            raise ConfigError(
                "runtime.engine ctranslate2 is for the weights of a run's folder, which these are "
                "no more. Save them, and load that, or use --runtime.engine auto."
            )
        from headway.engine.engine import prepare  # with all that compiles and packs

        found = prepare(decoder, device, self.precision, self.leave)
        if not isinstance(found, str):
            return found
        self.leave(found)
        return None

    def leave(self, reason: str) -> None:
        """Have torch search; raises ConfigError where the engine is asked for by its name."""
        if self.name == "native":
            raise ConfigError(
                f"runtime.engine native is for what it can do; {reason}. Use --runtime.engine auto."
            )
        if self.precision != "fp32":
            products = f"{self.precision} products are the compiled engine's"
            self.say(f"headway: torch translates, in fp32: {products}; {reason}")


class EngineSearch:
    """`decode` by an engine that is prepared at the first search: it has the weights as they are
    then, and torch searches where there is none."""

    def __init__(self, choice: EngineChoice = EngineChoice()) -> None:  # noqa: B008  (a tuple)
        self.choice = choice
        self.engine: Engine | None = None
        self.is_prepared = False

    def use(self, engine: Engine | None) -> None:
        """Have this engine search from now on; None: torch."""
        self.engine, self.is_prepared = engine, True

    def __call__(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `decode`."""
        if not self.is_prepared:
            self.use(self.choice.prepare(decoder, request.device))
        return decode(decoder, sources, request, self.engine)

    def refresh(self) -> None:
        """Have the next search take up the weights and the choice of an engine as they are then."""
        self.engine, self.is_prepared = None, False

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without what an engine made of the weights in this process."""
        name, precision, _ = self.choice
        choice = EngineChoice("auto" if name == "ctranslate2" else name, precision)
        return {"choice": choice, "engine": None, "is_prepared": False}


def decode_anew(engine: EngineName = "auto") -> Decode:
    """`decode` by an engine that is prepared for every call: for a model in training."""
    if engine == "torch":
        return decode
    choice = EngineChoice(engine)
    return lambda model, sources, request: decode(
        model, sources, request, choice.prepare(model, request.device)
    )
