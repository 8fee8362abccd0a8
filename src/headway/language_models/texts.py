"""Section [data] of a language model, and what is read by it: from text files to streams of ids."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from headway.core.config import Sections, build
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.lines import check_file, read_lines, shown
from headway.core.run_folder import RunFolder
from headway.corpora.store import SideEncoder, Store, cached_store
from headway.language_models.units import (
    BY_LETTERS,
    TokenUnit,
    Vocabulary,
    fitted_unit,
    learned_vocabulary,
)
from headway.operations.shipped import refuse_undecodable
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import Say, Sizes

COUNTING = ("ngram",)
"""Types of model that learn from every line: nothing is held out for them."""
HELD_OUT, MOST_HELD_OUT = 0.05, 5_000
"""Lines held out to validate on where no file is named: this share, and no more than so many."""
BLOCKS = 10
"""Held-out lines are taken from so many places, each a run of lines that belong together."""
REPEATED = 0.01
"""Of the characters that are validated on: where lines that are learned from as well make up so
many, it is said. Headings, which running text repeats, make up less."""
LEAST_LINES, LEAST_TOKENS = 20, 200
"""Fewer than this teach a neural model nothing and leave nothing to validate on."""


@dataclass(frozen=True)
class LanguageData:
    """Section [data]: which files."""

    corpus: tuple[Path, ...] = ()
    """Files of text to learn from, one sentence or paragraph a line."""
    valid_corpus: tuple[Path, ...] = ()
    """Files of text to validate on; held out of the corpus where there are none."""
    documents: bool | None = None
    """Whether blank lines part documents in the corpus. Filled in where it is not given."""

    def __post_init__(self) -> None:
        refuse_learned(self.corpus, self.valid_corpus)


def refuse_learned(corpus: Sequence[Path], valid_corpus: Sequence[Path]) -> None:
    """Raise ConfigError for a file that is both learned from and validated on."""
    for path in valid_corpus:
        if path in corpus:
            raise ConfigError(
                f"what is validated on must not be learned from; got {shown(path)} for both. "
                "Leave --valid-corpus out to have some of it held out."
            )


@dataclass
class ReadingReport:
    """What was met in files; complete when all lines were taken."""

    files: Sequence[Path]
    cut: Callable[[str], str] = str
    parted: bool = False
    """Whether a line of more than 1 MiB is read in pieces, and not left out."""
    n_lines: int = 0
    """With text in them."""
    n_blank: int = 0
    """Empty lines that are told: between documents and between files."""
    n_files_ended: int = 0
    """Those of them that stand between files."""
    n_characters: int = 0
    """As they stand in the files, in NFC; line ends not counted."""
    n_words: int = 0
    """Between white space, once the words are cut."""
    n_too_long: int = 0

    def lines(self) -> Iterator[str]:
        """Every line that has text; an empty one stands where blank lines part two of them, and
        between files."""
        self.n_lines = self.n_blank = self.n_characters = self.n_words = self.n_too_long = 0
        self.n_files_ended = 0
        for path in self.files:
            due, before = False, self.n_lines  # an empty line is told between two of text
            for line in read_lines(path, parted=self.parted):
                if line is None:
                    self.n_too_long += 1
                elif not line.strip():
                    due = True
                else:
                    another = self.n_lines == before
                    if self.n_lines and (due or another):
                        self.n_blank += 1
                        self.n_files_ended += another
                        yield ""
                    due = False
                    text = self.cut(line)
                    self.n_lines += 1
                    self.n_characters += composed_length(line)
                    self.n_words += len(text.split())
                    yield text

    @property
    def n_parted(self) -> int:
        """Where blank lines of the files themselves part two documents."""
        return self.n_blank - self.n_files_ended

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: read = kept + what was dropped."""
        return {
            "read": self.n_lines + self.n_too_long,
            "kept": self.n_lines,
            "dropped": {"line_too_long": self.n_too_long} if self.n_too_long else {},
            "blank": self.n_blank,
            "documents_parted": self.n_parted,
            "characters": self.n_characters,
            "words": self.n_words,
        }


def composed_length(line: str) -> int:
    """Characters of a line in NFC, as all text is brought to."""
    return len(unicodedata.normalize("NFC", line))


@dataclass(frozen=True)
class Texts:
    """Encoded text to learn from and to validate on: a `headway.runs.task_spec.Data`.

    Each row of the stores is a line with its end marker behind it; a blank line is that alone.
    """

    vocabulary: Vocabulary
    unit: TokenUnit
    train: Store
    valid: Store | None
    """None where every line is learned from."""
    reading: dict[str, Any]
    valid_reading: dict[str, Any]
    checksums: dict[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """What data.json says of what was read."""
        return {"train": self.reading, "valid": self.valid_reading}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json."""
        self.vocabulary.save(folder.tokenizer)


def refuse_unreadable(
    sections: Sections,
    kind: type = LanguageData,
    none: str = "a language model is learned from text; none is named. Give --corpus F [F2 ..]: "
    "one sentence or paragraph a line.",
) -> None:
    """Raise ConfigError or DataError for a file that cannot be read, before anything else is;
    `kind` is the dataclass of [data], `none` what is said where no file is named."""
    data: Any = build(kind, sections.get("data", {}), section="data")
    if not data.corpus:
        raise ConfigError(none)
    for path in (*data.corpus, *getattr(data, "valid_corpus", ())):
        check_file(path)
        refuse_undecodable(path.absolute())


def read(settings: Settings, vocabulary: Vocabulary | None, say: Say) -> Texts:
    """Read and encode the corpus; what is chosen, held out and dropped is said.

    Raises ConfigError or DataError where a file cannot be used, or too little is in it.
    """
    data, counting = settings.data, settings.model_type in COUNTING
    whole = ReadingReport(data.corpus)
    unit = fitted_unit(settings.text, settings.model_type, whole.lines, say)
    whole = ReadingReport(data.corpus, unit.cut)
    n_rows = sum(1 for _ in whole.lines())
    say(
        f"read {whole.n_lines:,} lines: {whole.n_words:,} words, {whole.n_characters:,} characters"
        f"{f', in documents parted by {whole.n_parted:,} blank lines' if whole.n_parted else ''}"
    )
    if whole.n_too_long:
        say(f"  dropped {whole.n_too_long:,} lines of more than 1 MiB")
    if not whole.n_lines:
        raise DataError("a corpus has text in it; all lines are blank. Give another file.")
    if not (data.valid_corpus or counting) and n_rows < LEAST_LINES:
        raise DataError(
            f"a neural model needs {LEAST_LINES} lines, some of which are held out; there are "
            f"{n_rows}. Give more text, or --valid-corpus, or count: --model.type ngram."
        )
    held_out = held_out_rows(n_rows) if not (data.valid_corpus or counting) else frozenset[int]()

    def lines(*, valid: bool, of: ReadingReport = whole) -> Iterator[str]:
        for number, line in enumerate(of.lines()):
            if (number in held_out) == valid:
                yield line

    uncut, beside = ReadingReport(data.corpus), ReadingReport(data.valid_corpus)
    held_lines = lines(valid=True, of=uncut) if held_out else beside.lines()
    say_repeated(lines(valid=False, of=uncut), held_lines, say)

    if vocabulary is None:
        train_lines = partial(lines, valid=False)
        by_letters = settings.model_type in BY_LETTERS
        others = ReadingReport(data.valid_corpus, unit.cut).lines
        also = partial(lines, valid=True) if held_out else others
        vocabulary = learned_vocabulary(
            settings.text, unit, train_lines,
            unlimited=counting or by_letters, also=also if by_letters else None,
            seed=settings.runtime.seed, say=say,
        )  # fmt: skip
    checksums = {str(path): checksum(path) for path in (*data.corpus, *data.valid_corpus)}
    stored = partial(_stored, vocabulary=vocabulary, unit=unit, say=say)
    some = {"files": [checksums[str(path)] for path in data.corpus], "held_out": len(held_out)}
    train = stored(partial(lines, valid=False), {**some, "part": "train"})
    reading = whole.as_dict()
    valid, valid_reading = None, dict[str, Any]()
    if held_out:
        valid = stored(partial(lines, valid=True), {**some, "part": "valid"})
        counts = counts_of(held_out, data.corpus, unit)
        valid_reading = {"held_out_of": [str(path) for path in data.corpus], **counts}
    elif data.valid_corpus:
        other = ReadingReport(data.valid_corpus, unit.cut)
        files = [checksums[str(path)] for path in data.valid_corpus]
        valid = stored(other.lines, {"files": files, "held_out": 0, "part": "all"})
        list(other.lines())
        valid_reading = other.as_dict()
        if other.n_too_long:
            say(f"  dropped {other.n_too_long:,} lines of more than 1 MiB from the validation text")
    n_tokens = len(train["text"].ids)
    if not counting and n_tokens < LEAST_TOKENS:
        raise DataError(
            f"a neural model needs {LEAST_TOKENS} tokens to learn from; there are {n_tokens:,}. "
            "Give more text, or count: --model.type ngram."
        )
    if valid is not None:
        held = " held out" if held_out else ""
        say(f"{len(valid):,} lines{held} for validation, {len(valid['text'].ids):,} tokens")
    return Texts(vocabulary, unit, train, valid, reading, valid_reading, checksums)


def held_out_rows(n_rows: int) -> frozenset[int]:
    """The rows that are held out: some blocks, evenly spread."""
    n_held_out = max(2, min(MOST_HELD_OUT, round(HELD_OUT * n_rows)))
    n_blocks = min(BLOCKS, n_held_out)
    size, apart = n_held_out // n_blocks, n_rows / n_blocks
    starts = [int((block + 0.5) * apart) for block in range(n_blocks)]
    return frozenset(row for start in starts for row in range(start, start + size))


def say_repeated(train: Iterable[str], valid: Iterable[str], say: Say) -> None:
    """How many lines that are validated on are learned from as well, if they are more than a
    text's headings; blank ones aside."""
    times = Counter(filter(None, valid))
    learned = {line for line in (train if times else ()) if line in times}
    n_all, n_learned = (
        sum(times[line] * len(line) for line in some) for some in (times.keys(), learned)
    )
    if learned and n_learned >= REPEATED * n_all:
        say(
            f"WARNING: {sum(map(times.__getitem__, learned)):,} of {times.total():,} lines to "
            f"validate on ({n_learned / n_all:.0%} of that text) are among those to learn from as "
            "well: scores are better than on new text"
        )


def counts_of(rows: frozenset[int], files: Sequence[Path], unit: TokenUnit) -> dict[str, int]:
    """How many words and characters some rows have; for data.json and the model card."""
    n_words = n_characters = 0
    for row, line in enumerate(ReadingReport(files).lines()):
        if row in rows:
            n_words += len(unit.cut(line).split())
            n_characters += composed_length(line)
    return {"kept": len(rows), "characters": n_characters, "words": n_words}


def _stored(
    lines: Callable[[], Iterator[str]],
    depends_on: dict[str, Any],
    *,
    vocabulary: Vocabulary,
    unit: TokenUnit,
    say: Say,
) -> Store:
    end = vocabulary.special.end

    def encode(texts: list[str]) -> list[list[int]]:
        return [[*ids, end] for ids in vocabulary.encode_batch(texts)]

    known = vocabulary.fingerprint(), unit.unit, unit.segmenter
    return cached_store(
        lambda: ((line,) for line in lines()),
        {"text": SideEncoder(encode, len(vocabulary), vocabulary.special.unknown)},
        {"task": "language-model", "lines": 2, "vocabulary": known, **depends_on},
        say=say,
    )


def complete(_given: Sections, settings: Settings, data: Texts) -> Sections:
    """What the data told: `TaskSpec.complete`."""
    parted = settings.data.documents
    if parted is None:
        parted = bool(data.reading["documents_parted"])
    stored = absolute_files(settings.data) | {"documents": parted}
    text = {
        "unit": data.unit.unit,
        "segmenter": data.unit.segmenter,
        "vocabulary_size": len(data.vocabulary),
    }
    return {"text": text, "data": stored}


def sizes(data: Texts) -> Sizes:
    """Tokens, line ends included."""
    n_tokens = len(data.train["text"].ids)
    return Sizes(n_tokens, n_tokens)
