"""Section [data] of word vectors, and what is read by it: from text files to stretches of ids."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.config import Sections
from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.core.run_folder import RunFolder
from headway.core.subword_training import SPECIAL_PIECES
from headway.core.subwords import MOST_IDS
from headway.corpora.store import SideEncoder, Store, cached_store
from headway.language_models import texts
from headway.language_models.texts import ReadingReport
from headway.language_models.units import LanguageText, TokenUnit, fitted_unit
from headway.languages.segmenting import has_marks
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import Say, Sizes
from headway.tokenizers.words import WholeUnit, Words
from headway.word2vec.settings import VectorText

BLOCK_CHARACTERS = 4_000
"""Lines are stored together until they have so many. A longer one is cut, at a space if there is
one, and nothing is context across the cut."""
STRETCH_IDS = 20_000
"""About so many are learned from at a time: that is a step."""
MOST_COUNTED = 3_000_000
"""Different words that are counted at once: beyond, the rarest are forgotten."""
MANY_MARKS = 0.03
"""A larger share of words with punctuation at an end is said: it is about a tenth of plain text."""


@dataclass(frozen=True)
class VectorData:
    """Section [data]: which files."""

    corpus: tuple[Path, ...] = ()
    """Files of text to learn from, one sentence or paragraph a line."""


class EncodedLines(NamedTuple):
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

    def stretch(self, number: int) -> EncodedLines:
        """One of them, read from the disk: no page of a mapped file stays in memory."""
        first, behind = self.bounds[number], self.bounds[number + 1]
        ids = self.store["text"].read(int(first), int(behind)).astype(np.uint32)
        inside = ids != self.vocabulary.special.end
        ends = np.flatnonzero(~inside)
        lengths = np.diff(ends, prepend=-1) - 1
        return EncodedLines(ids[inside], lengths.astype(np.int32))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How often each id occurs; markers never do: [ids]."""
        found = np.zeros(len(self.vocabulary), np.int64)
        for number in range(len(self)):
            found += np.bincount(self.stretch(number).ids, minlength=len(found))
        return found


refuse_unreadable = partial(
    texts.refuse_unreadable,
    kind=VectorData,
    none="word vectors are learned from text; none is named. Give --corpus F [F2 ..]: one sentence "
    "or paragraph a line.",
)
"""See `headway.language_models.texts.refuse_unreadable`."""


def read(settings: Settings, vocabulary: Words | None, say: Say) -> VectorCorpus:
    """Count the words of a corpus, and encode it; what is chosen and dropped is said.

    Raises ConfigError or DataError where a file cannot be used, or too little is in it.
    """
    files, text = settings.data.corpus, settings.text
    whole: WholeUnit = "words" if text.unit == "auto" else text.unit
    asked = LanguageText(unit=whole, segmenter=text.segmenter)
    unit = fitted_unit(asked, "", ReadingReport(files, parted=True).lines, say)
    if vocabulary is None:
        n_bytes = sum(path.stat().st_size for path in files)
        say(f"reads {n_bytes / 1e6:,.1f} MB: once to count {whole}, once to encode them")
        reading, counted = ReadingReport(files, unit.cut, parted=True), WordCounts()
        split = Words([], whole).split
        for line in reading.lines():
            counted.add(split(line))
        met = reading.as_dict()
        words, characters = met["words"], met["characters"]
        say(f"read {met['kept']:,} lines: {words:,} words, {characters:,} characters")
        if dropped := sum(met["dropped"].values()):
            say(f"  dropped {dropped:,} lines of more than 1 MiB without spaces")
        vocabulary = vocabulary_of(counted, whole, text, say)
    sums = {str(path): checksum(path) for path in files}
    again = ReadingReport(files, unit.cut, parted=True)
    store = stored(again, [*sums.values()], unit, vocabulary, say)
    if not len(store):
        raise DataError(
            "a corpus has words that have vectors; none of this one's has. Give another text, or "
            "train without --init-from."
        )
    return VectorCorpus(vocabulary, unit, store, sums)


class WordCounts:
    """How often words occur. Memory is bounded: where there are too many, the rarest go.

    As in word2vec, each time a higher count is too rare, and a word that is forgotten is counted
    from 0 again: too low by at most 1 + 2 + .. + `forgotten_below`.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        self.counts, self.most = Counter[str](), most
        self.forgotten_below = 0

    def add(self, words: Iterable[str]) -> None:
        """Count some words."""
        self.counts.update(words)
        while len(self.counts) > self.most:
            self.forgotten_below += 1
            rare = [word for word, n in self.counts.items() if n <= self.forgotten_below]
            for word in rare:
                del self.counts[word]


def vocabulary_of(counted: WordCounts, unit: WholeUnit, text: VectorText, say: Say) -> Words:
    """The words that have vectors, the most frequent first.

    Raises DataError where they are fewer than two.
    """
    counts = counted.counts
    for piece in [one for one in counts if one in SPECIAL_PIECES or one.isspace()]:
        del counts[piece]
    n_all, most = counts.total(), text.vocabulary_size - len(SPECIAL_PIECES)
    if counted.forgotten_below:
        say(
            f"over {counted.most:,} different {unit}: the rarest were forgotten on the way, so "
            f"rare {unit} may be missing, and counts too low"
        )
    limit = max(2, most) if text.vocabulary_size else MOST_IDS - len(SPECIAL_PIECES)
    words = Words.learned(counts, unit, min_count=text.min_count, most=limit)
    n_words = len(words) - len(SPECIAL_PIECES)
    if n_words < 2:
        few = [f"{word} ({n:,} times)" for word, n in counts.most_common(3)]
        raise DataError(
            f"word vectors tell {unit} apart that occur {text.min_count} times or more "
            f"(--text.min-count); there are {n_words} of {len(counts):,} different ones"
            f"{': ' if few else ''}{', '.join(few)}. Give more text, or lower it."
        )
    with_marks = sum(n for word, n in counts.items() if has_marks(word)) / n_all
    if unit == "words" and with_marks > MANY_MARKS:
        say(
            f"{with_marks:.0%} of the text are words with punctuation at an end (such as "
            f"{next(filter(has_marks, words.pieces(range(len(words)))), 'word,')!r}), which are "
            "others than those without: --text.segmenter punctuation parts them"
        )
    known = sum(n for word, n in counts.items() if words.has(word))
    say(
        f"{n_words:,} {unit} of {len(counts):,} different ones have vectors (at least "
        f"{text.min_count} times); they are {known / n_all:.1%} of the text"
    )
    return words


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
    text = {**asdict(data.unit), "vocabulary_size": len(data.vocabulary)}
    return {"text": text, "data": absolute_files(settings.data)}


def sizes(data: VectorCorpus) -> Sizes:
    """Words that have vectors, ends of lines included."""
    n_ids = int(data.n_ids.sum())
    return Sizes(n_ids, n_ids)
