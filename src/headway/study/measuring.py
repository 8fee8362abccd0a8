"""Time and memory of a piece of work, measured while it is done: once, or again and again."""

import ctypes
import gc
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

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


class Timing(NamedTuple):
    """Medians over some runs."""

    wall_s: float
    cpu_s: float
    """Of this process: what runs beside it on the machine hardly counts."""
    runs: int


def repeated(
    run: Callable[[], object],
    *,
    enough_s: float = 0.2,
    least: int = 3,
    most: int = 50,
    wait: Callable[[], object] = lambda: None,
) -> Timing:
    """Run it once to warm up, then until it has taken `enough_s`, between `least` and `most` times.

    Of what is over in microseconds several runs are timed together. `wait` is for devices that
    answer before they are done.
    """
    began = time.perf_counter()
    run()
    wait()
    together = max(1, round(1e-3 / max(time.perf_counter() - began, 1e-6)))
    wall: list[float] = []
    cpu: list[float] = []
    while len(wall) < least or (sum(wall) * together < enough_s and len(wall) < most):
        began, spent = time.perf_counter(), time.process_time()
        for _ in range(together):
            run()
        wait()
        wall.append((time.perf_counter() - began) / together)
        cpu.append((time.process_time() - spent) / together)
    return Timing(statistics.median(wall), statistics.median(cpu), len(wall))


def peak_bytes(run: Callable[[], object]) -> int:
    """The most memory that a run holds at once beyond what was held before it.

    What torch's allocator gives and takes back, from the trace of its profiler; on a GPU what its
    own statistics say.
    """
    if torch.cuda.is_available() and torch.cuda.memory_allocated():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        run()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiled.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    changes = [event for event in events if event.get("name") == "[memory]"]
    held = peak = 0
    for change in sorted(changes, key=lambda event: event["ts"]):
        held += change["args"]["Bytes"]
        peak = max(peak, held)
    return peak
