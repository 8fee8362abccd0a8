"""Laws of blocks of lines: each line once, in order, whatever becomes of the processes."""

import os
import random
import signal
import time
from collections import Counter

import pytest

from headway.bulk.attempts import (
    MOST_LOST,
    BlockOutput,
    BlockPart,
    LineBlock,
    TranslationTroubleError,
    answered,
)
from headway.bulk.job import HereRunner
from headway.core.errors import RunError
from headway.operations.processes import WorkerPool


def shouted(part: BlockPart) -> BlockOutput:
    """Every line in capital letters; some lines kill, or fail."""
    for line in part.lines:
        if line == b"kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if line == b"fail":
            raise ValueError("this line\nfails")
    text = b"".join((line or b"").upper() + b"\n" for line in part.lines)
    return BlockOutput(text, len(part.lines), n_cut=sum(line == b"cut" for line in part.lines))


def blocks_of(lines: list[bytes], size: int) -> list[LineBlock]:
    return [
        LineBlock(list(lines[first : first + size]), first) for first in range(0, len(lines), size)
    ]


def run(blocks, runner):
    counts = Counter()
    try:
        found = list(answered(blocks, runner, counts))
    finally:
        runner.close()
    return found, counts


def test_lines_that_kill_or_fail_are_left_blank_and_all_others_are_there() -> None:
    lines = [b"line %d" % n for n in range(300)]
    lines[7], lines[8], lines[150], lines[299] = b"kill", b"cut", b"fail", b"kill"
    found, counts = run(blocks_of(lines, 40), WorkerPool(shouted, 2))
    text = b"".join(made.text for _, made in found).split(b"\n")[:-1]
    wanted = [b"" if line in (b"kill", b"fail") else line.upper() for line in lines]
    assert text == wanted
    blank = [(block.owner + at, why) for block, made in found for at, why in made.blank]
    assert [at for at, _ in blank] == [7, 150, 299]
    assert "SIGKILL" in blank[0][1]
    assert blank[1][1] == "ValueError: this line fails"
    assert [made.n_lines for _, made in found] == [40] * 7 + [20]
    assert sum(made.n_cut for _, made in found) == 1
    assert counts["retries"] > 20


def test_processes_killed_at_random_lose_no_line_and_repeat_none() -> None:
    """Each process is killed before some tasks, in the middle of some, and while it rests."""

    def work(part: BlockPart) -> BlockOutput:
        chance = random.Random(time.time_ns() ^ os.getpid()).random()
        if chance < 0.2:
            os.kill(os.getpid(), signal.SIGKILL)
        return shouted(part)

    lines = [b"line %d" % n for n in range(2000)]
    found, counts = run(blocks_of(lines, 20), WorkerPool(work, 2))
    text = b"".join(made.text for _, made in found)
    assert text == b"".join(line.upper() + b"\n" for line in lines)
    assert counts["retries"] > 5
    assert not any(made.blank for _, made in found)


def test_a_slow_block_does_not_have_all_others_read() -> None:
    read = []

    def blocks():
        for block in blocks_of([b"%d" % n for n in range(400)], 4):
            read.append(block.owner)
            yield block

    def work(part: BlockPart) -> BlockOutput:
        time.sleep(0.5 if part.block == 0 else 0)
        return shouted(part)

    runner = WorkerPool(work, 2)
    try:
        found = answered(blocks(), runner, Counter())
        first, _ = next(found)
        assert first.owner == 0
        assert len(read) <= 12
        assert [block.owner for block, _ in found] == list(range(4, 400, 4))
    finally:
        runner.close()


def test_where_all_lines_fail_it_is_not_for_what_is_in_them() -> None:
    with pytest.raises(TranslationTroubleError, match="fewer --processes"):
        run(blocks_of([b"fail"] * (MOST_LOST + 1), 1000), HereRunner(shouted))


def test_what_no_line_is_to_blame_for_ends_the_job_with_its_own_words() -> None:
    def other_run(part: BlockPart) -> BlockOutput:
        raise RunError("every machine needs the same run")

    with pytest.raises(RunError, match="the same run"):
        run(blocks_of([b"a", b"b"], 2), WorkerPool(other_run, 1))


def test_blocks_without_lines_come_in_their_place() -> None:
    blocks = [LineBlock([], 0), LineBlock([b"a"], 1), LineBlock([], 2)]
    found, _ = run(blocks, HereRunner(shouted))
    assert [(block.owner, made.text) for block, made in found] == [(0, b""), (1, b"A\n"), (2, b"")]
