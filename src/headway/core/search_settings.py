"""How a translation is searched for: the settings of `headway.decoding`."""

from dataclasses import dataclass
from typing import Literal

from headway.core.errors import ConfigError, refuse_below, refuse_beyond

Method = Literal["beam", "greedy", "sampling"]

_MOST = {"beam": 200, "n_best": 200, "max_extra_length": 10_000, "length_penalty": 10.0}
_MOST_TIMES = {"the vocabulary": 1 << 26, "max_extra_length": 100_000}


@dataclass(frozen=True)
class DecodingSettings:
    """The `[decoding]` section. Raises `ConfigError` where a value makes no sense."""

    method: Method = "beam"
    """`beam` search, `greedy` (the likeliest token each time) or `sampling` (drawn at random)."""
    beam: int = 5
    """Hypotheses kept after each step (the paper uses 4)."""
    length_penalty: float = 1.0
    """Scores are log-probability / ((5 + length) / 6) ** length_penalty; 0 ranks by probability.
    The paper's 0.6 left the small models' translations a tenth too short."""
    n_best: int = 1
    """Hypotheses returned for each sentence, best first."""
    max_extra_length: int = 50
    """The output may be this many tokens longer than the source (section 6.1 of the paper)."""
    temperature: float = 1.0
    """Sampling: below 1 prefers likely tokens, above 1 evens them out."""
    top_k: int = 0
    """Sampling: draw from this many most likely tokens only; 0 = from all."""
    top_p: float = 1.0
    """Sampling: draw from the fewest tokens that together have this probability; 1 = from all."""
    seed: int = 1
    """Sampling: the same seed and the same batches give the same translations."""

    @property
    def rows(self) -> int:
        """Hypotheses that are written side by side for each sentence."""
        return self.beam if self.method == "beam" else self.n_best

    def least_tokens(self, n_words: int) -> int:
        """As how many a short text counts in a batch, so that memory has a limit: 256 MB for the
        scores of a step. Raises ConfigError where one text alone needs more."""
        for what, size in ("the vocabulary", n_words), ("max_extra_length", self.max_extra_length):
            if self.rows * size > (most := _MOST_TIMES[what]):
                raise ConfigError(
                    f"hypotheses times {what} are at most {most:,}; got {self.rows} and {size:,}. "
                    f"Try decoding.beam {max(1, most // size)} or less, with as small an n_best."
                )
        return max(-(-n_words >> 13), self.max_extra_length >> 4)

    @property
    def draws(self) -> bool:
        """The output depends on random numbers."""
        return self.method == "sampling"

    def __post_init__(self) -> None:
        least = {"beam": 1, "n_best": 1, "max_extra_length": 0, "top_k": 0}
        refuse_below(self, least, above="decoding.")
        refuse_beyond(self, {**_MOST, "temperature": 1e6}, above="decoding.")
        if self.length_penalty < 0:
            raise ConfigError(
                f"decoding.length_penalty must not be negative; got {self.length_penalty}. "
                "0 ranks by probability, 0.6 is the paper's value, more prefers longer output."
            )
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
        if self.method == "beam" and self.n_best > self.beam:
            raise ConfigError(
                f"decoding.n_best must not exceed decoding.beam; got {self.n_best} and "
                f"{self.beam}. Try beam={self.n_best}."
            )
        if self.method == "greedy" and self.n_best > 1:
            raise ConfigError(
                f"greedy decoding gives one translation; got decoding.n_best {self.n_best}. "
                f"Try decoding.method beam with decoding.beam {self.n_best}."
            )
