"""What training held: how long its texts were, how many sentences, how long their translations."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np

from headway.core.config import build
from headway.core.errors import ConfigError, RunError
from headway.languages.scripts import script_counts
from headway.languages.sentences import AtOnce, sentence_ends
from headway.localization.placeholders.may_hold import may_hold_sentences

SAMPLE = 4_000  # training pairs that are looked at
MOSTLY_SINGLE = 0.9
"""Share of texts of one sentence from which a training is said to have held single sentences."""
_BUCKETS = 6
_LEAST_SPREAD = 0.05
_LEVELS = {"50%": 50, "90%": 90, "99%": 99, "99.9%": 99.9, "100%": 100}

T = TypeVar("T")


@dataclass(frozen=True)
class Expansion:
    """How long the translations of texts up to some length are."""

    characters: int
    """Of the source, at most; more in the last one."""
    ratio: float
    """Characters of the targets for each of the sources."""
    shorter: float
    """The same where one in six is shorter, as a share of it: below 1."""
    longer: float
    """Where one in six is longer: above 1."""


@dataclass(frozen=True)
class TrainingStats:
    """Figures of a sample of the training texts; nothing is known of an earlier version's run."""

    texts: int = 0
    """How many were looked at."""
    subwords: Mapping[str, int] = field(default_factory=dict)
    """Quantiles of the lengths of sources, by name: "50%", "90%", "99%", "99.9%", "100%"."""
    single: float = 1.0
    """Share of sources that are a single sentence."""
    sentences: int = 1
    """99 in 100 sources have no more."""
    expansion: tuple[Expansion, ...] = ()
    """Short sources first."""
    scripts: Mapping[str, float] = field(default_factory=dict)
    """Share of the letters of targets by script."""
    languages: tuple[str | None, str | None] = (None, None)
    """Of sources and targets, where they are known and one."""
    words: frozenset[str] = frozenset()
    """Of all sources, where they are few and each was seen often; else none."""

    def __post_init__(self) -> None:
        figures = (self.subwords, self.scripts, *map(vars, self.expansion))
        numbers = [number for table in figures for number in table.values()]
        if min(self.single, self.sentences, *numbers) <= 0:
            raise ConfigError("lengths and shares are above 0")

    @property
    def at_once(self) -> AtOnce:
        """How much text a model takes at once."""
        single = self.single >= MOSTLY_SINGLE
        return AtOnce(1 if single else self.sentences, self.subwords.get("99.9%"))

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "words": sorted(self.words)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "TrainingStats":
        return from_checks(cls, plain)


def from_checks(kind: type[T], plain: Mapping[str, Any]) -> T:
    """A part of checks.json, as its `as_dict` gave it; of nothing, what knows of nothing.

    Raises RunError: it is something else.
    """
    try:
        return build(kind, plain, section="checks")
    except (ConfigError, AttributeError):
        raise RunError(
            "checks.json of a run says what its training held and how far its translations are to "
            "be trusted; this one says something else. Take it from a copy of the run, or delete "
            "it: texts are then cut into sentences, and there are no confidences."
        ) from None


def measured(
    pairs: Sequence[tuple[str, str]],
    lengths: Sequence[int],
    languages: tuple[str | None, str | None] = (None, None),
) -> TrainingStats:
    """The figures of some pairs of texts, whose sources have these lengths in sub-words."""
    n_sentences = [
        1 + len(sentence_ends(source, languages[0])) if may_hold_sentences(source) else 1
        for source, _ in pairs
    ]
    longest = np.percentile(lengths, [*_LEVELS.values()], method="higher")
    letters = sum((script_counts(target) for _, target in pairs), Counter[str]())
    return TrainingStats(
        texts=len(pairs),
        subwords={name: int(value) for name, value in zip(_LEVELS, longest, strict=True)},
        single=round(n_sentences.count(1) / len(pairs), 4) or 1e-4,
        sentences=int(np.percentile(n_sentences, 99, method="higher")),
        expansion=tuple(_expansion(pairs)),
        scripts={name: round(n / letters.total(), 6) or 1e-6 for name, n in letters.most_common()},
        languages=languages,
    )


def _expansion(pairs: Sequence[tuple[str, str]]) -> Iterable[Expansion]:
    """In as many classes of length as there are texts for, of 50 at least."""
    sizes = np.array([(len(source) + 1, len(target) + 1) for source, target in pairs], float)
    sizes = sizes[sizes[:, 0].argsort(kind="stable")]
    for part in np.array_split(sizes, max(1, min(_BUCKETS, len(pairs) // 50))):
        middle = np.log(part[:, 1].sum() / part[:, 0].sum())
        low, high = np.percentile(np.log(part[:, 1] / part[:, 0]), [100 / 6, 500 / 6])
        spread = max(middle - low, _LEAST_SPREAD), max(high - middle, _LEAST_SPREAD)
        figures = np.exp([middle, -spread[0], spread[1]]).round(4).tolist()
        yield Expansion(int(part[-1, 0]) - 1, *figures)
