"""Small pictures of three kinds, drawn by arithmetic: bars across, bars down, and spots."""

import gzip
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

KINDS = ("across", "down", "spot")


def drawn(n: int, side: int = 12, seed: int = 1) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Grey pictures `[n, side, side]` and the numbers of their kinds; the kinds take turns."""
    random = np.random.default_rng(seed)
    pictures = random.integers(0, 60, (n, side, side), dtype=np.uint8)
    kinds = (np.arange(n) % len(KINDS)).astype(np.uint8)
    for picture, kind in zip(pictures, kinds, strict=True):
        at, other = random.integers(2, side - 3, 2)
        if kind == 0:
            picture[at : at + 2] = 255
        elif kind == 1:
            picture[:, at : at + 2] = 255
        else:
            picture[at - 1 : at + 2, other - 1 : other + 2] = 255
    return pictures, kinds


def write_folders(place: Path, n: int = 60, side: int = 12, seed: int = 1) -> Path:
    """A folder for each kind, in it PNG files; sorted by name they are in the order of `drawn`."""
    pictures, kinds = drawn(n, side, seed)
    for number, (picture, kind) in enumerate(zip(pictures, kinds, strict=True)):
        folder = place / KINDS[kind]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(folder / f"{number:04}.png")
    return place


def write_idx(place: Path, n: int = 60, side: int = 12, seed: int = 1) -> Path:
    """The same as idx.gz, labels beside it."""
    pictures, kinds = drawn(n, side, seed)
    place.mkdir(parents=True, exist_ok=True)
    images = place / "train-images-idx3-ubyte.gz"
    images.write_bytes(gzip.compress(idx_bytes(pictures)))
    (place / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(kinds)))
    return images


def idx_bytes(array: NDArray[np.uint8], claimed: tuple[int, ...] | None = None) -> bytes:
    """An array as an idx file; its header may claim other sides."""
    sides = claimed or array.shape
    return bytes([0, 0, 8, len(sides)]) + struct.pack(f">{len(sides)}I", *sides) + array.tobytes()
