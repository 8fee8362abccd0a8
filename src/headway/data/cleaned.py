"""The usable pairs of a corpus as clean text on disk, and what became of all the others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from headway.data.cache import Say, key_of, made_once, silent
from headway.data.fates import (
    DROPPED,
    HELD_OUT,
    KEPT,
    Draw,
    Fates,
    fates,
    rows_of_heaviest,
    spans,
)
from headway.data.pieces import (
    PIECE_CHARACTERS,
    PIECE_PAIRS,
    CleanPiece,
    Marks,
    Piece,
    PieceCleaner,
    blocks,
    in_order,
    write_piece,
)
from headway.disk import checksum, read_sealed, sealed_folder
from headway.runtime import available_cores
from headway.text.alignment import Screen
from headway.text.cleaning import EXAMPLES, CleaningSettings, Pair, Report
from headway.text.cleaning import VERSION as CLEANING_VERSION
from headway.text.corpora import Corpus, read_pairs

Progress = Callable[[str, int, int | None], None]
"""Hears what is being done, how many pairs are done, and of how many, if that is known."""
Split = Literal["train", "valid"]

LEAST_DRAWN_FROM = 400
"""A twentieth of so many is the least that says anything about a model."""

_FORMAT = 4
"""Raised whenever the same pairs give another folder."""


def unseen(_stage: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class CleanedCorpus:
    """Clean pairs in a folder of the cache, split into training and validation."""

    directory: Path
    reports: dict[Split, Report]
    """For validation pairs that were set aside here, `read` counts those pairs."""
    n_characters: int
    """Of the training pairs, both sides together."""
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""
    files: list[str]
    """The names that pairs say they are from."""
    pieces: dict[Split, list[Piece]]
    """Where the pairs can be read from, so that several processes share the work."""
    may_hold_codes: bool
    """Whether there is a pair with what may be codes on both sides."""

    def pairs(self, split: Split) -> Iterator[Pair]:
        """The clean pairs in the order of the files."""
        for piece in self.pieces[split]:
            yield from piece.pairs()

    def train_lines(self) -> Iterator[str]:
        """Every side of every training pair, to learn sub-words from."""
        for piece in self.pieces["train"]:
            yield from piece.sides()


def held_out_size(n_pairs: int) -> int:
    """How many pairs to set aside for validation: a twentieth, 20 to 1,000, never over a half."""
    return min(max(20, min(n_pairs // 20, 1_000)), n_pairs // 2)


def clean_corpus(
    corpus: Corpus,
    settings: CleaningSettings,
    root: Path,
    *,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    workers: int = 0,
    say: Say = silent,
    progress: Progress = unseen,
) -> CleanedCorpus:
    """Read, clean and split a corpus into the cache at `root`, or find it done there.

    Without `valid`, `hold_out` pairs (None: `held_out_size`) are set aside, drawn with `seed` from
    those whose sides occur once, as far as there are such, in the files with the highest weight: it
    says which text the model is for. Lighter files join them where they have under
    `LEAST_DRAWN_FROM` pairs. A training pair that shares its source
    or its target with a validation pair is dropped. Memory does not grow with the corpus, but for
    some bytes a pair.

    A large corpus is cleaned by `workers` processes (0: one for each core) with the same result.
    What was done when the process was ended is not done again by the next one.

    Raises:
        ConfigError, DataError: a file cannot be used (see `read_pairs`), or the cache cannot be
            written.
        WorkerError: the processes that share the work do not live.
    """
    corpus.check()
    if valid is not None:
        valid.check()
    files = [*corpus.files, *(valid.files if valid else ())]
    checksums = {str(path): checksum(path) for path in dict.fromkeys(files)}
    key = key_of(
        {
            "version": CLEANING_VERSION,
            "format": _FORMAT,
            "pieces": [PIECE_PAIRS, PIECE_CHARACTERS],
            "settings": asdict(settings),
            "corpora": [repr(corpus), repr(valid)],
            "checksums": checksums,
            "hold_out": hold_out if valid is None else 0,
            "seed": seed,
        }
    )
    directory = root / f"cleaned-{key}"

    def make(work: Path) -> None:
        steps = _Cleaning(work, settings, seed, workers or available_cores(), progress)
        with sealed_folder(directory) as (part, content):
            content.update(steps.run(part, corpus, valid, hold_out))

    return made_once(directory, lambda: _opened(directory, checksums), make, say)


def _opened(directory: Path, checksums: dict[str, str]) -> CleanedCorpus:
    content = read_sealed(directory)
    return CleanedCorpus(
        directory,
        {split: Report.from_dict(plain) for split, plain in content["reports"].items()},
        content["n_characters"],
        checksums,
        content["files"],
        {
            split: [Piece(directory, *of) for of in pieces]
            for split, pieces in content["pieces"].items()
        },
        content["may_hold_codes"],
    )


@dataclass(frozen=True)
class _Cleaning:
    """Two steps: pairs by themselves, piece by piece in `work`; then all of them together."""

    work: Path
    settings: CleaningSettings
    seed: int
    n_workers: int
    progress: Progress

    def run(
        self, part: Path, corpus: Corpus, valid: Corpus | None, hold_out: int | None
    ) -> dict[str, Any]:
        """Write the pieces of both splits to `part`, and say what is in them."""
        valid_reading, reading = Report(), Report()
        valid_clean = list(self._clean("valid", valid, valid_reading)) if valid else []
        clean = list(self._clean("train", corpus, reading))
        pieces = [one.piece for one in clean]
        fate = fates(
            pieces,
            [one.piece for one in valid_clean],
            self._draw(pieces, corpus, 0 if valid else hold_out),
            deduplicate=self.settings.deduplicate,
            both_ways=any(
                part.use.source_language or part.use.target_language for part in corpus.parts
            ),
        )
        splitter = _Splitter(part)
        for one, (piece, span) in zip(clean, spans(pieces), strict=True):
            self.progress("comparing", span.start, len(fate))
            splitter.take(piece, one.report, fate[span])
        valid_pieces = [one.piece.moved(part) for one in valid_clean]
        for one in valid_clean:
            valid_reading.add(one.report)
        if not valid:
            valid_pieces.append(write_piece(part, "valid-00000", splitter.held_out))
            for pair in splitter.held_out:
                valid_reading.read += 1
                valid_reading.keep(pair)
        train_report = _together(reading, splitter.finished_report(), corpus)
        both = {
            split: found or [write_piece(part, f"{split}-00000", [])]
            for split, found in (("train", splitter.pieces), ("valid", valid_pieces))
        }
        named = [*corpus.parts, *(valid.parts if valid else ())]
        return {
            "reports": {"train": train_report.as_dict(), "valid": valid_reading.as_dict()},
            "n_characters": splitter.n_characters,
            "files": list(dict.fromkeys(part.name for part in named)),
            "pieces": {split: [piece[1:] for piece in some] for split, some in both.items()},
            "may_hold_codes": any(one.may_hold_codes for one in clean),
        }

    def _clean(self, kind: Split, corpus: Corpus, reading: Report) -> Iterator[CleanPiece]:
        """Clean the blocks that are read, or find them done by a process that was ended."""
        cleaner = PieceCleaner(self.work, kind, self.settings)
        with closing(
            in_order(cleaner, blocks(read_pairs(corpus, reading)), self.n_workers)
        ) as done:
            for piece in done:
                self.progress("reading", reading.read, None)
                yield piece

    def _draw(self, pieces: Sequence[Piece], corpus: Corpus, hold_out: int | None) -> Draw:
        weights = {part.name: part.use.weight for part in corpus.parts}
        least = max(LEAST_DRAWN_FROM, 2 * (hold_out or 0))
        n_drawn_from = rows_of_heaviest(pieces, weights, least)
        wanted = held_out_size(n_drawn_from) if hold_out is None else hold_out
        return Draw(wanted, n_drawn_from, self.seed)


class _Splitter:
    """Marks in each piece what is kept, takes out what is held out, and counts both."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._screen = Screen()
        self._report = Report()
        self.pieces: list[Piece] = []
        self.held_out: list[Pair] = []
        self.n_characters = 0

    def take(self, piece: Piece, found: Report, fate: Fates) -> None:
        """Take the next piece; `fate` says what becomes of each pair: [rows of the piece]."""
        self._report.add(found)
        rows = piece.rows()
        for file, some in piece.rows_by_file():
            self._screen.add_lengths(file, some["source"], some["target"])
        for number, reason in DROPPED.items():
            self._drop(reason, piece, rows["copy"], np.flatnonzero(fate == number))
        if (held_out := fate == HELD_OUT).any():
            self.held_out += piece.pairs(held_out)
        kept = fate == KEPT
        self.n_characters += int(rows["source"][kept].sum() + rows["target"][kept].sum())
        self.pieces.append(piece.moved(self._folder, kept))

    def _drop(self, reason: str, piece: Piece, copies: Marks, dropped: NDArray[np.int64]) -> None:
        """Count pairs as dropped that the piece counts as kept, and show the first of them."""
        n_shown = EXAMPLES - len(self._report.examples.get(reason, []))
        shown = np.zeros(piece.n_rows, np.bool_)
        shown[dropped[:n_shown]] = True
        if shown.any():
            for pair in piece.pairs(shown):
                self._report.drop_kept(reason, pair)
        more = dropped[n_shown:]
        if len(more):
            self._report.kept -= len(more)
            self._report.dropped[reason] += len(more)
            self._report.noticed["copy"] -= int(copies[more].sum())

    def finished_report(self) -> Report:
        """What became of the pairs of all pieces, and where their sides seem not to go together."""
        if self._screen.suspicious():
            self._report.suspicions = _shifts(self.pieces)
        return self._report


def _shifts(pieces: Sequence[Piece]) -> list[str]:
    """Where the sides of a corpus do not go together, in words."""
    from headway.text.shifts import Place, ShiftDetector

    detector = ShiftDetector()
    for piece in pieces:
        for file, rows in piece.rows_by_file():
            columns = (rows[name].tolist() for name in ("source", "target", "line"))
            for source, target, line in zip(*columns, strict=True):
                detector.add_lengths(source, target, Place(file, line))
    return detector.suspicions()


def _together(reading: Report, cleaning: Report, corpus: Corpus) -> Report:
    """What was found while reading and after it; examples in the order of files and lines."""
    order = {part.name: number for number, part in enumerate(corpus.parts)}
    both = Report()
    both.add(reading)
    both.add(cleaning)
    for reason in reading.examples.keys() & cleaning.examples.keys():
        examples = reading.examples[reason] + cleaning.examples[reason]
        examples.sort(key=lambda example: (order.get(example.file, len(order)), example.line))
        both.examples[reason] = examples[:EXAMPLES]
    return both
