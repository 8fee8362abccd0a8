"""A corpus cleaned piece by piece: all that a pair by itself can tell, done once and kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.files import read_whole_folder, reopened, whole_folder
from headway.data.pair_files import spelled
from headway.data.repeats import pair_hashes, text_hashes, write_run
from headway.text.cleaning import CleaningSettings, Pair, Report, clean_pairs

PIECE_PAIRS = 50_000
"""Pairs read for a piece. Another number gives the same corpus from other pieces."""
PIECE_CHARACTERS = 1 << 24
"""A piece ends with the pair that brings it to so many."""

ROW = np.dtype(
    [("file", "<u4"), ("line", "<u8"), ("source", "<u4"), ("target", "<u4"), ("copy", "?")]
)
"""Of a clean pair: which of the piece's `files`, its line, its characters, are its sides equal."""

Rows = NDArray[Any]


class Block(NamedTuple):
    """Pairs as they were read, in columns."""

    number: int
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    files: tuple[str, ...]
    lines: tuple[int, ...]

    def pairs(self) -> list[Pair]:
        """The same, pair by pair."""
        return list(map(Pair, self.sources, self.targets, self.files, self.lines))


class Piece(NamedTuple):
    """The clean pairs of a block, in a folder."""

    directory: Path
    n_rows: int
    files: list[str]
    report: Report
    """Counts what became of the block's pairs, but not that they were read."""

    def rows(self) -> Rows:
        """What is known of each pair: [rows]."""
        return np.fromfile(self.directory / "rows", ROW)

    def lines(self) -> list[bytes]:
        """Each pair as `source TAB target LF`, in UTF-8."""
        return (self.directory / "pairs.tsv").read_bytes().splitlines(keepends=True)

    def hashes(self, of: str) -> Path:
        """The run of hashes of each pair's `source`, `target`, or `pair` as a whole."""
        return self.directory / f"{of}.run"


def blocks(pairs: Iterable[Pair]) -> Iterator[Block]:
    """All pairs in their order, as many at a time as fit in memory."""
    held: list[Pair] = []
    n_characters = n_blocks = 0
    for pair in pairs:
        held.append(pair)
        n_characters += len(pair[0]) + len(pair[1])
        if len(held) == PIECE_PAIRS or n_characters >= PIECE_CHARACTERS:
            yield Block(n_blocks, *zip(*held, strict=True))
            held, n_characters, n_blocks = [], 0, n_blocks + 1
    if held:
        yield Block(n_blocks, *zip(*held, strict=True))


@dataclass(frozen=True)
class PieceCleaner:
    """Makes the piece of a block, or finds it made and whole."""

    root: Path
    settings: CleaningSettings

    def __call__(self, block: Block) -> Piece:
        """The piece of `block`.

        Raises:
            DataError: the disk is full or cannot be written to.
        """
        directory = self.root / f"clean-{block.number:05}"
        content = reopened(directory, lambda: read_whole_folder(directory), lambda _damage: None)
        if content is None:
            with whole_folder(directory) as (part, content):
                content.update(self._made(block, part))
        report = Report.from_dict(content["report"])
        return Piece(directory, content["n_rows"], content["files"], report)

    def _made(self, block: Block, part: Path) -> dict[str, Any]:
        report = Report()
        pairs = list(clean_pairs(block.pairs(), self.settings, report))
        files = list(dict.fromkeys(pair.file for pair in pairs))
        number = {file: i for i, file in enumerate(files)}
        rows = [(number[f], line, len(s), len(t), s == t) for s, t, f, line in pairs]
        np.array(rows, ROW).tofile(part / "rows")
        (part / "pairs.tsv").write_bytes(spelled(pairs))
        source = text_hashes([pair.source for pair in pairs])
        target = text_hashes([pair.target for pair in pairs])
        write_run(part / "source.run", source)
        write_run(part / "target.run", target)
        write_run(part / "pair.run", pair_hashes(source, target))
        return {"n_rows": len(pairs), "files": files, "report": report.as_dict()}
