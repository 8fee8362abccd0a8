"""Tensors in files of the safetensors format that carry their own checksum, and are checked first.

Written here byte by byte, as the library makes another file, of another mode, and reports a full
disk in its own words; read by the library. https://github.com/huggingface/safetensors has the
format: eight bytes that count the header's, the header in JSON, the tensors end to end.
"""

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from headway.disk import written_aside
from headway.errors import RunError

_NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
_MAX_HEADER_BYTES = 100_000_000  # the library's own limit

Shapes = dict[str, tuple[str, tuple[int, ...]]]
"""Of each tensor by name: its type as the format calls it ("F32"), and its shape."""


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a synced file, replacing what was there in one instant.

    Raises:
        DiskError: the disk is full or cannot be written to.
    """
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    names = sorted(held, key=lambda name: (-held[name].element_size(), name))  # aligned
    described, end = {}, 0
    for name in names:
        begin, end = end, end + held[name].nbytes
        described[name] = {
            "dtype": _NAMES[held[name].dtype],
            "shape": list(held[name].shape),
            "data_offsets": [begin, end],
        }
    data = [held[name].reshape(-1).view(torch.uint8).numpy().data for name in names]
    content = hashlib.sha256(json.dumps(described, sort_keys=True).encode("utf-8"))
    for some in data:
        content.update(some)
    header = {"__metadata__": {"sha256": content.hexdigest()}, **described}
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with written_aside(path) as aside, aside.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for some in data:
            file.write(some)


def load_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file, in memory of their own, after checking every byte of it.

    Raises:
        RunError: it is missing, no safetensors file, or not as it was written.
    """
    check(path)
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError) as error:
        raise _damaged(path, str(error)) from None


def check(path: Path) -> bool:
    """Whether a file carries a checksum, which is then right.

    Raises:
        RunError: it is missing, no safetensors file, or not as it was written.
    """
    header, begin = _header(path)
    expected = header.pop("__metadata__", {}).get("sha256")
    if expected is None:  # an earlier version's, or another tool's
        return False
    content = hashlib.sha256(json.dumps(header, sort_keys=True).encode("utf-8"))
    try:
        with path.open("rb") as file:
            file.seek(begin)
            while some := file.read(1 << 20):
                content.update(some)
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    if content.hexdigest() != expected:
        raise _damaged(path, "its checksum differs")
    return True


def shapes(path: Path) -> Shapes:
    """What a file says that it holds; nothing of that is read.

    Raises:
        RunError: it is missing, or no safetensors file.
    """
    header, _ = _header(path)
    header.pop("__metadata__", None)
    try:
        return {name: (str(of["dtype"]), tuple(of["shape"])) for name, of in header.items()}
    except (TypeError, KeyError) as error:
        raise _damaged(path, f"its header has no {error}") from None


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the tensors begin."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _damaged(path, "it is no regular file")
        with path.open("rb") as file:
            n_bytes = int.from_bytes(file.read(8), "little")
            if not 2 <= n_bytes <= min(status.st_size - 8, _MAX_HEADER_BYTES):
                raise _damaged(path, "it is cut, or no safetensors file")
            header = json.loads(file.read(n_bytes).decode("utf-8"))
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError):
        raise _damaged(path, "its header is no JSON") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise _damaged(path, "its header is of another form")
    return header, 8 + n_bytes


def _damaged(path: Path, why: str) -> RunError:
    return RunError(
        f"weights are read whole or not at all; {path} cannot be used: {why}. "
        f"See what can be done: headway check {path.parent}"
    )
