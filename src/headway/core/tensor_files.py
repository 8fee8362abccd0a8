"""Tensors in files of the safetensors format that carry their own checksum, and are checked first.

The checksum is in the header, which the format keeps for such things: other programs read these
files as any. Where the tensors lie and how long they are, is checked by the format's own library.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor

from headway.core.disk import refuse_large, written_aside
from headway.core.errors import RunError, command
from headway.core.out_of_reach import refuse_out_of_reach

NAMES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip

Shapes = dict[str, tuple[str, tuple[int, ...]]]
"""Of each tensor by name: its type as the format calls it ("F32"), and its shape."""


def shape_of(tensor: Tensor) -> tuple[str, tuple[int, ...]]:
    """The same of a tensor."""
    return NAMES[tensor.dtype], tuple(tensor.shape)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a synced file, replacing what was there in one instant. Raises DiskError:
    the disk is full or cannot be written to."""
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))  # aligned
    held = {name: tensors[name].detach().cpu().contiguous() for name in names}
    described, end = {}, 0
    for name, tensor in held.items():
        begin, end = end, end + tensor.nbytes
        dtype, shape = shape_of(tensor)
        described[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    flat = [tensor.reshape(-1) for tensor in held.values() if tensor.numel()]
    bytes_of = [tensor.view(torch.uint8).numpy().data for tensor in flat]
    content = _begun_checksum(described)
    for some in bytes_of:
        content.update(some)
    header = {"__metadata__": {"sha256": content.hexdigest()}, **described}
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with written_aside(path) as aside, aside.open("wb") as file:
        file.writelines([len(text).to_bytes(8, "little") + text, *bytes_of])


def load_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file, in memory of their own, after checking every byte of it. Raises
    RunError: it is missing, no safetensors file, or not as it was written."""
    check(path)
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise _unusable(path, error) from None


def opened_tensors(path: Path) -> Any:
    """The same, to be read one by one with its `keys` and `get_tensor`."""
    check(path)
    return safe_open(path, framework="pt")


def load_finite(path: Path) -> dict[str, Tensor]:
    """The same, of weights. Raises RunError: it cannot be used, or one is NaN or infinite."""
    weights = load_tensors(path)
    for name, tensor in weights.items():
        if not all(part.isfinite().all() for part in tensor.flatten().split(1 << 22)):
            raise RunError(
                f"weights must be numbers; {name} of {path} is not finite. Copy the run again, or "
                "train it anew."
            )
    return weights


def check(path: Path) -> bool:
    """Whether a file carries a checksum, which is then right. Raises RunError: it is missing, no
    safetensors file, or not as it was written."""
    header, begin = header_of(path)
    expected = header.pop("__metadata__", {}).get("sha256")
    if expected is None:  # an earlier version's, or another tool's
        return False
    content = _begun_checksum(header)
    try:
        with path.open("rb") as file:
            file.seek(begin)
            while some := file.read(1 << 20):
                content.update(some)
    except OSError as error:
        raise _unusable(path, error) from None
    if content.hexdigest() != expected:
        raise _unusable(path, ValueError("its checksum differs"))
    return True


def shapes(path: Path) -> Shapes:
    """What a file says that it holds, unread. Raises RunError: it is gone, or no safetensors."""
    header, _ = header_of(path)
    header.pop("__metadata__", None)
    return {name: (of["dtype"], tuple(of["shape"])) for name, of in header.items()}


def header_of(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the tensors begin: they lie end to end from there to the file's end.
    Raises RunError: the file is missing, or no safetensors file."""
    try:
        refuse_large(path, 1 << 62)
        with safe_open(path, framework="numpy"), path.open("rb") as file:
            n_bytes = int.from_bytes(file.read(8), "little")
            return json.loads(file.read(n_bytes)), 8 + n_bytes
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise _unusable(path, error) from None


def _begun_checksum(described: Mapping[str, Any]) -> Any:
    """Of where each tensor lies; their bytes are to follow."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode("utf-8"))


def _unusable(path: Path, error: Exception) -> RunError:
    refuse_out_of_reach(path, error)
    why = error.strerror if isinstance(error, OSError) else None
    run = next((folder for folder in path.parents if (folder / "config.toml").exists()), None)
    remedy = f"See what can be done: {command('check', run)}" if run else "Take it from a copy."
    return RunError(
        f"weights are read whole or not at all; {path} cannot be used: {why or error}. {remedy}"
    )
