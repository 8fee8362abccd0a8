"""What every run folder tells."""

from torch import nn

from headway.study.compared_runs import model_size


def test_running_statistics_take_memory_and_are_not_learned():
    found = model_size(nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5)))
    assert found["parameters"] == (3 * 5 + 5) + 2 * 5
    assert found["bytes"] == 4 * found["parameters"] + 2 * 5 * 4 + 8  # and a count of batches
