"""From two text files to encoded rows, in memory: the same rows as `corpora/prepared.py` caches."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.batching import SIDES, StoredIds, id_type, refusal
from headway.core.cleaning import CleaningSettings, Pair, Report, clean_pairs, read_parallel
from headway.core.dedup_split import DROPPED, HELD_OUT, KEPT, Draw, dedup_split, in_memory
from headway.core.errors import ConfigError, refuse_below
from headway.core.subword_training import fitted_vocabulary_size
from headway.core.subwords import Subwords, TextSettings

_CHUNK = 2_000  # pairs encoded at a time


@dataclass(frozen=True)
class PairsSettings(CleaningSettings):
    """Section [data]: two text files, and two to validate on."""

    source: tuple[Path, ...] = ()
    """Texts to learn from, one sentence a line."""
    target: tuple[Path, ...] = ()
    """Their translations, in the same order."""
    valid_source: tuple[Path, ...] = ()
    """Texts to validate on."""
    valid_target: tuple[Path, ...] = ()
    """Their translations."""
    valid_size: int = 0
    """Pairs held out for validation when no files are given for it; 0 fits it to the corpus."""
    source_language: str | None = None
    """Code of the source's language."""
    target_language: str | None = None
    """Code of the target's language."""
    max_length: int = 256
    """The longest side of a pair that is kept, in sub-words without markers; 0 for any."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"valid_size": 0, "max_length": 0}, above="data.")

    def files(self) -> list[tuple[Path, Path]]:
        """The two to learn from, and the two to validate on, if any."""
        sides = self.source, self.target, self.valid_source, self.valid_target
        if [*map(len, sides)] not in ([1, 1, 0, 0], [1, 1, 1, 1]):
            raise ConfigError(
                "headway.core learns from one source file and one target file, and validates on "
                f"two or none; got {[*map(len, sides)]} files. headway train takes more."
            )
        files = [path for side in sides for path in side]
        return [(files[i], files[i + 1]) for i in range(0, len(files), 2)]


class EncodedPairs:
    """Ids of pairs, without markers, in memory."""

    def __init__(self, rows: Sequence[Sequence[StoredIds]]) -> None:
        """Take source and target of each pair."""
        self._sides = {name: [row[place] for row in rows] for place, name in enumerate(SIDES)}
        self.lengths: dict[str, NDArray[np.int32]] = {
            name: np.fromiter(map(len, side), np.int32, len(side))
            for name, side in self._sides.items()
        }
        """Of each side in ids: [rows]."""

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._sides["source"])

    def __getitem__(self, side: str) -> Sequence[StoredIds]:
        """One side: `pairs["source"][i]` are the source ids of pair i: [length]."""
        return self._sides[side]


class Dataset(NamedTuple):
    """What a training on pairs needs."""

    train: EncodedPairs
    valid: EncodedPairs
    valid_texts: list[tuple[str, str]]
    """Source and target of pair i of `valid`, as cleaned text."""
    subwords: Subwords
    report: Report
    valid_report: Report


def prepare_in_memory(
    data: PairsSettings,
    text: TextSettings,
    *,
    seed: int = 1,
    say: Callable[[str], None] = lambda _message: None,
) -> Dataset:
    """Read, clean, split and encode two text files; learn their sub-words; say what was dropped.

    These are the pairs, their order and ids that `headway.corpora.prepared` gives of the same
    files, where codes are kept as text and sub-words are learned from all of it.

    Raises:
        ConfigError, DataError: a file cannot be used.
    """
    report, valid_report = Report(), Report()
    (source, target), *valid = data.files()
    valid_pairs: list[Pair] = []
    if valid:
        valid_pairs = list(clean_pairs(read_parallel(*valid[0], valid_report), data, valid_report))
    pairs = list(clean_pairs(read_parallel(source, target, report), data, report))
    outcome = dedup_split(
        [in_memory(pairs)],
        [in_memory(valid_pairs)],
        Draw.of(len(pairs), 0 if valid else data.valid_size or None, seed),
        deduplicate=data.deduplicate,
    )
    becomes: dict[int, list[Pair]] = {number: [] for number in (KEPT, *DROPPED)}
    for pair, number in zip(pairs, outcome.tolist(), strict=True):
        becomes[number].append(pair)
    for number, reason in DROPPED.items():
        dropped = becomes[number]
        copies = Counter(copy=sum(pair.source == pair.target for pair in dropped))
        if dropped:
            report.drop_kept(reason, len(dropped), copies, dropped)
    if not valid:
        valid_pairs = becomes[HELD_OUT]
        valid_report.read = len(valid_pairs)
        for pair in valid_pairs:
            valid_report.keep(pair)
    train = becomes[KEPT]
    n_characters = sum(len(pair.source) + len(pair.target) for pair in train)
    subwords = Subwords.train(
        (side for pair in train for side in pair[:2]),
        vocabulary_size=text.vocabulary_size or fitted_vocabulary_size(len(train), n_characters),
    )
    rows, _ = _encoded(train, subwords, data.max_length, report)
    valid_rows, kept = _encoded(valid_pairs, subwords, data.max_length, valid_report)
    texts = [pair[:2] for pair in kept]
    why = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in report.dropped.items())
    say(f"read {report.read:,} pairs, kept {report.kept:,} (dropped: {why or 'none'})")
    return Dataset(rows, valid_rows, texts, subwords, report, valid_report)


def _encoded(
    pairs: Iterable[Pair], subwords: Subwords, max_length: int, report: Report
) -> tuple[EncodedPairs, list[Pair]]:
    """The pairs that are short enough, as ids and as text; `report` counts the others."""
    kind = id_type(len(subwords))
    pairs, rows, kept = list(pairs), list[tuple[StoredIds, StoredIds]](), list[Pair]()
    for start in range(0, len(pairs), _CHUNK):
        some = pairs[start : start + _CHUNK]
        sources = subwords.encode_batch([pair.source for pair in some])
        targets = subwords.encode_targets([pair.target for pair in some])
        for pair, left, right in zip(some, sources, targets, strict=True):
            if reason := refusal((len(left), len(right)), max_length):
                report.drop_kept(reason, 1, Counter(copy=pair.source == pair.target), [pair])
                continue
            rows.append((np.array(left, kind), np.array(right, kind)))
            kept.append(pair)
    return EncodedPairs(rows), kept
