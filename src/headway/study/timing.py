"""How long something takes on this machine, and how much memory it takes besides."""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch.profiler import ProfilerActivity, profile


class Timing(NamedTuple):
    """Medians over some runs."""

    wall_s: float
    cpu_s: float
    """Of this process: what runs beside it on the machine hardly counts."""
    runs: int


def timed(
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
