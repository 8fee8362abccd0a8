"""Encoded pairs in memory-mapped files: as many as the disk holds, none of them in memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.files import read_whole_folder, whole_folder
from headway.errors import DataError
from headway.text.cleaning import Pair
from headway.text.codes import mask_pair
from headway.text.subwords import Subwords

FORMAT = 2
"""Raised whenever the files change their meaning."""

_CHUNK = 2_000  # pairs encoded at a time
_LENGTHS = 1 << 20  # computed at a time

Ids = NDArray[np.uint16] | NDArray[np.uint32]
Sides = Callable[[Pair], tuple[str, str]]
"""Source and target of a pair as the model is to read them."""


def as_written(pair: Pair) -> tuple[str, str]:
    """Both sides as they are."""
    return pair.source, pair.target


def with_masks(pair: Pair) -> tuple[str, str]:
    """Both sides with placeholders for the codes that they share."""
    masked = mask_pair(pair.source, pair.target)
    return masked.source, masked.target


class PairStore:
    """Pairs of id sequences, without markers, read from disk as they are asked for."""

    def __init__(self, directory: Path, content: dict[str, Any]) -> None:
        """Map the files of a folder whose bytes are known to be right: see `open`."""
        self.directory = directory
        self.content = content
        """What was known when it was written: `n_pairs`, `files`, `fingerprint`, counts."""
        kind = np.dtype(content["dtype"])
        n_pairs = content["n_pairs"]
        self.rows: NDArray[np.int64] = _mapped(directory / "rows", np.dtype(np.int64), n_pairs)
        """Which pair of those offered each one was, from 0: [pairs]."""
        self.file_numbers: NDArray[np.uint32] = _mapped(
            directory / "file_numbers", np.dtype(np.uint32), n_pairs
        )
        """Which file of `content["files"]` each pair came from: [pairs]."""
        self._source = _Side(directory, "source", kind, n_pairs)
        self._target = _Side(directory, "target", kind, n_pairs)
        self.source_lengths = self._source.lengths
        self.target_lengths = self._target.lengths

    @classmethod
    def open(cls, directory: Path) -> "PairStore":
        """Open what `write_store` wrote, after checking every byte of it.

        Raises:
            DataError: the folder is missing, damaged, or of another version.
        """
        content = read_whole_folder(directory)
        if content.get("format") != FORMAT:
            raise DataError(
                f"encoded pairs of format {FORMAT} are needed; {directory} has format "
                f"{content.get('format')}. Delete it; it is made anew."
            )
        return cls(directory, content)

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.source_lengths)

    def source(self, i: int) -> Ids:
        """The source ids of pair `i`, without markers: [length]."""
        return self._source[i]

    def target(self, i: int) -> Ids:
        """The target ids of pair `i`, without markers: [length]."""
        return self._target[i]


class _Side:
    """One side of all pairs: ids end to end, and where each pair begins."""

    def __init__(self, directory: Path, name: str, kind: np.dtype[Any], n_pairs: int) -> None:
        self.offsets = _mapped(directory / f"{name}.offsets", np.dtype(np.int64), n_pairs + 1)
        self.ids = _mapped(directory / f"{name}.ids", kind, int(self.offsets[-1]))
        self.lengths = _lengths(directory / f"{name}.offsets", n_pairs)

    def __getitem__(self, i: int) -> Ids:
        if not 0 <= i < len(self.lengths):
            raise IndexError(f"pair {i} of {len(self.lengths)}")
        ids: Ids = self.ids[self.offsets[i] : self.offsets[i + 1]]
        return ids


def _mapped(path: Path, kind: np.dtype[Any], length: int) -> NDArray[Any]:
    if not length:
        return np.zeros(0, kind)  # an empty file cannot be mapped
    return np.memmap(path, dtype=kind, mode="r", shape=(length,)).view(np.ndarray)


def _lengths(offsets: Path, n_pairs: int) -> NDArray[np.int32]:
    """Of each sequence; read piece by piece, as what was mapped would count as memory."""
    lengths = np.empty(n_pairs, np.int32)
    with offsets.open("rb") as file:
        for start in range(0, n_pairs, _LENGTHS):
            some = lengths[start : start + _LENGTHS]
            file.seek(start * np.dtype(np.int64).itemsize)
            some[:] = np.diff(np.fromfile(file, np.int64, len(some) + 1))
    return lengths


def write_store(
    pairs: Iterable[Pair],
    subwords: Subwords,
    directory: Path,
    *,
    files: Sequence[str] = (),
    max_length: int = 0,
    sides: Sides = as_written,
    on_drop: Callable[[str, Pair], None] = lambda _reason, _pair: None,
    on_progress: Callable[[int], None] = lambda _n_rows: None,
    known: Callable[[], dict[str, Any]] = dict,
) -> PairStore:
    """Encode pairs into a new folder, in memory that does not grow with their number.

    A pair with more than `max_length` sub-words on a side (0 for any), or with none, is left out:
    `on_drop` gets the reason (`too_many_tokens`, `no_tokens`) and the pair. `files` are the files
    that pairs come from, which are numbered in this order; one that is not named comes after them.
    `known` is asked at the end for what else should be kept in `PairStore.content`.

    Raises:
        DataError: the disk is full or the folder cannot be written.
    """
    kind = np.dtype(np.uint16 if len(subwords) <= 1 << 16 else np.uint32)
    file_number = {file: number for number, file in enumerate(dict.fromkeys(files))}
    with whole_folder(directory) as (part, content):
        with (
            (part / "rows").open("wb") as rows_file,
            (part / "file_numbers").open("wb") as file_numbers,
            _SideWriter(part, "source", kind, subwords.special.unknown) as source,
            _SideWriter(part, "target", kind, subwords.special.unknown) as target,
        ):
            n_rows = 0
            for chunk in _chunks(pairs):
                texts = [sides(pair) for pair in chunk]
                sources = subwords.encode_batch([source for source, _ in texts])
                targets = subwords.encode_batch([target for _, target in texts])
                kept = []
                for place, (left, right) in enumerate(zip(sources, targets, strict=True)):
                    reason = _refusal(len(left), len(right), max_length)
                    if reason:
                        on_drop(reason, chunk[place])
                    else:
                        kept.append(place)
                source.write([sources[place] for place in kept])
                target.write([targets[place] for place in kept])
                rows_file.write((n_rows + np.array(kept, np.int64)).tobytes())
                numbers = [
                    file_number.setdefault(chunk[place].file, len(file_number)) for place in kept
                ]
                file_numbers.write(np.array(numbers, np.uint32).tobytes())
                n_rows += len(chunk)
                on_progress(n_rows)
        content |= {
            "format": FORMAT,
            "dtype": kind.name,
            "n_pairs": source.n_written,
            "files": list(file_number),
            "source_tokens": source.n_tokens,
            "target_tokens": target.n_tokens,
            "unknown": source.n_unknown + target.n_unknown,
            "fingerprint": subwords.fingerprint(),
            **known(),
        }
    return PairStore.open(directory)


class StorePiece(NamedTuple):
    """A store of some pairs in a row."""

    directory: Path
    n_before: int
    """How many pairs were offered before those of this piece."""
    content: dict[str, Any]


def join_stores(pieces: Sequence[StorePiece], directory: Path, known: dict[str, Any]) -> PairStore:
    """One store of all pairs of some stores, which name the same files and use the same sub-words.

    `known` is what else should be kept in `PairStore.content`.

    Raises:
        DataError: a piece is damaged, the disk is full, or the folder cannot be written.
    """
    n_tokens = {"source": 0, "target": 0}
    with whole_folder(directory) as (part, content):
        for side in n_tokens:
            (part / f"{side}.offsets").write_bytes(np.zeros(1, np.int64).tobytes())
        for piece in pieces:
            store = PairStore.open(piece.directory)
            _append(part / "rows", store.rows + piece.n_before)
            _append(part / "file_numbers", store.file_numbers)
            for side, ids in (("source", store._source), ("target", store._target)):
                _append(part / f"{side}.ids", ids.ids)
                _append(part / f"{side}.offsets", ids.offsets[1:] + n_tokens[side])
                n_tokens[side] += len(ids.ids)
        contents = [piece.content for piece in pieces]
        added = ("n_pairs", "source_tokens", "target_tokens", "unknown")
        alike = ("format", "dtype", "files", "fingerprint")
        content.update({name: sum(of[name] for of in contents) for name in added})
        content.update({name: contents[0][name] for name in alike} | known)
    return PairStore.open(directory)


def _append(path: Path, values: NDArray[Any]) -> None:
    with path.open("ab") as file:
        file.write(values.tobytes())


class _SideWriter:
    """Appends sequences to one side's files."""

    def __init__(self, part: Path, name: str, kind: np.dtype[Any], unknown: int) -> None:
        self._kind = kind
        self._unknown = unknown
        self._ids: BinaryIO = (part / f"{name}.ids").open("wb")
        self._offsets: BinaryIO = (part / f"{name}.offsets").open("wb")
        self._offsets.write(np.zeros(1, np.int64).tobytes())
        self.n_written = self.n_tokens = self.n_unknown = 0

    def __enter__(self) -> "_SideWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        self._ids.close()
        self._offsets.close()

    def write(self, rows: Sequence[Sequence[int]]) -> None:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        n_tokens = int(lengths.sum())
        ids = np.fromiter(chain.from_iterable(rows), self._kind, n_tokens)
        self._ids.write(ids.tobytes())
        self._offsets.write((self.n_tokens + np.cumsum(lengths)).tobytes())
        self.n_written += len(rows)
        self.n_tokens += n_tokens
        self.n_unknown += int((ids == self._unknown).sum())


def _refusal(source_length: int, target_length: int, max_length: int) -> str:
    if not source_length or not target_length:
        return "no_tokens"
    if max_length and max(source_length, target_length) > max_length:
        return "too_many_tokens"
    return ""


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    remaining = iter(pairs)
    while chunk := list(islice(remaining, _CHUNK)):
        yield chunk
