"""A list of tasks shared by forked processes, one thread each: one process per core."""

import io
import multiprocessing
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar

import torch

from headway.errors import HeadwayError

Task = TypeVar("Task")
Result = TypeVar("Result")

AHEAD = 2
"""Tasks that a process has at a time, so that it need not wait for the next one."""


class _Child(NamedTuple):
    process: BaseProcess
    connection: Connection


def may_fork() -> bool:
    """On Linux, and asked by the main thread: what other threads do is not known, and a process of
    ours takes no lock of theirs."""
    return sys.platform == "linux" and threading.current_thread() is threading.main_thread()


def shared(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_processes: int
) -> Iterator[tuple[int, Result]]:
    """Each task's number and `work(task)`, as they are done.

    The processes see this one's memory as it is now, so that `work` may be any function; results
    come back over pipes, pickled. All processes end with the iterator, however it ends. What a
    process had to do that was ended from outside, for lack of memory say, is done by the others, at
    last by this one.

    Raises:
        Exception: whatever `work` raises, for the first task that fails.
    """
    children: list[_Child] = []
    waiting = deque(range(len(tasks)))
    try:
        for _ in range(min(n_processes, len(tasks))):
            children.append(_fork(work, tasks, children))
        held: dict[Any, list[int]] = {child.connection: [] for child in children}
        for _ in range(AHEAD):
            for connection in held:
                _give_next(connection, waiting, held)
        while any(held.values()):
            for connection in wait(list(held)):
                answer = _received(connection)  # type: ignore[arg-type]
                if answer is None:
                    waiting.extend(held.pop(connection))
                    continue
                number, result, error = answer
                held[connection].remove(number)
                if error is not None:
                    raise error
                _give_next(connection, waiting, held)
                yield number, result
        for number in waiting:
            yield number, work(tasks[number])
    finally:
        for child in children:
            child.connection.close()
            child.process.kill()
        for child in children:
            child.process.join()
            child.process.close()


def _fork(
    work: Callable[[Task], Result], tasks: Sequence[Task], others: Sequence[_Child]
) -> _Child:
    here, there = multiprocessing.Pipe()
    inherited = [*(child.connection for child in others), here]
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(there, inherited, work, tasks), daemon=True
    )
    with warnings.catch_warnings():
        # From Python 3.12 on it warns of threads. Ours hold no lock that the child ever takes:
        # torch's are idle, and a child neither prints nor draws progress.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return _Child(process, here)


def _give_next(connection: Any, waiting: deque[int], held: dict[Any, list[int]]) -> None:
    if waiting:
        number = waiting.popleft()
        held[connection].append(number)
        with suppress(OSError):  # it has ended: that is noticed where its answer is waited for
            connection.send(number)


def _received(connection: Connection) -> Any:
    """Number, result and error; None where the process is no more."""
    try:
        return pickle.loads(connection.recv_bytes())
    except (EOFError, OSError):
        return None


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """A tensor travels as an array: torch would open a file for each."""
        if type(value) is torch.Tensor:
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
    connection: Connection,
    inherited: Sequence[Connection],
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
) -> None:
    """In the child: answer until the parent closes its end, or is no more."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # they reach the parent too, which ends this one
        if name in signal.Signals.__members__:  # SIGHUP is not on Windows
            signal.signal(signal.Signals[name], signal.SIG_IGN)
    for end in inherited:  # else the end of the parent would not be noticed
        end.close()
    torch.set_num_threads(1)
    try:
        while True:
            number = connection.recv()
            try:
                answer = _pickled((number, work(tasks[number]), None))
            except Exception as error:
                error.add_note(traceback.format_exc())
                answer = _pickled((number, None, _that_travels(error)))
            connection.send_bytes(answer)
    except (EOFError, OSError):
        return
