"""Section [training] of word vectors."""

from dataclasses import dataclass

from headway.core.errors import refuse_below, refuse_beyond
from headway.operations.time_budget import seconds


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
