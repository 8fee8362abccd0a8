"""Laws of the dilated convolutional translator (ByteNet)."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from translators import END, FED, LAWS, N_WORDS, SOURCE, sends_padding_no_gradient

from headway.core.errors import ConfigError
from headway.earlier_translators.bytenet import Block, ByteNet, ByteNetConfig

SIZES = {"encoder_layers": 3, "decoder_layers": 3, "d_model": 8, "dropout": 0.0, "max_dilation": 4}


def small(**options: object) -> ByteNet:
    torch.manual_seed(2)
    config = ByteNetConfig(**{**SIZES, **options})  # type: ignore[arg-type]
    model = ByteNet(config, vocabulary_size=N_WORDS).eval()
    for parameter in model.parameters():  # biases too, so that none hides a slip
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_it_keeps_the_laws_of_translators(law: Callable[[ByteNet], None], extra: int) -> None:
    law(small(extra=extra))


def test_padding_is_not_learned_from():
    sends_padding_no_gradient(small(tied=False))


@pytest.mark.parametrize("d_inner", [0, 6])
def test_its_parameters_add_up_by_hand(d_inner):
    d, k, inner = 8, 3, d_inner or 4
    block = 2 * d + (d * inner + inner) + 2 * inner + (k * inner * inner + inner)
    block += 2 * inner + (inner * d + d)
    expected = N_WORDS * d + N_WORDS + 6 * block + 2 * 2 * d + 2 * (d * d + d)
    model = small(d_inner=d_inner)
    assert sum(p.numel() for p in model.parameters()) == expected


# -- the equations ----------------------------------------------------------------------------


@pytest.mark.parametrize(("dilation", "causal"), [(1, False), (2, False), (1, True), (4, True)])
def test_a_block_is_figure_3_by_hand(dilation, causal):
    torch.manual_seed(1)
    block = Block(ByteNetConfig(d_model=8, dropout=0.0), dilation=dilation, causal=causal)
    x = torch.randn(9, 8)

    def normed(norm: torch.nn.LayerNorm, y: Tensor) -> Tensor:
        y = (y - y.mean()) / (y.var(unbiased=False) + norm.eps).sqrt()
        return (y * norm.weight + norm.bias).clamp(min=0)  # then the ReLU

    def linear(layer: torch.nn.Linear, y: Tensor) -> Tensor:
        return layer.weight @ y + layer.bias

    inner = [normed(block.inner_norm, linear(block.to_inner, normed(block.norm, y))) for y in x]
    weight = block.convolution.mix.weight.view(4, 3, 4)
    rows = []
    for t in range(9):
        y = block.convolution.mix.bias
        for j in range(3):
            place = t + dilation * (j - (2 if causal else 1))
            if 0 <= place < 9:
                y = y + weight[:, j] @ inner[place]
        rows.append(x[t] + linear(block.to_output, normed(block.output_norm, y)))
    torch.testing.assert_close(block(x[None])[0], torch.stack(rows))


def test_position_t_of_the_decoder_is_given_place_t_of_the_source():
    """Dynamic unfolding: 1.2 places a token, then none; the decoder goes on without."""
    model = small(decoder_layers=1, d_inner=16)
    places = model.encode(SOURCE).places
    assert places.shape == (2, 6, 8)  # 1.2 * 5 tokens, and 1.2 * 3 = 4 rounded
    assert places[1, :4].any(-1).all()
    assert not places[1, 4:].any()
    before = model(SOURCE, FED)
    for place in range(6):
        changed = places.clone()
        changed[:, place] += 1
        given = F.pad(changed, (0, 0, 0, 2)) + model.target_embedding(FED)
        [block] = model.decoder
        logits = model.last_features(block(given)) @ model.output_weight.T + model.output_bias
        differs = (logits != before).any(-1).any(0).nonzero().squeeze(1)
        assert differs.tolist() == list(range(place, min(place + 3, 8)))


def test_a_source_is_read_on_behind_its_end():
    """What lies behind the last token is a place like others: it sees the tokens in reach."""
    model = small(stretch=2.0)
    places = model.encode(SOURCE[1:, :3]).places
    assert places.shape[1] == 6
    changed = SOURCE[1:, :3].clone()
    changed[0, 1] = 5
    assert (places[0, 3:] != model.encode(changed).places[0, 3:]).any(-1).all()


# -- what reaches what ------------------------------------------------------------------------


def test_dilations_double_and_begin_again():
    config = ByteNetConfig(max_dilation=16)
    assert [config.dilation(n) for n in range(7)] == [1, 2, 4, 8, 16, 1, 2]
    assert [ByteNetConfig(max_dilation=1).dilation(n) for n in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("n_layers", [1, 2, 3, 4, 5])
def test_the_layers_that_join_n_positions_are_log_n(n_layers):
    """Table 1's log_k(n), by brute force: each layer more reaches twice as far, and 2^layers - 1
    to each side; of ConvS2S it would be `layers`."""
    sizes = {"encoder_layers": n_layers, "max_dilation": 16, "d_model": 16, "d_inner": 16}
    model = small(**sizes, stretch=1.0).double()  # nothing is too little to be seen
    source = torch.arange(81).remainder(9)[None] + 4
    changed = source.clone()
    changed[0, 40] = END
    with torch.no_grad():
        before, after = model.encode(source).places, model.encode(changed).places
    reached = (before != after)[0].any(-1).nonzero().squeeze(1) - 40
    radius = 2**n_layers - 1
    assert reached.tolist() == list(range(-radius, radius + 1))


@pytest.mark.parametrize(("n_layers", "reach"), [(1, 2), (2, 6), (3, 14), (4, 16)])
def test_the_decoder_looks_back_as_far_as_its_dilations_reach(n_layers, reach):
    model = small(decoder_layers=n_layers)  # 1, 2, 4 and then 1 again
    fed = torch.arange(25).remainder(9)[None] + 4
    changed = fed.clone()
    changed[0, 4] = END
    with torch.no_grad():
        before, after = model(SOURCE[:1], fed), model(SOURCE[:1], changed)
    reached = (before != after)[0].any(-1).nonzero().squeeze(1) - 4
    assert reached.tolist() == list(range(reach + 1))


def test_of_kernel_one_a_place_knows_one_word_of_each_side():
    model = small(kernel=1)
    other_source, other_fed = SOURCE[:1].clone(), FED[:1].clone()
    other_source[0, 2], other_fed[0, 5] = 11, 4
    with torch.no_grad():
        before = model(SOURCE[:1], FED[:1])
        by_source, by_target = model(other_source, FED[:1]), model(SOURCE[:1], other_fed)
    for after, place in ((by_source, 2), (by_target, 5)):
        assert (before != after)[0].any(-1).nonzero().flatten().tolist() == [place]


# -- limits -----------------------------------------------------------------------------------


def test_reordering_within_sentences_does_not_copy_the_source():
    model = small()
    rows = torch.tensor([0, 0, 1, 1])
    state = model.step(model.start(SOURCE).select(rows), FED[rows, 0]).state
    assert state.select(torch.tensor([1, 1, 3, 2])).source is state.source
    assert len(state.source.places) == 2  # sentences, not rows


def test_a_source_is_needed():
    with pytest.raises(ConfigError, match="needs a source"):
        small().start(None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_layers": 0}, "encoder_layers must be at least 1; got 0"),
        ({"kernel": 2}, "kernel must be odd.*Try kernel=3"),
        ({"d_inner": -1}, "d_inner must be at least 0; got -1"),
        ({"stretch": 0.9}, "stretch must be at least 1; got 0.9"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1; got -0.1"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        ByteNetConfig(**options)
