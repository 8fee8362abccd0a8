"""Load on a service, and how fast its answers come: clients that wait for each answer, or a rate.

The client speaks HTTP/1.1 on bare sockets, one event loop for all connections, so that it takes
little of the processor that it shares with what it measures; it tells its own share as well.
"""

import asyncio
import math
import ssl
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import httptools

from headway.core.errors import ConfigError, HeadwayError

MOST_OPEN = 512
"""Connections of an open loop: what would need more waits, and its waiting counts."""
PATIENCE_S = 60.0
"""For one answer; later it has failed."""


class ServiceAddress(NamedTuple):
    """Where a service is."""

    host: str
    port: int
    secure: bool = False
    base: str = ""
    """Path that all of its addresses begin with."""


class LoadLevel(NamedTuple):
    """How much is asked at a time: so many clients, or so many requests a second."""

    clients: int
    rate: float | None = None


class LoadFigures(NamedTuple):
    """What one level came to."""

    clients: int
    rate: float | None
    """Requests a second that were asked for; None: each client asks when it has its answer."""
    seconds: float
    n_done: int
    """Answers of status 200."""
    latencies_ms: Sequence[float]
    """Of these, sorted; from the time at which they were due."""
    statuses: dict[str, int]
    """Others by status; `failed` without one."""
    client_share: float
    """Of one core, what this client took itself."""

    def percentile(self, share: float) -> float | None:
        """Milliseconds within which that share of the answers came (the nearest rank)."""
        n = len(self.latencies_ms)
        return self.latencies_ms[max(0, math.ceil(share * n) - 1)] if n else None

    @property
    def per_second(self) -> float:
        """Answers."""
        return self.n_done / self.seconds

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "clients": self.clients,
            "rate": self.rate,
            "seconds": self.seconds,
            "done": self.n_done,
            "sentences_per_second": self.per_second,
            **{f"p{p}_ms": self.percentile(p / 100) for p in (50, 95, 99)},
            "max_ms": self.latencies_ms[-1] if self.latencies_ms else None,
            "others": self.statuses,
            "client_share": self.client_share,
        }


class LoadConnection(asyncio.Protocol):
    """One connection: a request, its answer, the next request."""

    def __init__(self, answered: "Callable[[LoadConnection, int], None]") -> None:
        """`answered` is told the status of each answer, 0 where the connection ended without."""
        self.answered = answered
        self.transport: asyncio.Transport | None = None
        self.parser = httptools.HttpResponseParser(self)
        self.due = 0.0
        """When the request that is under way was due, by `time.perf_counter`."""
        self.waiting = False
        self.keeps_alive = True

    def connection_made(self, transport: Any) -> None:
        """See asyncio."""
        self.transport = transport

    def ask(self, request: bytes, due: float) -> None:
        """Send a request."""
        assert self.transport is not None
        self.due, self.waiting = due, True
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self.close()

    def on_message_complete(self) -> None:
        """See httptools."""
        self.keeps_alive = self.parser.should_keep_alive()
        status = self.parser.get_status_code()
        self.parser = httptools.HttpResponseParser(self)
        self.waiting = False
        if not self.keeps_alive:
            self.close()
        self.answered(self, status)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self.keeps_alive = False
        if self.waiting:
            self.waiting = False
            self.answered(self, 0)

    def close(self) -> None:
        """End it."""
        if self.transport is not None:
            self.transport.close()


class Load:
    """One level of load, for some seconds and so many requests at most."""

    def __init__(self, at: ServiceAddress, requests: Iterator[bytes], level: LoadLevel) -> None:
        self.at, self.requests, self.level = at, requests, level
        self.latencies: list[float] = []
        self.others: Counter[str] = Counter()
        self.n_asked = 0
        self.until, self.most = 0.0, 0
        self.idle: deque[LoadConnection] = deque()
        self.late: deque[float] = deque()
        """When requests were due for which no connection was free."""
        self.all: set[LoadConnection] = set()
        self.opening: set[asyncio.Task[LoadConnection]] = set()
        self.ended = asyncio.Event()

    async def run(self, seconds: float, most: int) -> LoadFigures:
        """Raises HeadwayError where nothing listens."""
        try:
            return await self._figures(seconds, most)
        finally:
            for task in self.opening:
                task.cancel()
            await asyncio.gather(*self.opening, return_exceptions=True)
            for one in self.all:
                one.waiting = False
                one.close()

    async def _figures(self, seconds: float, most: int) -> LoadFigures:
        n = self.level.clients
        connections = await asyncio.gather(*(self._open() for _ in range(n)))
        began, busy = time.perf_counter(), time.process_time()
        self.until, self.most = began + seconds, most
        if self.level.rate is None:
            for one in connections:
                self._ask(one, began)
        else:
            self.idle.extend(connections)
            await self._at_rate(self.level.rate, began)
        try:
            await asyncio.wait_for(self._wait(), max(0.0, self.until - began) + PATIENCE_S)
        except TimeoutError:
            waiting = sum(one.waiting for one in self.all)
            self.others["failed"] += waiting + len(self.opening) + len(self.late)
        took, share = time.perf_counter() - began, time.process_time() - busy
        return LoadFigures(
            clients=n,
            rate=self.level.rate,
            seconds=took,
            n_done=len(self.latencies),
            latencies_ms=sorted(1e3 * one for one in self.latencies),
            statuses=dict(self.others),
            client_share=share / took,
        )

    async def _wait(self) -> None:
        while self.late or self.opening or any(one.waiting for one in self.all):
            self.ended.clear()
            await self.ended.wait()

    def _open(self) -> "asyncio.Task[LoadConnection]":
        """A connection that is being made; from here on it is one of `opening`, until it is made
        and what is due on it is asked."""
        task = asyncio.create_task(self._connected())
        self.opening.add(task)
        task.add_done_callback(self.opening.discard)
        return task

    async def _connected(self) -> LoadConnection:
        loop = asyncio.get_running_loop()
        secure = ssl.create_default_context() if self.at.secure else None
        try:
            _, made = await loop.create_connection(
                lambda: LoadConnection(self._answered), self.at.host, self.at.port, ssl=secure
            )
        except OSError as error:
            raise HeadwayError(
                f"nothing answers at {self.at.host}:{self.at.port} ({error.strerror or error})"
            ) from None
        self.all.add(made)
        return made

    def _ask(self, connection: LoadConnection, due: float) -> bool:
        """Whether there was still time."""
        if self.n_asked >= self.most or (
            self.level.rate is None and time.perf_counter() >= self.until
        ):
            return False
        self.n_asked += 1
        connection.ask(next(self.requests), due)
        return True

    async def _at_rate(self, rate: float, began: float) -> None:
        """Requests that are due at equal distances, whether others are answered or not."""
        n = 0
        while n < self.most and (due := began + n / rate) < self.until:
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            n += 1
            if self.idle:
                self._ask(self.idle.popleft(), due)
            elif len(self.all) + len(self.opening) < MOST_OPEN:
                self._one_more(due)
            else:
                self.late.append(due)

    def _one_more(self, due: float) -> None:
        def opened(task: "asyncio.Task[LoadConnection]") -> None:
            if task.cancelled():
                return
            if task.exception() is None:
                self._ask(task.result(), due)
            else:
                self.others["failed"] += 1
            self.ended.set()

        self._open().add_done_callback(opened)

    def _answered(self, connection: LoadConnection, status: int) -> None:
        now = time.perf_counter()
        if status == 200:
            self.latencies.append(now - connection.due)
        else:
            self.others[str(status) if status else "failed"] += 1
        if not connection.keeps_alive:
            self.all.discard(connection)
            if self.level.rate is None and now < self.until and self.n_asked < self.most:
                self._one_more(now)
        elif self.level.rate is None:
            self._ask(connection, now)
        elif self.late:
            self._ask(connection, self.late.popleft())
        else:
            self.idle.append(connection)
        self.ended.set()


def measured(
    at: ServiceAddress,
    requests: Sequence[bytes],
    levels: Sequence[LoadLevel],
    *,
    seconds: float,
    most: int,
    tell: Callable[[LoadFigures], None] = lambda figures: None,
) -> list[LoadFigures]:
    """Each level after the other, for `seconds` each and at most `most` requests; the requests are
    sent in their order, again and again. A few come before, which are not counted.

    Raises:
        HeadwayError: nothing listens, or not one answer was a translation.
    """
    if not requests:
        raise ConfigError("there is nothing to ask: give texts that are not blank.")
    in_order = cycle(requests)

    async def all_levels() -> list[LoadFigures]:
        before = await Load(at, in_order, LoadLevel(clients=2)).run(PATIENCE_S, 8)
        if not before.n_done:
            raise HeadwayError(
                f"no answer was a translation; the service answered with {before.statuses}. "
                "Check --source, --target, --interface and --api-key."
            )
        found = []
        for level in levels:
            found.append(await Load(at, in_order, level).run(seconds, most))
            tell(found[-1])
        return found

    return asyncio.run(all_levels())
