"""Sections [model], [text] and [training] of word vectors."""

from dataclasses import dataclass
from typing import Literal

from headway.core.errors import refuse_below, refuse_beyond
from headway.core.subwords import MOST_IDS
from headway.operations.time_budget import seconds
from headway.tokenizers.words import WholeUnit

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


@dataclass(frozen=True)
class VectorText:
    """Section [text]: what has a vector."""

    unit: WholeUnit | Literal["auto"] = "auto"
    """`words` (what white space separates, or the segmenter finds) or `characters`; `auto`:
    words."""
    segmenter: Literal["auto", "none", "jieba", "punctuation"] = "auto"
    """What parts words: `jieba` finds those of text without spaces, `punctuation` parts words from
    marks. `auto`: jieba where there are no spaces."""
    min_count: int = 5
    """Rarer words have no vector: they are left out of the text, and what stands around them moves
    together."""
    vocabulary_size: int = 0
    """The most ids, four markers among them; 0: all words that are frequent enough."""

    def __post_init__(self) -> None:
        refuse_beyond(self, {"vocabulary_size": MOST_IDS, "min_count": 1 << 40}, above="text.")
        refuse_below(self, {"vocabulary_size": 0, "min_count": 1}, above="text.")


@dataclass(frozen=True)
class VectorTraining:
    """How long and how fast is learned. A zero means: fitted, and said aloud."""

    epochs: int = 0
    """Times through the corpus; 0: 5, more for a corpus of under 4 million words, or as many as the
    budget allows."""
    max_steps: int = 0
    """Stretches of about 20,000 words to learn from, whatever `epochs` says; 0: as `epochs` says.
    Filled in where there is a budget."""
    budget: str = ""
    """Wall-clock time for all of training ("90s", "30m", "1h30m")."""
    learning_rate: float = 0.0
    """At the beginning; 0: 0.05 for cbow, 0.025 for skip-gram."""
    last_rate: float = 1e-4
    """At the end: the rate falls to it in a line."""
    thin: float = 1e-3
    """Words that are more than this share of the text are left out now and then, the more frequent
    the more often (Mikolov et al. 2013b, section 2.3); 0: never."""
    checkpoint_every: int = 0
    """Stretches between checkpoints; 0: every five minutes."""
    init_from: str = ""
    """A finished run, whose words and vectors this one begins with."""

    def __post_init__(self) -> None:
        whole = dict.fromkeys(("epochs", "max_steps", "checkpoint_every"), 10**9)
        least = dict.fromkeys((*whole, "learning_rate", "last_rate", "thin"), 0)
        refuse_below(self, least, above="training.")
        refuse_beyond(
            self, {**whole, "learning_rate": 10.0, "last_rate": 10.0, "thin": 1.0},
            above="training.",
        )  # fmt: skip
        seconds(self.budget)

    def last_step(self, n_stretches: int) -> int:
        """The last stretch, of a corpus that has so many."""
        return self.max_steps or self.epochs * n_stretches
