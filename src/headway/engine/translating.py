"""Sources in, hypotheses out: what Python hands to the engine, checked, and what comes back."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import torch

from headway.core.hypothesis import Hypothesis, Rules, ranked, scored
from headway.core.search import SearchRequest
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
ALONE = 16
"""So few sentences need no second thread to tell how far they are."""
Integers = np.ndarray[Any, np.dtype[np.int32]]


def translate(
    packed: Packed,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    request: SearchRequest,
    beginning: Sequence[int] = (),
    allowed: Sequence[Integers] | None = None,
    *,
    threads: int,
) -> list[list[Hypothesis]]:
    """For each source (end marker included) its hypotheses; `limits` are tokens before the end
    marker, `beginning` those that every output begins with, `allowed` those that each may be
    written with, in order, the end marker among them; None for all.

    Raises:
        ValueError: ids that the model does not have, or sizes that make no sense.
        MemoryError: a sentence is too long for this machine.
    """
    if not sources:
        return []
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    ordered = SentenceJob(
        packed, [sources[i] for i in order], [limits[i] for i in order], request, beginning
    )
    if allowed is not None:
        ordered.allow([allowed[i] for i in order])
    job, workspace = ordered.job, packed.engine.library.headway_workspace
    while job.slots > 1 and workspace(packed.structure, job) > WORKSPACE_BYTES:
        job.slots //= 2
    threads = min(threads, len(sources))
    rooms = [aligned(workspace(packed.structure, job)) for _ in range(threads)]
    work = packed.engine.library.headway_translate
    if threads == 1 and len(sources) <= ALONE:
        work(packed.structure, job, rooms[0].ctypes.data)
        request.done(len(sources))
    else:
        shared(lambda room: work(packed.structure, job, room.ctypes.data), rooms, job, request.done)
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


class SentenceJob:
    """A job, the arrays that it points into, and what is read from them at the end."""

    def __init__(
        self,
        packed: Packed,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        request: SearchRequest,
        beginning: Sequence[int],
    ) -> None:
        """Every size and id is checked here: the engine trusts them."""
        special, settings, forbidden = request.special, request.settings, request.special.unwritten
        read, written = (np.array(one, dtype=np.int64) for one in (list(map(len, sources)), limits))
        first = begins(read)
        ids = np.fromiter((int(i) for one in sources for i in one), np.int64, int(first[-1]))
        longest_source, longest_output = int(read.max()), int(written.max()) + 1
        self.n_tokens = packed.n_tokens
        self.refuse_others(ids, beginning, [special.decoder_begin, special.end, *forbidden])
        if read.min() < 1 or written.min() < 0:
            raise ValueError("a source has at least an end marker, and a limit is not negative")
        if max(longest_source, longest_output) > packed.longest:
            raise ValueError(f"positions end at {packed.longest}")
        if settings.rows > packed.engine.most_beam:
            raise ValueError(f"a beam has at most {packed.engine.most_beam} hypotheses")
        if len(beginning) > written.min() or {special.end, *forbidden} & {*beginning}:
            raise ValueError("a beginning is within every limit, and of tokens that are written")
        want_scores = request.want_scores or settings.method == "beam"
        self.rules = Rules(settings, special.end, torch.tensor([]), want_scores=want_scores)
        self.strides, self.widths = (written + 1).tolist(), read.tolist()
        places = settings.n_best * (written + 1)
        results, looks = begins(places), begins(places * read)
        self.arrays: dict[str, np.ndarray[Any, Any]] = {
            "ids": ids.astype(np.int32),
            "first": first,
            "limits": written,
            "beginning": np.array(beginning, dtype=np.int32),
            "forbidden": np.array(forbidden, dtype=np.int32),
            "results": results,
            "lengths": np.zeros((len(sources), settings.n_best), dtype=np.int32),
            "tokens": np.zeros(int(results[-1]), dtype=np.int32),
            "log_probs": np.zeros(int(results[-1]), dtype=np.float32),
            "looks": looks,
        }
        if request.want_attention:
            self.arrays["looked"] = np.empty(int(looks[-1]), dtype=np.float32)
        slots = max(1, ROWS[packed.n_bytes > NEAR_BYTES] // settings.rows)
        self.job = Job(
            n_sentences=len(sources), n_beginning=len(beginning), n_forbidden=len(forbidden),
            begin=special.decoder_begin, end=special.end, beam=settings.rows,
            n_best=settings.n_best, want_scores=want_scores,
            length_penalty=settings.length_penalty, slots=min(len(sources), slots),
            encoded_rows=max(longest_source, min(ENCODED_ROWS, int(first[-1]))),
            longest_source=longest_source, longest_output=longest_output,
            **{name: array.ctypes.data for name, array in self.arrays.items()},
        )  # fmt: skip

    def allow(self, allowed: Sequence[Integers]) -> None:
        """Let each sentence be written with these tokens alone; they are checked as all else is."""
        if self.job.n_beginning:
            raise ValueError("a beginning may have any tokens")
        tokens, first = np.concatenate(allowed).astype(np.int32), begins(list(map(len, allowed)))
        rising = np.diff(tokens) > 0
        rising[first[1:-1] - 1] = True  # from the last of a sentence to the first of the next
        if not rising.all() or (tokens == self.job.end).sum() != self.job.n_sentences:
            raise ValueError("tokens that are allowed rise, and the end marker is one of them")
        self.refuse_others(tokens)
        self.arrays |= {"allowed": tokens, "allowed_first": first}
        self.job.allowed, self.job.allowed_first = tokens.ctypes.data, first.ctypes.data

    def refuse_others(self, *some: Any) -> None:
        """Raise ValueError where one is no id of the model's."""
        for ids in map(np.asarray, some):
            if ids.min(initial=0) < 0 or ids.max(initial=0) >= self.n_tokens:
                raise ValueError(f"ids must be from 0 to {self.n_tokens - 1}")

    def read(self) -> Iterator[list[Hypothesis]]:
        """For each source its hypotheses, in the order in which they were given."""
        tokens, log_probs = self.arrays["tokens"].tolist(), self.arrays["log_probs"].tolist()
        lengths, results = self.arrays["lengths"].tolist(), self.arrays["results"].tolist()
        for i, stride in enumerate(self.strides):
            found = []
            for at, n in zip(range(results[i], results[i + 1], stride), lengths[i], strict=True):
                if n:  # its end marker is the last
                    ids, of_each = tokens[at : at + n - 1], log_probs[at : at + n]
                    looked = self._looked(i, at - results[i], n)
                    found.append(scored(ids, of_each, self.rules, looked))
            yield list(ranked(found))

    def _looked(self, i: int, place: int, n_tokens: int) -> torch.Tensor | None:
        """`[tokens, source]`: the weights on source `i` of the tokens from a place on."""
        if "looked" not in self.arrays:
            return None
        width, looks = self.widths[i], self.arrays["looked"][int(self.arrays["looks"][i]) :]
        found = looks[place * width : (place + n_tokens) * width].reshape(n_tokens, width)
        return torch.from_numpy(found.copy())


def begins(sizes: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each of some things of these sizes begins, one behind another, and where all end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
