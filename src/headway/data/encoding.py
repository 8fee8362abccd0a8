"""A cleaned corpus encoded piece by piece, by several processes, into one store."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from headway.data.cleaned import PIECES_ALONE, CleanedCorpus, Progress, Split
from headway.data.files import reopened
from headway.data.pair_files import Stretch
from headway.data.store import PairStore, Sides, StorePiece, join_stores, write_store
from headway.data.workers import in_order
from headway.text.cleaning import Pair, Report
from headway.text.subwords import Subwords


@dataclass(frozen=True)
class Encoding:
    """How the pairs of one split become ids."""

    cleaned: CleanedCorpus
    split: Split
    subwords: Subwords
    sides: Sides
    """Picklable."""
    max_length: int


@dataclass(frozen=True)
class _PieceEncoder:
    """Makes the store of one stretch of pairs, or finds it made and whole."""

    work: Path
    encoding: Encoding

    def __call__(self, stretch: Stretch) -> StorePiece:
        directory = self.work / f"encoded-{stretch.first:012}"
        store = reopened(directory, lambda: PairStore.open(directory), lambda _damage: None)
        if store is None:
            store = self._write(stretch, directory)
        return StorePiece(directory, stretch.first, store.content)

    def _write(self, stretch: Stretch, directory: Path) -> PairStore:
        dropped = Report()
        n_copies = 0

        def drop(reason: str, pair: Pair) -> None:
            nonlocal n_copies
            dropped.drop_pair(reason, pair)
            n_copies += pair.source == pair.target

        cleaned = self.encoding.cleaned
        return write_store(
            cleaned.pairs(self.encoding.split, stretch),
            self.encoding.subwords,
            directory,
            files=cleaned.files,
            max_length=self.encoding.max_length,
            sides=self.encoding.sides,
            on_drop=drop,
            known=lambda: {"report": dropped.as_dict(), "dropped_copies": n_copies},
        )


def encode(
    encoding: Encoding, directory: Path, work: Path, *, n_workers: int, progress: Progress
) -> PairStore:
    """Write the store of one split; its `content["report"]` also counts what was dropped here.

    Pieces go to `work`, and those that are there are used.

    Raises:
        CacheError: the disk is full or cannot be written to.
        WorkerError: the processes that share the work do not live.
    """
    cleaned, split = encoding.cleaned, encoding.split
    stretches = [some for some in cleaned.stretches[split] if some.n_pairs] or [Stretch(0, 0, 0)]
    done = in_order(
        _PieceEncoder(work, encoding), stretches, n_workers=n_workers, n_alone=PIECES_ALONE
    )
    pieces = []
    report = Report.from_dict(cleaned.reports[split].as_dict())
    n_pairs = report.kept
    with closing(done):
        for stretch, piece in zip(stretches, done, strict=True):
            progress("encoding", stretch.first + stretch.n_pairs, n_pairs)
            pieces.append(piece)
            dropped = Report.from_dict(piece.content["report"])
            report.add(dropped)
            report.kept -= dropped.dropped.total()
            report.noticed["copy"] -= piece.content["dropped_copies"]
    return join_stores(pieces, directory, {"report": report.as_dict()})
