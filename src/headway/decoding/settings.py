"""Settings of search as section [decoding] has them: the core's, and those of sampling."""

from dataclasses import dataclass
from typing import Literal

from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.hypothesis import DecodingSettings

ONLY_DRAWN = ("temperature", "top_k", "top_p", "seed")
"""Settings of sampling, which no other method looks at."""


_MOST = {"beam": 200, "n_best": 200, "max_extra_length": 10_000, "length_penalty": 10.0}
_MOST_TIMES = {"the vocabulary": 1 << 26, "max_extra_length": 100_000}


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


def draws(settings: DecodingSettings) -> bool:
    """Whether the output depends on random numbers."""
    return str(settings.method) == "sampling"


def least_tokens(settings: DecodingSettings, n_words: int) -> int:
    """As how many a short text counts in a batch, so that memory has a limit: 256 MB for the
    scores of a step. Raises ConfigError where one text alone needs more."""
    for what, size in ("the vocabulary", n_words), ("max_extra_length", settings.max_extra_length):
        if settings.rows * size > (most := _MOST_TIMES[what]):
            raise ConfigError(
                f"hypotheses times {what} are at most {most:,}; got {settings.rows} and {size:,}. "
                f"Try decoding.beam {max(1, most // size)} or less, with as small an n_best."
            )
    return max(-(-n_words >> 13), settings.max_extra_length >> 4)
