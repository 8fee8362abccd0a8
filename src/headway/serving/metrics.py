"""What a service counts, as Prometheus reads it: never a key, an address or a text."""

import bisect
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds."""
QUANTILES = (0.5, 0.9, 0.99)
WINDOW = 2_048
"""Requests that quantiles are of: the latest."""

Gauge = Callable[[], float]


class Metrics:
    """Counted on the event loop alone, so without locks."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        """By route (its pattern) and status."""
        self.by_bucket = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0
        self.latest: deque[float] = deque(maxlen=WINDOW)
        self.totals: dict[str, Gauge] = {}
        """Counts by name that only grow, asked when somebody looks: sentences, tokens, .."""
        self.gauges: dict[str, Gauge] = {}
        """By name, asked when somebody looks: waiting, slots, memory, .."""

    def request(self, scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
        """Count a request that is done. Its route was put into the scope by `doors.route`; one that
        no route has is "none", whatever was asked for."""
        self.requests[scope.get("headway.route", "none"), status] += 1
        if scope.get("headway.works"):
            self.by_bucket[bisect.bisect_left(BUCKETS, seconds)] += 1
            self.seconds += seconds
            self.latest.append(seconds)

    def text(self) -> str:
        """The page of metrics, in Prometheus's text format 0.0.4."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests by route and status.")
        for (path, status), n in sorted(self.requests.items()):
            yield f'headway_requests_total{{route="{path}",status="{status}"}} {n}'
        yield from _head("request_seconds", "histogram", "From a request for text to its answer.")
        total = 0
        for limit, n in zip((*map(str, BUCKETS), "+Inf"), self.by_bucket, strict=True):
            total += n
            yield f'headway_request_seconds_bucket{{le="{limit}"}} {total}'
        yield f"headway_request_seconds_sum {self.seconds:.6f}"
        yield f"headway_request_seconds_count {total}"
        yield from _head(
            "request_latest_seconds", "gauge", f"Quantiles of the latest {WINDOW:,} of them."
        )
        latest = sorted(self.latest)
        for quantile in QUANTILES if latest else ():
            value = latest[min(len(latest) - 1, int(quantile * len(latest)))]
            yield f'headway_request_latest_seconds{{quantile="{quantile}"}} {value:.6f}'
        for name, counted in sorted(self.totals.items()):
            yield from _head(f"{name}_total", "counter", f"{name.replace('_', ' ')}.".capitalize())
            yield f"headway_{name}_total {counted():.15g}"
        for name, gauge in sorted(self.gauges.items()):
            yield from _head(name, "gauge", f"{name.replace('_', ' ')}.".capitalize())
            yield f"headway_{name} {gauge():.15g}"


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP headway_{name} {words}", f"# TYPE headway_{name} {kind}"


def resident_bytes() -> float:
    """Memory of this process; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
