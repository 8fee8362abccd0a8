"""How often n-grams of every order come in a text, counted in memory that does not grow with it.

Windows of words are sorted in runs, runs are merged range by range, and every run and range is a
sealed folder: a count that was ended goes on where it was.
"""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headway.data.cache import made_once, reopened
from headway.data.ngram_orders import Closed, Position, continuations, prefixes, suffixes
from headway.data.ngram_runs import SortedRun, Span, n_ranges, ranges, write_run
from headway.data.ngram_windows import Packing, firsts, lines_from_begin, windows
from headway.disk import read_sealed, sealed_folder
from headway.errors import DataError
from headway.locks import Say

FORMAT = 1
"""Raised whenever the files change their meaning."""

RUN_WORDS = 1 << 22
"""Windows sorted at a time. Another number gives the same counts from other runs."""

_COPIED = 1 << 20  # numbers held at a time while files are joined


class Text(Protocol):
    """Rows of ids, each with its end marker, as a side of a `headway.data.store.Store`."""

    lengths: NDArray[np.int32]

    def read(self, begin: int, end: int) -> NDArray[np.unsignedinteger]:
        """The ids of some rows, end to end."""
        ...


@dataclass(frozen=True)
class Counting:
    """What is counted, and how."""

    order: int
    vocabulary_size: int
    begin: int
    """The id that is put before each line; no line has it."""
    continuations: bool
    """Of all n-grams but the longest, and those at the beginning of a line, count not how often
    they come but after how many different words, N1+(. w1 .. wn): Kneser-Ney's counts."""


class NgramCounts:
    """Counts of n-grams, sorted: keys as `headway.data.ngram_orders` has them, and a count each."""

    def __init__(self, directory: Path) -> None:
        """Open what was counted, after checking every byte of it.

        Raises:
            DataError: the folder is missing, damaged, or of another version.
        """
        self._directory = directory
        content = read_sealed(directory)
        if content.get("format") != FORMAT:
            raise DataError(
                f"counts of format {FORMAT} are needed; {directory} has format "
                f"{content.get('format')}. Delete it; they are made anew."
            )
        self.counting = Counting(**content["counting"])
        self.n_grams: tuple[int, ...] = tuple(content["n_grams"])
        """How many there are of each order; of order 1, the size of the vocabulary."""
        self.n_tokens: int = content["n_tokens"]
        """Words and ends of lines."""
        self._kind = np.dtype(content["counts"])

    def unigrams(self) -> NDArray[np.int64]:
        """The count of each word: [vocabulary]."""
        return np.fromfile(self._directory / "counts.1", self._kind).astype(np.int64)

    def keys_file(self, order: int) -> Path:
        """The keys of an order, 64-bit integers end to end."""
        return self._directory / f"keys.{order}"

    def contexts(self, order: int) -> Iterator[Closed]:
        """Keys and counts of an order from 2, some at a time; no context is cut apart."""
        keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        with (
            self.keys_file(order).open("rb") as keys_file,
            (self._directory / f"counts.{order}").open("rb") as counts_file,
        ):
            while True:
                more = np.fromfile(keys_file, np.int64, _COPIED)
                more_counts = np.fromfile(counts_file, self._kind, _COPIED)
                keys = np.concatenate([keys, more])
                counts = np.concatenate([counts, more_counts.astype(np.int64)])
                if not len(more):
                    break
                last = keys[-1] // self.counting.vocabulary_size * self.counting.vocabulary_size
                cut = int(np.searchsorted(keys, last))
                yield Closed(keys[:cut], counts[:cut])
                keys, counts = keys[cut:], counts[cut:]
        yield Closed(keys, counts)


def count_ngrams(text: Text, directory: Path, counting: Counting, say: Say) -> NgramCounts:
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


class _Counter:
    """One count under way, in a folder of its own."""

    def __init__(self, text: Text, work: Path, counting: Counting, say: Say) -> None:
        self._text, self._work, self._say = text, work, say
        self._counting, self._vocabulary_size = counting, counting.vocabulary_size
        self._packing = Packing.of(counting.order, counting.vocabulary_size)
        self._lengths = text.lengths
        self._with_suffixes = counting.continuations and counting.order > 1

    def count(self, directory: Path) -> None:
        pieces = self._pieces("prefixes")
        if not (pieces and pieces[-1][1]["last"]):
            runs = [
                SortedRun(folder, "windows", len(self._packing.widths), np.dtype(np.uint32))
                for folder in self._window_runs()
            ]
            pieces += self._merged(runs, pieces)
        for folder in self._work.glob("windows-*"):
            shutil.rmtree(folder)
        after = self._suffixes_merged(pieces) if self._with_suffixes else []
        with sealed_folder(directory) as (part, content):
            content |= self._joined(pieces, after, part)

    def _pieces(self, name: str) -> list[tuple[Path, dict[str, Any]]]:
        """The pieces that are done and whole."""
        found: list[tuple[Path, dict[str, Any]]] = []
        while True:
            folder = self._work / f"{name}-{len(found):05}"
            content = reopened(folder, lambda folder=folder: read_sealed(folder))  # type: ignore[misc]
            if content is None:
                return found
            found.append((folder, content))

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

    def _merged(
        self, runs: list[SortedRun], done: list[tuple[Path, dict[str, Any]]]
    ) -> list[tuple[Path, dict[str, Any]]]:
        """The n-grams of every order, from all ranges that are not done."""
        position = Position(**done[-1][1]["position"]) if done else Position()
        n_all, pieces = n_ranges(runs, RUN_WORDS), []
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
            pieces.append((folder, content))
            if not last:
                self._say(f"merged range {number + 1:,} of {n_all:,}")
        return pieces

    def _suffix_packing(self) -> Packing:
        return Packing.of(self._counting.order - 1, self._vocabulary_size)

    def _suffixes_merged(
        self, pieces: list[tuple[Path, dict[str, Any]]]
    ) -> list[tuple[Path, dict[str, Any]]]:
        """After how many words the n-grams of every order but the last stand."""
        packing, kind = self._suffix_packing(), np.dtype(np.uint8)
        runs = [SortedRun(one, "suffixes", len(packing.widths), kind) for one, _ in pieces]
        done = self._pieces("suffixes")
        position = Position(**done[-1][1]["position"]) if done else Position()
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
            done.append((folder, content))
        return done

    def _joined(
        self,
        pieces: list[tuple[Path, dict[str, Any]]],
        after: list[tuple[Path, dict[str, Any]]],
        part: Path,
    ) -> dict[str, Any]:
        """Write the files of `NgramCounts`, and give what it knows of them."""
        order, begin = self._counting.order, self._counting.begin
        position = Position(**pieces[-1][1]["position"])
        unigrams = sum(np.fromfile(one / "counts.1", np.int64) for one, _ in pieces)
        n_tokens = int(unigrams.sum() - unigrams[begin])
        kind = np.dtype(np.uint32 if unigrams.sum() < 1 << 32 else np.uint64)
        if after:
            n_lines = unigrams[begin]
            unigrams = sum(np.fromfile(one / "counts.1", np.int64) for one, _ in after)
            unigrams[begin] = n_lines
        unigrams.astype(kind).tofile(part / "counts.1")
        behind = Position(**after[-1][1]["position"]) if after else Position()
        first, last = begin, begin + 1  # the n-grams that begin with the begin marker
        for n in range(2, order + 1):
            ended = position.end(n)
            with (part / f"keys.{n}").open("wb") as file:
                for keys in _numbers([one / f"keys.{n}" for one, _ in pieces], ended.keys):
                    keys.tofile(file)
            counts = _numbers([one / f"counts.{n}" for one, _ in pieces], ended.counts)
            if after and n < order:
                keys = np.memmap(part / f"keys.{n}", np.int64, "r") if position.begun(n) else []
                first, last = (
                    int(np.searchsorted(keys, place * self._vocabulary_size))
                    for place in (first, last)
                )
                files = [one / f"counts.{n}" for one, _ in after]
                counts = _replaced(counts, _numbers(files, behind.end(n).counts), first, last)
            with (part / f"counts.{n}").open("wb") as file:
                for some in counts:
                    some.astype(kind).tofile(file)
        return {
            "format": FORMAT,
            "counting": asdict(self._counting),
            "n_grams": [self._vocabulary_size, *(position.begun(n) for n in range(2, order + 1))],
            "n_tokens": n_tokens,
            "counts": kind.name,
        }


def _numbers(files: list[Path], last: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """What some files hold, some at a time, and then `last`."""
    for path in files:
        with path.open("rb") as file:
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
