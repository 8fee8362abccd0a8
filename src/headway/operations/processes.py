"""Tasks shared by forked processes, one thread each: one process per core.

What is pickled goes through a pipe between parent and child and never into a file.
"""

import ctypes
import io
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar

from headway.core.errors import HeadwayError

Task = TypeVar("Task")
Result = TypeVar("Result")


class _Child(NamedTuple):
    process: BaseProcess
    connection: Connection


class WorkerLostError(HeadwayError):
    """A process ended, or was ended from outside, while it was at a task."""


class TaskAnswer(NamedTuple):
    task: Any
    result: Any
    error: Exception | None
    """What `work` raised, or `WorkerLostError`; there is no result then."""


class JobPart(NamedTuple):
    """What one machine of several does of a job: every `of`-th task, from the `number`-th."""

    number: int = 1
    of: int = 1

    def has(self, task: int) -> bool:
        """Whether a task is its, counted from 0."""
        return task % self.of == self.number - 1


def may_fork() -> bool:
    """On Linux, and asked by the main thread: what other threads do is not known, and a process of
    ours takes no lock of theirs."""
    return sys.platform == "linux" and threading.current_thread() is threading.main_thread()


def shared(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_processes: int
) -> Generator[tuple[int, Result], None, None]:
    """Each task's number and `work(task)`, as they are done; one task for each process waits.

    The processes see this one's memory as it is now, so that `work` may be any function; tasks and
    results travel over pipes, pickled. All processes end with the iterator, however it ends. What a
    process had to do that was ended from outside, for lack of memory say, is done by the others, at
    last by this one.

    Raises:
        Exception: whatever `work` raises, for the first task that fails.
    """
    remaining = enumerate(tasks)
    waiting = deque(islice(remaining, 2 * n_processes))
    pool, n_alive = WorkerPool(lambda one: work(one[1]), n_processes), n_processes
    try:
        while n_alive:
            while waiting and pool.n_busy < n_alive:
                pool.give(waiting.popleft())
            if not pool.n_busy:
                break
            one, result, error = pool.take()
            if isinstance(error, WorkerLostError):
                waiting.append(one)
                n_alive -= 1
                continue
            if error is not None:
                raise error
            if waiting:  # given before the caller, who may take a while, has this one
                pool.give(waiting.popleft())
            yield one[0], result
            waiting.extend(islice(remaining, 1))
        for number, last in chain(waiting, remaining):
            yield number, work(last)
    finally:
        pool.close()


class WorkerPool:
    """Forked processes, each at one task at a time; a new one takes the place of one that ends.

    They see this process's memory as it is when they are forked, and end with it, also where it is
    killed. What becomes of a task that was lost is for the caller to say.
    """

    def __init__(
        self, work: Callable[[Any], Any], n_workers: int, limit_s: float = math.inf
    ) -> None:
        """One that is longer at a task than `limit_s` is ended."""
        self.n_at_once, self._work, self._limit_s = n_workers, work, limit_s
        self._idle: list[_Child] = []
        self._busy: dict[Any, tuple[_Child, Any, float]] = {}

    @property
    def n_busy(self) -> int:
        """Tasks that were given and not yet answered: at most `n_at_once`."""
        return len(self._busy)

    def give(self, task: Any) -> None:
        """Have a process that rests do a task."""
        child = self._idle.pop() if self._idle else _fork(self._work, self._children())
        self._busy[child.connection] = child, task, time.monotonic()
        with suppress(OSError):  # it has ended: that is noticed where its answer is waited for
            child.connection.send(task)

    def take(self) -> TaskAnswer:
        """The next answer, of whichever process has one."""
        while True:
            longest, _, since = next(iter(self._busy.values()))  # as they were given
            left_s = max(0.0, since + self._limit_s - time.monotonic())
            answered = wait(list(self._busy), None if math.isinf(left_s) else left_s)
            if answered:
                break
            longest.process.kill()
        child, task, _ = self._busy.pop(answered[0])
        if (answer := _received(child.connection)) is not None:
            self._idle.append(child)
            return TaskAnswer(task, *answer)
        child.connection.close()
        child.process.join()
        code = child.process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"status {code}"
        child.process.close()
        return TaskAnswer(task, None, WorkerLostError(f"its process ended with {how}"))

    def close(self) -> None:
        """End all processes, whatever they are at."""
        for child in (children := self._children()):
            child.connection.close()
            child.process.kill()
        for child in children:
            child.process.join()
            child.process.close()
        self._idle, self._busy = [], {}

    def _children(self) -> list[_Child]:
        return [*self._idle, *(child for child, _, _ in self._busy.values())]


def _fork(work: Callable[[Task], Result], others: Sequence[_Child]) -> _Child:
    here, there = multiprocessing.Pipe()
    inherited = [*(child.connection for child in others), here]
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(there, inherited, work), daemon=True
    )
    with warnings.catch_warnings():
        # From Python 3.12 on it warns of threads. Ours hold no lock that the child ever takes:
        # torch's are idle, and a child neither prints nor draws progress.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return _Child(process, here)


def _received(connection: Connection) -> Any:
    """Result and error; None where the process is no more."""
    try:
        return pickle.loads(connection.recv_bytes())
    except (EOFError, OSError):
        return None


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """A tensor travels as an array: torch would open a file for each."""
        torch = sys.modules.get("torch")
        if torch and type(value) is torch.Tensor:
            return torch.from_numpy, (value.numpy(),)
        return NotImplemented


def _pickled(value: Any) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer).dump(value)
    return buffer.getvalue()


def _that_travels(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return HeadwayError(f"{type(error).__name__}: {error}")
    return error


def _serve(
    connection: Connection, inherited: Sequence[Connection], work: Callable[[Task], Result]
) -> None:
    """In the child: answer until the parent closes its end, or is no more."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # they reach the parent too, which ends this one
        if name in signal.Signals.__members__:  # SIGHUP is not on Windows
            signal.signal(signal.Signals[name], signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # PR_SET_PDEATHSIG of Linux: at once, whatever it is at
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    for end in inherited:  # else the end of the parent would not be noticed
        end.close()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
    try:
        while True:
            task = connection.recv()
            try:
                answer = _pickled((work(task), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = _pickled((None, _that_travels(error)))
            connection.send_bytes(answer)
    except (EOFError, OSError):
        return
