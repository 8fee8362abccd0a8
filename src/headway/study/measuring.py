"""Time and memory of a piece of work, measured while it is done."""

import ctypes
import gc
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from headway.study.rankings import chosen

MOST_ALONE = 20
"""Examples that are done one at a time, evenly spread; more of them say nothing new."""


class Timed(NamedTuple):
    """Some work that was done."""

    result: Any
    seconds: float
    peak_bytes: int | None
    """The most memory that was in use, beyond what was when it began; None where the system does
    not tell."""


def timed(work: Callable[[], Any], device: torch.device) -> Timed:
    """Do it once."""
    before = _begin_watching(device)
    started = time.perf_counter()
    result = work()
    _wait(device)
    seconds = time.perf_counter() - started
    peak = _peak(device)
    known = before is not None and peak is not None
    return Timed(result, seconds, max(0, peak - before) if known else None)  # type: ignore[operator]


def latency(one: Callable[[int], object], which: Sequence[int], device: torch.device) -> float:
    """The median of the seconds that single examples take, after one that does not count."""
    one(which[0])
    seconds = []
    for place in chosen(len(which), MOST_ALONE):
        started = time.perf_counter()
        one(which[place])
        _wait(device)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _begin_watching(device: torch.device) -> int | None:
    """Bytes in use now; the peak is counted from here."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return int(torch.cuda.memory_allocated(device))
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)  # what others have freed is not to be had for nothing
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status("VmRSS")
    return None


def _peak(device: torch.device) -> int | None:
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    return _status("VmHWM")


def _status(name: str) -> int | None:
    """A size from what Linux says of this process."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None
