"""Tensors in files that are larger than memory: mapped, or read a piece at a time."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from headway.core.tensor_files import NAMES, header_of

_DTYPES = {name: dtype for dtype, name in NAMES.items()}


def map_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file, of which only what is looked at comes into memory.

    Its checksum is not compared: that is `headway.core.tensor_files.check`'s. The file must
    stay as it is; what is written to the tensors is not written to it.

    Raises:
        RunError: it is missing, or no safetensors file.
    """
    header, begin = header_of(path)
    header.pop("__metadata__", None)
    content = torch.empty(0, dtype=torch.uint8)
    if path.stat().st_size > begin:
        content = torch.from_numpy(np.memmap(path, np.uint8, mode="c", offset=begin))
    return {
        name: content[slice(*of["data_offsets"])].view(_DTYPES[of["dtype"]]).view(of["shape"])
        for name, of in header.items()
    }


def tensor_pieces(path: Path, name: str, n_bytes: int = 1 << 24) -> Iterator[Tensor]:
    """One tensor of a file, flat, so many bytes at a time; it is read, not mapped.

    Raises:
        RunError: the file is missing, or no safetensors file.
    """
    header, begin = header_of(path)
    of = header[name]
    dtype = _DTYPES[of["dtype"]]
    first, last = of["data_offsets"]
    with path.open("rb") as file:
        file.seek(begin + first)
        for done in range(0, last - first, n_bytes):
            some = bytearray(file.read(min(n_bytes, last - first - done)))
            yield torch.frombuffer(some, dtype=dtype)
