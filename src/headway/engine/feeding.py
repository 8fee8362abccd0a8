"""Sentences that come while others are in work: a job that is fed as long as it runs, and the
threads that work at such jobs.

Each sentence has an entry, and whichever slot is free takes the next entry that was fed; so nobody
waits for a batch-mate. A thread stays in the engine, without the interpreter's lock, as long as
there is work. That a sentence is done comes through a pipe, at once.
"""

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Sequence
from ctypes import POINTER

import numpy as np

from headway.core.hypothesis import Hypothesis, SearchRequest
from headway.engine.building import Job
from headway.engine.packing import Packed, aligned
from headway.engine.translating import ENCODED_ROWS, ENDLESS, SearchJob, refuse_other_ids

QUANTUM = 64
"""Steps for which a thread works at one job where another has none."""
_FEED = ctypes.PYFUNCTYPE(None, POINTER(Job), ctypes.c_int64)
"""It is quicker than to give the interpreter's lock away."""
_NEWS = struct.Struct("=ii")


class Room:
    """The memory of one thread at a job, with what it has in work there."""

    def __init__(self, job: "FedJob", n_bytes: int) -> None:
        self.job, self.memory, self.is_live = job, aligned(n_bytes), False
        job.library.headway_prepare(job.packed.structure, job.job, self.memory.ctypes.data)

    def work(self, steps: int) -> None:
        """Until there is nothing to do, for so many steps, or until the thread shall leave."""
        job = self.job
        self.is_live = not job.library.headway_translate(
            job.packed.structure, job.job, self.memory.ctypes.data, steps
        )


class FedJob(SearchJob):
    """A job that is fed while it runs; all sentences are searched for in one way.

    `put` and `take` are for one thread at a time.
    """

    def __init__(
        self,
        packed: Packed,
        request: SearchRequest,
        longest: tuple[int, int],
        threads: "EngineThreads",
        hear: Callable[[list[int]], None],
    ) -> None:
        """`longest` source and output that there is room for, end markers included; `hear` is told,
        in a thread of `threads`, which entries are done.

        Raises:
            ValueError: sizes that make no sense.
            MemoryError: they are too large for this machine.
        """
        super().__init__(packed, request, longest)
        self.library, (source, output) = packed.engine.library, longest
        self.threads, self.hear = threads, hear
        self.job.encoded_rows = max(source, ENCODED_ROWS)
        self.point({"looked": np.empty(1, dtype=np.float32)})  # memory is needed for them
        n_bytes, n_best = self.fit(), self.settings.n_best
        self.n_slots, places = threads.n * self.job.slots, n_best * output
        # As many wait in line as are in work, so that no slot waits for Python.
        self.job.n_entries = n = 2 * self.n_slots
        self.point(
            {
                "turns": np.zeros(n, dtype=np.int32),
                "ids": np.zeros((n, source), dtype=np.int32),
                "first": np.arange(n, dtype=np.int64) * source,
                "n_read": np.zeros(n, dtype=np.int64),
                "limits": np.zeros(n, dtype=np.int64),
                "results": np.arange(n, dtype=np.int64) * places,
                "lengths": np.zeros(n * n_best, dtype=np.int32),
                "tokens": np.zeros(n * places, dtype=np.int32),
                "log_probs": np.zeros(n * places, dtype=np.float32),
                "looks": np.arange(n, dtype=np.int64) * (places * source),
                "looked": np.empty(n * places * source, dtype=np.float32),
            }
        )
        self.rooms = [Room(self, n_bytes) for _ in range(threads.n)]
        self.free = list(range(n))
        """Entries that nobody has."""
        self.n_working = self.n_endless = 0
        """Threads that are at it, and of these such as stay as long as there is work."""
        self._feed = _FEED(("headway_feed", self.library))
        threads.hire(self)

    @property
    def n_bytes(self) -> int:
        """What it has set aside in memory."""
        held = (*self.arrays.values(), *(room.memory for room in self.rooms))
        return sum(one.nbytes for one in held)

    @property
    def has_work(self) -> bool:
        """Whether a thread that is not at it would find something to do."""
        waits = self.job.next < self.job.n_sentences
        return any(waits or room.is_live for room in self.rooms)

    @property
    def n_filled(self) -> int:
        """Slots in which there are sentences."""
        return int(self.job.next - self.job.done)

    def fits(self, n_read: int, limit: int) -> bool:
        """Whether there is room for a source of so many tokens, its end marker included, and an
        output of `limit` without."""
        return 1 <= n_read <= self.job.longest_source and 0 <= limit < self.job.longest_output

    def put(self, ids: Sequence[int], limit: int) -> int:
        """Have a source (end marker included) searched for, of at most `limit` tokens before the
        end marker, by a thread that is awake: its entry, one of those that were `free`. Raises
        ValueError."""
        n_read = len(ids)
        if not self.fits(n_read, limit):
            raise ValueError("a source or its output is longer than this job has room for")
        refuse_other_ids(self.packed.n_tokens, ids)
        entry, arrays = self.free.pop(), self.arrays
        arrays["ids"][entry, :n_read] = ids
        arrays["n_read"][entry], arrays["limits"][entry] = n_read, limit
        arrays["lengths"][entry * self.settings.n_best : (entry + 1) * self.settings.n_best] = 0
        self._feed(self.job, entry)
        return entry

    def wake(self, n: int) -> None:
        """Have threads see that `n` sentences were put."""
        self.threads.wake(self, n)

    def close(self) -> None:
        """No thread comes any more, and memory goes with the last that is at it: nobody waits for
        what is in work."""
        self.threads.dismiss(self)
        self.hear = _nothing
        self.rooms.clear()

    def take(self, entry: int, *, want_attention: bool) -> list[Hypothesis]:
        """The hypotheses for a source that is done, whose entry is free from then on; none where
        the model gave no numbers."""
        n_read, limit = self.arrays["n_read"][entry], self.arrays["limits"][entry]
        try:
            return self.hypotheses(entry, int(n_read), int(limit), want_attention)
        finally:
            self.free.append(entry)


def _nothing(_entries: list[int]) -> None:
    """What a job that is closed has to tell."""


class EngineThreads:
    """Threads that work at whatever job has sentences, and one that tells what is done."""

    def __init__(self, n: int) -> None:
        self.n, self._jobs = n, dict[int, FedJob]()
        self._change, self._n_idle, self._is_closed = threading.Condition(), 0, False
        self._n_hired = 0
        self._news, self._pipe = os.pipe()
        self._threads = [
            threading.Thread(target=run, name="headway engine", daemon=True)
            for run in (*[self._work] * n, self._listen)
        ]
        for one in self._threads:
            one.start()

    def hire(self, job: FedJob) -> None:
        """Work at a job too."""
        with self._change:
            self._n_hired += 1
            job.job.number, job.job.pipe = self._n_hired, self._pipe
            self._jobs[self._n_hired] = job

    def dismiss(self, job: FedJob) -> None:
        """Work no more at a job."""
        with self._change:
            self._jobs.pop(job.job.number, None)

    def wake(self, job: FedJob, n: int = 1) -> None:
        """Sentences (`n`) were fed to a job: those that rest begin, or one leaves another job."""
        with self._change:
            if self._n_idle:
                self._change.notify(min(n, self._n_idle))
            elif not job.n_working:
                max(self._jobs.values(), key=lambda one: one.n_working).job.leave = 1

    def close(self) -> None:
        """End all threads; what is in work is left as it is."""
        with self._change:
            if self._is_closed:
                return
            self._is_closed = True
            for job in self._jobs.values():
                job.job.stop = 1
            self._change.notify_all()
        for one in self._threads[: self.n]:
            one.join()
        os.close(self._pipe)  # the listener reads its end
        self._threads[-1].join()
        os.close(self._news)

    def _work(self) -> None:
        while (begun := self._begin()) is not None:
            room, is_endless = begun
            room.work(ENDLESS if is_endless else QUANTUM)
            self._leave(room, is_endless=is_endless)
            del begun, room  # who rests keeps no memory

    def _begin(self) -> tuple[Room, bool] | None:
        """What there is to do next, and whether until it ends; None where all is over."""
        with self._change:
            room = self._next()
            while room is None and not self._is_closed:
                self._n_idle += 1
                self._change.wait()
                self._n_idle -= 1
                room = self._next()
            if room is None or self._is_closed:
                return None
            is_endless = not self._other_work(room.job)
            room.job.n_working += 1
            room.job.n_endless += is_endless
            return room, is_endless

    def _leave(self, room: Room, *, is_endless: bool) -> None:
        with self._change:
            room.job.n_working -= 1
            room.job.n_endless -= is_endless
            if room.job.job.number in self._jobs:
                room.job.rooms.append(room)

    def _other_work(self, mine: FedJob) -> bool:
        """Whether there is work that no thread is at. What a thread left is gone on with in turns:
        one that stays at the same job is asked for that."""
        left = [job for job in self._jobs.values() if any(room.is_live for room in job.rooms)]
        for job in left:
            if job.n_endless and job is not mine:  # else this thread could leave in its place
                job.job.leave = 1
        others = (job for job in self._jobs.values() if job is not mine)
        return bool(left) or any(not job.n_working and job.has_work for job in others)

    def _next(self) -> Room | None:
        """Memory of the job that has work and fewest threads, of these the one that waited longest;
        what is in work goes first, what was left longest ago before all."""
        some = [(number, job) for number, job in self._jobs.items() if job.has_work]
        if not some:
            return None
        number, job = min(some, key=lambda one: one[1].n_working)
        self._jobs[number] = self._jobs.pop(number)  # to the end of the line
        room = next((one for one in job.rooms if one.is_live), job.rooms[-1])
        job.rooms.remove(room)
        return room

    def _listen(self) -> None:
        while read := os.read(self._news, 1 << 12):
            done: dict[int, list[int]] = {}
            for number, entry in _NEWS.iter_unpack(read):
                done.setdefault(number, []).append(entry)
            for number, entries in done.items():
                self._tell(number, entries)

    def _tell(self, number: int, entries: list[int]) -> None:
        with self._change:  # `_next` puts jobs to the end of the line
            job = self._jobs.get(number)
        if job is not None:
            job.hear(entries)
