"""Laws of parts that are switched off: each equals a model that never had the part."""

from copy import deepcopy
from functools import partial
from itertools import pairwise

import pytest
import torch
from torch import nn
from translators import BEGIN, END, SOURCE, step_by_step
from translators import FED as LONGER

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.layers import Stack
from headway.core.search import decode_all, in_turn
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.earlier_translators.ablated import Ablated, AblatedConfig
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.earlier_translators.variants import WithoutSublayer
from headway.engine.engine import unsupported
from headway.inspection.ablation import parts_of, switched
from headway.inspection.tracing import traced
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.nn.positioned import PositionedConfig
from headway.operations.processes import shared

SMALL = {"d_model": 12, "d_ff": 20, "heads": 3}
TWO = {"encoder_layers": 2, "decoder_layers": 2}
FED = LONGER[:, :5]
CONFIGS = (
    {},
    {"norm": "pre", "positions": "rotary"},
    {"positions": "relative", "d_k": 5, "d_v": 6},
    {"window": 3},
)


def transformer(**settings) -> Transformer:
    return lively(Transformer(PositionedConfig(**SMALL, **TWO, **settings), vocabulary_size=13))


def decoder_only(**settings) -> DecoderOnly:
    return lively(DecoderOnly(DecoderOnlyConfig(**SMALL, layers=2, **settings), vocabulary_size=13))


def lively(model: nn.Module) -> nn.Module:
    """No bias or norm that could be left out unseen, and nothing that is nearly uniform."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.3)
        elif "to_" in name:
            parameter.data.mul_(2)
    return model.eval()


def scores(model, source=SOURCE):
    """In one pass and step by step, which agree where a row is real."""
    with torch.inference_mode():
        whole = model(source, FED).log_softmax(-1)
        stepped = step_by_step(model, source, FED)
    real = FED != 0
    torch.testing.assert_close(stepped[real], whole[real], rtol=0, atol=2e-5)
    return whole[real]


def without_columns(attention, head):
    """W_O with nothing of one head: what it finds is multiplied by zeros."""
    d_v = attention.to_value.out_features // attention.heads
    attention.to_output.weight.data[:, head * d_v : (head + 1) * d_v] = 0


def attentions(model):
    for n, layer in enumerate(model.encoder):
        yield f"encoder.{n}.self", layer.self_attention
    for n, layer in enumerate(model.decoder):
        yield f"decoder.{n}.self", layer.self_attention
        yield f"decoder.{n}.cross", layer.cross_attention


@pytest.mark.parametrize("settings", CONFIGS)
def test_a_head_that_is_off_is_one_whose_columns_of_w_o_are_zero(settings):
    model = transformer(**settings)
    before = scores(model)
    for name in list(dict(attentions(model)))[::3]:
        copy = deepcopy(model)
        without_columns(dict(attentions(copy))[name], 1)
        expected = scores(copy)
        with switched(model, [f"{name}.head.1"]):
            found = scores(model)
        torch.testing.assert_close(found, expected, rtol=0, atol=2e-5)
        assert not torch.allclose(found, before, atol=1e-3)


def test_several_heads_are_off_together_and_all_heads_leave_the_bias_of_w_o():
    model = transformer()
    copy = deepcopy(model)
    attention = copy.decoder[1].cross_attention
    for head in range(3):
        without_columns(attention, head)
    with switched(model, [f"cross.1.head.{head}" for head in range(3)]):
        torch.testing.assert_close(scores(model), scores(copy), rtol=0, atol=2e-5)
        output = traced(model, [4, 5, END], [BEGIN, 7]).tensors["decoder.1.cross.output"]
    assert (output == attention.to_output.bias.numpy(force=True)).all()


@pytest.mark.parametrize("settings", CONFIGS)
@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_a_layer_that_is_off_is_one_that_is_not_in_the_stack(settings, side):
    model = transformer(**settings)
    copy = deepcopy(model)
    left = [layer for n, layer in enumerate(getattr(copy, side)) if n != 1]
    setattr(copy, side, Stack(left))
    expected = scores(copy)
    with switched(model, [f"{side}.1"]):
        torch.testing.assert_close(scores(model), expected, rtol=0, atol=0)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    ("part", "place"),
    [
        ("encoder.0.self", "around_self_attention"),
        ("decoder.1.self", "around_self_attention"),
        ("decoder.0.cross", "around_cross_attention"),
        ("encoder.1.feed_forward", "around_feed_forward"),
        ("decoder.1.feed_forward", "around_feed_forward"),
    ],
)
def test_a_sublayer_that_is_off_lets_the_stream_pass(norm, part, place):
    model = transformer(norm=norm)
    side, number, _ = part.split(".")
    copy = deepcopy(model)
    setattr(getattr(copy, side)[int(number)], place, WithoutSublayer())
    expected = scores(copy)
    with switched(model, [part]):
        torch.testing.assert_close(scores(model), expected, rtol=0, atol=0)


def test_without_any_cross_attention_the_source_does_not_matter():
    model = transformer()
    with switched(model, [f"cross.{n}" for n in range(2)]):
        torch.testing.assert_close(scores(model), scores(model, SOURCE.flip(0)), rtol=0, atol=0)
    assert not torch.allclose(scores(model), scores(model, SOURCE.flip(0)))


def residuals(model):
    return [name for name in parts_of(model) if name.endswith(".residual")]


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_without_residual_connections_it_is_the_model_that_never_had_any(norm):
    model = transformer(norm=norm)
    settings = {**SMALL, **TWO, "norm": norm}
    bare = Ablated(AblatedConfig(residual=False, **settings), vocabulary_size=13).eval()
    bare.load_state_dict(model.state_dict())
    with switched(model, residuals(model)):
        torch.testing.assert_close(scores(model), scores(bare), rtol=0, atol=2e-5)


def test_a_language_models_parts_are_a_decoders():
    model = decoder_only()
    assert "decoder.1.self.head.2" in parts_of(model)
    fed = FED[:, :4]
    for part in (
        "decoder.1.self.head.0",
        "decoder.1",
        "stack.0.self_attention",
    ):
        with torch.inference_mode(), switched(model, [part]):
            whole = model(fed[:1])
            state = model.start(None, fed[:1, :-1])
            torch.testing.assert_close(model.step(state, fed[:1, -1]).logits, whole[:, -1])
    copy = deepcopy(model)
    without_columns(copy.stack[1].self_attention, 0)
    with switched(model, ["decoder.1.self.head.0"]):
        torch.testing.assert_close(model(fed), copy(fed))


ALL_KINDS = (
    "encoder.1.head.1", "cross.1", "encoder.1", "decoder.0.self", "encoder.0.feed_forward",
    "encoder.1.self.residual",
)  # fmt: skip


def state_of(model):
    own = [
        ({k: v for k, v in vars(module).items() if not k.startswith("_")}, list(module._modules))
        for module in model.modules()
    ]
    hooks = [(*module._forward_hooks, *module._forward_pre_hooks) for module in model.modules()]
    return own, hooks


def test_behind_it_the_model_is_as_it_was_bit_for_bit():
    model, ids = transformer(), (SOURCE[:1], FED[:1])
    before, state = model(*ids), state_of(model)
    stepped = step_by_step(model, *ids)
    for part in (*ALL_KINDS, *pairwise(ALL_KINDS), ALL_KINDS):
        with switched(model, [part] if isinstance(part, str) else part):
            assert not torch.equal(model(*ids), before)
        assert state_of(model) == state
        assert torch.equal(model(*ids), before)
    assert torch.equal(step_by_step(model, *ids), stepped)


def test_behind_an_error_as_well():
    model = transformer()
    state = state_of(model)
    with (
        pytest.raises(ConfigError, match="counted from 0"),
        switched(model, ["cross.1", "cross.9"]),
    ):
        pass
    with pytest.raises(ValueError, match="inside"), switched(model, ALL_KINDS):
        raise ValueError("inside")
    assert state_of(model) == state


@pytest.mark.parametrize(
    ("given", "suggested"),
    [
        ("encoder.1.haed.1", "encoder.1.self.head.1"),
        ("encoder.2.head.1", "encoder.1.self.head.1"),
        ("decoder.1.crossing", "decoder.1.cross"),
        ("crss.1", "cross.1"),
        ("decoder.0.head.2", "decoder.0.self.head.2"),
        ("", ""),
    ],
)
def test_a_part_that_is_not_there_is_refused_with_the_nearest_that_is(given, suggested):
    with pytest.raises(ConfigError) as caught, switched(transformer(), [given]):
        pass
    message = str(caught.value)
    assert "counted from 0" in message
    assert f"got {given!r}" in message
    assert f"Did you mean '{suggested}" in message


def test_a_model_without_such_layers_is_refused():
    config = RecurrentTranslatorConfig(d_model=4, d_embedding=4)
    model = RecurrentTranslator(config, vocabulary_size=13)
    refused = pytest.raises(ConfigError, match="made of a Transformer's layers")
    with refused, switched(model, ["encoder.0"]):
        pass


@pytest.mark.parametrize("part", ["encoder.0.head.1", "cross.1", "encoder.1.self.residual"])
def test_search_and_the_processes_that_share_it_are_without_the_part(part):
    model, device = transformer(), torch.device("cpu")
    sources = [[4 + (i * j) % 9 for j in range(1, 4 + i % 3)] for i in range(8)]
    settings = DecodingSettings(beam=2, max_extra_length=1)

    def decoded(processes):
        request = SearchRequest(SpecialIds(), settings, device, batch_tokens=20)
        share = in_turn if processes == 1 else partial(shared, n_processes=processes)
        return [best[0] for best in decode_all(model, sources, request, share=share)]

    whole = decoded(1)
    with switched(model, [part]):
        alone, together = decoded(1), decoded(2)
        for source, best in zip(sources, alone, strict=True):
            rows = torch.tensor([[*source, END]]), torch.tensor([[BEGIN, *best.ids]])
            steps = model(*rows).log_softmax(-1)[0]
            last = steps[len(best.ids), END].item()
            assert best.token_log_probs[-1] == pytest.approx(last, abs=1e-4)
    assert [one.ids for one in alone] == [one.ids for one in together]
    for one, other, before in zip(alone, together, whole, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-5)
        assert one.log_prob != pytest.approx(before.log_prob, abs=1e-4)


@pytest.mark.parametrize("parts", [(), ["encoder.0.self.residual"]])
def test_the_compiled_engine_leaves_a_switched_model_alone(parts):
    """It reads the weights and nothing else."""
    model = transformer()
    assert unsupported(model, torch.device("cpu")) == ""
    with switched(model, parts):
        assert unsupported(model, torch.device("cpu")) != ""
    assert unsupported(model, torch.device("cpu")) == ""
