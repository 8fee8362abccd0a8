"""Forked processes of one training: each has this one's memory, and imports nothing anew."""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.context import ForkContext, ForkProcess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed import TCPStore

from headway.cli import main

SEES_A_GPU = torch.cuda.is_available()
"""Then autograd has threads for it from its first use on, and works in no process forked later."""


def ready_to_fork() -> ForkContext:
    """What forks processes that can compute."""
    if SEES_A_GPU:
        pytest.skip("none is forked beside a GPU: run this with CUDA_VISIBLE_DEVICES=")
    gc.collect()
    # Threads that earlier tests multiplied with are not there in a forked process, which would wait
    # for them: OpenMP ends them (1: `omp_pause_soft`), and begins anew where there is work.
    ctypes.CDLL("libgomp.so.1").omp_pause_resource_all(1)
    return multiprocessing.get_context("fork")


def begun(words: list[str], log: Path) -> ForkProcess:
    """The command line in a process of its own, as a terminal would start it. What it says goes to
    the log."""

    def run() -> None:
        gc.freeze()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's & has it ignored
        with log.open("w", encoding="utf-8") as said:
            os.dup2(said.fileno(), 2)
            sys.stderr = said
            status = main(words)
        os._exit(status)

    process = ready_to_fork().Process(target=run)
    process.start()
    return process


def by_processes(n: int, work: Callable[[int], Any], limit_s: float = 300.0) -> list[Any]:
    """`work(rank)` in so many processes, as torchrun would start them; what each has returned, None
    where it ended before.

    All are gone at the end. Raises AssertionError where one was not done in time.
    """
    fork = ready_to_fork()
    pipes = [fork.Pipe() for _ in range(n)]

    def begin(rank: int) -> None:
        gc.freeze()  # stores of earlier tests end their threads, which are not there, with this one
        os.environ |= {
            "MASTER_ADDR": "localhost", "MASTER_PORT": pipes[rank][1].recv(), "RANK": str(rank),
            "WORLD_SIZE": str(n), "LOCAL_WORLD_SIZE": str(n), "LOCAL_RANK": str(rank),
            "TORCHELASTIC_USE_AGENT_STORE": "True", "OMP_NUM_THREADS": "1",
            "HEADWAY_LOST_AFTER": "300",  # on a busy machine
        }  # fmt: skip
        torch.set_num_threads(1)
        for other, (here, there) in enumerate(pipes):
            here.close()
            if other != rank:
                there.close()
        pipes[rank][1].send(work(rank))
        pipes[rank][1].close()
        os._exit(0)  # the fixtures are the parent's

    children = [fork.Process(target=begin, args=(rank,), daemon=True) for rank in range(n)]
    try:
        for child in children:
            child.start()
        # Only now, as its thread may hold a lock that a process which is forked would wait for.
        store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        for here, _ in pipes:
            here.send(str(store.port))
        until = time.monotonic() + limit_s
        found = []
        for rank, (here, there) in enumerate(pipes):
            there.close()
            assert here.poll(max(0.0, until - time.monotonic())), f"process {rank} is not done"
            try:
                found.append(here.recv())
            except EOFError:
                found.append(None)
        return found
    finally:
        for child in children:
            child.kill()
            child.join()


def command_by_processes(
    n: int, words: list[str], log: Path, before: Callable[[int], object] = lambda rank: None
) -> list[int | None]:
    """The command line by `n` processes: exit statuses. What each says goes to `log`.rank;
    `before` changes what is different in one of them."""

    def run(rank: int) -> int:
        before(rank)
        with open(f"{log}.{rank}", "w", encoding="utf-8") as said:
            os.dup2(said.fileno(), 2)
            sys.stderr = said
            return main(words)

    return by_processes(n, run)
