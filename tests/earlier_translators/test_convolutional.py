"""Laws of the convolutional translator (ConvS2S)."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from translators import FED, LAWS, N_WORDS, SOURCE, sends_padding_no_gradient, step_by_step

from headway.core.attention import ReadyMask
from headway.core.errors import ConfigError, UserError
from headway.earlier_translators.convolutional import (
    Convolutional,
    ConvolutionalConfig,
    ConvolutionMemory,
)
from headway.nn.attention_weights import AttentionModel

SIZES = {"encoder_layers": 2, "decoder_layers": 3, "d_model": 8, "dropout": 0.0, "max_length": 32}


def small(**options: object) -> Convolutional:
    torch.manual_seed(2)
    config = ConvolutionalConfig(**{**SIZES, **options})  # type: ignore[arg-type]
    model = Convolutional(config, vocabulary_size=N_WORDS).eval()
    for parameter in model.parameters():  # biases too, so that none hides a slip
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_it_keeps_the_laws_of_translators(law: Callable[[Convolutional], None]) -> None:
    law(small())


def test_padding_is_not_learned_from():
    sends_padding_no_gradient(small(tied=False))


@pytest.mark.parametrize("tied", [True, False])
def test_its_parameters_add_up_by_hand(tied):
    d, k = 8, 3
    model = small(tied=tied)
    block = k * d * 2 * d + 2 * d
    attention = 2 * (d * d + d)
    expected = (1 if tied else 3) * N_WORDS * d + N_WORDS + 2 * 32 * d
    expected += 4 * (d * d + d) + 2 * block + 3 * (block + attention)
    assert sum(p.numel() for p in model.parameters()) == expected


# -- the equations ----------------------------------------------------------------------------


def test_one_look_is_equations_1_and_2_by_hand():
    torch.manual_seed(1)
    look = small().requires_grad_(False).decoder[0].attention
    x, fed, keys, values = (torch.randn(2, n, 8) for n in (3, 3, 4, 4))
    visible = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()
    root = torch.tensor([4.0, 2.0]).sqrt().view(2, 1, 1)
    mask = ReadyMask.of(visible[:, None, None])
    found, weights = look(x, fed, ConvolutionMemory(keys, values, mask, root))
    half = math.sqrt(0.5)
    for b, n_words in ((0, 4), (1, 2)):
        for i in range(3):
            d = (look.to_query.weight @ x[b, i] + look.to_query.bias + fed[b, i]) * half
            scores = [math.exp(float(d @ keys[b, j])) for j in range(n_words)]
            shares = [score / sum(scores) for score in scores]
            c = sum(share * values[b, j] for j, share in enumerate(shares))
            c = c * math.sqrt(n_words)  # m sqrt(1/m), section 3.4
            expected = (x[b, i] + look.to_output.weight @ c + look.to_output.bias) * half
            torch.testing.assert_close(found[b, i], expected)
            wanted = torch.tensor(shares + [0.0] * (4 - n_words))
            torch.testing.assert_close(weights[b, 0, i], wanted)


def test_every_logit_is_that_of_the_paper_by_hand():
    """One sentence, word by word in loops: no padding, no dropout."""
    model, half = small(encoder_layers=1, decoder_layers=2), math.sqrt(0.5)
    source, fed = SOURCE[0].tolist(), FED[0].tolist()

    def linear(layer: torch.nn.Linear, x: Tensor) -> Tensor:
        return layer.weight @ x + layer.bias

    def block(block: torch.nn.Module, xs: list[Tensor], offsets: tuple[int, ...]) -> list[Tensor]:
        weight, bias = block.convolution.mix.weight.view(16, 3, 8), block.convolution.mix.bias
        rows = []
        for t, x in enumerate(xs):
            y = bias
            for j, offset in enumerate(offsets):
                if 0 <= t + offset < len(xs):
                    y = y + weight[:, j] @ xs[t + offset]
            rows.append((x + y[:8] / (1 + torch.exp(-y[8:]))) * half)
        return rows

    def embedded(ids: list[int], positions: Tensor) -> list[Tensor]:
        return [model.target_embedding.weight[w] + positions[t] for t, w in enumerate(ids)]

    e = embedded(source, model.source_positions.table)
    z = block(model.encoder[0], [linear(model.into_encoder, x) for x in e], (-1, 0, 1))
    z = [linear(model.out_of_encoder, x) for x in z]
    values = [(key + word) * half for key, word in zip(z, e, strict=True)]
    g = embedded(fed, model.target_positions.table)
    h = [linear(model.into_decoder, x) for x in g]
    for layer in model.decoder:
        h = block(layer.block, h, (-2, -1, 0))
        for t in range(len(h)):
            d = (linear(layer.attention.to_query, h[t]) + g[t]) * half
            a = torch.stack([d @ key for key in z]).softmax(0)
            c = sum(share * value for share, value in zip(a, values, strict=True))
            h[t] = (h[t] + linear(layer.attention.to_output, c * math.sqrt(len(z)))) * half
    rows = [model.output_weight @ linear(model.to_features, x) + model.output_bias for x in h]
    found = model(SOURCE[:1], FED[:1])[0]
    torch.testing.assert_close(found, torch.stack(rows), rtol=1e-4, atol=1e-5)


def test_at_first_every_layer_keeps_the_variance_it_is_given():
    torch.manual_seed(1)
    model = Convolutional(ConvolutionalConfig(d_model=128, dropout=0.0), vocabulary_size=500)
    ids = torch.randint(4, 500, (4, 30))
    seen: list[float] = []
    for block in model.encoder:
        block.register_forward_hook(lambda _m, _i, y: seen.append(float(y.detach().std())))
    with torch.no_grad():
        features = model.features(ids, ids)
    assert len(seen) == 20
    assert all(0.05 < deviation < 0.5 for deviation in seen)  # embedding and position: 0.14
    assert 0.05 < float(features.std()) < 0.5


# -- what reaches what ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_the_encoder_joins_n_positions_by_n_over_kernel_minus_one_layers(n_layers, kernel):
    """Table 1's n / k, by brute force: change one word, and see which outputs change."""
    model = small(encoder_layers=n_layers, kernel=kernel)
    source = torch.arange(25).remainder(9)[None] + 4
    changed = source.clone()
    changed[0, 12] = 3
    with torch.no_grad():
        before, after = model.encode(source).keys, model.encode(changed).keys
    reached = (before != after)[0].any(-1).nonzero().squeeze(1) - 12
    radius = n_layers * (kernel - 1) // 2
    assert reached.tolist() == list(range(-radius, radius + 1))


@pytest.mark.parametrize(("kernel", "n_layers"), [(1, 3), (3, 1), (3, 3), (5, 2)])
def test_the_decoder_looks_back_as_far_as_its_layers_reach(kernel, n_layers):
    model = small(decoder_layers=n_layers, kernel=kernel)
    fed = torch.arange(20).remainder(9)[None] + 4
    changed = fed.clone()
    changed[0, 4] = 3
    with torch.no_grad():
        before, after = model(SOURCE[:1], fed), model(SOURCE[:1], changed)
    reached = (before != after)[0].any(-1).nonzero().squeeze(1) - 4
    assert reached.tolist() == list(range(n_layers * (kernel - 1) + 1))


def test_of_kernel_one_nothing_crosses_from_word_to_word():
    """What the decoder writes at a place knows of the target only the word before: it cannot copy
    one from further back. Of the source it sees each word for itself."""
    model = small(kernel=1)
    other = FED[:1].clone()
    other[0, :4] = torch.tensor([2, 10, 11, 5])  # another beginning, then the same words
    with torch.no_grad():
        one, two = model(SOURCE[:1], FED[:1]), model(SOURCE[:1], other)
        keys = model.encode(SOURCE[:1]).keys[0]
        swapped = model.encode(SOURCE[:1, [0, 1, 3, 2, 4]]).keys[0]
    torch.testing.assert_close(one[0, 4:], two[0, 4:], rtol=0, atol=0)
    assert not torch.equal(one[0, 3], two[0, 3])
    torch.testing.assert_close(keys[[0, 1, 4]], swapped[[0, 1, 4]], rtol=0, atol=0)


# -- looking, and limits ----------------------------------------------------------------------


def test_looking_gives_every_layers_attention_and_hides_padding():
    model = small()
    assert isinstance(model, AttentionModel)
    found = model.look(SOURCE, FED)
    assert found.encoder.shape == (0, 2, 1, 5, 5)
    assert found.decoder.shape == (0, 2, 1, 8, 8)
    assert found.cross.shape == (3, 2, 1, 8, 5)
    torch.testing.assert_close(found.cross.sum(-1), torch.ones(3, 2, 1, 8))
    assert not found.cross[:, 1, :, :, 3:].any()


def test_attention_of_a_step_is_the_mean_over_layers():
    model = small()
    weights = model.look(SOURCE, FED).cross[:, :, 0].mean(0)  # [batch, target, source]
    rows = torch.tensor([0, 0, 1, 1])
    state = model.start(SOURCE).select(rows)
    for i, token in enumerate(FED.unbind(1)):
        assert model.step(state, token[rows]).attention is None
        step = model.step(state, token[rows], want_attention=True)
        torch.testing.assert_close(step.attention, weights[rows, i])
        state = step.state


def test_reordering_within_sentences_does_not_copy_the_source():
    model = small()
    rows = torch.tensor([0, 0, 1, 1])
    state = model.step(model.start(SOURCE).select(rows), FED[rows, 0]).state
    assert state.select(torch.tensor([1, 1, 3, 2])).source is state.source
    assert len(state.source.keys) == 2  # sentences, not rows


def test_learned_positions_end_and_longest_says_where():
    model = small(max_length=6)
    assert model.longest == 6
    assert step_by_step(model, SOURCE, FED[:, :6]).isfinite().all()
    with pytest.raises(UserError, match="end at 6 tokens; got 8.*larger --model.max-length"):
        model(SOURCE, FED)


def test_a_source_is_needed():
    with pytest.raises(ConfigError, match="needs a source"):
        small().start(None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder_layers": 0}, "decoder_layers must be at least 1; got 0"),
        ({"d_model": 1 << 17}, "d_model must be at most 65,536"),
        ({"kernel": 4}, "kernel must be odd.*Try kernel=5"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        ConvolutionalConfig(**options)
