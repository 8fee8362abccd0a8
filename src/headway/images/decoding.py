"""Files of pictures: PNG and JPEG by Pillow, and idx as MNIST has it."""

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
"""Of an idx file, unpacked."""
GREY, DEEP = ("1", "L", "LA", "I", "I;16", "I;16B"), ("I", "I;16", "I;16B")
"""Pillow's names of pictures without colour; of these, those with 16 bits."""
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
    check_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return Image.open(path, formats=("PNG", "JPEG"))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"a picture has at most {Image.MAX_IMAGE_PIXELS:,} pixels; {path} has more, and was "
            "not unpacked. Make it smaller, or take it out."
        ) from None
    except DAMAGE:
        raise _no_picture(path) from None


def _no_picture(path: Path) -> DataError:
    return DataError(
        f"a picture is a PNG or JPEG file; {path} is none, or is damaged. Convert it, or take it "
        "out."
    )


def shape_of_file(path: Path) -> PictureShape:
    """From the header alone."""
    with opened(path) as picture:
        return PictureShape(picture.height, picture.width, 1 if picture.mode in GREY else 3)


def decoded(path: Path, shape: PictureShape) -> Pixels:
    """A picture scaled to a shape, upright; what is transparent is laid on white."""
    try:
        with opened(path) as picture:
            upright: Image.Image = ImageOps.exif_transpose(picture)
            if upright.mode in DEEP:
                upright = Image.fromarray((np.asarray(upright) // 256).astype(np.uint8))
            if upright.has_transparency_data:
                white = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(white, upright.convert("RGBA"))
            return scaled(upright, shape)
    except DAMAGE:
        raise _no_picture(path) from None


def scaled(picture: Image.Image, shape: PictureShape) -> Pixels:
    """Its pixels in a shape: stretched, not cut, where the sides are others."""
    picture = picture.convert("L" if shape.channels == 1 else "RGB")
    if picture.size != (shape.width, shape.height):
        picture = picture.resize((shape.width, shape.height), Image.Resampling.BILINEAR)
    return np.array(picture, np.uint8).reshape(shape)


# -- idx --------------------------------------------------------------------------------------


def read_idx(path: Path, n_axes: int) -> NDArray[np.uint8]:
    """An idx file of bytes (MNIST's format), .gz or not.

    Raises DataError where it is something else, is cut off, or says that it is larger than it is.
    """
    check_file(path)
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with open_bytes(path, packed) as file:
        magic = file.read(4)
        if magic != bytes([0, 0, 8, n_axes]):
            raise DataError(
                f"an idx file of bytes with {n_axes} axes begins with 0 0 8 {n_axes}; {path} with "
                f"{' '.join(map(str, magic))}. Name another, or a folder of pictures."
            )
        axes = np.frombuffer(file.read(4 * n_axes).ljust(4 * n_axes, b"\0"), ">u4").tolist()
        n_bytes = math.prod(axes)
        content = file.read(n_bytes + 1) if 0 < n_bytes <= MOST_BYTES else b""
    if len(content) != n_bytes or not n_bytes:
        raise DataError(
            f"an idx file holds what its header says, at most {MOST_BYTES:,} bytes; that of {path} "
            f"says {' x '.join(f'{one:,}' for one in axes)}, and {len(content):,} bytes were read. "
            "Take it from where it came from."
        )
    return np.frombuffer(content, np.uint8).reshape(axes)


def is_idx(path: Path) -> bool:
    """By its name, such as train-images-idx3-ubyte.gz."""
    return path.is_file() and "idx" in path.name and path.suffix.lower() not in SUFFIXES


def labels_beside(path: Path) -> Path:
    """The labels of an idx file of pictures: train-images-idx3-ubyte -> train-labels-idx1-ubyte,
    with .gz or without.

    Raises DataError where there are none.
    """
    plain = path.name.replace("images", "labels").replace("idx3", "idx1").removesuffix(".gz")
    for name in (plain, f"{plain}.gz"):
        if name != path.name and path.with_name(name).is_file():
            return path.with_name(name)
    raise DataError(
        "labels lie beside an idx file of pictures, named labels for images and idx1 for idx3; "
        f"beside {path} there is no {plain}[.gz]. Put it there."
    )
