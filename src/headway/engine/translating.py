"""Sources in, hypotheses out: what Python hands to the engine, checked, and what comes back."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from headway.engine.packing import Packed
from headway.engine.structures import Floats, Job, aligned

ROWS = (32, 96)
"""Hypotheses that a thread has in work: few, so that their keys and values stay near; more where a
model's weights are far (`NEAR_BYTES`), so that each is used often once it has come."""
NEAR_BYTES = 32 << 20
ENCODED_ROWS = 256
"""Source tokens that it reads at a time."""
WORKSPACE_BYTES = 1 << 30
"""Of a thread at most, unless one sentence alone needs more; memory that is not used costs none."""
NEWS_S = 0.2
ALONE = 16
"""So few sentences need no second thread to tell how far they are."""


Integers = np.ndarray[Any, np.dtype[np.int32]]


class Search(NamedTuple):
    """How hypotheses are searched for; see `headway.core.hypothesis.DecodingSettings`."""

    begin: int
    end: int
    forbidden: Sequence[int]
    beam: int
    n_best: int
    length_penalty: float
    want_scores: bool
    want_attention: bool = False
    beginning: Sequence[int] = ()
    """What every output begins with."""


class Found(NamedTuple):
    """One hypothesis, its end marker among its tokens."""

    tokens: list[int]
    log_probs: list[float]
    looked: Floats | None = None
    """`[tokens, source]`: the weights on the source, where they are wanted."""


def translate(
    packed: Packed,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    search: Search,
    allowed: Sequence[Integers] | None = None,
    *,
    threads: int,
    done: Callable[[int], None],
) -> list[list[Found]]:
    """For each source (end marker included) its hypotheses; `limits` are tokens before the end
    marker, `allowed` those that each may be written with, in order, the end marker among them; None
    for all. `done` hears how many sentences more are finished.

    Raises:
        ValueError: ids that the model does not have, or sizes that make no sense.
        MemoryError: a sentence is too long for this machine.
    """
    if not sources:
        return []
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    held = Held(packed, [sources[i] for i in order], [limits[i] for i in order], search)
    if allowed is not None:
        held.allow([allowed[i] for i in order])
    job, workspace = held.job, packed.engine.library.headway_workspace
    while job.slots > 1 and workspace(packed.structure, job) > WORKSPACE_BYTES:
        job.slots //= 2
    size = workspace(packed.structure, job)
    if size < 0:
        raise MemoryError("a workspace beyond all numbers")
    threads = min(threads, len(sources))
    rooms = [aligned(size) for _ in range(threads)]
    work = packed.engine.library.headway_translate
    if threads == 1 and len(sources) <= ALONE:
        work(packed.structure, job, rooms[0].ctypes.data)
        done(len(sources))
    else:
        shared(lambda room: work(packed.structure, job, room.ctypes.data), rooms, job, done)
    found: list[list[Found]] = [[] for _ in sources]
    for i, hypotheses in zip(order, held.read(), strict=True):
        found[i] = hypotheses
    return found


def shared(
    work: Callable[[Any], None], rooms: Sequence[Any], job: Job, done: Callable[[int], None]
) -> None:
    """One thread for each room, all at the same job; an interrupt stops them."""
    told = 0
    with ThreadPoolExecutor(len(rooms)) as pool:
        waiting = {pool.submit(work, room) for room in rooms}
        try:
            while waiting:
                finished, waiting = wait(waiting, timeout=NEWS_S)
                n_done = job.done  # read once: the engine's threads go on counting
                done(n_done - told)
                told = n_done
                for one in finished:
                    one.result()
        finally:
            job.stop = 1


class Held:
    """A job, the arrays that it points into, and what is read from them at the end."""

    def __init__(
        self,
        packed: Packed,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        search: Search,
    ) -> None:
        """Every size and id is checked here: the engine trusts them."""
        lengths = np.array([len(ids) for ids in sources], dtype=np.int64)
        first = np.concatenate([[0], lengths.cumsum()])
        ids = np.fromiter((int(i) for one in sources for i in one), np.int64, int(first[-1]))
        most_written = np.array(limits, dtype=np.int64)
        forbidden = np.array(search.forbidden, dtype=np.int64)
        beginning = np.array(search.beginning, dtype=np.int64)
        longest_source, longest_output = int(lengths.max()), int(most_written.max()) + 1
        marks = np.array([search.begin, search.end, *search.forbidden, 0])
        for some in (ids, marks, beginning):
            if int(some.min(initial=0)) < 0 or int(some.max(initial=0)) >= packed.n_tokens:
                raise ValueError(f"ids must be from 0 to {packed.n_tokens - 1}")
        if lengths.min() < 1 or most_written.min() < 0:
            raise ValueError("a source has at least an end marker, and a limit is not negative")
        if max(longest_source, longest_output) > packed.longest:
            raise ValueError(f"positions end at {packed.longest}")
        if not 1 <= search.n_best <= search.beam <= packed.engine.most_beam:
            raise ValueError("n_best must not exceed beam, nor beam what the engine holds")
        if len(beginning) > most_written.min() or {search.end, *search.forbidden} & {*beginning}:
            raise ValueError("a beginning is within every limit, and of tokens that are written")
        places = search.n_best * (most_written + 1)
        results = np.concatenate([[0], places.cumsum()])
        self.n_best = search.n_best
        self.strides, self.results = most_written + 1, results
        self.lengths = np.zeros(len(sources) * search.n_best, dtype=np.int32)
        self.tokens = np.zeros(int(results[-1]), dtype=np.int32)
        self.log_probs = np.zeros(int(results[-1]), dtype=np.float32)
        ids, beginning = ids.astype(np.int32), beginning.astype(np.int32)
        forbidden = forbidden.astype(np.int32)
        self.read_only = (ids, first, most_written, beginning, forbidden)
        self.read_lengths = lengths.tolist()
        self.looks = np.concatenate([[0], (places * lengths).cumsum()])
        self.looked: Floats | None = None
        if search.want_attention:
            self.looked = np.empty(int(self.looks[-1]), dtype=np.float32)
        self.job = Job(
            n_sentences=len(sources),
            ids=ids.ctypes.data,
            first=first.ctypes.data,
            limits=most_written.ctypes.data,
            beginning=beginning.ctypes.data,
            n_beginning=len(beginning),
            forbidden=forbidden.ctypes.data,
            n_forbidden=len(forbidden),
            begin=search.begin,
            end=search.end,
            beam=search.beam,
            n_best=search.n_best,
            want_scores=search.want_scores,
            length_penalty=search.length_penalty,
            slots=min(len(sources), max(1, ROWS[packed.n_bytes > NEAR_BYTES] // search.beam)),
            encoded_rows=max(longest_source, min(ENCODED_ROWS, int(first[-1]))),
            longest_source=longest_source,
            longest_output=longest_output,
            results=results.ctypes.data,
            lengths=self.lengths.ctypes.data,
            tokens=self.tokens.ctypes.data,
            log_probs=self.log_probs.ctypes.data,
            looks=self.looks.ctypes.data,
            looked=None if self.looked is None else self.looked.ctypes.data,
        )
        self.n_tokens = packed.n_tokens

    def allow(self, allowed: Sequence[Integers]) -> None:
        """Let each sentence be written with these tokens alone; they are checked as all else is."""
        if self.job.n_beginning:
            raise ValueError("a beginning may have any tokens")
        tokens = np.concatenate(allowed).astype(np.int32)
        first = np.concatenate([[0], np.cumsum([len(one) for one in allowed])])
        rising = np.diff(tokens) > 0
        rising[first[1:-1] - 1] = True  # from the last of a sentence to the first of the next
        if not rising.all() or (tokens == self.job.end).sum() != self.job.n_sentences:
            raise ValueError("tokens that are allowed rise, and the end marker is one of them")
        if tokens.min() < 0 or tokens.max() >= self.n_tokens:
            raise ValueError(f"ids must be from 0 to {self.n_tokens - 1}")
        self.allowed = tokens, first
        self.job.allowed, self.job.allowed_first = tokens.ctypes.data, first.ctypes.data

    def read(self) -> Iterator[list[Found]]:
        """For each source its hypotheses, in the order in which they were given."""
        tokens, log_probs = self.tokens.tolist(), self.log_probs.tolist()
        lengths = self.lengths.reshape(-1, self.n_best).tolist()
        for i, (at, stride, here) in enumerate(
            zip(self.results.tolist(), self.strides.tolist(), lengths, strict=False)
        ):
            places = [slice(at + h * stride, at + h * stride + n) for h, n in enumerate(here) if n]
            looked = [self.look(i, h, n) for h, n in enumerate(here) if n]
            yield [
                Found(tokens[place], log_probs[place], look)
                for place, look in zip(places, looked, strict=True)
            ]

    def look(self, i: int, hypothesis: int, n_tokens: int) -> Floats | None:
        """The weights on the source of one hypothesis' tokens, a copy, where they are wanted."""
        if self.looked is None:
            return None
        width = self.read_lengths[i]
        at = int(self.looks[i]) + hypothesis * int(self.strides[i]) * width
        return self.looked[at : at + n_tokens * width].reshape(n_tokens, width).copy()
