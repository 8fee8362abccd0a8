"""Time and memory of a piece of work."""

import numpy as np
import torch

from headway.study.measuring import MOST_ALONE, latency


def test_what_is_timed_alone_is_from_all_over_the_test():
    done: list[int] = []
    rows = range(3, 3003, 3)
    assert latency(done.append, rows, torch.device("cpu")) >= 0
    first, *timed = done
    assert first == rows[0]
    assert len(timed) == MOST_ALONE
    assert set(timed) <= set(rows)
    tenths = np.array(timed) // 300
    assert set(tenths) >= set(range(10))
