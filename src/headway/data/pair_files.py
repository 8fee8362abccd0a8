"""Clean pairs as text on disk, each with the place that it came from."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from headway.text.cleaning import Pair

_LINE_BITS = 40  # a place is one number: which file, and which line of it


class PairWriter:
    """Writes `NAME.tsv` (one `source TAB target` a line) and `NAME.places` into a folder.

    Clean text holds neither a tab nor a line end. `files` collects the names of the files that
    pairs come from, and is needed for reading.
    """

    def __init__(self, folder: Path, name: str, files: list[str]) -> None:
        """Open the two files; use it in a `with` block."""
        self._rows = (folder / f"{name}.tsv").open("wb")
        self._places = (folder / f"{name}.places").open("wb")
        self._files = files
        self._file_number = {file: number for number, file in enumerate(files)}
        self.n_written = 0

    def __enter__(self) -> "PairWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        self._rows.close()
        self._places.close()

    def write(self, pair: Pair) -> None:
        """Add one clean pair."""
        source, target, file, line = pair
        number = self._file_number.get(file)
        if number is None:
            number = self._file_number[file] = len(self._files)
            self._files.append(file)
        self._rows.write(f"{source}\t{target}\n".encode())
        self._places.write((number << _LINE_BITS | line).to_bytes(8, "little"))
        self.n_written += 1


def read_pair_file(folder: Path, name: str, files: list[str]) -> Iterator[Pair]:
    """The pairs that `PairWriter` wrote, in order."""
    with (folder / f"{name}.tsv").open("rb") as rows, (folder / f"{name}.places").open("rb") as at:
        for row in rows:
            source, target = row[:-1].decode("utf-8").split("\t")
            place = int.from_bytes(at.read(8), "little")
            yield Pair(source, target, files[place >> _LINE_BITS], place & ((1 << _LINE_BITS) - 1))


def remove_pair_file(folder: Path, name: str) -> None:
    """Delete both files."""
    (folder / f"{name}.tsv").unlink()
    (folder / f"{name}.places").unlink()


def read_hashes(path: Path) -> np.ndarray:
    """Eight-byte hashes, mapped from a file: [values]."""
    if not path.stat().st_size:
        return np.zeros(0, np.uint64)  # an empty file cannot be mapped
    return np.memmap(path, dtype="<u8", mode="r").view(np.ndarray)
