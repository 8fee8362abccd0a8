"""The usable pairs of a corpus as clean text on disk, and what became of all the others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headway.data.cache import Say, key_of, made_once, silent
from headway.data.fates import DROPPED, HELD_OUT, KEPT, Draw, Fates, fates, spans
from headway.data.pieces import (
    PIECE_CHARACTERS,
    PIECE_PAIRS,
    CleanPiece,
    Marks,
    Piece,
    blocks,
    clean_block,
    in_order,
    write_piece,
)
from headway.disk import checksum, read_sealed, sealed_folder
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
        steps = _Cleaning(work, settings, seed, workers, progress)
        with sealed_folder(directory) as (part, content):
            content.update(steps.run(part, corpus, valid, hold_out))

    return made_once(directory, lambda: _opened(directory, checksums), make, say)


def _opened(directory: Path, checksums: dict[str, str]) -> CleanedCorpus:
    known = read_sealed(directory)
    reports = {split: Report.from_dict(plain) for split, plain in known.pop("reports").items()}
    pieces = {
        split: [Piece(directory, *of) for of in some] for split, some in known.pop("pieces").items()
    }
    return CleanedCorpus(directory, reports, pieces=pieces, checksums=checksums, **known)


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
        valid_report, read = Report(), Report()
        valid_clean = list(self._clean("valid", valid, valid_report)) if valid else []
        clean = list(self._clean("train", corpus, read))
        pieces = [one.piece for one in clean]
        uses = [part.use for part in corpus.parts]
        fate = fates(
            pieces,
            [one.piece for one in valid_clean],
            self._draw(pieces, corpus, 0 if valid else hold_out),
            deduplicate=self.settings.deduplicate,
            both_ways=any(use.source_language or use.target_language for use in uses),
        )
        splitter = _Splitter(part)
        for one, (piece, span) in zip(clean, spans(pieces), strict=True):
            self.progress("comparing", span.start, len(fate))
            splitter.take(piece, one.report, fate[span])
        for one in valid_clean:
            valid_report.add(one.report)
        for pair in splitter.held_out:
            valid_report.read += 1
            valid_report.keep(pair)
        both = {
            "train": splitter.pieces or [write_piece(part, "train-00000", [])],
            "valid": [one.piece.moved(part) for one in valid_clean]
            or [write_piece(part, "valid-00000", splitter.held_out)],
        }
        train_report = _together(read, splitter.finished_report(), corpus)
        named = [*corpus.parts, *(valid.parts if valid else ())]
        return {
            "reports": {"train": train_report.as_dict(), "valid": valid_report.as_dict()},
            "n_characters": splitter.n_characters,
            "files": list(dict.fromkeys(part.name for part in named)),
            "pieces": {split: [piece[1:] for piece in some] for split, some in both.items()},
            "may_hold_codes": any(one.may_hold_codes for one in clean),
        }

    def _clean(self, kind: Split, corpus: Corpus, read: Report) -> Iterator[CleanPiece]:
        """Clean the blocks that are read, or find them done by a process that was ended."""
        clean = partial(clean_block, self.work, kind, self.settings)
        with closing(in_order(clean, blocks(read_pairs(corpus, read)), self.n_workers)) as done:
            for piece in done:
                self.progress("reading", read.read, None)
                yield piece

    def _draw(self, pieces: Sequence[Piece], corpus: Corpus, hold_out: int | None) -> Draw:
        n_drawn_from = sum(piece.n_rows for piece in pieces)
        weights = {part.name: part.use.weight for part in corpus.parts}
        if len(set(weights.values())) > 1:
            from headway.data.weighted import rows_of_heaviest

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
            if (dropped := fate == number).any():
                self._drop(reason, piece, dropped, n_copies=int(rows["copy"][dropped].sum()))
        if (held_out := fate == HELD_OUT).any():
            self.held_out += piece.pairs(held_out)
        kept = fate == KEPT
        self.n_characters += int(rows["source"][kept].sum() + rows["target"][kept].sum())
        self.pieces.append(piece.moved(self._folder, kept))

    def _drop(self, reason: str, piece: Piece, dropped: Marks, *, n_copies: int) -> None:
        """Count pairs as dropped that the piece counts as kept, and show the first of them."""
        report = self._report
        n_dropped = report.dropped[reason] + int(dropped.sum())
        report.kept -= int(dropped.sum())
        report.noticed["copy"] -= n_copies
        n_shown = EXAMPLES - len(report.examples.get(reason, []))
        for pair in piece.pairs(dropped & (np.cumsum(dropped) <= n_shown)):
            report.drop_pair(reason, pair)
        report.dropped[reason] = n_dropped

    def finished_report(self) -> Report:
        """What became of the pairs of all pieces, and where their sides seem not to go together."""
        if self._screen.suspicious():
            from headway.text.shifts import suspicions

            files = chain.from_iterable(piece.rows_by_file() for piece in self.pieces)
            self._report.suspicions = suspicions(files)
        return self._report


def _together(read: Report, cleaned: Report, corpus: Corpus) -> Report:
    """What was found while reading and after it; examples in the order of files and lines."""
    order = {part.name: number for number, part in enumerate(corpus.parts)}
    both = Report()
    both.add(read)
    both.add(cleaned)
    for reason in read.examples.keys() & cleaned.examples.keys():
        examples = read.examples[reason] + cleaned.examples[reason]
        examples.sort(key=lambda example: (order.get(example.file, len(order)), example.line))
        both.examples[reason] = examples[:EXAMPLES]
    return both
