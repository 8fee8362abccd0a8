"""Vectors of every word of a text, in one file of the safetensors format, written as they come.

    vectors   [words, size], or [words, layers, size] where all layers are asked for; float32
    offsets   [lines + 1]: words offsets[n] to offsets[n + 1] are those of line n, from 0 on
    tokens    the words in UTF-8, a line feed behind each: bytes(tokens).decode().split()

What is in memory beside a line are its offsets; words wait in a file of their own.
"""

import json
import shutil
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headway.core.disk import written_aside

_HEADER_BYTES = 4096
"""Kept free in front, as the sizes that stand there are known at the end."""


class EmbeddedLine(NamedTuple):
    """The words of a line, none in a blank one, and their vectors."""

    words: Sequence[str]
    vectors: Float[NDArray, "words ..."]


def write_embedded(path: Path, lines: Iterable[EmbeddedLine], layers: Sequence[str]) -> int:
    """Write the words of some lines, and give their number; `layers` names those that are in it.

    The file is as it was where something goes wrong. Raises DiskError: it cannot be written.
    """
    offsets = array("i", [0])
    with (
        written_aside(path) as aside,
        aside.open("wb") as file,
        tempfile.TemporaryFile() as words,
    ):
        file.write(b" " * _HEADER_BYTES)
        shape: tuple[int, ...] = (0,)
        for one in lines:
            shape = one.vectors.shape[1:]
            file.write(np.ascontiguousarray(one.vectors, "<f4").data)
            words.write("".join(f"{word}\n" for word in one.words).encode())
            offsets.append(offsets[-1] + len(one.words))
        n_words = offsets[-1]
        sizes = {
            "vectors": ("F32", [n_words, *shape], 4),
            "offsets": ("I32", [len(offsets)], 4),
            "tokens": ("U8", [words.tell()], 1),
        }
        file.write(np.frombuffer(offsets, np.int32).astype("<i4").data)
        words.seek(0)
        shutil.copyfileobj(words, file)
        file.seek(0)
        file.write(_header(sizes, layers))
    return n_words


def _header(sizes: dict[str, tuple[str, list[int], int]], layers: Sequence[str]) -> bytes:
    described: dict[str, object] = {"__metadata__": {"layers": ", ".join(layers)}}
    end = 0
    for name, (kind, shape, width) in sizes.items():
        begin, end = end, end + width * int(np.prod(shape, dtype=object))
        described[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(described, ensure_ascii=True).encode()
    assert len(text) <= _HEADER_BYTES - 8, f"a header of {len(text)} bytes"
    text += b" " * (_HEADER_BYTES - 8 - len(text))
    return len(text).to_bytes(8, "little") + text
