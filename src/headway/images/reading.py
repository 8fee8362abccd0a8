"""Labelled pictures: a folder with a folder for each class, or idx with its labels beside it."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.images.decoding import (
    SUFFIXES,
    PictureShape,
    Pixels,
    decoded,
    is_idx,
    labels_beside,
    read_idx,
    scaled,
    shape_of_file,
)
from headway.labelling.task import Example
from headway.runs.task_spec import Say

LARGEST_SIDE, MULTIPLE = 64, 4
"""Where the size is fitted, no side is longer, and each is a multiple of the usual patch."""


class PictureSource(NamedTuple):
    """Pictures that are not decoded yet: files, or rows of an idx file."""

    names: Sequence[str]
    labels: Sequence[str] = ()
    """Of each; none where nobody asked."""
    shapes: Sequence[PictureShape] = ()
    """Of each as it is stored, the same."""
    rows: NDArray[np.uint8] | None = None
    """Of an idx file: `[pictures, height, width]`."""

    def decoded(self, number: int, shape: PictureShape) -> Pixels:
        """One of them, scaled."""
        if self.rows is None:
            return decoded(Path(self.names[number]), shape)
        return scaled(Image.fromarray(self.rows[number]), shape)


def labelled_source(place: Path, say: Say) -> PictureSource:
    """What lies in a folder, each class in a folder of its own, or in an idx file.

    Raises DataError where there are no pictures, or not as many labels.
    """
    if not place.is_dir():
        return idx_source(place, labelled=True)
    folders = sorted(one for one in place.iterdir() if one.is_dir() and one.name[0] != ".")
    found = [(file, folder.name) for folder in folders for file in files_in(folder, say)]
    if not found:
        raise DataError(
            f"pictures lie in a folder for each class, such as {place / 'cat' / '1.png'}; there is "
            f"none in the folders of {place}. Put them so."
        )
    if beside := [one for one in place.iterdir() if one.suffix.lower() in SUFFIXES]:
        say(f"{len(beside):,} pictures in {place} are left out: they are in no class's folder")
    shapes, errors = dict[Path, PictureShape](), list[DataError]()
    for file, _ in found:
        try:
            shapes[file] = shape_of_file(file)
        except DataError as error:
            errors.append(error)
    if not shapes:
        raise errors[0]
    say_damaged(errors, say)
    labels = [label for file, label in found if file in shapes]
    return PictureSource([*map(str, shapes)], labels, [*shapes.values()])


def say_damaged(errors: Sequence[DataError], say: Say) -> None:
    """How many files cannot be read, if any, and why not the first."""
    if errors:
        say(f"WARNING: {len(errors):,} files are left out; of the first: {errors[0]}")


def files_in(folder: Path, say: Say) -> list[Path]:
    """The pictures in it and below it; other files are counted, and said."""
    files = sorted(one for one in folder.rglob("*") if one.is_file() and one.name[0] != ".")
    pictures = [one for one in files if one.suffix.lower() in SUFFIXES]
    if left := len(files) - len(pictures):
        say(f"{left:,} files in {folder} are left out: they are not called {', '.join(SUFFIXES)}")
    return pictures


def idx_source(path: Path, *, labelled: bool) -> PictureSource:
    """The pictures of an idx file."""
    rows, labels = read_idx(path, 3), list[str]()
    if labelled:
        beside = labels_beside(path)
        labels = [str(one) for one in read_idx(beside, 1)]
        if len(labels) != len(rows):
            raise DataError(
                f"every picture has a label; {path} has {len(rows):,} pictures, {beside} has "
                f"{len(labels):,} labels. Take both from one set."
            )
    names = [f"{path}:{number}" for number in range(len(rows))]
    _, height, width = rows.shape
    return PictureSource(names, labels, [PictureShape(height, width, 1)] * len(rows), rows)


def any_source(place: Path, say: Say) -> PictureSource:
    """Pictures whose labels nobody asks for: a file, a folder with any below it, an idx file.

    Raises DataError where there are none.
    """
    if is_idx(place):
        return idx_source(place, labelled=False)
    files = files_in(place, say) if place.is_dir() else [place]
    if not files:
        raise DataError(f"there is no picture in {place}. Name a folder that has some.")
    return PictureSource([*map(str, files)])


def fitted_shape(own: Sequence[PictureShape], side: int) -> PictureShape:
    """What all are scaled to: squares of `side`, or where that is 0 their own size if it is one and
    small, else squares of their middle size, both rounded to a `MULTIPLE`; grey if all are."""
    channels = max(shape.channels for shape in own)
    if side:
        return PictureShape(side, side, channels)
    sides: Sequence[float] = own[0][:2]
    if len({shape[:2] for shape in own}) > 1 or max(sides) > LARGEST_SIDE:
        sides = [float(np.median([max(shape[:2]) for shape in own]))] * 2
    rounded = (MULTIPLE * max(1, round(one / MULTIPLE)) for one in sides)
    height, width = (min(one, LARGEST_SIDE) for one in rounded)
    return PictureShape(height, width, channels)


def label_order(label: str) -> tuple[bool, int, str]:
    """Numbers by their value, in front of words."""
    return (not label.isdecimal(), len(label) if label.isdecimal() else 0, label)


def examples(
    sources: Sequence[PictureSource],
    only: Sequence[str],
    labels: Sequence[str],
    shape: PictureShape,
    say: Say,
    remedy: str = "Take it out, or name classes to keep: --data.only",
) -> list[Example]:
    """Pictures scaled, with the numbers of their classes; those of `only` alone, if any are named.
    Those that are damaged behind a whole header are left out, and said.

    Raises DataError for one that is in none of them, with this `remedy`, and where all are damaged.
    """
    numbers, found = {label: number for number, label in enumerate(labels)}, list[Example]()
    errors = list[DataError]()
    for source in sources:
        for i, label in enumerate(source.labels):
            if only and label not in only:
                continue
            if label not in numbers:
                raise DataError(
                    f"the classes are {', '.join(labels)}; {source.names[i]} is of {label!r}. "
                    f"{remedy}"
                )
            try:
                found.append(Example(source.decoded(i, shape), numbers[label]))
            except DataError as error:
                errors.append(error)
    if errors and not found:
        raise errors[0]
    say_damaged(errors, say)
    return found


def checksum_of(place: Path) -> str:
    """SHA-256 of an idx file and its labels, or of all pictures of a folder with their names."""
    files = [place, labels_beside(place)] if place.is_file() else files_in(place, lambda _: None)
    lines = (f"{file.relative_to(place.parent)} {checksum(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
