"""Tasks shared by forked processes, one thread each: one process per core.

What is pickled goes through a pipe between parent and child and never into a file.
"""

import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
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
    children: list[_Child] = []
    busy: dict[Any, tuple[int, Task]] = {}
    try:
        for _ in range(min(n_processes, len(waiting))):
            children.append(_fork(work, children))
        for child in children:
            busy[child.connection] = _give_next(child.connection, waiting)
        while busy:
            for connection in wait(list(busy)):
                answer = _received(connection)  # type: ignore[arg-type]
                task = busy.pop(connection)
                if answer is None:
                    waiting.append(task)
                    continue
                result, error = answer
                if error is not None:
                    raise error
                if waiting:
                    busy[connection] = _give_next(connection, waiting)
                yield task[0], result
                waiting.extend(islice(remaining, 1))
        for number, last in chain(waiting, remaining):
            yield number, work(last)
    finally:
        for child in children:
            child.connection.close()
            child.process.kill()
        for child in children:
            child.process.join()
            child.process.close()


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


def _give_next(connection: Any, waiting: deque[tuple[int, Task]]) -> tuple[int, Task]:
    number, task = waiting.popleft()
    with suppress(OSError):  # it has ended: that is noticed where its answer is waited for
        connection.send(task)
    return number, task


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
