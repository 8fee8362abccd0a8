"""Which validation pairs a run looks at."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.translation.mixture import in_turn


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(0, 60))
def test_any_beginning_holds_of_each_file_its_share(files: list[int], n: int) -> None:
    numbers = np.array(files, np.uint32)
    order = in_turn(numbers)
    assert sorted(order.tolist()) == list(range(len(files)))
    n = min(n, len(files))
    for file in set(files):
        share = files.count(file) * n / len(files)
        assert abs((numbers[order[:n]] == file).sum() - share) < 3
        own = order[numbers[order] == file]
        assert own.tolist() == sorted(own.tolist())


def test_one_file_stays_in_its_order() -> None:
    assert in_turn(np.zeros(7, np.uint32)).tolist() == list(range(7))
