"""A training goes on with more processes, or fewer, or one: the same batches, each row once."""

from pathlib import Path
from typing import Any

import numpy as np
from several_processes import by_processes
from shared_rows import LANES, N_ROWS, SharedRows, trainer_in, weights

from headway.core.run_folder import RunFolder
from headway.distributed.world import ProcessGroup

Seen = dict[int, list[int]]
"""The rows of each batch, by its number, in their order."""


def gone_on(path: Path, n: int, until: int, *, lanes: int = LANES, dropout: float = 0.0) -> Any:
    """Train to an update by `n` processes, from wherever it is saved; what each came to."""

    def work(rank: int) -> dict[str, Any]:
        world = ProcessGroup() if n > 1 else None
        trainer = trainer_in(path, world, SharedRows(lanes), dropout=dropout)
        trainer.resume()

        def stop() -> bool:
            return trainer.progress.step >= until - 1 + (n == 1)

        if world:
            with world.watch.until_the_end(RunFolder(path)):
                trainer.train(stop)
        else:
            trainer.train(stop)
        task = trainer.task
        return {"weights": weights(trainer), "seen": task.seen, "carried": task.carried.numpy()}

    return by_processes(n, work) if n > 1 else [work(0)]


def put_together(parts: list[Any], seen: Seen) -> None:
    """What the processes of one start have seen of each batch, in the order of their ranks."""
    for part in parts:
        for number, rows in part["seen"]:
            seen.setdefault(number, []).extend(rows)


def test_the_world_may_change_in_the_middle(tmp_path: Path) -> None:
    seen: Seen = {}
    for n, end in ((1, 3), (4, 6), (2, 9), (3, 12), (1, 99)):
        last = gone_on(tmp_path / "run", n, end)
        put_together(last, seen)
    alone: Seen = {}
    whole = gone_on(tmp_path / "alone", 1, 99)
    put_together(whole, alone)
    assert seen == alone
    assert sorted(seen) == list(range(1, 17))
    for epoch in range(2):  # of eight batches
        rows = [row for n in range(8 * epoch + 1, 8 * epoch + 9) for row in seen[n]]
        assert sorted(rows) == list(range(N_ROWS))
    for name, array in whole[0]["weights"].items():
        np.testing.assert_allclose(last[0]["weights"][name], array, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(last[0]["carried"], whole[0]["carried"], rtol=1e-4)


def test_there_may_be_fewer_rows_than_processes(tmp_path: Path) -> None:
    parts = gone_on(tmp_path / "run", 3, 99, lanes=2)
    whole = gone_on(tmp_path / "alone", 1, 99, lanes=2)
    for name, array in whole[0]["weights"].items():
        for part in parts:
            np.testing.assert_allclose(part["weights"][name], array, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(parts[0]["carried"], whole[0]["carried"], rtol=1e-4)
