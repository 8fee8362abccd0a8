"""What the benchmarks do with their figures: a table for people, a JSON line for the record."""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import headway
from headway.core.errors import HeadwayError
from headway.core.runtime import processor_line
from headway.runs.train import machine


def parser(description: str | None) -> argparse.ArgumentParser:
    """A command line whose --help is the script's own docstring, as it was written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_record_option(options: argparse.ArgumentParser, *, required: bool = False) -> None:
    """--record FILE."""
    options.add_argument(
        "--record", type=Path, metavar="FILE", required=required, help="append one JSON line to it"
    )


def add_data_option(options: argparse.ArgumentParser) -> None:
    """--data DIR."""
    options.add_argument(
        "--data", type=Path, metavar="DIR", required=True, help="folder that holds mt/multi30k, .."
    )


def write(
    file: Path | None, benchmark: str, *, seeds: Sequence[int], figures: Mapping[str, Any]
) -> None:
    """Append what was measured, and all that repeating it needs, as one line; no file: nothing."""
    if file is None:
        return
    line = {
        "benchmark": benchmark,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", *sys.argv]),
        "machine": machine(),
        "versions": versions(),
        "seeds": list(seeds),
        **figures,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as record:
        record.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"recorded in {file}")


def versions() -> dict[str, str]:
    """Of the package, and of what its figures rest on."""
    return {
        "headway": headway.__version__,
        "revision": revision(),
        **{name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "numpy")},
    }


def revision() -> str:
    """The commit that was measured, "-dirty" where files differ from it; empty outside of git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return found.stdout.strip()


def processor() -> str:
    """Its name, its generation (one "AMD EPYC" trains twice as fast as another), and what it has of
    the instructions on which speed rests."""
    words = Path("/proc/cpuinfo").read_text().split()
    sets = [name for name in ("avx2", "avx512_vnni", "avx512_bf16", "amx_bf16") if name in words]
    family, model = processor_line("cpu family"), processor_line("model\t")
    generation = f" family {family} model {model}" if family else ""
    return f"{machine()['cpu']}{generation} ({', '.join(sets) or 'no avx2'})"


class OtherPrograms:
    """CPUs that other programs keep busy on some cores of Linux."""

    def __init__(self, cores: Sequence[int], stat: Path = Path("/proc/stat")) -> None:
        self.cores, self.stat = cores, stat
        self.before = self.now()

    def now(self) -> tuple[float, float]:
        """Seconds that these cores were busy for others since they started, and the clock."""
        busy = 0.0
        for line in self.stat.read_text().splitlines():
            name, *ticks = line.split()
            if name in [f"cpu{core}" for core in self.cores]:
                idle, waiting = int(ticks[3]), int(ticks[4])
                busy += (sum(map(int, ticks[:8])) - idle - waiting) / os.sysconf("SC_CLK_TCK")
        ours = [
            value
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
            for value in resource.getrusage(who)[:2]
        ]
        return busy - sum(ours), time.monotonic()

    def busy(self) -> float:
        """Their mean number since this was made, children of ours that have ended left out."""
        (busy, clock), (before, began) = self.now(), self.before
        return max(0.0, (busy - before) / (clock - began))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table, its columns aligned for the terminal."""
    lines = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in lines
    )


def exit_status(main: Callable[[], int]) -> int:
    """Run `main`; a user's mistake ends in its message, not in a traceback."""
    try:
        return main()
    except HeadwayError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
