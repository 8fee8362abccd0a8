"""Blocks of lines given to processes that may end at any time, and answered in their order."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from headway.core.errors import HeadwayError, UserError
from headway.operations.processes import TaskAnswer, WorkerLostError

TRIES = 3
"""Of the same lines, where processes end; whoever kills one at random does not meet them again."""
MOST_LOST = 100
"""Lines of one block: where more cannot be translated, it is not for what is in them."""
_BLOCKS_AHEAD = 4
"""For each process, held in memory while an earlier one is tried again."""


class LineBlock(NamedTuple):
    lines: list[bytes | None]
    """None stands for one that was too long to be held."""
    owner: Any
    """Comes back with the translations."""


class BlockPart(NamedTuple):
    """What one process does at a time: some lines of a block, at first all."""

    block: int
    first: int
    lines: list[bytes | None]
    tries: int = 1


class BlockOutput(NamedTuple):
    text: bytes
    """A line for each, each with its end."""
    n_lines: int
    n_cut: int = 0
    blank: tuple[tuple[int, str], ...] = ()
    """Lines that were not translated, from 0, and why."""


class TaskRunner(Protocol):
    """Whoever does tasks, many at once: `WorkerPool`, a cluster. `give` begins one, of which fewer
    than `n_at_once` may be unanswered; `take` waits for an answer, whose result is a `BlockOutput`.
    """

    n_at_once: int

    @property
    def n_busy(self) -> int: ...
    def give(self, task: BlockPart) -> None: ...
    def take(self) -> TaskAnswer: ...
    def close(self) -> None: ...


class TranslationTroubleError(HeadwayError):
    """Many lines fail, which has another cause than what is in them."""


@dataclass
class _OpenBlock:
    block: LineBlock
    n_left: int
    n_lost: int = 0
    outputs: dict[int, BlockOutput] = field(default_factory=dict)
    """By the first line of each part."""


def answered(
    blocks: Iterable[LineBlock], runner: TaskRunner, counts: Counter[str]
) -> Iterator[tuple[LineBlock, BlockOutput]]:
    """Each block with its translations, in order, whatever becomes of the processes.

    What a process ends at is given to others, `TRIES` times; then, and where it fails, it is
    halved, down to one line, which is left blank. `counts` has how often that was: "retries".

    Raises:
        TranslationTroubleError: more than `MOST_LOST` lines of a block are lost.
        UserError: what a process cannot do whatever the lines are, as with another run.
    """
    remaining, waiting = enumerate(blocks), deque[BlockPart]()
    begun = dict[int, _OpenBlock]()
    n_told, most_begun = 0, _BLOCKS_AHEAD * runner.n_at_once
    while True:
        while runner.n_busy < runner.n_at_once and (waiting or len(begun) < most_begun):
            if waiting:
                runner.give(waiting.popleft())
                continue
            number, block = next(remaining, (-1, None))
            if block is None:
                most_begun = 0
                break
            begun[number] = _OpenBlock(block, len(block.lines))
            if block.lines:
                waiting.append(BlockPart(number, 0, block.lines))
        while n_told in begun and not begun[n_told].n_left:
            done = begun.pop(n_told)
            yield done.block, _joined(done.outputs)
            n_told += 1
        if runner.n_busy:
            waiting.extendleft(_noted(runner.take(), begun, counts))
        elif not begun and not most_begun:
            return


def _noted(
    answer: TaskAnswer, begun: dict[int, _OpenBlock], counts: Counter[str]
) -> list[BlockPart]:
    """Note what came of a part; gives what is to be tried in its place."""
    part: BlockPart = answer.task
    open_block, n = begun[part.block], len(part.lines)
    if answer.error is None:
        open_block.outputs[part.first] = answer.result
        open_block.n_left -= n
        return []
    if isinstance(answer.error, UserError):
        raise answer.error
    counts["retries"] += 1
    if isinstance(answer.error, WorkerLostError) and part.tries < TRIES:
        return [part._replace(tries=part.tries + 1)]
    if half := n // 2:
        first = BlockPart(part.block, part.first, part.lines[:half])
        return [BlockPart(part.block, part.first + half, part.lines[half:]), first]
    why = " ".join(f"{type(answer.error).__name__}: {answer.error}".split())
    open_block.n_lost += 1
    if open_block.n_lost > MOST_LOST:
        raise TranslationTroubleError(
            f"a line that cannot be translated is left blank; these are {open_block.n_lost} of "
            f"{len(open_block.block.lines):,} lines, so it is not for what is in them ({why}). "
            "With too little memory, take fewer --processes. Finished shards are kept."
        )
    open_block.outputs[part.first] = BlockOutput(b"\n", 1, blank=((0, why),))
    open_block.n_left -= 1
    return []


def _joined(outputs: dict[int, BlockOutput]) -> BlockOutput:
    parts = sorted(outputs.items())
    return BlockOutput(
        b"".join(part.text for _, part in parts),
        sum(part.n_lines for _, part in parts),
        sum(part.n_cut for _, part in parts),
        tuple((first + at, why) for first, part in parts for at, why in part.blank),
    )
