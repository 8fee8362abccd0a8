"""Every trunk of texts: it learns, batch-mates do not matter, and each by an oracle of its own."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from headway.core.errors import ConfigError
from headway.core.optimizer import FlatAdam
from headway.labelling.encoders import (
    ENCODERS,
    BagConfig,
    CnnConfig,
    ConvolutionalEncoder,
    LstmConfig,
    LstmEncoder,
)
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead, pooled
from headway.nn.encoder import Encoded, EncoderConfig, TextEncoder

SMALL = {
    "transformer": EncoderConfig(d_model=16, d_ff=32, heads=2, layers=1, dropout=0.0),
    "lstm": LstmConfig(d_embedding=16, d_model=16, dropout=0.0),
    "cnn": CnnConfig(d_model=16, maps=8, dropout=0.0),
    "bag": BagConfig(d_model=16, dropout=0.0),
}
IDS = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 5, 3, 0, 0], [2, 7, 3, 0, 0, 0]])


def encoder(name: str) -> nn.Module:
    torch.manual_seed(1)
    built = ENCODERS[name][1](SMALL[name], vocabulary_size=30, padding=0)
    assert isinstance(built, TextEncoder)
    return built.eval()


def test_all_trunks_are_tested():
    assert {*SMALL} == {*ENCODERS}


@pytest.mark.parametrize(
    ("name", "pooling"),
    [*((name, how) for name in SMALL for how in ("mean", "max")), ("transformer", "first")],
)
def test_a_model_overfits_ten_examples(name, pooling):
    torch.manual_seed(2)
    ids, labels = torch.randint(4, 30, (10, 7)), torch.arange(10) % 3
    ids[:, 0] = 2
    trunk = encoder(name).train()
    model = Labeller(trunk, PoolingHead(trunk.d_output, 3, pooling=pooling, dropout=0.0))
    optimizer = FlatAdam(model, torch.float32, betas=(0.9, 0.999), epsilon=1e-8)
    for _ in range(50):
        F.cross_entropy(model(ids), labels).backward()
        optimizer.step(0.03, clip_norm=0.0)
    assert (model(ids).argmax(-1) == labels).all()


@pytest.mark.parametrize("name", SMALL)
def test_batch_mates_do_not_matter(name):
    trunk = encoder(name)
    together = trunk(IDS)
    for row, ids in enumerate(IDS):
        n = int((ids != 0).sum())
        alone = trunk(ids[None, :n])
        torch.testing.assert_close(together.features[row, :n], alone.features[0])
        assert together.visible[row].sum() == n
        for how in ("mean", "max", "first"):
            torch.testing.assert_close(pooled(together, how)[row], pooled(alone, how)[0])


@pytest.mark.parametrize("name", SMALL)
def test_only_a_bag_ignores_order(name):
    trunk, shuffled = encoder(name), IDS[:1, [0, 3, 1, 4, 2, 5]]
    one, other = (pooled(trunk(ids), "mean") for ids in (IDS[:1], shuffled))
    assert torch.allclose(one, other, atol=1e-6) == (name == "bag")


def test_filters_are_as_kim_wrote_them():
    """c_i = f(w x_{i:i+h-1} + b), the largest over i, by loops over a text with zeros around it."""
    trunk = ConvolutionalEncoder(SMALL["cnn"], vocabulary_size=30, padding=0).eval()
    trunk.requires_grad_(False)
    found = pooled(trunk(IDS[:1]), "max")[0]
    x = trunk.embedding(IDS[:1])[0]
    expected = []
    for layer in trunk.layers:
        height = layer.kernel_size[0]
        around = F.pad(x, (0, 0, (height - 1) // 2, height // 2))
        windows = [around[i : i + height] for i in range(len(x))]
        for kernel, bias in zip(layer.weight, layer.bias, strict=True):
            values = [float((kernel.T * window).sum() + bias) for window in windows]
            expected.append(max(0.0, *values))
    torch.testing.assert_close(found, torch.tensor(expected))


def test_two_layers_of_lstm_equal_torchs():
    trunk = LstmEncoder(LstmConfig(d_embedding=8, d_model=12, layers=2), vocabulary_size=30).eval()
    theirs = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
    for n, layer in enumerate(trunk.layers):
        for half, end in ((layer.from_left, f"l{n}"), (layer.from_right, f"l{n}_reverse")):
            for ours, their in ((half.from_input, "ih"), (half.from_hidden, "hh")):
                getattr(theirs, f"weight_{their}_{end}").data = ours.weight.data
                getattr(theirs, f"bias_{their}_{end}").data = ours.bias.data
    expected, _ = theirs(trunk.embedding(IDS[:1]))
    torch.testing.assert_close(trunk(IDS[:1]).features, expected)


def test_the_poolings_by_hand():
    features = torch.tensor([[[1.0, -5.0], [3.0, -7.0], [90.0, 90.0]]])
    encoded = Encoded(features, torch.tensor([[True, True, False]]))
    assert pooled(encoded, "mean").tolist() == [[2.0, -6.0]]
    assert pooled(encoded, "max").tolist() == [[3.0, -5.0]]
    assert pooled(encoded, "first").tolist() == [[1.0, -5.0]]


def test_wrong_sizes_are_refused():
    for build, why in (
        (lambda: LstmConfig(d_model=7), "two halves; got 7"),
        (lambda: CnnConfig(widths=()), "1 to 64 tokens"),
        (lambda: CnnConfig(widths=(3, 0)), "1 to 64 tokens"),
        (lambda: BagConfig(dropout=1.0), "below 1; got 1.0"),
        (lambda: CnnConfig(maps=0), "maps"),
        (lambda: LstmConfig(layers=10**9), "layers"),
    ):
        with pytest.raises(ConfigError, match=why):
            build()
