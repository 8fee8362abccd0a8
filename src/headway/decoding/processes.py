"""A list of tasks shared by forked processes, one thread each: one process per core."""

import io
import multiprocessing
import pickle
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
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
    """Forking needs Linux, and no other thread of this program that might work meanwhile."""
    return sys.platform == "linux" and threading.current_thread() is threading.main_thread()


def shared(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_processes: int
) -> Iterator[tuple[int, Result]]:
    """Each task's number and `work(task)`, as they are done.

    The processes see this one's memory as it is now, so that `work` may be any function; results
    come back over pipes, pickled. All processes end with the iterator, however it ends.

    Raises:
        HeadwayError: a process was ended from outside.
        Exception: whatever `work` raises, for the first task that fails.
    """
    children: list[_Child] = []
    numbers = iter(range(len(tasks)))
    n_open = 0
    try:
        for _ in range(min(n_processes, len(tasks))):
            children.append(_fork(work, tasks, children))
        for _ in range(AHEAD):
            for child in children:
                n_open += _give_next(child, numbers)
        by_connection = {child.connection: child for child in children}
        while n_open:
            for ready in wait(list(by_connection)):
                child = by_connection[ready]  # type: ignore[index]
                number, result, error = _received(child)
                n_open -= 1
                if error is not None:
                    raise error
                n_open += _give_next(child, numbers)
                yield number, result
    finally:
        for child in children:
            child.connection.close()
            child.process.terminate()
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


def _give_next(child: _Child, numbers: Iterator[int]) -> bool:
    number = next(numbers, None)
    if number is not None:
        try:
            child.connection.send(number)
        except OSError:
            raise _ended(child) from None
    return number is not None


def _received(child: _Child) -> Any:
    try:
        return pickle.loads(child.connection.recv_bytes())
    except (EOFError, OSError):
        raise _ended(child) from None


def _ended(child: _Child) -> HeadwayError:
    child.process.join()
    return HeadwayError(
        "Every process that shares the search must live until its end; one ended with status "
        f"{child.process.exitcode} (-9: killed, most often for lack of memory). "
        "Try again with --runtime.threads 1, which starts no processes."
    )


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


def _serve(
    connection: Connection,
    inherited: Sequence[Connection],
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
) -> None:
    """In the child: answer until the parent closes its end, or is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
                answer = _pickled((number, None, error))
            connection.send_bytes(answer)
    except (EOFError, OSError):
        return
