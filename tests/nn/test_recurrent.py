"""Laws of recurrent layers; the oracle is torch's own RNN, LSTM and GRU."""

import pytest
import torch
from torch import nn

from headway.nn.recurrent import CELLS, RecurrentLayer, RecurrentStack, RecurrentState, in_one_piece

TORCHS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
KINDS = list(CELLS)


def layer_and_torchs(kind: str) -> tuple[RecurrentLayer, nn.RNNBase]:
    """A layer of ours and one of torch's with the same weights, none of them zero."""
    ours, torchs = RecurrentLayer(kind, 5, 4), TORCHS[kind](5, 4, batch_first=True)  # type: ignore[arg-type]
    for parameter in torchs.parameters():
        nn.init.normal_(parameter)
    ours.from_input.weight.data.copy_(torchs.weight_ih_l0.data)
    ours.from_input.bias.data.copy_(torchs.bias_ih_l0.data)
    ours.from_hidden.weight.data.copy_(torchs.weight_hh_l0.data)
    ours.from_hidden.bias.data.copy_(torchs.bias_hh_l0.data)
    return ours, torchs


def by_the_equation(layer: RecurrentLayer, x: torch.Tensor, memory: tuple) -> tuple:
    outputs = []
    for given in x.unbind(1):
        memory = layer.step(given, memory)
        outputs.append(memory[0])
    return torch.stack(outputs, 1), memory


@pytest.mark.parametrize("way", [by_the_equation, RecurrentLayer.__call__])
@pytest.mark.parametrize("kind", KINDS)
def test_the_equation_and_the_kernel_equal_torchs_module_in_value_and_gradient(kind, way):
    ours, torchs = layer_and_torchs(kind)
    x = torch.randn(3, 6, 5, requires_grad=True)
    before = tuple(torch.randn(3, 4, requires_grad=True) for _ in CELLS[kind].remembers)
    weigh = torch.randn(3, 6, 4)

    def gradients(outputs: torch.Tensor, after: tuple, module: nn.Module) -> list[torch.Tensor]:
        total = (outputs * weigh).sum() + sum((i + 2) * m.sum() for i, m in enumerate(after))
        wanted = [x, *before, *module.parameters()]
        return list(torch.autograd.grad(total, wanted))

    given = tuple(part[None] for part in before)
    expected, theirs = torchs(x, given if len(given) > 1 else given[0])
    after = tuple(part[0] for part in (theirs if len(given) > 1 else (theirs,)))
    expected_gradients = gradients(expected, after, torchs)
    found, found_after = way(ours, x, before)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_after, after)
    n = 1 + len(before)
    found_gradients = gradients(found, found_after, ours)
    torch.testing.assert_close(found_gradients[:n], expected_gradients[:n], rtol=1e-4, atol=1e-4)
    weight_ih, weight_hh, bias_ih, bias_hh = expected_gradients[n:]
    torch.testing.assert_close(
        found_gradients[n:], [weight_ih, bias_ih, weight_hh, bias_hh], rtol=1e-4, atol=1e-4
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_on_a_gpu_it_is_the_same_and_cudnn_has_nothing_to_say(kind, dtype, recwarn):
    layer = RecurrentLayer(kind, 6, 4)
    x, before = torch.randn(3, 5, 6), tuple(torch.zeros(3, 4) for _ in CELLS[kind].remembers)
    expected, _ = by_the_equation(layer, x, before)
    on_card = layer.to("cuda", dtype)
    found, _ = on_card(x.to("cuda", dtype), tuple(part.to("cuda", dtype) for part in before))
    torch.testing.assert_close(found.float().cpu(), expected, rtol=0, atol=2e-2)
    found.sum().backward()
    assert on_card.from_hidden.weight.grad.any()
    assert not [*recwarn]


def test_weights_in_one_piece_lie_side_by_side_and_learn_as_before():
    weights = tuple(torch.randn(shape, requires_grad=True) for shape in ((4, 3), (4, 2), (4,)))
    pieces = in_one_piece(weights)
    for piece, weight in zip(pieces, weights, strict=True):
        assert torch.equal(piece, weight)
    ends = [piece.data_ptr() + piece.nbytes for piece in pieces]
    assert [piece.data_ptr() for piece in pieces[1:]] == ends[:-1]
    found = torch.autograd.grad(sum((piece**2).sum() for piece in pieces), weights)
    torch.testing.assert_close(found, tuple(2 * weight for weight in weights))


def test_an_elman_step_by_hand():
    layer = RecurrentLayer("rnn", 1, 1)
    for linear, weight, bias in ((layer.from_input, 0.5, 0.1), (layer.from_hidden, -2.0, 0.0)):
        linear.weight.data.fill_(weight)
        linear.bias.data.fill_(bias)
    [hidden] = layer.step(torch.tensor([[3.0]]), (torch.tensor([[0.25]]),))
    assert hidden.item() == pytest.approx(0.8004990)  # tanh(0.5 * 3 + 0.1 - 2 * 0.25)


def test_an_lstm_that_keeps_and_takes_nothing_carries_its_cell_on_unchanged():
    """What does not vanish: with f = 1 and i = 0 the cell is the same after a thousand steps."""
    layer = RecurrentLayer("lstm", 1, 2)
    for parameter in layer.parameters():
        nn.init.zeros_(parameter)
    take, keep, _, _ = layer.from_input.bias.data.chunk(4)
    take.fill_(-100.0)
    keep.fill_(100.0)
    cell = torch.tensor([[0.3, -2.0]], requires_grad=True)
    _, (_, after) = layer(torch.randn(1, 1000, 1), (torch.zeros(1, 2), cell))
    assert torch.equal(after, cell)
    [gradient] = torch.autograd.grad(after.sum(), cell)
    assert torch.equal(gradient, torch.ones(1, 2))


def test_a_gru_whose_update_gate_is_open_keeps_its_state():
    layer = RecurrentLayer("gru", 1, 2)
    layer.from_input.bias.data.chunk(3)[1].fill_(100.0)
    hidden = torch.tensor([[0.3, -0.2]])
    [after] = layer.step(torch.randn(1, 1), (hidden,))
    torch.testing.assert_close(after, hidden)


@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_orthogonal_and_an_lstm_with_its_forget_gate_open(kind):
    layer = RecurrentLayer(kind, 5, 4)
    for part in layer.from_hidden.weight.detach().chunk(CELLS[kind].n_products):
        torch.testing.assert_close(part @ part.T, torch.eye(4))
    biases = layer.from_input.bias.detach().chunk(CELLS[kind].n_products)
    assert [part.mean().item() for part in biases] == {
        "rnn": [0.0], "lstm": [0.0, 1.0, 0.0, 0.0], "gru": [0.0, 0.0, 0.0],
    }[kind]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack_read_in_stretches_equals_one_pass_and_its_steps(kind):
    stack = RecurrentStack(kind, 4, 3).eval()
    x = torch.randn(2, 7, 4)
    expected, after = stack(x, stack.blank(x))
    state = stack.blank(x)
    outputs = []
    for stretch in x.split([3, 1, 3], dim=1):
        output, state = stack(stretch, state)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, 1), expected)
    torch.testing.assert_close(state.memory, after.memory)
    state = stack.blank(x)
    for i, given in enumerate(x.unbind(1)):
        output, state = stack.step(given, state)
        torch.testing.assert_close(output, expected[:, i])
    torch.testing.assert_close(state.memory, after.memory)
    assert list(state.memory) == list(CELLS[kind].remembers)
    assert all(part.shape == (2, 3, 4) for part in state.memory.values())


def test_a_stack_equals_torchs_of_several_layers():
    stack, torchs = RecurrentStack("lstm", 4, 2), nn.LSTM(4, 4, 2, batch_first=True)
    for n, layer in enumerate(stack):
        for linear, name in ((layer.from_input, "ih"), (layer.from_hidden, "hh")):
            linear.weight.data.copy_(getattr(torchs, f"weight_{name}_l{n}").data)
            linear.bias.data.copy_(getattr(torchs, f"bias_{name}_l{n}").data)
    x = torch.randn(2, 5, 4)
    found, state = stack(x, stack.blank(x))
    expected, (hidden, cell) = torchs(x)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(state.memory["hidden"], hidden.transpose(0, 1))
    torch.testing.assert_close(state.memory["cell"], cell.transpose(0, 1))


def test_selected_rows_are_in_the_order_that_was_asked_for():
    state = RecurrentState({"hidden": torch.arange(3.0).view(3, 1, 1)})
    found = state.select(torch.tensor([2, 0, 0])).memory["hidden"]
    assert found.flatten().tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize("variational", [False, True])
def test_variational_dropout_has_one_mask_for_all_steps(variational):
    stack = RecurrentStack("gru", 64, 1, dropout=0.5, variational=variational)
    ones = torch.ones(3, 9, 64)
    dropped = stack.drop(ones)
    assert torch.equal(stack.eval().drop(ones), ones)
    same = torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert same == variational
    assert not torch.equal(dropped[0], dropped[1]), "each row has its own"
    assert dropped.unique().tolist() == [0.0, 2.0]


@pytest.mark.parametrize("kind", KINDS)
def test_it_computes_in_bfloat16_near_float32(kind):
    stack = RecurrentStack(kind, 16, 2)
    x = torch.randn(2, 5, 16)
    expected, _ = stack(x, stack.blank(x))
    rounded = stack.to(torch.bfloat16)
    half = x.to(torch.bfloat16)
    found, state = rounded(half, rounded.blank(half))
    found.float().sum().backward()
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=0.05)
    assert {found.dtype, *(part.dtype for part in state.memory.values())} == {torch.bfloat16}
    stepped, _ = rounded.step(half[:, 0], rounded.blank(half))
    torch.testing.assert_close(stepped.float(), expected[:, 0], rtol=0, atol=0.05)
