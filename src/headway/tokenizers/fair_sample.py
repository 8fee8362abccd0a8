"""A fair sample of a stream of lines that is too large to learn sub-words from."""

import math
import random
import re
from collections.abc import Callable, Iterable

from headway.languages.scripts import UNSPACED_SCRIPTS

# Scripts without spaces, and any unbroken word: each clause is a new "word" to the trainer, which
# keeps them all in memory.
_UNBROKEN = 25
_UNSPACED_SCRIPT = re.compile(f"[{''.join(UNSPACED_SCRIPTS.values())}]+")
_UNSPACED = re.compile(f"{_UNSPACED_SCRIPT.pattern}|[^\\W\\d_]{{{_UNBROKEN},}}")
UNSPACED_BUDGET = 1_000_000  # characters, 300 bytes of memory for each; more changes nothing


class _Reservoir:
    """A random sample of a stream, each line equally likely (Li 1994, algorithm L).

    It holds at most `capacity` lines, and shrinks when they hold too much unspaced text.
    """

    def __init__(self, capacity: int, seed: int) -> None:
        self.lines: list[str] = []
        self.n_seen = 0
        self._capacity = capacity
        self._random = random.Random(seed)
        self._weight = 1.0
        self._next = 1  # which line is taken next, counted from 1
        self._unspaced = 0

    def offer(self, line: str) -> None:
        self.n_seen += 1
        if self.n_seen < self._next:
            return
        if len(self.lines) < self._capacity:
            self.lines.append(line)
        else:
            place = self._random.randrange(self._capacity)
            self._unspaced -= _n_unspaced(self.lines[place])
            self.lines[place] = line
        self._unspaced += _n_unspaced(line)
        if len(self.lines) < self._capacity:
            self._next += 1
        else:
            self._draw_next(self._weight * self._random.betavariate(self._capacity, 1))
        if self._unspaced > 2 * UNSPACED_BUDGET:
            self.shrink()

    def shrink(self) -> None:
        """Leave lines out, at random, until the unspaced text fits."""
        if self._unspaced <= UNSPACED_BUDGET:
            return
        self._random.shuffle(self.lines)
        self._capacity = max(1, len(self.lines) * UNSPACED_BUDGET // self._unspaced)
        del self.lines[self._capacity :]
        self._unspaced = sum(map(_n_unspaced, self.lines))
        n_others = self.n_seen - self._capacity
        self._draw_next(self._random.betavariate(self._capacity, n_others + 1))

    def _draw_next(self, weight: float) -> None:
        self._weight = min(weight, 1 - 1e-12)
        skipped = math.log(1 - self._random.random()) / math.log1p(-self._weight)
        self._next = self.n_seen + int(skipped) + 1


def _n_unspaced(line: str) -> int:
    longest = max(map(len, line.split()), default=0)
    if longest >= _UNBROKEN:
        return sum(map(len, _UNSPACED.findall(line)))
    return 0 if line.isascii() else sum(map(len, _UNSPACED_SCRIPT.findall(line)))


def sample(lines: Iterable[str], n_lines: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """At most `n_lines` of `lines`, each equally likely, said aloud when not all are taken.

    Of text in scripts without spaces it takes lines with about a million characters.
    """
    reservoir = _Reservoir(n_lines, seed)
    for line in lines:
        reservoir.offer(line)
    reservoir.shrink()
    if len(reservoir.lines) < reservoir.n_seen:
        say(
            f"the sub-words are learned from {len(reservoir.lines):,} of {reservoir.n_seen:,} "
            f"lines, drawn at random with seed {seed}"
        )
    return reservoir.lines
