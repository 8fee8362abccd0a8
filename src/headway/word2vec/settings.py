"""What may be set of a training of word vectors, beside the files."""

from dataclasses import dataclass
from typing import Literal

from headway.core.errors import ConfigError, refuse_below, refuse_beyond

_MOST = {"d_model": 1 << 14, "window": 1_000, "negatives": 1_000}
"""Far beyond any use; what is larger would be trained for ever."""


@dataclass(frozen=True)
class Word2VecConfig:
    """Sizes and objective of CBOW and of skip-gram (Mikolov et al. 2013a and b)."""

    d_model: int = 100
    """The size of a word's vector."""
    window: int = 5
    """The most words on either side that count as context; how many do is drawn anew for each word,
    from 1 on, so near ones count more."""
    negatives: int = 5
    """Words drawn from the noise, which a true one is told from."""
    objective: Literal["negative-sampling", "hierarchical-softmax"] = "negative-sampling"
    """`hierarchical-softmax`: a word is found by a way through a binary tree of all words, in which
    frequent ones are near the root."""

    def __post_init__(self) -> None:
        refuse_below(self, dict.fromkeys(_MOST, 1), above="model.")
        refuse_beyond(self, _MOST, above="model.")
        if self.objective not in ("negative-sampling", "hierarchical-softmax"):
            raise ConfigError(
                "model.objective is negative-sampling or hierarchical-softmax; got "
                f"{self.objective!r}. Leave it out for the first."
            )
