"""Laws of convolutions over a sequence, and of the gated linear unit."""

import pytest
import torch
import torch.nn.functional as F

from headway.core.errors import ConfigError
from headway.earlier_translators.convolution import Convolution, SeparableConvolution, gated


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def test_the_gated_linear_unit_by_hand_and_as_torchs_own():
    x = torch.tensor([[1.0, -2.0, 0.0, 3.0]])
    opened = 1 / (1 + torch.exp(torch.tensor(-3.0)))
    torch.testing.assert_close(gated(x), torch.tensor([[0.5, -2.0 * opened]]))
    x = drawn(2, 3, 8)
    torch.testing.assert_close(gated(x), F.glu(x))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (3, 1), (5, 1), (3, 4)])
def test_it_equals_torchs_convolution_in_value_and_gradient(kernel, dilation, causal):
    brick = Convolution(4, 6, kernel, dilation=dilation, causal=causal)
    x = drawn(2, 9, 4).requires_grad_()
    weight = brick.mix.weight.unflatten(1, (kernel, 4)).transpose(1, 2)  # [output, input, kernel]
    reach = (kernel - 1) * dilation
    left = reach if causal else reach // 2
    padded = F.pad(x.transpose(1, 2), (left, reach - left))
    expected = F.conv1d(padded, weight, brick.mix.bias, dilation=dilation).transpose(1, 2)
    torch.testing.assert_close(brick(x), expected)
    inputs = (x, brick.mix.weight)
    for found, wanted in zip(
        torch.autograd.grad(brick(x).square().sum(), inputs),
        torch.autograd.grad(expected.square().sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_an_output_is_the_sum_over_the_kernel_by_hand():
    brick = Convolution(2, 1, 3, dilation=2)
    x = drawn(1, 7, 2)
    weight, bias = brick.mix.weight[0].view(3, 2), brick.mix.bias[0]
    for t in range(7):
        total = bias
        for j, place in enumerate((t - 2, t, t + 2)):
            if 0 <= place < 7:
                total = total + weight[j] @ x[0, place]
        torch.testing.assert_close(brick(x)[0, t, 0], total)


@pytest.mark.parametrize("causal", [False, True])
def test_a_separable_one_equals_torchs_two_convolutions(causal):
    brick = SeparableConvolution(4, 6, 3, dilation=2, causal=causal)
    x = drawn(2, 9, 4)
    left = 4 if causal else 2
    padded = F.pad(x.transpose(1, 2), (left, 4 - left))
    by_column = F.conv1d(padded, brick.columns.T[:, None], dilation=2, groups=4)
    expected = F.conv1d(by_column, brick.mix.weight[..., None], brick.mix.bias).transpose(1, 2)
    torch.testing.assert_close(brick(x), expected)
    assert sum(p.numel() for p in brick.parameters()) == 3 * 4 + 4 * 6 + 6


def test_of_kernel_one_it_is_the_same_matrix_at_every_position():
    brick, x = Convolution(4, 6, 1), drawn(2, 9, 4)
    assert torch.equal(brick(x), brick.mix(x))


@pytest.mark.parametrize("kind", [Convolution, SeparableConvolution])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (2, 1), (3, 1), (3, 4)])
def test_steps_equal_one_pass(kind, kernel, dilation):
    brick, x = kind(4, 5, kernel, dilation=dilation, causal=True), drawn(2, 12, 4)
    past = brick.blank(2, 4)
    assert past.shape == (2, (kernel - 1) * dilation, 4)
    rows = []
    for t in range(12):
        before = past.clone()
        y, after = brick.step(x[:, t], past)
        assert torch.equal(past, before)  # others may go on from it
        rows.append(y)
        past = after
    torch.testing.assert_close(torch.stack(rows, 1), brick(x))


@pytest.mark.parametrize("kind", [Convolution, SeparableConvolution])
@pytest.mark.parametrize("causal", [False, True])
def test_what_is_not_real_counts_as_what_is_not_there(kind, causal):
    brick, x = kind(4, 5, 3, causal=causal), drawn(1, 9, 4)
    real = (torch.arange(9) < 6).float()[None, :, None]
    torch.testing.assert_close(brick(x, real)[:, :6], brick(x[:, :6]))
    x.requires_grad_()
    brick(x, real).sum().backward()
    assert x.grad is not None
    assert not x.grad[:, 6:].any()
    assert x.grad[:, :6].any(-1).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (3, 1), (5, 2), (3, 8)])
def test_a_changed_input_reaches_the_kernels_outputs_and_no_other(kernel, dilation, causal):
    brick, x = Convolution(4, 5, kernel, dilation=dilation, causal=causal), drawn(1, 41, 4)
    changed = x.clone()
    changed[0, 20] += 1
    reached = (brick(x) != brick(changed))[0].any(-1).nonzero().squeeze(1) - 20
    first = 0 if causal else -(kernel // 2)
    assert reached.tolist() == [dilation * (first + j) for j in range(kernel)]


def test_a_centred_kernel_needs_a_centre():
    with pytest.raises(ConfigError, match="kernel must be odd.*got 4. Try kernel=5"):
        Convolution(2, 2, 4)
    Convolution(2, 2, 4, causal=True)
