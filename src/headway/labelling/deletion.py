"""Which way of naming the words that decided is to be believed: the named words are removed.

The better way names words without which the label is less probable (comprehensiveness: DeYoung et
al. 2020, section 4.2). Words drawn at random say what removing any words costs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.labelling.evidence import LabelReader, TextInWords, named

K = 3
"""Words that are removed of a text."""
N_DRAWS, N_BOOTSTRAP, SEED = 5, 1000, 12345
"""How often random words are drawn of a text; how often texts are drawn for an interval."""
RANDOM = "random words"


class Fall(NamedTuple):
    """How far a probability falls, in points of a percentage: the mean of some texts, and its 95 %
    interval by bootstrap over texts."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, falls: Float[NDArray, " texts"]) -> "Fall":
        """Of each text's."""
        drawn = np.random.default_rng(SEED).integers(len(falls), size=(N_BOOTSTRAP, len(falls)))
        low, high = np.quantile(falls[drawn].mean(1), (0.025, 0.975))
        return cls(float(falls.mean()), float(low), float(high))

    def __str__(self) -> str:
        return f"{self.mean:z.1f} [{self.low:z.1f}, {self.high:z.1f}]"


@dataclass(frozen=True)
class DeletionTest:
    """What removing some words did to the probability of the label that was predicted."""

    falls: Mapping[str, Float[NDArray, " texts"]]
    """By the way that the words were named, `RANDOM` among them; in points."""
    k: int
    """Words that were removed."""

    @property
    def n(self) -> int:
        """Texts."""
        return len(self.falls[RANDOM])

    @property
    def believed(self) -> list[str]:
        """The way to believe: it costs more than random words and than the other ways, beyond
        chance; several where those are not told apart; none where none beats random words."""
        falls = {way: fall for way, fall in self.falls.items() if way != RANDOM}
        best = max(falls, key=lambda way: falls[way].mean())
        if Fall.of(falls[best] - self.falls[RANDOM]).low <= 0:
            return []
        return [w for w in falls if w == best or Fall.of(falls[best] - falls[w]).low <= 0]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        falls = {way: Fall.of(fall)._asdict() for way, fall in self.falls.items()}
        return {"falls": falls, "k": self.k, "n": self.n, "believed": self.believed}

    def told(self) -> str:
        """In words: what each costs, and what follows."""
        (way, first), *others = ((way, Fall.of(fall)) for way, fall in self.falls.items())
        costs = ", ".join(f"{name} {cost}" for name, cost in others)
        believed = self.believed
        advice = f"believe {believed[0]}" if believed else "believe none of them"
        if len(believed) > 1:
            advice = f"{' and '.join(believed)} are not told apart"
        return (
            f"{way} names words whose removal costs {first} points, {costs} ({self.k} words of "
            f"{self.n:,} texts): {advice}"
        )


def deletion_test(
    reader: LabelReader, texts: Sequence[TextInWords], k: int = K, seed: int = 1
) -> DeletionTest | None:
    """Of texts that have more than `k` words; None where there is none."""
    long = [text for text in texts if len(text.words) - (text.asked is not None) > k]
    if not long:
        return None
    before = reader.probs(long)
    labels = before.argmax(1).tolist()

    def fall(chosen: Sequence[Sequence[int]]) -> Float[NDArray, " texts"]:
        after = reader.probs([text.without(some) for text, some in zip(long, chosen, strict=True)])
        rows = range(len(long))
        found: NDArray[Any] = 100.0 * (before[rows, labels] - after[rows, labels])
        return found

    falls = {
        way: fall([named(one, k, text.asked) for one, text in zip(scores, long, strict=True)])
        for way, scores in reader.evidence(long, labels).items()
    }
    draw = np.random.default_rng(seed)
    random = [
        fall([named(draw.random(len(text.words)), k, text.asked) for text in long])
        for _ in range(N_DRAWS)
    ]
    return DeletionTest({**falls, RANDOM: np.mean(random, axis=0)}, k)
