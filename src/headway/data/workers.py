"""Work shared among processes: results come in order, and a process that dies is replaced.

The processes are plain `python -c` children that speak over pipes. `multiprocessing` would import
the user's own script again in each of them, which fails for a script without a `__main__` guard
and for one that is read from standard input; a translator is trained from both. What is pickled
goes through a pipe between parent and child and never into a file.
"""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from headway.errors import HeadwayError

Task = TypeVar("Task")
Result = TypeVar("Result")

_ATTEMPTS = 3
_WAITING = 1  # tasks for each process, beside the one that it is at
_CHILD = """
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this process
sys.path[:] = pickle.load(sys.stdin.buffer)
from headway.data.workers import serve
serve()
"""
_ONE_THREAD = {
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class WorkerError(HeadwayError):
    """A process that shared the work was ended again and again."""


def shared(
    work: Callable[[Task], Result], tasks: Iterable[Task], n_workers: int
) -> Generator[Result, None, None]:
    """`work(task)` for each task, in the order of the tasks, by `n_workers` processes.

    Few tasks are held at a time, however many there are. `work`, the tasks and the results must be
    picklable. Closing the iterator ends the processes; so does the end of this one, however it
    comes.

    Raises:
        WorkerError: a process was ended from outside, and two that took its place were too.
        Exception: whatever `work` raises, for the first task that fails.
    """
    crew = [_Worker(pickle.dumps(work)) for _ in range(n_workers)]
    free: SimpleQueue[_Worker] = SimpleQueue()
    for worker in crew:
        free.put(worker)
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_workers) as threads:  # each waits for one process
        try:
            for task in tasks:
                pending.append(threads.submit(_done, pickle.dumps(task), free))
                if len(pending) > n_workers * (1 + _WAITING):
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
            for worker in crew:
                worker.end()


def _done(task: bytes, free: "SimpleQueue[_Worker]") -> Any:
    worker = free.get()
    try:
        return worker.do(task)
    finally:
        free.put(worker)


class _Worker:
    """A process, started when there is something to do."""

    def __init__(self, work: bytes) -> None:
        self._work = work
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._starting = Lock()

    def do(self, task: bytes) -> Any:
        for _ in range(_ATTEMPTS):
            process = self._running()
            try:
                process.stdin.write(task)  # type: ignore[union-attr]
                process.stdin.flush()  # type: ignore[union-attr]
                succeeded, result = pickle.load(process.stdout)  # type: ignore[arg-type]
            except (OSError, EOFError, ValueError, pickle.UnpicklingError):
                status = _closed(process)
                self._process = None
                continue
            if succeeded:
                return result
            raise result
        raise WorkerError(
            "a process that shares the work must be left to finish; "
            f"{_ATTEMPTS} were ended at the same piece (status {status}). If memory is short, "
            "try --data.workers 1; what is done already is kept."
        )

    def end(self) -> None:
        """End the process, whatever it is doing, for good."""
        with self._starting:
            self._ended = True
        if self._process is not None:
            self._process.kill()
            _closed(self._process)

    def _running(self) -> "subprocess.Popen[bytes]":
        with self._starting:
            if self._ended:
                raise WorkerError("the work was given up.")
            self._process = self._process or _started(self._work)
            return self._process


def _started(work: bytes) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | _ONE_THREAD,
    )
    with suppress(OSError):  # if it is dead already, sending a task will tell
        process.stdin.write(pickle.dumps(sys.path) + work)  # type: ignore[union-attr]
    return process


def _closed(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the end of a process that is ending, and give its exit status."""
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was still to be written cannot be
            pipe.close()  # type: ignore[union-attr]
    return process.wait()


def serve() -> None:
    """In a child: do the work that comes in on standard input, until that ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed must not get among the answers
    inbox: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(inbox,), daemon=True).start()
    work = inbox.get()
    while True:
        answer: tuple[bool, Any]
        try:
            answer = True, work(inbox.get())
        except Exception as error:
            answer = False, error
        pickle.dump(answer, answers)
        answers.flush()


def _listen(inbox: "SimpleQueue[Any]") -> None:
    """Take what comes; at the end of it the parent is gone, and so is this process, at once."""
    status = 1
    try:
        while True:
            inbox.put(pickle.load(sys.stdin.buffer))
    except EOFError:
        status = 0
    finally:
        os._exit(status)
