"""The whole job: read, translated, written shard by shard, with what is told meanwhile."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from headway.bulk.attempts import BlockPart, TaskRunner, answered
from headway.bulk.reading import ReadingState, shard_blocks
from headway.bulk.shards import Shard, ShardFolder
from headway.operations.processes import JobPart, TaskAnswer


@dataclass(frozen=True)
class BulkProgress:
    n_lines: int
    """Translated by this process."""
    n_read: int
    """Lines of all that was read, or read over."""
    share_read: float
    """Of the bytes of all files."""
    seconds: float
    n_parts: int = 1
    price_per_hour: float | None = None

    @property
    def lines_s(self) -> float:
        """Lines a second."""
        return self.n_lines / max(self.seconds, 1e-6)

    @property
    def n_expected(self) -> int:
        """Lines of all files, as far as they can be told from those that were read."""
        return round(self.n_read / max(self.share_read, 1e-6))

    def in_words(self) -> str:
        """For people: how far, how fast, at what cost, and the time left of this machine's part."""
        words = f"{self.lines_s:,.0f} lines/s"
        if self.price_per_hour is not None and self.n_lines:
            cost = self.price_per_hour / 3600 / self.lines_s * 1e6
            words += f", {cost:,.2f} per million lines"
        if self.share_read < 1 and self.n_lines:
            n_left = (self.n_expected - self.n_read) / self.n_parts
            left = timedelta(seconds=round(n_left / self.lines_s))
            words = f"{self.n_read:,} of about {self.n_expected:,} lines, {words}, {left} left"
        return words


class HereRunner:
    """Does tasks in this process, where others cannot be forked, or a GPU translates."""

    n_at_once = 1

    def __init__(self, work: Callable[[BlockPart], Any]) -> None:
        self._work, self._task = work, list[BlockPart]()

    @property
    def n_busy(self) -> int:
        """See `TaskRunner`, as for the others."""
        return len(self._task)

    def give(self, task: BlockPart) -> None:
        self._task.append(task)

    def take(self) -> TaskAnswer:
        task = self._task.pop()
        try:
            return TaskAnswer(task, self._work(task), None)
        except Exception as error:
            return TaskAnswer(task, None, error)

    def close(self) -> None:
        self._task.clear()


def translate_shards_of(
    files: Sequence[Path],
    folder: ShardFolder,
    runner: TaskRunner,
    shard_lines: int,
    part: JobPart,
    told: Callable[[BulkProgress], None],
    price_per_hour: float | None = None,
) -> tuple[BulkProgress, ReadingState, int]:
    """Do all shards of a part that are missing; gives how that went, and the retries.

    `told` hears of it now and then. However it ends, finished shards stay.

    Raises:
        DataError: a shard is no text.
        DiskError: the folder cannot be written to.
        TranslationTroubleError: processes end all the time.
    """
    state = ReadingState([file.stat().st_size for file in files])
    counts, n_lines, n_bytes = Counter[str](), 0, max(1, sum(state.sizes))
    began = time.monotonic()

    def mine(shard: Shard) -> bool:
        return part.has(shard.file + shard.number)

    def progress() -> BulkProgress:
        seconds = time.monotonic() - began
        share = state.n_bytes / n_bytes
        return BulkProgress(n_lines, state.n_lines, share, seconds, part.of, price_per_hour)

    finishing: Future[None] | None = None
    try:
        with (
            closing(shard_blocks(files, folder, shard_lines, mine, state)) as blocks,
            ThreadPoolExecutor(1) as finisher,  # the disk does not hold up the processes
        ):
            for block, made in answered(blocks, runner, counts):
                writer, end = block.owner
                writer.add(made)
                n_lines += made.n_lines
                if end:
                    if finishing is not None:
                        finishing.result()
                    done = writer.finish if end == "whole" else writer.discard
                    finishing = finisher.submit(done)
                told(progress())
            if finishing is not None:
                finishing.result()
    finally:
        runner.close()
        folder.close()
    return progress(), state, counts["retries"]
