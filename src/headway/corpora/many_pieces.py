"""A corpus cleaned piece by piece: by several processes, in little memory, gone on with when ended.

What a pair by itself can tell is found once for each piece and kept in a folder of its own. Only
its hashes, 16 bytes, are held in memory against those of all other pairs.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from headway.core.cleaning import Pair, Report, clean_pairs
from headway.core.dedup_split import DROPPED, KEPT, Marks, PairHashes, dedup_split, hashed
from headway.core.runtime import available_cores
from headway.corpora.cache import read_sealed, reopened, sealed_folder
from headway.corpora.corpus import Corpus, read_pairs
from headway.corpora.pieces import (
    CleanedPairs,
    Cleaning,
    Piece,
    add_report,
    report_from,
    taken_out,
    write_piece,
)
from headway.corpora.settings import NotedCleaning
from headway.localization.placeholders.may_hold import may_hold_codes

PIECE_PAIRS = 50_000
"""Pairs read for a piece. Another number gives the same corpus from other pieces."""
PIECE_CHARACTERS = 1 << 24
"""A piece ends with the pair that brings it to so many."""
PIECES_ALONE = 4
"""Pieces that one process does sooner than it starts others: a corpus of 200,000 pairs."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def cleaned_in_pieces(
    cleaning: Cleaning, work: Path, n_workers: int
) -> Callable[[Path], CleanedPairs]:
    """Clean a corpus piece by piece in `work`, where some may be done; what then fills a folder.

    That is to be opened no sooner: one in which nothing changes for a day is swept.
    """
    read, cleaned, valid_report = Report(), Report(), Report()
    clean = partial(_clean, cleaning, work, n_workers)
    valid = list(clean("valid", cleaning.valid, valid_report)) if cleaning.valid else []
    train = list(clean("train", cleaning.corpus, read))
    n_rows: Counter[str] = Counter()
    for one in train:
        for file, rows in one.piece.rows_by_file():
            n_rows[file] += len(rows)
    outcome = dedup_split(
        hashes(one.piece for one in train),
        hashes(one.piece for one in valid),
        cleaning.corpus.draw(n_rows, 0 if cleaning.valid else cleaning.hold_out, cleaning.seed),
        deduplicate=cleaning.settings.deduplicate,
        both_ways=cleaning.corpus.both_ways,
    )
    for one in train:
        add_report(cleaned, one.report)
    for one in valid:
        add_report(valid_report, one.report)

    def fill(part: Path) -> CleanedPairs:
        pieces, held_out, start = [], [], 0
        for piece, _, _ in train:
            cleaning.progress("comparing", start, len(outcome))
            own = outcome[start : start + piece.n_rows]
            held_out += taken_out(piece, own, cleaned)
            pieces.append(moved(piece, part, own == KEPT))
            start += piece.n_rows
        for reason in filter(cleaned.dropped.__contains__, DROPPED.values()):  # in their order
            cleaned.dropped[reason] = cleaned.dropped.pop(reason)
            cleaned.examples[reason] = cleaned.examples.pop(reason)
        valid_pieces = [moved(one.piece, part) for one in valid]
        return CleanedPairs(
            train=pieces or [write_piece(part, "train-00000", [])],
            valid=valid_pieces or [write_piece(part, "valid-00000", [])],
            held_out=held_out,
            read=read,
            cleaned=cleaned,
            valid_report=valid_report,
            may_hold_codes=any(one.may_hold_codes for one in train),
        )

    return fill


def moved(piece: Piece, folder: Path, kept: Marks | None = None) -> Piece:
    """The same in another folder, with other pairs used; the text is not copied."""
    rows = piece.rows()
    if kept is not None:
        rows["kept"] = kept
    rows.tofile(folder / f"{piece.name}.rows")
    text = f"{piece.name}.tsv"
    try:
        os.link(piece.folder / text, folder / text)
    except OSError:  # a file system without links
        shutil.copyfile(piece.folder / text, folder / text)
    return piece._replace(folder=folder, n_kept=int(rows["kept"].sum()))


class PairColumns(NamedTuple):
    """Pairs as they were read, in columns: sources, targets, files, lines."""

    number: int
    columns: tuple[tuple[Any, ...], ...]

    def pairs(self) -> list[Pair]:
        return list(map(Pair, *self.columns))


def blocks(pairs: Iterable[Pair]) -> Iterator[PairColumns]:
    """All pairs in their order, as many at a time as fit in memory."""
    for number, held in enumerate(portions(pairs, PIECE_PAIRS, PIECE_CHARACTERS)):
        yield PairColumns(number, tuple(zip(*held, strict=True)))


def portions(pairs: Iterable[Pair], most_pairs: int, most_characters: int) -> Iterator[list[Pair]]:
    """All pairs in their order, so many at a time, fewer where one brings them to so many
    characters."""
    held, n_characters = list[Pair](), 0
    for pair in pairs:
        held.append(pair)
        n_characters += len(pair.source) + len(pair.target)
        if len(held) == most_pairs or n_characters >= most_characters:
            yield held
            held, n_characters = [], 0
    if held:
        yield held


class CleanPiece(NamedTuple):
    """A piece, and what was found on the way to it."""

    piece: Piece
    report: Report
    """Counts what became of the block's pairs, but not that they were read."""
    may_hold_codes: bool
    """On both sides of some pair."""


def clean_block(work: Path, kind: str, settings: NotedCleaning, block: PairColumns) -> CleanPiece:
    """Make the piece KIND-00000 (for block 0) in a folder in `work`, or find it made and whole.

    Raises:
        DataError: the disk is full or cannot be written to.
    """
    name = f"{kind}-{block.number:05}"
    directory = work / name
    content = reopened(directory, lambda: read_sealed(directory))
    if content is None or not {*content["files"]} <= {*block.columns[2]}:  # other names then
        with sealed_folder(directory) as (part, content):
            content.update(_cleaned(block, settings, part, name))
    n_rows = content["n_rows"]
    piece = Piece(directory, name, content["files"], n_rows, n_rows)
    return CleanPiece(piece, report_from(content["report"]), content["may_hold_codes"])


def _cleaned(block: PairColumns, settings: NotedCleaning, part: Path, name: str) -> dict[str, Any]:
    report = Report()
    pairs = list(clean_pairs(block.pairs(), settings, report, settings.judge))
    piece = write_piece(part, name, pairs)
    np.concatenate(hashed(pairs)).tofile(part / f"{name}.hashes")
    return {
        "n_rows": piece.n_rows,
        "files": piece.files,
        "report": report.as_dict(),
        "may_hold_codes": any(may_hold_codes(s) and may_hold_codes(t) for s, t, *_ in pairs),
    }


def hashes(pieces: Iterable[Piece]) -> PairHashes:
    """Of all pairs of some pieces, one after the other."""
    files = (one.folder / f"{one.name}.hashes" for one in pieces)
    both = [np.fromfile(file, np.uint64).reshape(2, -1) for file in files]
    return PairHashes(*np.concatenate([np.zeros((2, 0), np.uint64), *both], axis=1))


def _clean(
    cleaning: Cleaning, work: Path, n_workers: int, kind: str, corpus: Corpus, read: Report
) -> Iterator[CleanPiece]:
    """Clean the blocks that are read, or find them done by a process that was ended."""
    clean = partial(clean_block, work, kind, cleaning.settings)
    with closing(in_order(clean, blocks(read_pairs(corpus, read)), n_workers)) as done:
        for piece in done:
            cleaning.progress("reading", read.read, None)
            yield piece


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_workers: int
) -> Generator[Result, None, None]:
    """`work(task)` for each task, in order; `n_workers` processes share all but `PIECES_ALONE`.

    For 0 there is one process for each core.

    Raises:
        Exception: see `headway.operations.processes.shared`.
    """
    remaining = iter(tasks)
    n_workers = n_workers or available_cores()
    yield from map(work, islice(remaining, None if n_workers == 1 else PIECES_ALONE))
    for task in remaining:  # at least one is left
        from headway.operations.processes import may_fork, shared

        left = chain([task], remaining)
        if not may_fork():
            yield from map(work, left)
            return
        early: dict[int, Result] = {}
        next_one = 0
        with closing(shared(work, left, n_workers)) as done:
            for number, result in done:
                early[number] = result
                while next_one in early:
                    yield early.pop(next_one)
                    next_one += 1
