"""Table 1 of the paper: costs counted, and paths found on the layers themselves."""

import pytest
import torch

from headway.efficiency.complexity import counted
from headway.efficiency.contenders import CONTENDERS, Reach, decoding_steps
from headway.efficiency.paths import found_path, found_sequential

REACH = Reach(kernel=3, window=2)


@pytest.mark.parametrize("name", CONTENDERS)
@pytest.mark.parametrize("n", [2, 7, 14])
def test_the_longest_path_is_that_of_table_1_by_brute_force(name, n):
    assert found_path(name, n, REACH) == CONTENDERS[name].longest(n, REACH)


@pytest.mark.parametrize("name", CONTENDERS)
def test_only_recurrent_layers_have_operations_that_wait_for_one_another(name):
    short, long = (found_sequential(name, n, REACH) for n in (20, 40))
    if CONTENDERS[name].sequential == "O(n)":
        assert long - short == (short - found_sequential(name, 10, REACH)) * 2
    else:
        assert long == short


@pytest.mark.parametrize("name", CONTENDERS)
def test_operations_counted_are_the_formula(name):
    """Of restricted attention, the rest of each block is computed as well: 2 r + b keys."""
    reach = Reach(kernel=3, window=64)
    found, wanted = counted(name, 4096, 64, reach), CONTENDERS[name].operations(4096, 64, reach)
    if name == "windowed":
        wanted *= (2 * 64 + 32) / (2 * 64 + 1)
    assert found == pytest.approx(wanted, rel=0.02)


def test_a_kernel_of_5_and_a_wider_window_reach_further():
    reach = Reach(kernel=5, window=4)
    for name in ("convolution", "dilated", "windowed"):
        assert found_path(name, 11, reach) == CONTENDERS[name].longest(11, reach)


def test_a_step_with_a_cache_gives_one_position():
    torch.manual_seed(1)
    for step in decoding_steps(9, 8, REACH).values():
        assert step().numel() == 8


def test_steps_with_a_cache_run_where_they_are_told_to():
    assert {step().device.type for step in decoding_steps(9, 8, REACH, "meta").values()} == {"meta"}
