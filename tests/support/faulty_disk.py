"""A disk that fails on purpose: lives of `headway` that end or err at the n-th thing they write.

Run as a script it is the nursery: a process that has loaded headway once and forks a child for each
life, as loading torch takes longer than a small training. It reads lives as JSON, one a line, and
answers each with how it ended.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

SHIM = Path(__file__).with_suffix(".c")
LIMIT_S = 90
"""No life is longer: one that hangs is ended by SIGALRM."""
SOURCE = Path(__file__).parent.parent.parent / "src"
LOADED = (
    "headway.api", "headway.cli", "headway.commands.train", "headway.commands.translate",
    "headway.corpora.many_pieces", "headway.engine.ensembles", "headway.runs.native_training",
    "headway.runs.train", "headway.tasks.word_vectors", "headway.translation.spec",
    "headway.translator", "pydantic",
)  # fmt: skip
"""What a life would load, for seconds."""


class End(NamedTuple):
    """How a life ended."""

    status: int
    """The exit status; negative: the signal that ended it."""
    n_calls: int
    """What it wrote, in calls; unknown (0) if it was killed."""
    said: str
    """On stderr."""
    seconds: float
    """Of the processor: others may keep it busy."""
    n_bytes: float
    """Of memory at its peak, what the nursery held included."""


def compiler() -> str | None:
    """A C compiler on Linux; None where the disk cannot be made to fail."""
    return shutil.which("cc") if sys.platform == "linux" else None


@contextlib.contextmanager
def nursery(folder: Path, cache: Path) -> Iterator["Nursery"]:
    """A process that lives are forked from; `folder` holds what it needs."""
    library = folder / f"faulty_disk{sysconfig.get_config_var('EXT_SUFFIX')}"
    build = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(SHIM), "-ldl"]
    subprocess.run(build, check=True, capture_output=True)
    process = subprocess.Popen(
        [sys.executable, __file__, str(library)],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": str(SOURCE),
             "HEADWAY_CACHE": str(cache), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield Nursery(process, folder / "said")
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait()
        process.stdout.close()


class Nursery:
    """Lives, one after the other or at once."""

    def __init__(self, process: "subprocess.Popen[str]", said: Path) -> None:
        self._process, self._said = process, said

    def life(
        self,
        arguments: Sequence[str],
        *,
        below: Path | None = None,
        at: int = 0,
        error: int = 0,
        lasting: bool = False,
        killed_after_s: float = 0.0,
    ) -> End:
        """Run `headway` with these arguments; call `at` that writes below `below` fails.

        `error` is its errno; 0 kills the process there, with half of a write done, and -n sends it
        signal n. With `lasting` all later calls fail too.
        """
        order = {
            "arguments": list(arguments), "below": str(below or ""), "at": at, "error": error,
            "lasting": lasting, "killed_after_s": killed_after_s, "said": str(self._said),
        }  # fmt: skip
        return self._lived([order])[0]

    def at_once(self, *several: Sequence[str]) -> list[End]:
        """Run commands that begin at the same moment, on a good disk."""
        usual = {"below": "", "at": 0, "error": 0, "lasting": False, "killed_after_s": 0.0}
        return self._lived(
            [
                {**usual, "arguments": arguments, "said": f"{self._said}{number}"}
                for number, arguments in enumerate(several)
            ]
        )

    def _lived(self, orders: list[dict[str, Any]]) -> list[End]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(orders) + "\n")
        self._process.stdin.flush()
        return [
            End(status, n_calls, Path(order["said"]).read_text("utf-8", "replace"), *cost)
            for order, (status, n_calls, *cost) in zip(
                orders, json.loads(self._process.stdout.readline()), strict=True
            )
        ]


def _live(order: dict[str, Any], library: Any, answer: int) -> None:
    """In the child: run the command on a failing disk, and report the number of calls."""
    signal.alarm(LIMIT_S)
    said = os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # the orders are not its own
    from headway.cli import main

    library.faulty_disk_begin(
        os.fsencode(order["below"]), order["at"], order["error"], int(order["lasting"])
    )
    status = main(order["arguments"])
    n_calls = library.faulty_disk_calls()
    library.faulty_disk_begin(b"", 0, 0, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(answer, str(n_calls).encode())
    os._exit(status)


def _nurse(library: Any) -> None:
    for name in LOADED:
        import_module(name)
    from headway.corpora import prepared
    from headway.languages.detection import is_told
    from headway.languages.scripts import scripts
    from headway.operations import recovery

    is_told("en")
    scripts()
    recovery.PATIENCE_S, recovery.LOOK_AGAIN_S = 2.0, 0.2  # a full disk is waited for no minute
    prepared.IN_MEMORY = 0  # as of a large corpus: what is in the cache can be damaged, too

    library.faulty_disk_begin.argtypes = [
        ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int,
    ]  # fmt: skip
    library.faulty_disk_calls.restype = ctypes.c_long
    for line in sys.stdin:
        born = [_born(order, library) for order in json.loads(line)]
        print(json.dumps([_ended(*one) for one in born]), flush=True)


def _born(order: dict[str, Any], library: Any) -> tuple[int, int, threading.Timer]:
    """The process of a life, where it says how many calls it made, and what may end it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            _live(order, library, writer)
        except BaseException:
            traceback.print_exc()
        os._exit(70)
    os.close(writer)
    timer = threading.Timer(order["killed_after_s"], os.kill, (child, signal.SIGKILL))
    if order["killed_after_s"]:
        timer.start()
    return child, reader, timer


def _ended(child: int, reader: int, timer: threading.Timer) -> list[float]:
    with os.fdopen(reader) as answers:
        n_calls = int(answers.read() or 0)
    _, status, usage = os.wait4(child, 0)
    cost = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0)
    timer.cancel()
    return [os.waitstatus_to_exitcode(status), n_calls, *cost]


if __name__ == "__main__":
    _nurse(ctypes.CDLL(sys.argv[1]))
