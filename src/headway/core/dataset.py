"""From two text files to encoded rows, in memory: the same rows as `corpora/prepared.py` makes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import CleaningSettings, Pair, Report, clean_pairs, read_parallel
from headway.core.dedup_split import Draw, split_pairs
from headway.core.errors import ConfigError, refuse_below
from headway.core.rows import EncodedPairs, encoded
from headway.core.subword_training import fitted_vocabulary_size
from headway.core.subwords import Subwords, TextSettings


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
    files, where codes are kept as text and sub-words are learned from all of it. Raises
    ConfigError, DataError: a file cannot be used.
    """
    report, valid_report = Report(), Report()
    (source, target), *valid = data.files()
    held: list[Pair] | None = None
    if valid:
        held = list(clean_pairs(read_parallel(*valid[0], valid_report), data, valid_report))
    pairs = list(clean_pairs(read_parallel(source, target, report), data, report))
    draw = Draw(data.valid_size or None, len(pairs), seed)
    train, held = split_pairs(pairs, held, draw, report, valid_report, deduplicate=data.deduplicate)
    n_characters = sum(len(pair.source) + len(pair.target) for pair in train)
    subwords = Subwords.train(
        (side for pair in train for side in pair[:2]),
        vocabulary_size=text.vocabulary_size or fitted_vocabulary_size(len(train), n_characters),
    )
    rows, _ = encoded(train, subwords, data.max_length, report)
    valid_rows, places = encoded(held, subwords, data.max_length, valid_report)
    texts = [held[place][:2] for place in places]
    say(f"read {report.read:,} pairs, kept {report.kept:,} (dropped: {report.dropped_words()})")
    return Dataset(
        EncodedPairs(rows), EncodedPairs(valid_rows), texts, subwords, report, valid_report
    )
