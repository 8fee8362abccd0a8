"""Table 1 of the paper: costs counted, and paths found on the layers themselves."""

import pytest
from layer_paths import found_path, found_sequential

from headway.study.complexity import counted
from headway.study.layer_types import LAYER_TYPES, PathLength, middle_layer

REACH = PathLength(kernel=3, window=2)


@pytest.mark.parametrize("name", LAYER_TYPES)
@pytest.mark.parametrize("n", [2, 7, 14])
def test_the_longest_path_is_that_of_table_1_by_brute_force(name, n):
    assert found_path(name, n, REACH) == LAYER_TYPES[name].longest(n, REACH)


@pytest.mark.parametrize("name", LAYER_TYPES)
def test_only_recurrent_layers_have_operations_that_wait_for_one_another(name):
    short, long = (found_sequential(name, n, REACH) for n in (40, 80))
    if LAYER_TYPES[name].sequential == "O(n)":
        assert long - short == (short - found_sequential(name, 20, REACH)) * 2
    else:
        assert long == short


@pytest.mark.parametrize("name", LAYER_TYPES)
@pytest.mark.parametrize("n", [16, 128, 4096])
def test_operations_counted_are_the_formula(name, n):
    """But restricted attention's over long texts: blocks of 32 meet 160 keys, for 129 each."""
    reach = PathLength(kernel=3, window=64)
    found, wanted = counted(name, n, 512, reach), LAYER_TYPES[name].operations(n, 512, reach)
    if (name, n) == ("windowed", 4096):
        assert found == 4 * n * 160 * 512
    else:
        assert found == pytest.approx(wanted, rel=0.02)


def test_a_kernel_of_5_and_a_wider_window_reach_further():
    reach = PathLength(kernel=5, window=4)
    for name in ("convolution", "dilated", "windowed"):
        assert found_path(name, 40, reach) == LAYER_TYPES[name].longest(40, reach)


def test_a_kernel_wider_than_the_text_reads_no_further_than_needed():
    """By k^2 positions it would read gigabytes of zeros."""
    reach = PathLength(kernel=9_999, window=2)
    for name in ("convolution", "dilated", "separable"):
        assert found_path(name, 5, reach) == 1


def test_the_dilated_layer_that_is_measured_is_the_middle_one_and_reads_no_more_than_the_text():
    for n, dilation in ((4, 1), (16, 3), (512, 9), (4096, 27)):
        layer = LAYER_TYPES["dilated"].build(8, PathLength(), middle_layer(n, PathLength()))
        assert layer.dilation == dilation
        assert layer.reach < n
