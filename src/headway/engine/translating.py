"""Sources in, hypotheses out: what Python hands to the engine, checked, and what comes back."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import torch

from headway.core.hypothesis import Hypothesis, Rules, SearchRequest, ranked, scored
from headway.engine.building import Job
from headway.engine.packing import Packed, aligned

ROWS = (32, 96)
"""Hypotheses that a thread has in work: few, so that their keys and values stay near; more where a
model's weights are far (`NEAR_BYTES`), so that each is used often once it has come."""
NEAR_BYTES = 32 << 20
ENCODED_ROWS = 256
"""Source tokens that it reads at a time."""
WORKSPACE_BYTES = 1 << 30
"""Of a thread at most, unless one sentence alone needs more; memory that is not used costs none."""
NEWS_S = 0.2
ENDLESS = -1
"""Steps until there are no more sentences."""
ALONE = 16
"""So few sentences need no second thread to tell how far they are."""
Integers = np.ndarray[Any, np.dtype[np.int32]]


def translate(
    packed: Packed,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    request: SearchRequest,
    beginnings: Sequence[Sequence[int]] = (),
    allowed: Sequence[Integers] | None = None,
    *,
    threads: int,
) -> list[list[Hypothesis]]:
    """For each source (end marker included) its hypotheses; `limits` are tokens before the end
    marker, `beginnings` those that each output begins with, if any does, `allowed` those that each
    may be written with, in order, the end marker among them; None for all.

    Raises:
        ValueError: ids that the model does not have, or sizes that make no sense.
        MemoryError: a sentence is too long for this machine.
    """
    if not sources:
        return []
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    ordered = SentenceJob(
        packed, [sources[i] for i in order], [limits[i] for i in order], request,
        [beginnings[i] for i in order] if beginnings else (),
    )  # fmt: skip
    if allowed is not None:
        ordered.allow([allowed[i] for i in order])
    job, n_bytes = ordered.job, ordered.fit()
    rooms = [aligned(n_bytes) for _ in range(min(threads, len(sources)))]
    library = packed.engine.library

    def work(room: Any) -> None:
        library.headway_prepare(packed.structure, job, room.ctypes.data)
        library.headway_translate(packed.structure, job, room.ctypes.data, ENDLESS)

    if len(rooms) == 1 and len(sources) <= ALONE:
        work(rooms[0])
        request.done(len(sources))
    else:
        shared(work, rooms, job, request.done)
    found: list[list[Hypothesis]] = [[] for _ in sources]
    for i, hypotheses in zip(order, ordered.read(), strict=True):
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


class SearchJob:
    """How sentences are searched for, and the arrays that a job points into, by entry."""

    def __init__(self, packed: Packed, request: SearchRequest, longest: tuple[int, int]) -> None:
        """`longest` source and output, end markers included. Every size is checked here, and ids by
        `refuse_other_ids`: the engine trusts them. Raises ValueError."""
        special, settings = request.special, request.settings
        self.packed, self.settings = packed, settings
        if max(longest) > packed.longest:
            raise ValueError(f"positions end at {packed.longest}")
        if settings.rows > packed.engine.most_beam:
            raise ValueError(f"a beam has at most {packed.engine.most_beam} hypotheses")
        markers = [special.decoder_begin, special.end, *special.unwritten]
        refuse_other_ids(packed.n_tokens, markers)
        want_scores = request.want_scores or settings.method == "beam"
        self.rules = Rules(settings, special.end, torch.tensor([]), want_scores=want_scores)
        self.arrays: dict[str, np.ndarray[Any, Any]] = {
            "forbidden": np.array(special.unwritten, dtype=np.int32)
        }
        self.job = Job(
            n_forbidden=len(special.unwritten), begin=special.decoder_begin, end=special.end,
            beam=settings.rows, n_best=settings.n_best, want_scores=want_scores,
            length_penalty=settings.length_penalty, pipe=-1,
            slots=max(1, ROWS[packed.n_bytes > NEAR_BYTES] // settings.rows),
            longest_source=longest[0], longest_output=longest[1],
        )  # fmt: skip

    def point(self, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        """Have the job point into these arrays, too, which are kept as long as it is."""
        self.arrays |= arrays
        for name, array in self.arrays.items():
            setattr(self.job, name, array.ctypes.data)

    def fit(self) -> int:
        """Take fewer slots where a thread's memory would be too much; its bytes."""
        workspace = self.packed.engine.library.headway_workspace
        while (n := workspace(self.packed.structure, self.job)) > WORKSPACE_BYTES:
            if self.job.slots == 1:
                break
            self.job.slots //= 2
        return int(n)

    def hypotheses(self, entry: int, n_read: int, limit: int, looks: bool) -> list[Hypothesis]:
        """What was found for the source in an entry, best first."""
        arrays, n_best, found = self.arrays, self.settings.n_best, []
        at = int(arrays["results"][entry])
        for h, n in enumerate(arrays["lengths"][entry * n_best : (entry + 1) * n_best].tolist()):
            if n:  # its end marker is the last
                place = h * (limit + 1)
                ids = arrays["tokens"][at + place : at + place + n - 1].tolist()
                log_probs = arrays["log_probs"][at + place : at + place + n].tolist()
                looked = self._looked(entry, place, n, n_read) if looks else None
                found.append(scored(ids, log_probs, self.rules, looked))
        return list(ranked(found))

    def _looked(self, entry: int, place: int, n_tokens: int, n_read: int) -> torch.Tensor:
        """`[tokens, source]`: the weights on a source of the tokens from a place on."""
        looks = self.arrays["looked"][int(self.arrays["looks"][entry]) :]
        found = looks[place * n_read : (place + n_tokens) * n_read].reshape(n_tokens, n_read)
        return torch.from_numpy(found.copy())


class SentenceJob(SearchJob):
    """All sentences that there are, one behind another."""

    def __init__(
        self,
        packed: Packed,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        request: SearchRequest,
        beginnings: Sequence[Sequence[int]],
    ) -> None:
        """Every size and id is checked here: the engine trusts them."""
        n_best = request.settings.n_best
        read, written = (np.array(one, dtype=np.int64) for one in (list(map(len, sources)), limits))
        if read.min() < 1 or written.min() < 0:
            raise ValueError("a source has at least an end marker, and a limit is not negative")
        super().__init__(packed, request, (int(read.max()), int(written.max()) + 1))
        first, job = begins(read), self.job
        ids = np.fromiter((int(i) for one in sources for i in one), np.int64, int(first[-1]))
        refuse_other_ids(packed.n_tokens, ids)
        if beginnings:
            self.begin(beginnings, written, {job.end, *request.special.unwritten})
        self.limits, self.n_read = written.tolist(), read.tolist()
        places = n_best * (written + 1)
        results, looks = begins(places), begins(places * read)
        self.point(
            {
                "ids": ids.astype(np.int32),
                "first": first,
                "n_read": read,
                "limits": written,
                "results": results,
                "lengths": np.zeros(len(sources) * n_best, dtype=np.int32),
                "tokens": np.zeros(int(results[-1]), dtype=np.int32),
                "log_probs": np.zeros(int(results[-1]), dtype=np.float32),
                "looks": looks,
            }
        )
        if request.want_attention:
            self.point({"looked": np.empty(int(looks[-1]), dtype=np.float32)})
        job.n_sentences = job.n_entries = len(sources)
        job.slots = min(len(sources), job.slots)
        job.encoded_rows = max(job.longest_source, min(ENCODED_ROWS, int(first[-1])))

    def begin(self, beginnings: Sequence[Sequence[int]], limits: Any, never: set[int]) -> None:
        """Have outputs begin with these tokens; they are checked as all else is."""
        tokens, lengths = [int(i) for ids in beginnings for i in ids], [*map(len, beginnings)]
        refuse_other_ids(self.packed.n_tokens, tokens)
        if (np.array(lengths) > limits).any() or not never.isdisjoint(tokens):
            raise ValueError("a beginning is within its limit, and of tokens that are written")
        self.point({"beginning": np.array(tokens, np.int32), "beginning_first": begins(lengths)})

    def allow(self, allowed: Sequence[Integers]) -> None:
        """Let each sentence be written with these tokens alone; they are checked as all else is."""
        if "beginning" in self.arrays:
            raise ValueError("a beginning may have any tokens")
        tokens, first = np.concatenate(allowed).astype(np.int32), begins(list(map(len, allowed)))
        rising = np.diff(tokens) > 0
        rising[first[1:-1] - 1] = True  # from the last of a sentence to the first of the next
        if not rising.all() or (tokens == self.job.end).sum() != self.job.n_sentences:
            raise ValueError("tokens that are allowed rise, and the end marker is one of them")
        refuse_other_ids(self.packed.n_tokens, tokens)
        self.point({"allowed": tokens, "allowed_first": first})

    def read(self) -> Iterator[list[Hypothesis]]:
        """For each source its hypotheses, in the order in which they were given."""
        looks = "looked" in self.arrays
        for i, (n_read, limit) in enumerate(zip(self.n_read, self.limits, strict=True)):
            yield self.hypotheses(i, n_read, limit, looks)


def refuse_other_ids(n_tokens: int, *some: Any) -> None:
    """Raise ValueError where one is no id of a model that has so many."""
    for ids in map(np.asarray, some):
        if ids.min(initial=0) < 0 or ids.max(initial=0) >= n_tokens:
            raise ValueError(f"ids must be from 0 to {n_tokens - 1}")


def begins(sizes: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each of some things of these sizes begins, one behind another, and where all end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
