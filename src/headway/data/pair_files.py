"""Clean pairs as text on disk, each with the place that it came from."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.text.cleaning import Pair

_LINE_BITS = 40  # a place is one number: which file, and which line of it
_PLACE = np.dtype("<u8")
_ROWS = 2_000  # pairs that are read at a time
_BYTES = 1 << 20


class Stretch(NamedTuple):
    """Some pairs that stand one after the other."""

    first: int
    """How many pairs stand before them."""
    n_pairs: int
    offset: int
    """Where their text begins, in bytes."""


class PairWriter:
    """Writes `NAME.tsv` (one `source TAB target` a line) and `NAME.places` into a folder.

    Clean text holds neither a tab nor a line end. `files` collects the names of the files that
    pairs come from, and is needed for reading.
    """

    def __init__(self, folder: Path, name: str, files: list[str]) -> None:
        """Open the two files; use it in a `with` block."""
        self._text = (folder / f"{name}.tsv").open("wb")
        self._places = (folder / f"{name}.places").open("wb")
        self._files = files
        self._file_number = {file: number for number, file in enumerate(files)}
        self.stretches: list[Stretch] = []
        """What was written by each call."""

    def __enter__(self) -> "PairWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        self._text.close()
        self._places.close()

    def write(self, pairs: Sequence[Pair]) -> None:
        """Add clean pairs."""
        files = list(dict.fromkeys(pair.file for pair in pairs))
        number = {file: i for i, file in enumerate(files)}
        self.write_rows(
            spelled(pairs),
            files,
            np.array([number[pair.file] for pair in pairs], np.uint32),
            np.array([pair.line for pair in pairs], np.uint64),
        )

    def write_rows(
        self,
        text: bytes,
        files: list[str],
        file_numbers: NDArray[np.uint32],
        lines: NDArray[np.uint64],
    ) -> None:
        """Add pairs that are spelled already; `files[file_numbers[i]]` is where pair i was read."""
        own = np.array([self._number(file) for file in files], _PLACE)
        places = own[file_numbers] << np.uint64(_LINE_BITS) | lines
        before = self._places.tell() // _PLACE.itemsize
        self.stretches.append(Stretch(before, len(lines), self._text.tell()))
        self._text.write(text)
        self._places.write(places.astype(_PLACE).tobytes())

    def _number(self, file: str) -> int:
        number = self._file_number.setdefault(file, len(self._files))
        if number == len(self._files):
            self._files.append(file)
        return number


def spelled(pairs: Iterable[Pair]) -> bytes:
    """Clean pairs as `source TAB target LF`, in UTF-8."""
    return "".join([f"{source}\t{target}\n" for source, target, *_ in pairs]).encode("utf-8")


def unspelled(row: bytes) -> tuple[str, str]:
    """Source and target of one row that `spelled` wrote."""
    source, _, target = row[:-1].decode("utf-8").partition("\t")
    return source, target


def read_pair_file(
    folder: Path, name: str, files: list[str], stretch: Stretch | None = None
) -> Iterator[Pair]:
    """The pairs that `PairWriter` wrote, or a stretch of them, in order."""
    with (folder / f"{name}.tsv").open("rb") as text, (folder / f"{name}.places").open("rb") as at:
        if stretch is not None:
            text.seek(stretch.offset)
            at.seek(stretch.first * _PLACE.itemsize)
        remaining = -1 if stretch is None else stretch.n_pairs
        while remaining:
            n_rows = _ROWS if remaining < 0 else min(_ROWS, remaining)
            rows = list(islice(text, n_rows))
            places = np.fromfile(at, _PLACE, len(rows))
            numbers = (places >> np.uint64(_LINE_BITS)).tolist()
            lines = (places & np.uint64((1 << _LINE_BITS) - 1)).tolist()
            for row, number, line in zip(rows, numbers, lines, strict=True):
                yield Pair(*unspelled(row), files[number], line)
            remaining -= len(rows)
            if len(rows) < n_rows:
                return


def read_sides(folder: Path, name: str) -> Iterator[str]:
    """Each source, followed by its target."""
    with (folder / f"{name}.tsv").open("rb") as text:
        while block := text.read(_BYTES) + text.readline():
            sides = block.decode("utf-8").replace("\t", "\n").split("\n")
            sides.pop()  # what follows the last line end
            yield from sides
