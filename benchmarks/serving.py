"""How many sentences a second `headway serve` translates for many clients, how long they wait, and
what it does when there are too many; beside LibreTranslate's way of serving with the same weights.

Clients send single sentences to /translate of both, each on a connection of its own that stays
open, the next as soon as the last one is answered. Rounds go in turn (A B A B ..), so that what
else the machine does hits both alike; the first of each is not counted. Besides:

  offline    the same sentences by Translator.translate in full batches, in turn with the rounds
  delay      one client: how much later it has an answer than Translator.translate gives it
  overload   ten times as many clients for --overload seconds, who come again after Retry-After:
             statuses; memory; how long the accepted waited, beside the wait under full load

The peer (serving_peer.py) is run by --peer, a Python that has flask, waitress, ctranslate2 and
tokenizers; --model is what `headway export RUN MODEL --to ctranslate2` wrote. Clients, headway and
peer share the machine, so that both figures are lower than with clients elsewhere. Run:
python benchmarks/serving.py --run RUN --source FILE --peer PYTHON --model MODEL
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch
from record import add_record_option, exit_status, parser, table, write

from headway.translator import Translator

START_S = 120
FIRST = 64
"""Sentences that warm up."""


class Load(NamedTuple):
    """What many clients saw."""

    sentences_s: float
    waits_s: list[float]
    """Of those that were accepted, shortest first."""
    statuses: Counter[int]

    def wait_ms(self, share: float) -> float:
        """The quantile of the waits."""
        return 1e3 * quantile(self.waits_s, share)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of numbers in their order; nothing: not a number."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Client(asyncio.Protocol):
    """One connection: a request, its answer, the next."""

    def __init__(self, work: "Work") -> None:
        self.work, self.data, self.began = work, b"", 0.0
        self.transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        """The next request, if there is one."""
        request = self.work.next()
        if request is None:
            self.transport.close()
            return
        self.began = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """An answer, or a part of it."""
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if len(body) < int(fields.get(b"content-length", b"0")):
            return
        self.data = b""
        status = int(head.split(b" ", 2)[1])
        self.work.answered(status, time.perf_counter() - self.began)
        pause_s = float(fields.get(b"retry-after", b"1")) if status in (429, 503) else 0.0
        if pause_s:
            asyncio.get_running_loop().call_later(pause_s, self.ask)
        else:
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """By the server, unless there is nothing left."""
        self.work.left(broken=self.work.next() is not None)


class Work:
    """Requests that clients share, until there are none or time is up."""

    def __init__(self, requests: Sequence[bytes], n_clients: int, until: float | None) -> None:
        self.requests, self.until, self.n_sent, self.n_open = requests, until, 0, n_clients
        self.waits_s, self.statuses = list[float](), Counter[int]()
        self.over = asyncio.get_running_loop().create_future()

    def next(self) -> bytes | None:
        """The next request; with a time, again from the first."""
        is_over = (
            self.n_sent >= len(self.requests)
            if self.until is None
            else (time.perf_counter() > self.until)
        )
        if is_over:
            return None
        self.n_sent += 1
        return self.requests[(self.n_sent - 1) % len(self.requests)]

    def answered(self, status: int, wait_s: float) -> None:
        """One was."""
        self.statuses[status] += 1
        if status == 200:
            self.waits_s.append(wait_s)

    def left(self, *, broken: bool) -> None:
        """A client has closed, or was closed (counted as status 0)."""
        self.statuses[0] += broken
        self.n_open -= 1
        if not self.n_open and not self.over.done():
            self.over.set_result(None)


def load(port: int, requests: Sequence[bytes], n_clients: int, seconds: float = 0) -> Load:
    """What clients see who share some requests, or send them for so many seconds."""

    async def run() -> Load:
        began = time.perf_counter()
        work = Work(requests, n_clients, began + seconds if seconds else None)
        loop = asyncio.get_running_loop()
        for _ in range(n_clients):
            await loop.create_connection(lambda: Client(work), "127.0.0.1", port)
        await work.over
        passed_s = time.perf_counter() - began
        return Load(len(work.waits_s) / passed_s, sorted(work.waits_s), work.statuses)

    return asyncio.run(run())


def request_of(text: str, source: str, target: str) -> bytes:
    """One sentence as LibreTranslate's clients send it."""
    body = json.dumps({"q": text, "source": source, "target": target, "format": "text"}).encode()
    return (
        b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )


def free_port() -> int:
    """One that nobody listens at."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """A process that serves at a port until it is closed."""

    def __init__(self, name: str, command: Sequence[str], port: int, first: bytes) -> None:
        """Waits until `first` is answered."""
        self.name, self.port = name, port
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if load(port, [first], 1).statuses[200]:
                    return
            except OSError:
                time.sleep(0.2)
        self.close()
        raise SystemExit(f"{name} does not answer: {' '.join(command)}")

    @property
    def memory_mb(self) -> float:
        """What is resident."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        return int(fields["VmRSS"].split()[0]) / 1024

    @property
    def processor_s(self) -> float:
        """Of all its threads so far."""
        numbers = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2]
        user, system = numbers.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(60)


def added_ms(
    server: Server, translator: Translator, texts: Sequence[str], requests: Sequence[bytes]
) -> list[float]:
    """How much later one client has each answer than the translator gives it."""
    found = []
    for text, request in zip(texts, requests, strict=True):
        began = time.perf_counter()
        translator.translate(text)
        direct_s = time.perf_counter() - began
        found.append(1e3 * (load_one(server.port, request) - direct_s))
    return sorted(found)


def load_one(port: int, request: bytes) -> float:
    """Seconds until one request is answered, on a connection that is open already."""
    if port not in OPEN:
        OPEN[port] = socket.create_connection(("127.0.0.1", port))
        OPEN[port].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    began = time.perf_counter()
    OPEN[port].sendall(request)
    answer = OPEN[port].recv(1 << 16)
    while b"\r\n\r\n" not in answer or not complete(answer):
        answer += OPEN[port].recv(1 << 16)
    return time.perf_counter() - began


OPEN: dict[int, socket.socket] = {}


def complete(answer: bytes) -> bool:
    """Whether all of a body has come."""
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    return len(body) >= int(fields[b"content-length"])


def overloaded(server: Server, requests: Sequence[bytes], asked: argparse.Namespace) -> Any:
    """Figures of full load, then of ten times as many clients."""
    full = load(server.port, requests, asked.clients, asked.overload / 4)
    before_mb = server.memory_mb
    over = load(server.port, requests, 10 * asked.clients, asked.overload)
    after_mb = server.memory_mb
    figures = {
        "statuses": dict(sorted(over.statuses.items())),
        "sentences_s": [round(full.sentences_s, 1), round(over.sentences_s, 1)],
        "p50_ms": [round(one.wait_ms(0.5), 1) for one in (full, over)],
        "p99_ms": [round(one.wait_ms(0.99), 1) for one in (full, over)],
        "memory_mb": [round(before_mb, 1), round(after_mb, 1)],
    }
    rows = [[name, *map(str, value)] for name, value in figures.items() if name != "statuses"]
    print(table(["overload", f"{asked.clients} clients", f"{10 * asked.clients}"], rows))
    print(f"statuses: {figures['statuses']} (0: a connection was closed)")
    return figures


def in_turn(servers: Sequence[Server], translator: Translator, asked: argparse.Namespace) -> Any:
    """Sentences a second of each and of the translator alone, round by round."""
    texts = asked.texts
    requests = [request_of(text, *asked.languages) for text in texts]
    names = ["offline", *(one.name for one in servers)]
    speeds: dict[str, list[float]] = {name: [] for name in names}
    processor_ms: dict[str, list[float]] = {name: [] for name in names}
    waits: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(asked.rounds + 1):
        began, used = time.perf_counter(), time.process_time()
        translator.translate(texts)
        speed = {"offline": len(texts) / (time.perf_counter() - began)}
        spent = {"offline": time.process_time() - used}
        for server in servers:
            used = server.processor_s
            seen = load(server.port, requests, asked.clients)
            if seen.statuses != Counter({200: len(texts)}):
                raise SystemExit(f"{server.name} refused some: {dict(seen.statuses)}")
            speed[server.name], spent[server.name] = seen.sentences_s, server.processor_s - used
            if turn:
                waits[server.name] += seen.waits_s
        for name in names if turn else ():
            speeds[name].append(speed[name])
            processor_ms[name].append(1e3 * spent[name] / len(texts))
        print("  ".join(f"{name} {one:.0f}/s" for name, one in speed.items()), flush=True)
    ratios = {
        name: median(ours / one for ours, one in zip(speeds["headway"], speeds[name], strict=True))
        for name in names
    }
    rows = [
        [
            name, f"{median(speeds[name]):.0f}",
            *(f"{1e3 * quantile(sorted(waits[name]), share):.1f}" for share in (0.5, 0.99)),
            f"{median(processor_ms[name]):.2f}", f"{ratios[name]:.2f}",
        ]
        for name in names
    ]  # fmt: skip
    heads = ["sentences/s", "median ms", "p99 ms", "processor ms each", "headway is so many times"]
    print(table(["", *heads], rows))
    return {"sentences_s": speeds, "ratios": ratios, "processor_ms": processor_ms}


def arguments() -> argparse.Namespace:
    """From the command line."""
    options = parser(__doc__)
    options.add_argument("--run", type=Path, required=True, help="the run folder that is served")
    options.add_argument("--source", type=Path, required=True, help="a file of sentences")
    options.add_argument("--peer", help="Python for serving_peer.py; without it there is no peer")
    options.add_argument("--model", type=Path, help="the run as CTranslate2 has it")
    options.add_argument(
        "--peer-options", default="", help="of serving_peer.py, such as '--inter 2'"
    )
    options.add_argument("--precision", default="auto", help="of headway's products")
    options.add_argument("--sentences", type=int, default=2000)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--delays", type=int, default=300, help="texts of one client; 0: none")
    options.add_argument("--overload", type=float, default=0, help="seconds; 0: none")
    add_record_option(options)
    asked = options.parse_args()
    lines = asked.source.read_text(encoding="utf-8").splitlines()
    asked.texts = [line for line in lines if line.strip()][: asked.sentences]
    return asked


def main() -> int:
    """Measure, print, record."""
    asked = arguments()
    torch.set_num_threads(asked.threads)
    translator = Translator.load(asked.run, precision=asked.precision)
    data, beam = translator.settings.data, translator.settings.decoding.beam
    asked.languages = (data.source_language, data.target_language)
    first, servers = request_of(asked.texts[0], *asked.languages), list[Server]()
    requests = [request_of(text, *asked.languages) for text in asked.texts]
    figures: dict[str, Any] = {"beam": beam, "n_sentences": len(asked.texts)}
    figures["precision"] = translator.search.choice.precision
    try:
        port = free_port()
        command = [sys.executable, "-m", "headway", "serve", str(asked.run), "--port", str(port)]
        command += ["--precision", asked.precision, "--load"]
        servers.append(Server("headway", command, port, first))
        if asked.peer:
            port, script = free_port(), Path(__file__).with_name("serving_peer.py")
            tokenizer = asked.run / "tokenizer.json"
            command = [asked.peer, str(script), str(asked.model), str(tokenizer)]
            command += ["--port", str(port), "--beam", str(beam), *asked.peer_options.split()]
            servers.append(Server("peer", command, port, first))
        load(servers[0].port, requests[:FIRST], asked.clients)
        figures |= in_turn(servers, translator, asked)
        if asked.delays:
            some = slice(0, asked.delays)
            added_ms(servers[0], translator, asked.texts[:FIRST], requests[:FIRST])
            added = added_ms(servers[0], translator, asked.texts[some], requests[some])
            figures["added_ms"] = {"p50": quantile(added, 0.5), "p99": quantile(added, 0.99)}
            print(f"added for one client: {figures['added_ms']} ms")
        if asked.overload:
            figures["overload"] = overloaded(servers[0], requests, asked)
    finally:
        for one in servers:
            one.close()
    write(asked.record, "serving", seeds=[], figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(exit_status(main))
