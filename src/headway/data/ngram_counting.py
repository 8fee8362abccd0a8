"""Counting n-grams of every order in memory that does not grow with the text.

Windows of words are sorted in runs, runs are merged range by range, and every run and range is a
sealed folder: a count that was ended goes on where it was.
"""

import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.data.cache import made_once, reopened
from headway.data.ngram_counts import FORMAT, Counting, NgramCounts
from headway.data.ngram_orders import ReadPosition, continuations, prefixes, suffixes
from headway.data.ngram_runs import SortedRun, Span, n_ranges, ranges, write_run
from headway.data.ngram_windows import Packing, firsts, lines_from_begin, windows
from headway.disk import read_sealed, sealed_folder
from headway.locks import Say

RUN_WORDS = 1 << 21
"""Windows sorted at a time. Another number gives the same counts from other runs."""

_COPIED = 1 << 20  # numbers held at a time while files are joined


@runtime_checkable
class IdRows(Protocol):
    """Rows of ids, each with its end marker, as a side of a `headway.data.store.Store`."""

    lengths: NDArray[np.int32]

    def read(self, begin: int, end: int) -> NDArray[np.unsignedinteger]:
        """The ids of some rows, end to end."""
        ...


def count_ngrams(text: IdRows, directory: Path, counting: Counting, say: Say) -> NgramCounts:
    """The counts of a text, which are in `directory` or are put there.

    Raises:
        DiskError: the disk is full or cannot be written to.
    """
    return made_once(
        directory,
        lambda: NgramCounts(directory),
        lambda work: _Counter(text, work, counting, say).count(directory),
        say,
    )


class SortedFolder(NamedTuple):
    """A sealed folder, and what is known of it."""

    folder: Path
    content: dict[str, Any]

    @property
    def position(self) -> ReadPosition:
        """Where the next piece goes on."""
        return ReadPosition(**self.content["position"])


class _Counter:
    """One count under way, in a folder of its own."""

    def __init__(self, text: IdRows, work: Path, counting: Counting, say: Say) -> None:
        self._text, self._work, self._say = text, work, say
        self._counting, self._vocabulary_size = counting, counting.vocabulary_size
        self._packing = Packing.of(counting.order, counting.vocabulary_size)
        self._lengths = text.lengths
        self._with_suffixes = counting.continuations and counting.order > 1

    def count(self, directory: Path) -> None:
        pieces = self._pieces("prefixes")
        if not (pieces and pieces[-1].content["last"]):
            runs = [
                SortedRun(folder, "windows", len(self._packing.widths), np.dtype(np.uint32))
                for folder in self._window_runs()
            ]
            pieces += self._merged(runs, pieces)
        for folder in self._work.glob("windows-*"):
            shutil.rmtree(folder)
        after = self._suffixes_merged(pieces) if self._with_suffixes else []
        with sealed_folder(directory) as (part, content):
            content.update(self._joined(pieces, after, part))

    def _pieces(self, name: str) -> list[SortedFolder]:
        """The pieces that are done and whole."""
        found: list[SortedFolder] = []
        while True:
            folder = self._work / f"{name}-{len(found):05}"
            content = reopened(folder, lambda folder=folder: read_sealed(folder))  # type: ignore[misc]
            if content is None:
                return found
            found.append(SortedFolder(folder, content))

    def _window_runs(self) -> Iterator[Path]:
        """Sort the windows of some lines at a time."""
        ends = np.cumsum(self._lengths + np.int64(1))
        row = number = 0
        while row < len(ends):
            first = int(ends[row - 1]) if row else 0
            behind = max(row + 1, int(np.searchsorted(ends, first + RUN_WORDS, side="right")))
            folder = self._work / f"windows-{number:05}"
            if reopened(folder, lambda folder=folder: read_sealed(folder)) is None:  # type: ignore[misc]
                with sealed_folder(folder) as (part, _):
                    write_run(part, "windows", self._sorted(row, behind))
                if behind < len(ends):
                    self._say(f"sorted the windows of {behind:,} of {len(ends):,} lines")
            yield folder
            row, number = behind, number + 1

    def _sorted(self, row: int, behind: int) -> Span:
        counting = self._counting
        lengths = self._lengths[row:behind]
        ids = self._text.read(row, behind)
        sequence = lines_from_begin(ids, lengths, counting.begin)
        columns = self._packing.pack(windows(sequence, counting.order, counting.begin))
        order, numbers = self._packing.order(columns)
        starts = firsts(numbers)
        counts = np.diff(starts, append=len(numbers)).astype(np.uint32)
        return Span([column[order[starts]] for column in columns], counts)

    def _merged(self, runs: list[SortedRun], done: list[SortedFolder]) -> list[SortedFolder]:
        """The n-grams of every order, from all ranges that are not done."""
        position = done[-1].position if done else ReadPosition()
        n_all, pieces = n_ranges(runs, RUN_WORDS), list[SortedFolder]()
        suffix_packing = self._suffix_packing() if self._with_suffixes else None
        for number, span in enumerate(ranges(runs, RUN_WORDS, len(done)), start=len(done)):
            folder = self._work / f"prefixes-{number:05}"
            with sealed_folder(folder) as (part, content):
                begin = self._counting.begin
                found = prefixes(
                    span, self._packing, position, begin=begin,
                    vocabulary_size=self._vocabulary_size,
                )  # fmt: skip
                found.unigrams.tofile(part / "counts.1")
                for order, closed in found.closed.items():
                    closed.keys.tofile(part / f"keys.{order}")
                    closed.counts.tofile(part / f"counts.{order}")
                if suffix_packing:
                    write_run(part, "suffixes", suffixes(found, suffix_packing, begin))
                last = number + 1 == n_all
                content |= {"position": asdict(position), "last": last}
            pieces.append(SortedFolder(folder, content))
            if not last:
                self._say(f"merged range {number + 1:,} of {n_all:,}")
        return pieces

    def _suffix_packing(self) -> Packing:
        return Packing.of(self._counting.order - 1, self._vocabulary_size)

    def _suffixes_merged(self, pieces: list[SortedFolder]) -> list[SortedFolder]:
        """After how many words the n-grams of every order but the last stand."""
        packing, kind = self._suffix_packing(), np.dtype(np.uint8)
        runs = [SortedRun(one.folder, "suffixes", len(packing.widths), kind) for one in pieces]
        done = self._pieces("suffixes")
        position = done[-1].position if done else ReadPosition()
        for number, span in enumerate(ranges(runs, RUN_WORDS, len(done)), start=len(done)):
            folder = self._work / f"suffixes-{number:05}"
            with sealed_folder(folder) as (part, content):
                unigrams, closed = continuations(
                    span, packing, position, begin=self._counting.begin,
                    vocabulary_size=self._vocabulary_size,
                )  # fmt: skip
                unigrams.tofile(part / "counts.1")
                for order, counts in closed.items():
                    counts.tofile(part / f"counts.{order}")
                content["position"] = asdict(position)
            done.append(SortedFolder(folder, content))
        return done

    def _joined(
        self,
        pieces: list[SortedFolder],
        after: list[SortedFolder],
        part: Path,
    ) -> dict[str, Any]:
        """Write the files of `NgramCounts`, and give what it knows of them."""
        order, begin = self._counting.order, self._counting.begin
        position = pieces[-1].position
        behind = after[-1].position if after else ReadPosition()
        unigrams = _summed(pieces)
        n_lines, n_windows = int(unigrams[begin]), int(unigrams.sum())
        kind = np.dtype(np.uint32 if n_windows < 1 << 32 else np.uint64)
        if after:
            unigrams = _summed(after)
            unigrams[begin] = n_lines
        unigrams.astype(kind).tofile(part / "counts.1")
        first, last = begin, begin + 1  # the n-grams that begin with the begin marker
        for n in range(2, order + 1):
            ended = position.end(n)
            with (part / f"keys.{n}").open("wb") as file:
                for keys in _numbers(pieces, f"keys.{n}", ended.keys):
                    keys.tofile(file)
            counts = _numbers(pieces, f"counts.{n}", ended.counts)
            if after and n < order:
                if position.begun(n):  # an empty file cannot be mapped
                    sorted_keys = np.memmap(part / f"keys.{n}", np.int64, "r")
                    edges = np.array([first, last]) * self._vocabulary_size
                    first, last = np.searchsorted(sorted_keys, edges).tolist()
                others = _numbers(after, f"counts.{n}", behind.end(n).counts)
                counts = _replaced(counts, others, first, last)
            with (part / f"counts.{n}").open("wb") as file:
                for some in counts:
                    some.astype(kind).tofile(file)
        return {
            "format": FORMAT,
            "counting": asdict(self._counting),
            "n_grams": [self._vocabulary_size, *(position.begun(n) for n in range(2, order + 1))],
            "n_tokens": n_windows - n_lines,
            "counts": kind.name,
        }


def _summed(pieces: list[SortedFolder]) -> NDArray[np.int64]:
    """How often each word came, in all pieces: [vocabulary]."""
    each = [np.fromfile(piece.folder / "counts.1", np.int64) for piece in pieces]
    total: NDArray[np.int64] = np.sum(each, axis=0)
    return total


def _numbers(
    pieces: list[SortedFolder], name: str, last: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """What the files of that name hold, some at a time, and then `last`."""
    for piece in pieces:
        with (piece.folder / name).open("rb") as file:
            while len(some := np.fromfile(file, np.int64, _COPIED)):
                yield some
    yield last


def _replaced(
    all_: Iterator[NDArray[np.int64]], others: Iterator[NDArray[np.int64]], first: int, last: int
) -> Iterator[NDArray[np.int64]]:
    """The others, with what `all_` has from place `first` up to `last` put between them."""
    waiting, n_given = np.zeros(0, np.int64), 0
    for some in all_:
        places = np.arange(n_given, n_given + len(some))
        kept = (places >= first) & (places < last)
        wanted = len(some) - int(kept.sum())
        while len(waiting) < wanted:
            waiting = np.concatenate([waiting, next(others)])
        given = some.copy()
        given[~kept], waiting = waiting[:wanted], waiting[wanted:]
        n_given += len(some)
        yield given
