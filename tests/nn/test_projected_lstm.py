"""Projected LSTM against torch's own, in value and gradient."""

import pytest
import torch
from torch import nn

from headway.nn.projected_lstm import ProjectedLstm, ProjectedMemory


def readers(length=7):
    torch.manual_seed(3)
    layer = ProjectedLstm(5, 6, 4, n_readers=2)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    x = torch.randn(2, 3, length, 5, requires_grad=True)
    memory = ProjectedMemory(torch.randn(2, 3, 4), torch.randn(2, 3, 6))
    return layer, x, memory


def torchs(layer: ProjectedLstm, reader: int) -> nn.LSTM:
    found = nn.LSTM(5, 6, proj_size=4, batch_first=True)
    with torch.no_grad():
        found.weight_ih_l0.copy_(layer.from_input[reader].T)
        found.weight_hh_l0.copy_(layer.from_hidden[reader].T)
        found.bias_ih_l0.copy_(layer.bias[reader])
        found.bias_hh_l0.zero_()
        found.weight_hr_l0.copy_(layer.to_output[reader].T)
    return found


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
def test_each_reader_equals_torchs_module_in_value_and_gradient():
    layer, x, before = readers()
    found, after = layer(x, before)
    wanted = torch.randn_like(found)
    (found * wanted).sum().backward()
    for reader in range(2):
        other = torchs(layer, reader)
        given = x[reader].detach().clone().requires_grad_()
        past = before.hidden[None, reader], before.cell[None, reader]
        expected, (hidden, cell) = other(given, past)
        (expected * wanted[reader]).sum().backward()
        for one, its in (
            (found[reader], expected),
            (after.hidden[reader], hidden[0]),
            (after.cell[reader], cell[0]),
            (x.grad[reader], given.grad),
            (layer.from_input.grad[reader], other.weight_ih_l0.grad.T),
            (layer.from_hidden.grad[reader], other.weight_hh_l0.grad.T),
            (layer.bias.grad[reader], other.bias_ih_l0.grad),
            (layer.to_output.grad[reader], other.weight_hr_l0.grad.T),
        ):
            torch.testing.assert_close(one, its, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reader", [0, 1])
def test_step_by_step_and_one_reader_alone_equal_all_at_once(reader):
    layer, x, memory = readers()
    together, after = layer(x, memory)
    only = slice(reader, reader + 1)
    memory = ProjectedMemory(memory.hidden[only], memory.cell[only])
    alone, last = layer(x[only], memory, only)
    torch.testing.assert_close(alone[0], together[reader])
    torch.testing.assert_close(last.cell[0], after.cell[reader])
    for t in range(x.shape[2]):
        memory = layer.step(x[reader, :, t], memory, reader=reader)
        torch.testing.assert_close(memory.hidden[0], together[reader, :, t])
    torch.testing.assert_close(memory.cell[0], after.cell[reader])


def test_the_past_is_not_learned_through_and_cells_stay_float32_in_bfloat16():
    layer, x, memory = readers(1)
    layer = layer.bfloat16()
    past = ProjectedMemory(memory.hidden.bfloat16().requires_grad_(), memory.cell.requires_grad_())
    outputs, after = layer(x.detach().bfloat16(), past)
    outputs.sum().backward()
    assert past.hidden.grad is None
    assert past.cell.grad is None
    assert not after.hidden.requires_grad
    assert not after.cell.requires_grad
    assert (outputs.dtype, after.cell.dtype) == (torch.bfloat16, torch.float32)
