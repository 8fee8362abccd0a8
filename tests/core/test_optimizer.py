"""One flat vector under Adam behaves as every parameter under torch's own."""

import copy

import pytest
import torch
from torch import Tensor, nn

from headway.core.embedding import TokenEmbedding
from headway.core.errors import ConfigError, RunError
from headway.core.optimizer import FlatAdam, load_weights
from headway.operations.frozen import freeze

CONSTANTS = {"betas": (0.9, 0.98), "epsilon": 1e-9}


class Network(nn.Module):
    """An embedding, two linear layers and a norm, with the output tied to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(7, 4, padding=0)
        self.inner = nn.Linear(4, 5)
        self.norm = nn.LayerNorm(5)
        self.outer = nn.Linear(5, 4)
        self.output_weight = self.embedding.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids).to(self.inner.weight.dtype)
        x = self.outer(self.norm(self.inner(x)).tanh())
        return x @ self.output_weight.T.to(x.dtype)


def update(network: Network, number: int, size: float) -> None:
    """Backward of a loss that differs from update to update; `size` scales its gradient."""
    ids = torch.tensor([[1 + number % 6, 2, 0, 5]])
    logits = network(ids).float()
    (size * (logits - number % 3).square().mean()).backward()


@pytest.mark.parametrize("clip_norm", [0.0, 0.5])
def test_in_float32_twenty_updates_equal_torchs_adam(clip_norm):
    network = Network()
    other = copy.deepcopy(network)
    flat = FlatAdam(network, torch.float32, **CONSTANTS)
    adam = torch.optim.Adam(other.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for number in range(20):
        size = 10.0 if number % 2 else 1e-3  # clipped, and not
        rate = 1e-3 * (number + 1)
        update(network, number, size)
        norm = flat.step(rate, clip_norm)
        update(other, number, size)
        expected = nn.utils.clip_grad_norm_(other.parameters(), clip_norm or float("inf"))
        adam.param_groups[0]["lr"] = rate
        adam.step()
        adam.zero_grad()
        torch.testing.assert_close(norm, expected)
    for (name, mine), theirs in zip(network.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6, msg=name)
    assert not torch.allclose(network.inner.weight, Network().inner.weight)


def test_parameters_and_gradients_are_views_of_the_vectors_also_after_updates():
    network = Network()
    flat = FlatAdam(network, torch.float32, **CONSTANTS)
    for number in range(3):
        update(network, number, 1.0)
        assert flat.gradient.norm() > 0
        flat.step(0.01, 1.0)
        for name, parameter in network.named_parameters():
            assert torch.equal(parameter, flat.weights()[name])
            assert parameter.grad is not None
            assert not parameter.grad.any()
    assert flat.masters.numel() == sum(p.numel() for p in network.parameters())


def test_in_bfloat16_the_model_holds_the_rounded_masters_and_embeddings_stay_float32():
    network = Network()
    flat = FlatAdam(network, torch.bfloat16, **CONSTANTS)
    for number in range(5):
        update(network, number, 1.0)
        flat.step(1e-4, 1.0)
        for name, parameter in network.named_parameters():
            exact = parameter is network.embedding.weight
            assert parameter.dtype == (torch.float32 if exact else torch.bfloat16), name
            assert torch.equal(parameter, flat.weights()[name].to(parameter.dtype)), name
    assert all(weight.dtype == torch.float32 for weight in flat.weights().values())
    assert network.output_weight is network.embedding.weight


def test_parts_of_a_batch_are_added_up_in_float32():
    """Of 600 equal parts, in bfloat16 all behind the 256th would be lost."""
    network = Network().bfloat16()
    flat = FlatAdam(network, torch.bfloat16, **CONSTANTS)
    for number in range(600):
        if number:
            flat.collect()
        network.inner.bias.grad.add_(1.0)
    norm = flat.step(1e-3, 0.0)
    assert norm == pytest.approx(600 * 5**0.5)


def test_a_moment_that_is_infinite_is_noticed():
    network = Network()
    flat = FlatAdam(network, torch.float32, **CONSTANTS)
    assert flat.finite()
    network.inner.bias.grad.fill_(1e25)  # its square is beyond float32; the weight is not
    flat.step(1e-3, 0.0)
    assert all(parameter.isfinite().all() for parameter in network.parameters())
    assert not flat.finite()


def test_numbers_whose_sum_is_beyond_float32_are_finite():
    flat = FlatAdam(Network(), torch.float32, **CONSTANTS)
    flat.masters.data.fill_(3e38)
    assert flat.masters.sum().isinf()
    assert flat.finite()
    flat.masters.data[0] = -float("inf")
    assert not flat.finite()


def test_masters_gather_updates_that_bfloat16_would_lose():
    network = Network()
    flat = FlatAdam(network, torch.bfloat16, **CONSTANTS)
    with torch.no_grad():
        network.inner.weight.fill_(1.0)
        flat.weights()["inner.weight"].fill_(1.0)
    for _ in range(100):
        assert network.inner.weight.grad is not None
        network.inner.weight.grad.fill_(1.0)
        flat.step(1e-4, 0.0)  # 1 - 0.0001 is 1 in bfloat16; a hundred times that is not
    masters = flat.weights()["inner.weight"]
    torch.testing.assert_close(masters, torch.full((5, 4), 0.99), rtol=1e-4, atol=1e-4)
    assert torch.equal(network.inner.weight, masters.bfloat16())


def test_a_padding_row_stays_zero():
    network = Network()
    flat = FlatAdam(network, torch.float32, **CONSTANTS)
    network.output_weight = nn.Parameter(torch.randn(7, 4))  # untied: only look-ups count
    for number in range(3):
        update(network, number, 1.0)
        flat.step(0.01, 1.0)
    assert not network.embedding.weight[0].any()
    assert network.embedding.weight[2].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_restoring_goes_on_bit_for_bit(dtype):
    network = Network()
    flat = FlatAdam(network, dtype, **CONSTANTS)
    for number in range(5):
        update(network, number, 1.0)
        flat.step(0.01, 1.0)
    weights = {name: tensor.clone() for name, tensor in flat.weights().items()}
    state = {name: tensor.clone() for name, tensor in flat.state_dict().items()}
    torch.manual_seed(99)
    fresh = Network()
    again = FlatAdam(fresh, dtype, **CONSTANTS)
    again.load_state_dict(weights, state)
    for model, optimizer in ((network, flat), (fresh, again)):
        for number in range(5, 10):
            update(model, number, 1.0)
            optimizer.step(0.01, 1.0)
    assert torch.equal(flat.masters, again.masters)
    for name, tensor in flat.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
    for mine, theirs in zip(network.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_weights_of_another_model_are_refused_by_name():
    weights = dict(Network().named_parameters())
    missing = {name: tensor for name, tensor in weights.items() if name != "outer.bias"}
    with pytest.raises(RunError, match=r"outer.bias should be \(4,\), found nothing"):
        load_weights(Network(), missing)
    with pytest.raises(RunError, match=r"outer.bias should be \(4,\), found \(9,\).*settings"):
        load_weights(Network(), {**weights, "outer.bias": torch.zeros(9)})


def test_loaded_weights_are_copied():
    network, weights = Network(), {n: p.detach().clone() for n, p in Network().named_parameters()}
    load_weights(network, weights)
    weights["outer.bias"].fill_(5)
    assert not network.outer.bias.eq(5).any()


# -- what is not trained, or not all at once --------------------------------------------------


class Normed(nn.Module):
    """A table of rows, a linear layer, and statistics that training moves."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.table = nn.Embedding(9, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.table(ids))
        return self.head(x.to(self.head.weight.dtype)).float()


def adam_of(model: nn.Module, dtype: torch.dtype = torch.float32) -> FlatAdam:
    return FlatAdam(model, dtype, **CONSTANTS)


def go_on(model: nn.Module, optimizer: FlatAdam, ids: list[int], clip_norm: float = 0.0) -> None:
    model(torch.tensor(ids)).square().sum().backward()
    optimizer.step(0.1, clip_norm)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_frozen_parts_stay_as_they_are_statistics_too(dtype):
    model = Normed()
    if dtype == torch.bfloat16:
        model.norm = nn.Sequential()  # torch has no BatchNorm of two types on a CPU
    names = freeze(model, [*(["norm"] if len(model.norm.state_dict()) else []), "head.bias"])
    assert names[0] == "head.bias"
    optimizer = adam_of(model, dtype)
    before = {name: tensor.clone() for name, tensor in optimizer.weights().items()}
    for _ in range(3):
        go_on(model, optimizer, [1, 2, 3])
    after = optimizer.weights()
    assert after.keys() == before.keys()
    assert dtype == torch.bfloat16 or "norm.running_mean" in before
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"table.weight", "head.weight"}
    assert optimizer.masters.numel() == 9 * 4 + 2 * 4, "frozen parameters are not in the vector"


def test_a_part_that_is_not_there_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match=r"--freeze names a part.*'haed'. Did you mean 'head'"):
        freeze(Normed(), ["haed"])
    with pytest.raises(ConfigError, match="It has head, norm, table"):
        freeze(Normed(), ["???"])


def test_statistics_are_saved_with_the_weights_and_come_back():
    model = Normed()
    optimizer = adam_of(model)
    for _ in range(4):
        go_on(model, optimizer, [1, 2, 3])
    assert model.norm.running_mean.abs().max() > 0
    again = Normed().eval()
    load_weights(again, optimizer.weights())
    assert torch.equal(again(torch.arange(9)), model.eval()(torch.arange(9)))
