"""How long until `headway --help` answers, and `import headway` is done?

Medians of fresh processes, in turn with a Python that does nothing, after one of each that only
fills the disk's cache. Exit status 1 when the help takes longer than 0.3 s.
Run: python benchmarks/help_time.py [--runs 20]
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles

import record

LIMIT_S = 0.3


def commands() -> dict[str, list[str]]:
    """What is timed; the installed `headway` if this Python has one, else `python -m headway`."""
    installed = shutil.which("headway", path=str(Path(sys.executable).parent))
    headway = [installed] if installed else [sys.executable, "-m", "headway"]
    name = "headway" if installed else "python -m headway"
    return {
        f"{name} --help": [*headway, "--help"],
        'python -c "import headway"': [sys.executable, "-c", "import headway"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }


def seconds(command: list[str]) -> float:
    """Wall-clock time of one run."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> int:
    """Measure, print, record; exit status 1 if the limit is missed."""
    parser = record.parser(__doc__)
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="of each, 2 at least")
    record.add_record_option(parser)
    asked = parser.parse_args()
    if asked.runs < 2:
        parser.error(f"--runs must be at least 2; got {asked.runs}")
    timed = commands()
    times: dict[str, list[float]] = {name: [] for name in timed}
    for n in range(asked.runs + 1):
        for name, command in timed.items():
            taken = seconds(command)
            if n:
                times[name].append(taken)
    rows = []
    for name, taken_s in times.items():
        low, _, high = quantiles(taken_s, n=4, method="inclusive")
        rows.append([name, f"{median(taken_s):.3f}", f"{low:.3f} to {high:.3f}"])
    print(record.table(["command", "median s", "middle half"], rows))
    medians = {name: round(median(taken_s), 4) for name, taken_s in times.items()}
    help_s = next(iter(medians.values()))
    print(f"\nhelp within {LIMIT_S} s: {help_s <= LIMIT_S}")
    record.write(
        asked.record, "help_time", seeds=[], figures={"runs": asked.runs, "median_s": medians}
    )
    return 0 if help_s <= LIMIT_S else 1


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
