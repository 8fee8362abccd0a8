"""One command as several processes of this machine: what torchrun does, with the ends told apart.

torch starts, watches and ends them (torch.distributed.elastic). A training of which one was killed
is begun again where it was saved last; one that the user must put right, or has stopped, is not.
"""

import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from torch.distributed import TCPStore
from torch.distributed.elastic.multiprocessing import (
    DefaultLogsSpecs,
    PContext,
    RunProcsResult,
    Std,
    start_processes,
)
from torch.distributed.elastic.multiprocessing.errors import ProcessFailure

from headway.core.checkpoint import resumable
from headway.core.config import Sections, format_toml
from headway.core.errors import ConfigError, HeadwayError, StoppedError, UserError, command
from headway.core.run_folder import RunFolder
from headway.core.runtime import available_cores
from headway.distributed.watch import START_AGAIN

RETRIES = 3
"""So often training is begun again without a new checkpoint in between."""
KINDS = {2: UserError, 130: StoppedError}
"""What is raised for an exit status, where it is no HeadwayError."""


class KilledError(HeadwayError):
    """A process was ended from outside; what is saved can be gone on from."""


def train_by_processes(n: int, out: Path, sections: Sections, preset: str | None) -> Path:
    """`headway train` by `n` processes, in a folder that is empty or holds the run to go on with;
    returns the folder.

    Raises what process 0 ended with, as a UserError, a StoppedError or a HeadwayError; KilledError
    where a process was killed again and again.
    """
    refuse_no_number(n)
    with tempfile.TemporaryDirectory(prefix="headway-") as temporary:
        config = Path(temporary, "settings.toml")
        config.write_text(format_toml(sections), encoding="utf-8")
        words = ["train", "--out", str(out), "--config", str(config), "--resume"]
        words += ["--preset", preset] if preset else []
        attempt, retries, saved = 0, RETRIES, saved_steps(out)
        while error := attempted(words, n, (attempt, attempt + retries), temporary):
            now = saved_steps(out)
            attempt, retries, saved = attempt + 1, RETRIES if now > saved else retries - 1, now
            if not isinstance(error, KilledError):
                raise error
            if retries < 0:
                again = command("train", "--out", out, "--resume")
                raise KilledError(f"{error}, and so {RETRIES} times before. Go on with: {again}")
            print(f"{error}; the processes are started again", file=sys.stderr, flush=True)
    return out


def refuse_no_number(n: Any) -> None:
    """Raise ConfigError for what no number of processes is, or where they are there already."""
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 1024:
        raise ConfigError(f"--processes is a whole number from 1 to 1,024; got {n!r}. Try 2.")
    if "WORLD_SIZE" in os.environ:
        raise ConfigError(
            f"torchrun has started the processes of this training; --processes {n} would start "
            "others in each. Leave one of the two out."
        )


def saved_steps(out: Path) -> list[int]:
    """Those that can be gone on from."""
    return resumable(RunFolder(out).checkpoints)


def attempted(
    words: Sequence[str], n: int, restarts: tuple[int, int], logs: str
) -> HeadwayError | None:
    """Start `headway` with these words `n` times and wait for all; how it ended, if not well.

    They are told how many `restarts` were made, and how many will be.
    """
    store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    common = {
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": str(restarts[0]),
        "TORCHELASTIC_MAX_RESTARTS": str(restarts[1]),
        "WORLD_SIZE": str(n),
        "LOCAL_WORLD_SIZE": str(n),
        "OMP_NUM_THREADS": str(max(1, available_cores() // n)),
    }
    safe = ["-P"] if not {"", str(Path.cwd())} & {*sys.path} else []
    # It would say in torch's words what `ended` says.
    logging.getLogger("torch.distributed.elastic.multiprocessing.api").disabled = True
    with passed_on() as asked, ThreadPoolExecutor(1) as other_thread:
        started = other_thread.submit(  # in this one torch would take the signals for itself
            start_processes,
            "headway",
            sys.executable,
            dict.fromkeys(range(n), (*safe, "-m", "headway", *words)),
            {rank: {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(n)},
            DefaultLogsSpecs(logs, {rank: Std.ALL if rank else Std.NONE for rank in range(n)}),
        )
        processes = started.result()
        try:
            result = waited_for(processes, asked)
        finally:
            processes.close(signal.SIGKILL)
    return ended(result, stopped=bool(asked)) if result.is_failed() else None


def waited_for(processes: PContext, asked: Sequence[int]) -> RunProcsResult:
    """What the processes have come to. They are in no group of a terminal's: what this one is
    `asked` for is passed on."""
    n_passed = 0
    while True:
        if result := processes.wait(timeout=0.2, period=0.1):
            return result
        for number in asked[n_passed:]:
            for pid in processes.pids().values():
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            n_passed += 1


@contextmanager
def passed_on() -> Iterator[list[int]]:
    """Inside, Ctrl-C, SIGTERM and SIGHUP are only put down, in the list that is yielded."""
    asked = list[int]()

    def handle(number: int, _frame: FrameType | None) -> None:
        asked.append(number)

    numbers = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    heard = {one for one in numbers if signal.getsignal(one) != signal.SIG_IGN}  # as under nohup
    if threading.current_thread() is not threading.main_thread():
        heard = set()  # only the main thread may set handlers
    before = {number: signal.signal(number, handle) for number in heard}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended(result: RunProcsResult, *, stopped: bool) -> HeadwayError:
    """Why: by the words that a process has left, its exit status, or what it said at last."""
    failures = [failure for _, failure in sorted(result.failures.items())]
    killed = [one for one in failures if one.exitcode < 0 and one.signal_name() != "SIGTERM"]
    names = [f"process {one.local_rank} was killed ({one.signal_name()})" for one in killed]
    told = [word for one in failures if (word := word_of(one))]
    for status, words in told:
        if status in KINDS or not (stopped or killed):
            return KINDS.get(status, HeadwayError)(words)
    if stopped:
        return StoppedError("stopped without saving.")
    first = failures[0]
    log = result.stderrs[first.local_rank]
    said = Path(log).read_text("utf-8", "replace")[-2000:].strip() if log else ""
    if killed or first.exitcode == START_AGAIN:
        return KilledError(" and ".join(names) or said or "a process is gone")
    return HeadwayError(f"process {first.local_rank} ended with {first.exitcode}. {said}")


def word_of(failure: ProcessFailure) -> tuple[int, str] | None:
    """Status and words that `headway.commands.error_reports.complain` has left in its file."""
    left = failure.error_file_data["message"]
    return (left["errorCode"], left["message"]) if isinstance(left, dict) else None
