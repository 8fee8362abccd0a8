"""Restricted self-attention equals full attention under a band mask, and costs O(n r d).

A text of 100 is cut into blocks, but not for windows of 60, which see most of it.
"""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.core.attention import ReadyMask, padding_mask
from headway.nn.attention_weights import watched
from headway.nn.positions import PositionedAttention, RelativePositions, rotate
from headway.nn.windowed import WindowedAttention, band

WINDOWS = [1, 16, 33, 60]


def both(window, *, causal, **options):
    """A windowed attention, and a full one with the same weights."""
    torch.manual_seed(4)
    sizes = {"d_k": 4, "d_v": 4, **options}
    near = WindowedAttention(8, 2, window=window, causal=causal, **sizes)
    full = PositionedAttention(8, 2, **sizes)
    full.load_state_dict(near.state_dict())
    return near.double().eval(), full.double().eval()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("positions", ["none", "rotary", "relative"])
def test_it_equals_full_attention_with_a_band_mask_in_value_and_gradient(positions, window, causal):
    options = {
        "none": {},
        "rotary": {"rotary": rotate},
        "relative": {"relative": RelativePositions(4, reach=3)},
    }[positions]
    near, full = both(window, causal=causal, **options)
    ids = torch.ones(2, 100, dtype=torch.long)
    ids[1, 11:] = 0  # so long a padding that some queries see nothing but padding
    real = padding_mask(ids, 0)
    x = torch.randn(2, 100, 8, dtype=torch.float64, requires_grad=True)
    visible = band(100, window, causal=causal) & real
    found = near(x, x, ReadyMask.of(real, x.dtype))
    wanted = full(x, x, ReadyMask.of(visible, x.dtype))
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)
    weight = torch.randn_like(found)
    for mine, other in zip(
        torch.autograd.grad((found * weight).sum(), [x, *near.parameters()]),
        torch.autograd.grad((wanted * weight).sum(), [x, *full.parameters()]),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [1, 15, 16, 17, 25, 26, 27, 28, 33, 49])
def test_any_length_will_do(length, causal):
    """On both sides of where blocks begin: behind 25 for 20 keys a block, behind 27 for 24."""
    near, full = both(4, causal=causal)
    x = torch.randn(3, length, 8, dtype=torch.float64)
    wanted = full(x, x, ReadyMask.of(band(length, 4, causal=causal), x.dtype))
    torch.testing.assert_close(near(x, x), wanted, rtol=1e-9, atol=1e-12)


def test_the_band_by_hand():
    assert band(4, 1, causal=False)[0, 0].int().tolist() == [
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [0, 1, 1, 1],
        [0, 0, 1, 1],
    ]
    assert band(3, 1, causal=True)[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]


def operations(attention, length):
    """Counted on tensors without memory."""
    x = torch.empty(1, length, 64, device="meta")
    with FlopCounterMode(display=False) as counter:
        attention(x, x)
    return counter.get_total_flops()


def test_twice_the_length_costs_twice_as_much():
    with torch.device("meta"):
        near = WindowedAttention(64, 2, window=32, causal=False, d_k=32, d_v=32)
    assert operations(near, 8192) == 2 * operations(near, 4096)
    projections = 4 * 2 * 64 * 64
    assert operations(near, 4096) / 4096 - projections == 4 * (2 * 32 + 16) * 64


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [1, 16, 512])
def test_it_never_computes_more_than_full_attention(window, causal):
    with torch.device("meta"):
        near = WindowedAttention(64, 2, window=window, causal=causal, d_k=32, d_v=32)
        full = PositionedAttention(64, 2, d_k=32, d_v=32)
    for length in (1, 20, 27, 161, 600, 1300):
        assert operations(near, length) <= operations(full, length)
    assert operations(near, 12) == operations(full, 12)
    assert operations(near, 3000) < operations(full, 3000) / 2


def test_dropout_falls_on_its_weights_too():
    near = WindowedAttention(8, 2, window=3, causal=False, d_k=4, d_v=4, dropout=0.5)
    x = torch.randn(1, 20, 8)
    assert not torch.equal(near(x, x), near(x, x))
    assert torch.equal(near.eval()(x, x), near(x, x))


def test_who_looks_sees_zeros_outside_of_the_window():
    near, _ = both(2, causal=True)
    x = torch.randn(1, 9, 8, dtype=torch.float64)
    with watched([near]) as maps:
        near(x, x)
    assert torch.equal(maps[0] > 0, band(9, 2, causal=True).expand(1, 2, 9, 9))
    torch.testing.assert_close(maps[0].sum(-1), torch.ones(1, 2, 9, dtype=torch.float64))
