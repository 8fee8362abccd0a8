"""What layers give, of rows of any length; the oracle is the same layers by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from headway.nn import layer_outputs as outputs
from headway.nn.layer_outputs import layer_outputs, stretches, vectors_of_rows


@given(st.integers(0, 200), st.integers(1, 40), st.booleans())
def test_stretches_keep_each_place_once_and_as_much_around_it_as_they_can(length, longest, causal):
    found = stretches(length, longest, causal=causal)
    kept = [place for one in found for place in range(one.first, one.last)]
    assert kept == list(range(length))
    for one in found:
        assert 0 <= one.begin <= one.first <= one.last <= one.end <= length
        assert one.end - one.begin <= longest
        for place in range(one.first, one.last):
            before, behind = place - one.begin, one.end - 1 - place
            if causal:
                assert before >= min(place, longest // 2)
            else:
                assert before >= min(place, (longest - 2) // 4)
                assert behind >= min(length - 1 - place, (longest - 2) // 4)


def test_all_layers_are_given_and_the_last_one_behind_the_end():
    torch.manual_seed(1)
    layers, end = [nn.Linear(3, 3), nn.Linear(3, 5)], nn.LayerNorm(5)
    x = torch.randn(2, 4, 3)
    with torch.no_grad():
        first, second = layers[0](x), end(layers[1](layers[0](x)))
    found = layer_outputs(lambda: end(layers[1](layers[0](x))), layers, end)
    assert found.shape == (3, 2, 4, 5)
    assert torch.equal(found[0, ..., :3], x)
    assert torch.equal(found[1, ..., :3], first)
    assert torch.equal(found[2], second)
    assert not found[:2, ..., 3:].any()
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in (*layers, end))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("longest", [None, 4])
def test_rows_come_back_in_order_however_they_are_batched(monkeypatch, causal, longest):
    monkeypatch.setattr(outputs, "BATCH_TOKENS", 12)
    rows = [[*range(100 * n, 101 * n)] for n in (3, 0, 40, 1, 7, 7, 2)]
    widths = []

    def read(some):
        widths.append([len(row) for row in some])
        found = torch.zeros(2, len(some), max(map(len, some)) + 1, 1)
        for n, row in enumerate(some):
            found[0, n, : len(row), 0] = torch.tensor(row)
            found[1, n, : len(row), 0] = -torch.tensor(row)
        return found

    found = list(vectors_of_rows(iter(rows), read, longest=longest, causal=causal))
    for row, vectors in zip(rows, found, strict=True):
        assert vectors.shape == (2, len(row), 1)
        assert vectors[:, :, 0].tolist() == [row, [-one for one in row]]
    assert all(len(some) * max(some) <= 12 for some in widths)


def test_a_stream_of_rows_is_read_as_it_comes(monkeypatch):
    monkeypatch.setattr(outputs, "BATCH_TOKENS", 10)
    taken = []

    def rows():
        for n in range(1000):
            taken.append(n)
            yield [0, 0, 0, 0]

    found = vectors_of_rows(
        rows(), lambda some: torch.zeros(1, len(some), 4, 1), longest=None, causal=True
    )
    next(found)
    assert len(taken) < 5
