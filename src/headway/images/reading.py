"""Labelled pictures: a folder with a folder for each class, or idx with its labels beside it."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.images.decoding import (
    SUFFIXES,
    Pixels,
    PictureShape,
    decoded,
    is_idx,
    labels_beside,
    read_idx,
    scaled,
    shape_of_file,
)
from headway.runs.task_spec import Say

LARGEST_SIDE = 64
"""Where the size is fitted, no picture is larger."""
MULTIPLE = 4
"""Where the size is fitted, sides are multiples of it: of the usual patch."""


class PictureSource(NamedTuple):
    """Pictures that are not decoded yet: files, or rows of an idx file."""

    names: Sequence[str]
    labels: Sequence[str]
    """Of each; none where nobody asked."""
    shapes: Sequence[PictureShape]
    """Of each, as it is stored."""
    rows: Pixels | None = None
    """Of an idx file: `[pictures, height, width, channels]`."""

    def decoded(self, number: int, shape: PictureShape) -> Pixels:
        """One of them, scaled."""
        if self.rows is None:
            return decoded(Path(self.names[number]), shape)
        own = self.rows[number]
        return scaled(Image.fromarray(own[:, :, 0] if own.shape[2] == 1 else own), shape)


def labelled_source(place: Path, say: Say) -> PictureSource:
    """What lies in a folder, a class each folder in it, or in an idx file.

    Raises DataError where there are no pictures, or not as many labels.
    """
    if not place.is_dir():
        return idx_source(place, labelled=True)
    folders = sorted(one for one in place.iterdir() if one.is_dir() and one.name[0] != ".")
    found = [(file, folder.name) for folder in folders for file in files_in(folder, say)]
    if not found:
        loose = any(one.suffix.lower() in SUFFIXES for one in place.iterdir())
        raise DataError(
            f"pictures lie in a folder for each class, such as {place / 'cat' / '1.png'}; "
            f"{place} has {'pictures of no class' if loose else 'none'}. Put them so."
        )
    files, labels = zip(*found, strict=True)
    return PictureSource([*map(str, files)], labels, [shape_of_file(file) for file in files])


def files_in(folder: Path, say: Say) -> list[Path]:
    """The pictures in it and below it; other files are counted, and said."""
    files = sorted(one for one in folder.rglob("*") if one.is_file() and one.name[0] != ".")
    pictures = [one for one in files if one.suffix.lower() in SUFFIXES]
    if left := len(files) - len(pictures):
        say(f"{left:,} files in {folder} are left out: they are not called {', '.join(SUFFIXES)}")
    return pictures


def idx_source(path: Path, *, labelled: bool) -> PictureSource:
    """The pictures of an idx file."""
    rows = read_idx(path, sides=(3, 4))
    rows = rows[:, :, :, None] if rows.ndim == 3 else rows
    labels = list[str]()
    if labelled:
        beside = labels_beside(path)
        labels = [str(one) for one in read_idx(beside, sides=(1,)).tolist()]
        if len(labels) != len(rows):
            raise DataError(
                f"every picture has a label; {path} has {len(rows):,} pictures, {beside} has "
                f"{len(labels):,} labels. Take both from one set."
            )
    if rows.shape[3] not in (1, 3):
        raise DataError(
            f"a picture has one channel or three; those of {path} have {rows.shape[3]}. Convert it."
        )
    names = [f"{path}:{number}" for number in range(len(rows))]
    return PictureSource(names, labels, [PictureShape(*rows.shape[1:])] * len(rows), rows)


def any_source(place: Path, say: Say) -> PictureSource:
    """Pictures whose labels nobody asks for: a file, a folder with any below it, an idx file.

    Raises DataError where there are none.
    """
    if is_idx(place):
        return idx_source(place, labelled=False)
    files = files_in(place, say) if place.is_dir() else [place]
    if not files:
        raise DataError(f"there is no picture in {place}. Name a folder that has some.")
    return PictureSource([*map(str, files)], (), ())


def fitted_shape(own: Sequence[PictureShape], side: int) -> PictureShape:
    """What all are scaled to: squares of `side`, or where that is 0 their own size if it is one and
    small, else squares of their middle size; grey if all are."""
    channels = max(shape.channels for shape in own)
    height, width, _ = own[0]
    if side:
        height = width = side
    elif any(shape[:2] != (height, width) for shape in own) or max(height, width) > LARGEST_SIDE:
        height = width = int(np.median([max(shape[:2]) for shape in own]))
    if not side:
        height, width = (
            min(max(MULTIPLE, MULTIPLE * round(one / MULTIPLE)), LARGEST_SIDE)
            for one in (height, width)
        )
    return PictureShape(height, width, channels)


def label_order(label: str) -> tuple[bool, int, str]:
    """Numbers by their value, in front of words."""
    return (not label.isdecimal(), len(label) if label.isdecimal() else 0, label)


def kept(source: PictureSource, only: Sequence[str]) -> Iterator[int]:
    """The numbers of those with one of these labels; of all where none is named."""
    return (n for n, label in enumerate(source.labels) if not only or label in only)


def checksum_of(place: Path) -> str:
    """SHA-256 of an idx file and its labels, or of all pictures of a folder with their names."""
    if place.is_dir():
        files = sorted(one for one in place.rglob("*") if one.suffix.lower() in SUFFIXES)
    else:
        files = [place, labels_beside(place)]
    lines = (f"{file.relative_to(place.parent)} {checksum(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
