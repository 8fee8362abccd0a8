"""Files of pictures as bytes: PNG and JPEG by Pillow, and idx as MNIST has it."""

import math
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from headway.core.errors import DataError
from headway.core.lines import check_file, open_bytes

Pixels = NDArray[np.uint8]
"""`[height, width, channels]`; one channel is grey, three are red, green, blue."""
SUFFIXES = (".png", ".jpg", ".jpeg")
MOST_BYTES = 1 << 32
"""Of an idx file, unpacked: what is larger is no training set for a machine of today."""
GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "F")
"""Pillow's names of pictures without colour."""
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, zlib.error)


class PictureShape(NamedTuple):
    """Of one picture, or that all are scaled to."""

    height: int
    width: int
    channels: int


def opened(path: Path) -> Image.Image:
    """A picture of which only the header has been read.

    Raises DataError for what is none, and for one that would fill the memory.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(path, formats=("PNG", "JPEG"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"a picture has at most {Image.MAX_IMAGE_PIXELS:,} pixels; {path} has more, and was "
            "not unpacked. Make it smaller, or take it out."
        ) from None
    except DAMAGE as error:
        raise no_picture(path, error) from None


def no_picture(path: Path, error: Exception) -> DataError:
    """What is said of a file that cannot be read as one."""
    missing = isinstance(error, OSError) and error.errno
    why = f"cannot be read ({error.strerror})" if missing else "is none, or is damaged"  # type: ignore[attr-defined]
    return DataError(
        f"a picture is a PNG or JPEG file; {path} {why}. Convert it, or take it out."
    )


def shape_of_file(path: Path) -> PictureShape:
    """From the header alone, turned as the camera was."""
    with opened(path) as picture:
        width, height = picture.size
        if picture.getexif().get(0x0112, 1) >= 5:  # lies on its side
            width, height = height, width
        return PictureShape(height, width, 1 if picture.mode in GREY else 3)


def decoded(path: Path, shape: PictureShape) -> Pixels:
    """A picture scaled to a shape; what is transparent is laid on white."""
    try:
        with opened(path) as picture:
            upright: Image.Image = ImageOps.exif_transpose(picture)
            if upright.mode in ("I", "I;16", "I;16B"):
                upright = Image.fromarray((np.asarray(upright, np.int64) >> 8).astype(np.uint8))
            if upright.has_transparency_data:
                white = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(white, upright.convert("RGBA"))
            return scaled(upright, shape)
    except DAMAGE as error:
        raise no_picture(path, error) from None


def scaled(picture: Image.Image, shape: PictureShape) -> Pixels:
    """Its pixels in a shape: stretched, not cut, where the sides are others."""
    picture = picture.convert("L" if shape.channels == 1 else "RGB")
    if picture.size != (shape.width, shape.height):
        picture = picture.resize((shape.width, shape.height), Image.Resampling.BILINEAR)
    return np.array(picture, np.uint8).reshape(shape)


# -- idx --------------------------------------------------------------------------------------


def read_idx(path: Path, *, sides: tuple[int, ...]) -> NDArray[np.uint8]:
    """An idx file of bytes (MNIST's format), .gz or not, with as many axes as one of `sides`.

    Raises DataError where it is something else, is cut off, or says that it is larger than it is.
    """
    check_file(path)
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with open_bytes(path, packed) as file:
        magic = file.read(4)
        n_sides = magic[3] if len(magic) == 4 else 0
        if magic[:3] != b"\0\0\x08" or n_sides not in sides:
            raise DataError(
                "an idx file of bytes begins with 0 0 8 and its number of axes, here "
                f"{' or '.join(map(str, sides))}; {path} begins with {' '.join(map(str, magic))}. "
                "Name another."
            )
        axes = np.frombuffer(file.read(4 * n_sides).ljust(4 * n_sides, b"\0"), ">u4").tolist()
        n_bytes = math.prod(axes)
        if not 0 < n_bytes <= MOST_BYTES:
            raise DataError(
                f"an idx file holds 1 to {MOST_BYTES:,} bytes; {path} says that it has "
                f"{' x '.join(f'{one:,}' for one in axes)}. Take it from where it came from."
            )
        content = file.read(n_bytes + 1)
    if len(content) != n_bytes:
        more = "more" if len(content) > n_bytes else f"{len(content):,}"
        raise DataError(
            f"an idx file holds what its header says; {path} should have {n_bytes:,} bytes behind "
            f"it, and has {more}. Take it from where it came from."
        )
    return np.frombuffer(content, np.uint8).reshape(axes)


def is_idx(path: Path) -> bool:
    """By its name: MNIST's end in -ubyte, .idx3-ubyte, .gz behind it or not."""
    name = path.name.removesuffix(".gz")
    return path.is_file() and ("idx3" in name or "idx4" in name or name.endswith(".idx"))


def labels_beside(path: Path) -> Path:
    """The file of labels of one of pictures: train-images-idx3-ubyte -> train-labels-idx1-ubyte,
    with .gz or without.

    Raises DataError where there is none.
    """
    name = path.name.replace("images", "labels").replace("idx3", "idx1").replace("idx4", "idx1")
    plain = name.removesuffix(".gz")
    for one in (name, plain, f"{plain}.gz"):
        if one != path.name and path.with_name(one).is_file():
            return path.with_name(one)
    raise DataError(
        f"labels lie beside an idx file of pictures, under its name with labels for images and "
        f"idx1 for idx3; beside {path} there is no {plain}[.gz]. Put it there."
    )
