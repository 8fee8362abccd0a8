"""Section [data] of word vectors, and what is read by it: from text files to stretches of ids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.config import Sections, build
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.lines import check_file
from headway.core.run_folder import RunFolder
from headway.corpora.store import SideEncoder, Store, cached_store
from headway.language_models.texts import ReadingReport
from headway.language_models.units import TokenUnit
from headway.operations.shipped import refuse_undecodable
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import Say, Sizes
from headway.tokenizers.words import Words
from headway.word2vec.text import WordCounts, unit_of, vocabulary_of

BLOCK_CHARACTERS = 4_000
"""Lines are stored together until they have so many. A longer one is cut, at a space if there is
one, and nothing is context across the cut."""
STRETCH_IDS = 20_000
"""About so many are learned from at a time: that is a step."""


@dataclass(frozen=True)
class VectorData:
    """Section [data]: which files."""

    corpus: tuple[Path, ...] = ()
    """Files of text to learn from, one sentence or paragraph a line."""


class Stretch(NamedTuple):
    """Some lines of a corpus."""

    ids: NDArray[np.uint32]
    """Of all words that have vectors, end to end: [words]."""
    lengths: NDArray[np.int32]
    """Of each line: [lines]."""


@dataclass(frozen=True)
class VectorCorpus:
    """Encoded text that stays on the disk: a `headway.runs.task_spec.Data`.

    A row of the store is a block of lines, each with an end marker behind it.
    """

    vocabulary: Words
    unit: TokenUnit
    store: Store
    checksums: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """What data.json says of what was read."""
        return {"train": self.store.content["reading"]}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json."""
        self.vocabulary.save(folder.tokenizer)

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """The rows at which stretches begin, and the end: [stretches + 1]."""
        behind = np.cumsum(self.store["text"].lengths, dtype=np.int64)
        marks = np.arange(STRETCH_IDS, behind[-1], STRETCH_IDS)
        return np.unique([0, *(np.searchsorted(behind, marks) + 1), len(behind)])

    @cached_property
    def n_ids(self) -> NDArray[np.int64]:
        """In each stretch, ends of lines included: [stretches]."""
        return np.add.reduceat(self.store["text"].lengths.astype(np.int64), self.bounds[:-1])

    def __len__(self) -> int:
        """How many stretches there are."""
        return len(self.bounds) - 1

    def stretch(self, number: int) -> Stretch:
        """One of them, read from the disk: no page of a mapped file stays in memory."""
        first, behind = self.bounds[number], self.bounds[number + 1]
        ids = self.store["text"].read(int(first), int(behind)).astype(np.uint32)
        inside = ids != self.vocabulary.special.end
        ends = np.flatnonzero(~inside)
        lengths = np.diff(ends, prepend=-1) - 1
        return Stretch(ids[inside], lengths.astype(np.int32))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each id occurs; markers never do: [ids]."""
        found = np.zeros(len(self.vocabulary), np.int64)
        for number in range(len(self)):
            found += np.bincount(self.stretch(number).ids, minlength=len(found))
        return found


def refuse_unreadable(sections: Sections) -> None:
    """Raise ConfigError or DataError for a file that cannot be read, before anything else is."""
    data = build(VectorData, sections.get("data", {}), section="data")
    if not data.corpus:
        raise ConfigError(
            "word vectors are learned from text; none is named. Give --corpus F [F2 ..]: one "
            "sentence or paragraph a line."
        )
    for path in data.corpus:
        check_file(path)
        refuse_undecodable(path.absolute())


def read(settings: Settings, vocabulary: Words | None, say: Say) -> VectorCorpus:
    """Count the words of a corpus, and encode it; what is chosen and dropped is said.

    Raises ConfigError or DataError where a file cannot be used, or too little is in it.
    """
    files, text = settings.data.corpus, settings.text
    unit = unit_of(text, ReadingReport(files, parted=True).lines, say)
    if vocabulary is None:
        n_bytes = sum(path.stat().st_size for path in files)
        say(f"reads {n_bytes / 1e6:,.1f} MB: once to count {unit.unit}, once to encode them")
        reading, counted = ReadingReport(files, unit.cut, parted=True), WordCounts()
        split = Words([], whole(unit)).split
        for line in reading.lines():
            counted.add(split(line))
        say_read(reading.as_dict(), say)
        vocabulary = vocabulary_of(counted, whole(unit), text, say)
    sums = {str(path): checksum(path) for path in files}
    again = ReadingReport(files, unit.cut, parted=True)
    store = stored(again, [*sums.values()], unit, vocabulary, say)
    if not len(store):
        raise DataError(
            "a corpus has words that have vectors; none of this one's has. Give another text, or "
            "train without --init-from."
        )
    return VectorCorpus(vocabulary, unit, store, sums)


def whole(unit: TokenUnit) -> Any:
    """Words or characters: never sub-words here."""
    return unit.unit


def say_read(reading: dict[str, Any], say: Say) -> None:
    """What was read and dropped."""
    say(
        f"read {reading['kept']:,} lines: {reading['words']:,} words, "
        f"{reading['characters']:,} characters"
    )
    if dropped := sum(reading["dropped"].values()):
        say(f"  dropped {dropped:,} lines of more than 1 MiB without spaces")


def stored(
    reading: ReadingReport, checksums: Sequence[str], unit: TokenUnit, vocabulary: Words, say: Say
) -> Store:
    """The encoded text, made once and kept in the cache, with what was met in it."""

    def rows() -> Iterator[tuple[str]]:
        block, n_characters = list[str](), 0
        for piece in chain.from_iterable(map(pieces, reading.lines())):
            block.append(piece)
            n_characters += len(piece)
            if n_characters >= BLOCK_CHARACTERS:
                yield ("\n".join(block),)
                block, n_characters = [], 0
        yield ("\n".join(block),)

    return cached_store(
        rows,
        {"text": SideEncoder(partial(encoded, vocabulary=vocabulary), len(vocabulary))},
        {
            "task": "word-vectors",
            "vocabulary": (vocabulary.fingerprint(), unit.unit, unit.segmenter),
            "files": checksums,
            "longest": BLOCK_CHARACTERS,
        },
        say=say,
        known=lambda: {"reading": reading.as_dict()},
    )


def encoded(blocks: list[str], *, vocabulary: Words) -> list[list[int]]:
    """The known words of each line of each block, an end marker behind them; no empty lines."""
    special, found = vocabulary.special, []
    for block in blocks:
        row = list[int]()
        for line in block.split("\n"):
            if ids := [one for one in vocabulary.encode(line) if one != special.unknown]:
                row += [*ids, special.end]
        found.append(row)
    return found


def pieces(line: str) -> Iterator[str]:
    """A line in pieces of at most `BLOCK_CHARACTERS`."""
    while len(line) > BLOCK_CHARACTERS:
        at = line.rfind(" ", 1, BLOCK_CHARACTERS)
        at = BLOCK_CHARACTERS if at < 0 else at
        yield line[:at]
        line = line[at:]
    yield line


def complete(_given: Sections, settings: Settings, data: VectorCorpus) -> Sections:
    """What the data told: `TaskSpec.complete`."""
    text = {
        "unit": data.unit.unit,
        "segmenter": data.unit.segmenter,
        "vocabulary_size": len(data.vocabulary),
    }
    return {"text": text, "data": absolute_files(settings.data)}


def sizes(data: VectorCorpus) -> Sizes:
    """Words that have vectors, ends of lines included."""
    n_ids = int(data.n_ids.sum())
    return Sizes(n_ids, n_ids)
