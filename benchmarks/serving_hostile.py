"""What a service makes of clients that mean harm: random bodies, and connections that never end.

    bodies   `--bodies` requests to every address that the service describes: fields of its own
             examples replaced, cut, nested, of another kind, in other encodings, and plain noise
    slow     `--slow` connections at once: that send nothing, a byte a second of their headers or of
             their body, or do not take their answer

Meanwhile an ordinary client asks for a translation ten times a second. Wrong is: an answer of 500
or any other 5xx than 503, no answer, one that takes longer than a second, an ordinary request that
fails or waits longer than a second, a slow connection that is still open after 90 seconds.

Run: python benchmarks/serving_hostile.py [--run RUN] [--bodies 100000] [--slow 500]. It starts the
service that it asks, on this machine; exit status 1 if anything is wrong.
"""

import asyncio
import json
import random
import socket
import string
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import record

from headway.commands.bench import served
from headway.serving.bench import LoadConnection, ServiceAddress
from headway.serving.bench_requests import address, first_pair, request

AT_ONCE = 16
OPENED_A_SECOND = 250
LEFT_S = 90.0
"""By then all slow clients must be gone."""
EXAMPLES_KEPT = 10
END = b"\r\n\r\n"
"""Of the headers of a request."""
ODD: Sequence[Any] = (
    None, True, False, 0, -1, 1 << 31, 1 << 63, -(1 << 70), 1e308, 5e-324, float("nan"),
    float("inf"), "", " ", "\0", "\ud800", "\u202e", "\ufffd", "a" * 5_000, "é" * 300, "中" * 300,
    "𝕏" * 50, "../../etc/passwd", "<script>alert(1)</script>", "%s%n{0}${x}", "auto", "en", "zh",
    "\r\n\r\nGET / HTTP/1.1", [], {}, [[]], [None], [""] * 50, {"a": {"b": []}}, "\t\n\v\f\u2028",
)  # fmt: skip
KINDS = (
    "application/json", "application/json; charset=utf-16", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", "", "application/xml",
)  # fmt: skip


@dataclass
class HostileFigures:
    """What came of one kind of harm."""

    sent: int = 0
    seconds: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)
    slowest_ms: float = 0.0
    over_a_second: int = 0
    ordinary: int = 0
    """Ordinary requests meanwhile."""
    ordinary_failed: int = 0
    ordinary_slowest_ms: float = 0.0
    still_open: int = 0
    memory_mb: tuple[float, float] = (0.0, 0.0)
    """Of the service, before and behind."""
    wrong: list[str] = field(default_factory=list)


def value(chance: random.Random, depth: int = 0) -> Any:
    """Something that JSON can hold, or nearly."""
    kind = chance.randrange(5 if depth < 4 else 3)
    if kind < 2:
        return chance.choice(ODD)
    if kind == 2:
        letters = string.printable + "äß中語🙂"
        return "".join(chance.choices(letters, k=chance.randrange(40)))
    if kind == 3:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {str(chance.choice(ODD))[:20]: value(chance, depth + 1) for _ in range(3)}


def spoiled(example: Any, names: Sequence[str], chance: random.Random) -> bytes:
    """An example with something in it that should not be there."""
    given = dict(example) if isinstance(example, dict) else {}
    for _ in range(chance.randrange(1, 4)):
        name = chance.choice([*names, *given, "x"])
        if chance.random() < 0.2:
            given.pop(name, None)
        else:
            given[name] = value(chance)
    sent = json.dumps(given, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    kind = chance.randrange(10)
    if kind == 0:
        return sent[: chance.randrange(len(sent) + 1)]
    if kind == 1:
        place = chance.randrange(len(sent))
        return sent[:place] + chance.randbytes(3) + sent[place + 1 :]
    if kind == 2:
        return chance.randbytes(chance.randrange(200))
    if kind == 3:
        return chance.choice((b"[" * 3_000, b'{"a":' * 3_000, b'"' * 99, b"null", b"[]", b"1e999"))
    if kind == 4:
        return sent.decode("utf-8", "replace").encode("utf-16")
    return sent


def hostile_requests(told: dict[str, Any], chance: random.Random) -> Iterator[bytes]:
    """Without end, to every address of an OpenAPI document."""
    operations = [
        (path, method, one)
        for path, methods in told["paths"].items()
        for method, one in methods.items()
    ]
    schemas = told["components"]["schemas"]
    while True:
        path, method, one = chance.choice(operations)
        [content] = [*one.get("requestBody", {}).get("content", {}).values()] or [{}]
        whole = content.get("schema", {})
        whole = schemas.get(whole.get("$ref", "").rpartition("/")[2], whole)
        body = b""
        if method != "get" or chance.random() < 0.1:
            body = spoiled(content.get("example"), [*whole.get("properties", {})], chance)
        for name in ("{id}", "{model}", "{which}", "{place}"):
            path = path.replace(name, quoted(chance))
        query = [
            f"{one['name']}={quoted(chance)}"
            for one in one.get("parameters", [])
            if one["in"] == "query" and chance.random() < 0.9
        ]
        if body and chance.random() < 0.2:
            query.append(f"{chance.choice(('q', 'langpair', 'token', 'type'))}={quoted(chance)}")
        kind = KINDS[0] if chance.random() < 0.7 else chance.choice(KINDS)
        head = [
            f"{method.upper()} {path}{'?' if query else ''}{'&'.join(query)} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Content-Type: {kind}",
            f"X-Document-Key: {quoted(chance)}",
            f"Content-Length: {len(body)}",
        ]
        yield "\r\n".join([*head, "", ""]).encode() + body


def quoted(chance: random.Random) -> str:
    """A part of an address."""
    return urllib.request.quote(str(chance.choice(ODD))[:200], safe="", errors="replace") or "_"


class OrdinaryClient:
    """Asks for a translation ten times a second, for as long as it is told to."""

    def __init__(self, at: ServiceAddress, asked: bytes, figures: HostileFigures) -> None:
        self.at, self.asked, self.figures = at, asked, figures
        self.going, self.began = True, time.perf_counter()

    async def run(self) -> None:
        while self.going:
            began = time.perf_counter()
            status = await asked_once(self.at, self.asked)
            took = 1e3 * (time.perf_counter() - began)
            self.figures.ordinary += 1
            if took > 1_000:
                self.figures.wrong.append(
                    f"ordinary: {took:.0f} ms, {began - self.began:.1f} s after the beginning"
                )
            self.figures.ordinary_failed += status != 200
            self.figures.ordinary_slowest_ms = max(self.figures.ordinary_slowest_ms, took)
            await asyncio.sleep(0.1)


async def asked_once(at: ServiceAddress, sent: bytes) -> int:
    """The status of an answer, on a connection of its own; 0 where there is none in 30 s."""
    done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()
    try:
        _, made = await loop.create_connection(
            lambda: LoadConnection(lambda _, status: done.cancelled() or done.set_result(status)),
            at.host, at.port,
        )  # fmt: skip
        made.ask(sent, 0.0)
        return await asyncio.wait_for(done, 30)
    except (OSError, TimeoutError):
        return 0
    finally:
        if "made" in locals():
            made.waiting = False
            made.close()


async def bodies(
    at: ServiceAddress, told: dict[str, Any], n: int, seed: int, figures: HostileFigures
) -> None:
    """Random bodies, several at a time."""
    sent, statuses = hostile_requests(told, random.Random(seed)), Counter[str]()
    began, left = time.perf_counter(), n

    async def one_client() -> None:
        nonlocal left
        answer: asyncio.Future[int]
        connection: LoadConnection | None = None
        loop = asyncio.get_running_loop()
        while left > 0:
            left -= 1
            asked = next(sent)
            answer = loop.create_future()
            if connection is None or not connection.keeps_alive:
                _, connection = await loop.create_connection(
                    lambda: LoadConnection(lambda _, status: None), at.host, at.port
                )
            connection.answered = lambda _, status, to=answer: to.done() or to.set_result(status)
            start = time.perf_counter()
            connection.ask(asked, start)
            try:
                status = await asyncio.wait_for(answer, 30)
            except TimeoutError:
                status = 0
                connection.waiting = False
                connection.close()
                connection = None
            took = 1e3 * (time.perf_counter() - start)
            statuses[str(status or "none")] += 1
            figures.sent += 1
            figures.slowest_ms = max(figures.slowest_ms, took)
            figures.over_a_second += took > 1_000
            if (status == 0 or (status >= 500 and status != 503) or took > 1_000) and (
                len(figures.wrong) < EXAMPLES_KEPT
            ):
                figures.wrong.append(
                    f"{status} in {took:.0f} ms: {asked[:80]!r} {asked.partition(END)[2][:400]!r}"
                )
            if figures.sent % 10_000 == 0:
                print(f"  {figures.sent:,} of {n:,}", file=sys.stderr, flush=True)
        if connection is not None:
            connection.close()

    await asyncio.gather(*(one_client() for _ in range(AT_ONCE)))
    figures.seconds, figures.statuses = time.perf_counter() - began, dict(statuses)


async def slow(at: ServiceAddress, asked: bytes, n: int, figures: HostileFigures) -> None:
    """Connections that never end by themselves, and whether the service ends them."""
    began, still_open = time.perf_counter(), set[int]()
    head = asked[: asked.index(b"\r\n\r\n") + 4]
    post = b"POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n"
    get = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    async def dripped(writer: asyncio.StreamWriter, data: bytes, number: int) -> None:
        for place in range(len(data)):
            writer.write(data[place : place + 1])
            await writer.drain()
            await asyncio.sleep(0.5 + number % 10 / 10)

    async def one(number: int) -> None:
        await asyncio.sleep(number / OPENED_A_SECOND)
        small = socket.socket()  # so that little of an answer is on its way
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.setblocking(False)
        await asyncio.get_running_loop().sock_connect(small, (at.host, at.port))
        reader, writer = await asyncio.open_connection(sock=small, limit=1024)
        still_open.add(number)
        figures.sent += 1
        kind, sending = number % 4, None
        if kind == 1:
            sending = asyncio.create_task(dripped(writer, head, number))
        elif kind == 2:
            writer.write(post)
            sending = asyncio.create_task(dripped(writer, b" " * 9999, number))
        elif kind == 3:  # nothing of its answers is taken; they are more than buffers hold
            writer.write(get * 100)
            await asyncio.sleep(LEFT_S)
        try:
            async with asyncio.timeout(max(5.0, began + LEFT_S - time.perf_counter())):
                while await reader.read(1 << 20):
                    pass
            still_open.discard(number)
        except ConnectionError:
            still_open.discard(number)
        except TimeoutError:
            pass
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
            writer.close()

    await asyncio.gather(*(one(number) for number in range(n)), return_exceptions=True)
    kinds = Counter(
        ("nothing sent", "headers", "body", "answer not taken")[k % 4] for k in still_open
    )
    figures.wrong += [f"still open: {kind}: {count}" for kind, count in kinds.items()]
    figures.still_open, figures.seconds = len(still_open), time.perf_counter() - began


def memory_mb(process: int) -> float:
    """What a process has in memory."""
    text = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def judged(figures: HostileFigures, name: str) -> list[str]:
    """What is wrong, in words."""
    broken = {
        status: count
        for status, count in figures.statuses.items()
        if status == "none" or (status.startswith("5") and status != "503")
    }
    found = [f"{count} answers of {status}" for status, count in broken.items()]
    if figures.over_a_second:
        found.append(f"{figures.over_a_second} answers took over a second")
    if figures.ordinary_failed or figures.ordinary_slowest_ms > 1_000 or not figures.ordinary:
        found.append(
            f"of {figures.ordinary} ordinary requests {figures.ordinary_failed} failed; the "
            f"slowest took {figures.ordinary_slowest_ms:.0f} ms"
        )
    if figures.still_open:
        found.append(f"{figures.still_open} slow connections are still open")
    return [f"{name}: {one}" for one in found]


async def asked_for_the_first_time(at: ServiceAddress, told: dict[str, Any], coded: bytes) -> float:
    """Every address with its own example, and a text with placeholders, as what is loaded when
    first asked for takes time; seconds of the slowest."""
    began = time.perf_counter()
    await asked_once(at, coded)
    slowest = time.perf_counter() - began
    for path, methods in told["paths"].items():
        for method, one in methods.items():
            [content] = [*one.get("requestBody", {}).get("content", {}).values()] or [{}]
            body = json.dumps(content.get("example", {})).encode()
            head = f"{method.upper()} {path}?q=Hello HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            began = time.perf_counter()
            await asked_once(at, (head + kind).encode() + body)
            slowest = max(slowest, time.perf_counter() - began)
    return slowest


def main() -> int:
    """Run it all."""
    options = record.parser(__doc__)
    options.add_argument("--run", type=Path, nargs="+", default=[Path("demo")])
    options.add_argument("--bodies", type=int, default=100_000)
    options.add_argument("--slow", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    record.add_record_option(options)
    given = options.parse_args()
    found: dict[str, HostileFigures] = {}
    with served(*given.run) as service:
        at = address(service.url, elsewhere=False)
        source, target = first_pair(at, "headway")
        asked = request(at, "headway", "The dog runs.", source, target)
        told = json.loads(urllib.request.urlopen(f"{service.url}/openapi.json").read())
        coded = request(at, "headway", "The <b>dog</b> {0}.", source, target)
        first_s = asyncio.run(asked_for_the_first_time(at, told, coded))
        print(f"asked for the first time: at most {first_s:.1f} s")
        for name, n in (("bodies", given.bodies), ("slow", given.slow)):
            figures = found[name] = HostileFigures()

            async def both(name: str = name, n: int = n, into: HostileFigures = figures) -> None:
                assert await asked_once(at, asked) == 200
                before = memory_mb(service.process)
                ordinary = OrdinaryClient(at, asked, into)
                asking = asyncio.create_task(ordinary.run())
                if name == "bodies":
                    await bodies(at, told, n, given.seed, into)
                else:
                    await slow(at, asked, n, into)
                ordinary.going = False
                await asking
                into.memory_mb = before, memory_mb(service.process)

            if n:
                asyncio.run(both())
                print(json.dumps({name: asdict(figures)}, indent=1, ensure_ascii=False))
    wrong = [
        one for name, figures in found.items() if figures.sent for one in judged(figures, name)
    ]
    print("\n".join(wrong) or "nothing is wrong")
    figures_told = {"first_s": first_s, **{name: asdict(one) for name, one in found.items()}}
    record.write(given.record, "serving_hostile", seeds=[given.seed], figures=figures_told)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
