"""Tensors in files of the safetensors format that carry their own checksum, and are checked first.

Written here byte by byte, as the library makes another file, of another mode, and reports a full
disk in its own words; read by the library. https://github.com/huggingface/safetensors has the
format: eight bytes that count the header's, the header in JSON, the tensors end to end.
"""

import hashlib
import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from headway.core.disk import written_aside
from headway.core.errors import RunError, command, refuse_out_of_reach

NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip
_N_BYTES = {name: dtype.itemsize for dtype, name in NAMES.items()}
_MAX_HEADER_BYTES = 1 << 23
"""Some 60,000 tensors: more JSON than this would take more memory than is told before."""

_MAX_AXES = 16

Shapes = dict[str, tuple[str, tuple[int, ...]]]
"""Of each tensor by name: its type as the format calls it ("F32"), and its shape."""


def shape_of(tensor: Tensor) -> tuple[str, tuple[int, ...]]:
    """The same of a tensor."""
    return NAMES[tensor.dtype], tuple(tensor.shape)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a synced file, replacing what was there in one instant.

    Raises:
        DiskError: the disk is full or cannot be written to.
    """
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))  # aligned
    held = {name: tensors[name].detach().cpu().contiguous() for name in names}
    described, end = {}, 0
    for name, tensor in held.items():
        begin, end = end, end + tensor.nbytes
        dtype, shape = shape_of(tensor)
        described[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    flat = [tensor.reshape(-1) for tensor in held.values() if tensor.numel()]
    bytes_of = [tensor.view(torch.uint8).numpy().data for tensor in flat]
    content = hashlib.sha256(json.dumps(described, sort_keys=True).encode("utf-8"))
    for some in bytes_of:
        content.update(some)
    header = {"__metadata__": {"sha256": content.hexdigest()}, **described}
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with written_aside(path) as aside, aside.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for some in bytes_of:
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
        refuse_out_of_reach(path, error)
        raise _damaged(path, str(error)) from None


def load_finite(path: Path) -> dict[str, Tensor]:
    """The same, of weights: each of them must be a number.

    Raises:
        RunError: it cannot be used, or one is NaN or infinite.
    """
    weights = load_tensors(path)
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise RunError(
                f"weights must be numbers; {name} of {path} is not finite. Copy the run again, or "
                "train it anew."
            )
    return weights


def check(path: Path) -> bool:
    """Whether a file carries a checksum, which is then right.

    Raises:
        RunError: it is missing, no safetensors file, or not as it was written.
    """
    header, begin = header_of(path)
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
        refuse_out_of_reach(path, error)
        raise _damaged(path, error.strerror or str(error)) from None
    if content.hexdigest() != expected:
        raise _damaged(path, "its checksum differs")
    return True


def shapes(path: Path) -> Shapes:
    """What a file says that it holds; nothing of that is read.

    Raises:
        RunError: it is missing, or no safetensors file.
    """
    header, _ = header_of(path)
    header.pop("__metadata__", None)
    return {name: (of["dtype"], tuple(of["shape"])) for name, of in header.items()}


def header_of(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the tensors begin.

    Raises:
        RunError: the file is missing, or no safetensors file.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _damaged(path, "it is no regular file")
        with path.open("rb") as file:
            n_bytes = int.from_bytes(file.read(8), "little")
            if not 2 <= n_bytes <= min(status.st_size - 8, _MAX_HEADER_BYTES):
                raise _damaged(path, "it is cut, or no safetensors file")
            header = json.loads(file.read(n_bytes).decode("utf-8"), object_pairs_hook=_once)
    except OSError as error:
        refuse_out_of_reach(path, error)
        raise _damaged(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError):
        raise _damaged(path, "its header is no JSON") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise _damaged(path, "its header is of another form")
    if not _end_to_end(header, status.st_size - 8 - n_bytes):
        raise _damaged(path, "its header and its size do not go together")
    return header, 8 + n_bytes


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table of JSON; raises ValueError where it has a name twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name stands there twice")
    return table


def _end_to_end(header: Mapping[str, Any], n_bytes: int) -> bool:
    """Whether the tensors of a header lie end to end in so many bytes: no other file is read."""
    spans = []
    try:
        for name, of in header.items():
            if name != "__metadata__":
                shape, (begin, end) = of["shape"], of["data_offsets"]
                whole = all(type(n) is int and 0 <= n < 1 << 63 for n in (*shape, begin, end))
                if not whole or len(shape) > _MAX_AXES:
                    return False
                if end - begin != _N_BYTES[of["dtype"]] * math.prod(shape):
                    return False
                spans.append((begin, end))
    except (TypeError, KeyError, ValueError):
        return False
    spans.sort()
    begins, ends = [begin for begin, _ in spans], [end for _, end in spans]
    return [*begins, n_bytes] == [0, *ends]


def _damaged(path: Path, why: str) -> RunError:
    return RunError(
        f"weights are read whole or not at all; {path} cannot be used: {why}. "
        f"See what can be done: {command('check', path.parent)}"
    )
