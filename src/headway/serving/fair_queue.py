"""Sentences that wait, of many clients: each has its turn, and its share is counted in tokens
(deficit round robin, Shreedhar and Varghese 1995). The requests of one client take turns, too."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from headway.core.hypothesis import Hypothesis
from headway.serving.requests import Caller, RefusedError

QUANTUM = 32
"""Source tokens of a client at each turn."""


class Submission:
    """The sentences of one search, for which one thread waits."""

    def __init__(
        self,
        caller: Caller,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        *,
        want_attention: bool = False,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """`limits` are tokens of each output before its end marker; `tell` is called when it is
        over, in any thread."""
        self.caller, self.sources, self.limits = caller, sources, limits
        self.want_attention, self._tell = want_attention, tell
        self.found: list[list[Hypothesis]] = [[] for _ in sources]
        self.error: Exception | None = None
        self.n_left, self.tokens_waiting = len(sources), sum(map(len, sources))
        self.n_waiting = self.n_left
        self._ready = threading.Lock()
        if sources:
            self._ready.acquire()

    @property
    def is_over(self) -> bool:
        """It failed, or has all its hypotheses."""
        return self.error is not None or not self.n_left

    def finish(self, i: int, hypotheses: list[Hypothesis]) -> None:
        """Sentence `i` has these."""
        if not self.is_over:
            self.found[i], self.n_left = hypotheses, self.n_left - 1
            if not self.n_left:
                self._ready.release()
                self._tell()

    def fail(self, error: Exception) -> None:
        """Nobody is to wait for it any more."""
        if not self.is_over:
            self.error = error
            self._ready.release()
            self._tell()

    def refusal(self, now: float) -> RefusedError | None:
        """Why its next sentence is not to be begun at this time (`time.monotonic`)."""
        if self.caller.gone.is_set():
            return RefusedError("late", "the client left")
        if self.caller.deadline is not None and now > self.caller.deadline and self.n_waiting:
            return RefusedError("late", "it could not be begun in the time that it was given", 1.0)
        return None

    def result(self) -> list[list[Hypothesis]]:
        """What was found, once it is over; raises what it failed for."""
        if self.error:
            raise self.error
        return self.found

    def wait(self, most_s: float) -> bool:
        """Whether it is over within that time, or that until its deadline."""
        return self._ready.acquire(timeout=self.patience_s(most_s))

    def patience_s(self, most_s: float) -> float:
        """How long to wait before the next look at whether it is in vain."""
        if self.caller.deadline is None or not self.n_waiting:
            return most_s
        return min(most_s, max(0.0, self.caller.deadline - time.monotonic()) + 1e-3)


class Sentence(NamedTuple):
    """One of a submission."""

    submission: Submission
    place: int

    @property
    def ids(self) -> Sequence[int]:
        """What is read."""
        return self.submission.sources[self.place]


class _Line:
    """What one client waits for."""

    def __init__(self) -> None:
        self.submissions, self.credit, self.tokens = deque[Submission](), QUANTUM, 0


class FairQueue:
    """Not safe for several threads by itself."""

    def __init__(self) -> None:
        self._lines, self._turns = dict[str, _Line](), deque[str]()
        self.n_sentences = self.n_tokens = 0
        """Waiting, of all clients."""

    def put(self, submission: Submission) -> None:
        """Add its sentences; at the client's turn they take turns with those of its others."""
        client = submission.caller.client
        if client not in self._lines:
            self._lines[client] = _Line()
            self._turns.append(client)
        line = self._lines[client]
        line.submissions.append(submission)
        self._count(submission, submission.n_waiting, submission.tokens_waiting)

    def take(self) -> Sentence | None:
        """The next one to be begun; those too late, or of clients that left, are dropped."""
        now = time.monotonic()
        while self._turns:
            client = self._turns[0]
            line = self._lines[client]
            while line.submissions and self._is_void(line.submissions[0], now):
                line.submissions.popleft()
            if not line.submissions:
                self._turns.popleft()
                del self._lines[client]
                continue
            submission = line.submissions[0]
            sentence = Sentence(submission, len(submission.sources) - submission.n_waiting)
            n_tokens = len(sentence.ids)
            if line.credit < n_tokens:
                line.credit += QUANTUM
                self._turns.rotate(-1)
                continue
            line.credit -= n_tokens
            self._leave(submission, 1, n_tokens)
            line.submissions.popleft()
            if submission.n_waiting:
                line.submissions.append(submission)
            return sentence
        return None

    def drop(self, submission: Submission, error: Exception) -> None:
        """Give the places of its sentences away; whoever waits for it gets the error."""
        self._leave(submission, submission.n_waiting, submission.tokens_waiting)
        submission.fail(error)

    def tokens_of(self, client: str) -> int:
        """Source tokens that a client waits for."""
        return self._lines[client].tokens if client in self._lines else 0

    @property
    def n_clients(self) -> int:
        """Those that wait."""
        return len(self._lines)

    def _is_void(self, submission: Submission, now: float) -> bool:
        if not submission.is_over and (refusal := submission.refusal(now)):
            self.drop(submission, refusal)
        return submission.is_over or not submission.n_waiting

    def _leave(self, submission: Submission, n: int, n_tokens: int) -> None:
        submission.n_waiting -= n
        submission.tokens_waiting -= n_tokens
        self._count(submission, -n, -n_tokens)

    def _count(self, submission: Submission, n: int, n_tokens: int) -> None:
        self.n_sentences += n
        self.n_tokens += n_tokens
        if (line := self._lines.get(submission.caller.client)) is not None:
            line.tokens += n_tokens
