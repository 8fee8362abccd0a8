"""`headway bench`: how many sentences a service translates in a second, and how long each waits."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from cyclopts import Parameter

from headway.commands.arguments import MOST_USED, group, print_json, say
from headway.core.errors import ConfigError, HeadwayError
from headway.pages import refuse_no_place

if TYPE_CHECKING:
    from headway.serving.bench import LoadLevel

LOAD = group("How much is asked", 1)
WHAT = group("What is asked", 2)
MOST_CLIENTS, MOST_S = 512, 600.0
GENERATED = 2_000
START_S, END_S = 120.0, 40.0
"""Until a service of its own answers, and until it has ended."""


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What `headway bench` is told.

    Parameters
    ----------
    clients
        Numbers of clients, one after the other; each asks for one sentence, and for the next when
        it has its answer.
    rate
        Instead of clients: so many requests a second, answered or not, one rate after the other.
    seconds
        For each of them.
    max_requests
        For each of them, at most.
    file
        Texts, one a line; without it, generated English sentences.
    source
        Code of their language; without it, of the first pair that the service tells.
    target
        Code of the language to translate into.
    interface
        In whose words it is asked.
    api_key
        Where the service asks for one.
    yes_elsewhere
        The service may be on another machine, which is mine to load.
    plot
        Draw the figures: a file that ends in .png or .svg.
    json
        Print one JSON object.
    """

    clients: Annotated[str, LOAD] = "1,2,4,8,16,32,64"
    rate: Annotated[str, LOAD] = ""
    seconds: Annotated[float, LOAD] = 10.0
    max_requests: Annotated[int, LOAD] = 100_000
    file: Annotated[Path | None, WHAT] = None
    source: Annotated[str, WHAT] = ""
    target: Annotated[str, WHAT] = ""
    interface: Annotated[Literal["headway", "libretranslate", "deepl"], WHAT] = "headway"
    api_key: Annotated[str, WHAT] = ""
    yes_elsewhere: bool = False
    plot: Annotated[Path | None, MOST_USED] = None
    json: Annotated[bool, MOST_USED] = False


DEFAULTS = BenchOptions()


def bench(
    service: str, /, *, told: Annotated[BenchOptions, Parameter(name="*")] = DEFAULTS
) -> None:
    """Throughput and latency of a service by the number of its clients.

    Nothing is cached by the client, and memory takes what was asked before: give --file with enough
    texts. `client` is what the client itself takes, as a share of one core.

    Parameters
    ----------
    service
        Address of a service on this machine, such as http://127.0.0.1:5000; or a run, which is
        served for as long as this takes.
    """
    if find_spec("httptools") is None:
        raise ConfigError(
            'this needs packages that are not here. Install them with: pip install "headway[serve]"'
        )
    levels = levels_of(told)
    refuse_no_place(told.plot, "--plot")
    if told.plot and told.plot.suffix.lower() not in (".png", ".svg"):
        raise ConfigError(f"--plot is a .png or .svg file; got {told.plot}. Try {told.plot}.svg.")
    if not 0 < told.seconds <= MOST_S or not 1 <= told.max_requests <= 10_000_000:
        raise ConfigError(
            f"--seconds is at most {MOST_S:g}, --max-requests at most 10,000,000, and both are "
            f"above 0; got {told.seconds:g} and {told.max_requests}."
        )
    if "://" in service:
        measure(service, service, told, levels)
        return
    from headway.tasks import brought_by_run

    brought_by_run(service, "bench")  # before a service is started
    with served(Path(service)) as started:
        measure(started.url, service, told, levels)


def levels_of(told: BenchOptions) -> "list[LoadLevel]":
    """Raises ConfigError for numbers that make no sense."""
    from headway.serving.bench import LoadLevel

    try:
        if told.rate:
            rates = [float(one) for one in told.rate.split(",")]
            if all(0 < one <= 1e5 for one in rates):
                return [LoadLevel(clients=1, rate=one) for one in rates]
        elif all(1 <= int(one) <= MOST_CLIENTS for one in told.clients.split(",")):
            return [LoadLevel(int(one)) for one in told.clients.split(",")]
    except ValueError:
        pass
    raise ConfigError(
        f"--clients are numbers up to {MOST_CLIENTS} with commas between, --rate numbers above 0; "
        f"got {told.rate or told.clients!r}. Try --clients 1,8,64."
    )


def texts_of(file: Path | None) -> list[str]:
    """Lines that are not blank, or generated ones, each another."""
    if file is None:
        from headway.demo import generate

        return list(dict.fromkeys(english for english, _ in generate(GENERATED, seed=22)))
    from headway.core.lines import check_file, read_lines

    check_file(file)
    return [line for line in read_lines(file) if line and line.strip()]


def measure(url: str, name: str, told: BenchOptions, levels: "Sequence[LoadLevel]") -> None:
    """Ask, and tell what it came to."""
    from headway.serving import bench_report
    from headway.serving.bench import LoadFigures, measured
    from headway.serving.bench_requests import address, first_pair, request

    at = address(url, elsewhere=told.yes_elsewhere)
    source, target = told.source, told.target
    if not (source and target):
        pair = first_pair(at, told.interface, told.api_key)
        source, target = source or pair[0], target or pair[1]
    texts = texts_of(told.file)
    requests = [request(at, told.interface, text, source, target, told.api_key) for text in texts]

    def tell(figures: LoadFigures) -> None:
        if not told.json:
            print(bench_report.line(figures), flush=True)

    say(f"{len(texts):,} texts, {source} to {target}, {told.interface}'s interface")
    if not told.json:
        print(bench_report.HEAD)
    found = measured(at, requests, levels, seconds=told.seconds, most=told.max_requests, tell=tell)
    if told.json:
        from headway.core.runtime import available_cores, cpu_name

        print_json({
            "service": name, "interface": told.interface, "source": source, "target": target,
            "texts": len(texts), "processor": cpu_name(), "cores": available_cores(),
            "levels": [one.as_dict() for one in found],
        })  # fmt: skip
    if told.plot:
        bench_report.draw(found, f"{name} ({source} to {target})", told.plot)


class StartedService(NamedTuple):
    """A service of one's own."""

    url: str
    process: int
    """Its id."""


@contextmanager
def served(*runs: Path) -> Iterator[StartedService]:
    """A service of some runs, a process of its own, which is ended behind the block.

    Raises HeadwayError where it ends before it answers.
    """
    command = [sys.executable, "-m", "headway", "serve", *map(str, runs), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace", env=environment,
    )  # fmt: skip
    said: list[str] = []
    address = threading.Event()

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if "http://" in line:
                address.set()
        address.set()

    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    try:
        address.wait(START_S)
        found = re.search(r"http://[\w.:\[\]]+\d", "".join(said))
        if found is None:
            raise HeadwayError(f"the service did not start: {''.join(said).strip() or command}")
        yield StartedService(found[0], process.pid)
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listening.join()
        assert process.stderr is not None
        process.stderr.close()
