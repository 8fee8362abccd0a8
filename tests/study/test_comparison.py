"""What several runs are measured on."""

import pytest
from torch import nn

from headway.study.compared_runs import Entrant, Work
from headway.study.comparison import common_rows


@pytest.mark.parametrize(
    ("n_first", "n_second", "n_common", "enough"),
    [(20, 40, 10, True), (20, 40, 9, False), (1000, 1400, 400, True), (1000, 1400, 100, False)],
)
def test_what_all_have_is_enough_if_it_is_half_of_the_fewest_or_many(
    n_first, n_second, n_common, enough
):
    def entrant(first: int, n: int) -> Entrant:
        rows = [(f"{row}", f"right {row}") for row in range(first, first + n)]
        work = Work(lambda: None, lambda _: None, lambda *_: None)
        return Entrant(
            nn.Identity(), rows, "sentence", "sentences", lambda _: work, True, lambda row: row
        )

    entrants = {"a": entrant(0, n_first), "b": entrant(n_first - n_common, n_second)}
    rows, told = common_rows(entrants)
    assert told["same"] is enough
    common = entrants["a"].rows[-n_common:]
    assert rows == {name: common if enough else one.rows for name, one in entrants.items()}
