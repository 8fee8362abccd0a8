"""A corpus cleaned piece by piece: all that a pair by itself can tell, done once and kept."""

import hashlib
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, compress, count, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.data.cache import reopened
from headway.disk import read_sealed, sealed_folder
from headway.runtime import available_cores
from headway.text.cleaning import CleaningSettings, Pair, Report, clean_pairs
from headway.text.code_hint import may_hold_codes

PIECE_PAIRS = 50_000
"""Pairs read for a piece. Another number gives the same corpus from other pieces."""
PIECE_CHARACTERS = 1 << 24
"""A piece ends with the pair that brings it to so many."""
PIECES_ALONE = 4
"""Pieces that one process does sooner than it starts others: a corpus of 200,000 pairs."""

_ROW = np.dtype(
    [("file", "<u4"), ("line", "<u8"), ("source", "<u4"), ("target", "<u4"), ("copy", "?"),
     ("kept", "?")]
)  # fmt: skip
"""Of a clean pair: which of the piece's `files`, its line, its characters, are its sides equal, and
is it used."""

Hashes = NDArray[np.uint64]
Rows = NDArray[Any]
Marks = NDArray[np.bool_]
Task = TypeVar("Task")
Result = TypeVar("Result")


class PairHashes(NamedTuple):
    """Of each source, each target, and each pair as a whole: [rows]."""

    source: Hashes
    target: Hashes
    pair: Hashes


class Piece(NamedTuple):
    """Some clean pairs in a row: `NAME.tsv` holds `source TAB target LF`, `NAME.rows` the rest."""

    folder: Path
    name: str
    files: list[str]
    n_rows: int
    n_kept: int
    """Of these, how many are used; the others are there still, and passed over."""

    def rows(self) -> Rows:
        """What is known of each pair: [rows]."""
        return np.fromfile(self.folder / f"{self.name}.rows", _ROW)

    def rows_by_file(self) -> Iterator[tuple[str, Rows]]:
        """The rows of each file that stand together."""
        rows = self.rows()
        ends = np.flatnonzero(np.diff(rows["file"])) + 1
        for some in np.split(rows, ends) if len(rows) else ():
            yield self.files[some["file"][0]], some

    def hashes(self) -> PairHashes:
        """Of all rows; only while the corpus is being cleaned."""
        both = np.fromfile(self.folder / f"{self.name}.hashes", np.uint64)
        source, target = np.split(both, 2)
        return PairHashes(source, target, pair_hashes(source, target))

    def pairs(self, chosen: Marks | None = None) -> Iterator[Pair]:
        """The pairs that are used, or those that are `chosen`, in order."""
        rows = self.rows()
        chosen = rows["kept"] if chosen is None else chosen
        files, lines = rows["file"][chosen].tolist(), rows["line"][chosen].tolist()
        for text, file, line in zip(self._lines(chosen), files, lines, strict=True):
            source, _, target = text[:-1].decode("utf-8").partition("\t")
            yield Pair(source, target, self.files[file], line)

    def sides(self) -> Iterator[str]:
        """Each source that is used, followed by its target."""
        text = b"".join(self._lines(self.rows()["kept"])).decode("utf-8")
        yield from text.replace("\t", "\n").split("\n")[:-1]

    def _lines(self, chosen: Marks) -> Iterator[bytes]:
        with (self.folder / f"{self.name}.tsv").open("rb") as file:
            yield from compress(file, chosen.tolist())

    def moved(self, folder: Path, kept: Marks | None = None) -> "Piece":
        """The same in another folder, with other pairs used; the text is not copied."""
        rows = self.rows()
        if kept is not None:
            rows["kept"] = kept
        rows.tofile(folder / f"{self.name}.rows")
        text = f"{self.name}.tsv"
        try:
            os.link(self.folder / text, folder / text)
        except OSError:  # a file system without links
            shutil.copyfile(self.folder / text, folder / text)
        return self._replace(folder=folder, n_kept=int(rows["kept"].sum()))


def write_piece(folder: Path, name: str, pairs: list[Pair]) -> Piece:
    """Write clean pairs, which hold neither a tab nor a line end."""
    files = list(dict.fromkeys(pair.file for pair in pairs))
    number = {file: i for i, file in enumerate(files)}
    rows = [(number[f], line, len(s), len(t), s == t, True) for s, t, f, line in pairs]
    np.array(rows, _ROW).tofile(folder / f"{name}.rows")
    text = "".join([f"{source}\t{target}\n" for source, target, *_ in pairs])
    (folder / f"{name}.tsv").write_bytes(text.encode("utf-8"))
    return Piece(folder, name, files, len(pairs), len(pairs))


def text_hashes(texts: Sequence[str]) -> Hashes:
    """Eight bytes of each text: two of 5 million are confused once in 10^6 corpora: [texts]."""
    found = (hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(found), "<u8")


def pair_hashes(source: Hashes, target: Hashes) -> Hashes:
    """One hash for both sides of each pair; exchanging the sides changes it."""
    mixed = source * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (target << np.uint64(31)) | (target >> np.uint64(33))
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


class Block(NamedTuple):
    """Pairs as they were read, in columns: sources, targets, files, lines."""

    number: int
    columns: tuple[tuple[Any, ...], ...]

    def pairs(self) -> list[Pair]:
        """The same, pair by pair."""
        return list(map(Pair, *self.columns))


def blocks(pairs: Iterable[Pair]) -> Iterator[Block]:
    """All pairs in their order, as many at a time as fit in memory."""
    remaining = iter(pairs)
    for number in count():
        held: list[Pair] = []
        n_characters = 0
        for pair in islice(remaining, PIECE_PAIRS):
            held.append(pair)
            n_characters += len(pair[0]) + len(pair[1])
            if n_characters >= PIECE_CHARACTERS:
                break
        if not held:
            return
        yield Block(number, tuple(zip(*held, strict=True)))


class CleanPiece(NamedTuple):
    """A piece, and what was found on the way to it."""

    piece: Piece
    report: Report
    """Counts what became of the block's pairs, but not that they were read."""
    may_hold_codes: bool
    """On both sides of some pair."""


def clean_block(work: Path, kind: str, settings: CleaningSettings, block: Block) -> CleanPiece:
    """Make the piece KIND-00000 (for block 0) in a folder in `work`, or find it made and whole.

    Raises:
        DataError: the disk is full or cannot be written to.
    """
    name = f"{kind}-{block.number:05}"
    directory = work / name
    content = reopened(directory, lambda: read_sealed(directory))
    if content is None:
        with sealed_folder(directory) as (part, content):
            content.update(_cleaned(block, settings, part, name))
    n_rows = content["n_rows"]
    piece = Piece(directory, name, content["files"], n_rows, n_rows)
    return CleanPiece(piece, Report.from_dict(content["report"]), content["may_hold_codes"])


def _cleaned(block: Block, settings: CleaningSettings, part: Path, name: str) -> dict[str, Any]:
    report = Report()
    pairs = list(clean_pairs(block.pairs(), settings, report))
    piece = write_piece(part, name, pairs)
    sides = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    np.concatenate([text_hashes(side) for side in sides]).tofile(part / f"{name}.hashes")
    return {
        "n_rows": piece.n_rows,
        "files": piece.files,
        "report": report.as_dict(),
        "may_hold_codes": any(may_hold_codes(p[0]) and may_hold_codes(p[1]) for p in pairs),
    }


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_workers: int
) -> Generator[Result, None, None]:
    """`work(task)` for each task, in order; `n_workers` processes share all but `PIECES_ALONE`.

    For 0 there is one process for each core.

    Raises:
        WorkerError, Exception: see `headway.data.workers.shared`.
    """
    remaining = iter(tasks)
    n_workers = n_workers or available_cores()
    yield from map(work, islice(remaining, None if n_workers == 1 else PIECES_ALONE))
    for task in remaining:  # at least one is left
        from headway.data.workers import shared

        yield from shared(work, chain([task], remaining), n_workers)


# -- which of many hashes occur more than once ---------------------------------------------------

AT_ONCE = 1 << 21
"""Rows compared at a time, each of 50 bytes or so."""


class Repeats(NamedTuple):
    """Two marks for each row: [rows]."""

    later: Marks
    """The same value stands further up."""
    shared: Marks
    """The same value stands elsewhere."""


def repeats(hashes: Hashes) -> Repeats:
    """Mark the rows whose hash occurs more than once."""
    order = np.argsort(hashes, kind="stable")  # equal values stay in the order of their rows
    same = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    later = np.zeros(len(hashes), np.bool_)
    later[order[same + 1]] = True
    shared = later.copy()
    shared[order[same]] = True
    return Repeats(later, shared)
