"""Laws of traces: they are the model's own numbers, and each follows from those before it.

The oracle is numpy, and the paper's equations: nothing of headway computes here.
"""

import numpy as np
import pytest
import torch
from small_models import FED, OF_TEXT, OTHERS, SOURCE, STANDARD, built

from headway.core.errors import ConfigError
from headway.inspection.tracing import traced


def rows(ids):
    return [torch.tensor([each]) for each in ids if each]


@pytest.mark.parametrize("name", [*STANDARD, *OTHERS, *OF_TEXT])
def test_the_traced_logits_are_the_untraced_models_and_it_is_left_as_it_was(name):
    model = built({**STANDARD, **OTHERS, **OF_TEXT}[name])
    ids = ([], FED) if name in OF_TEXT else (SOURCE, FED)
    with torch.inference_mode():
        alone = model(*rows(ids))
        attributes = [dict(module.__dict__) for module in model.modules()]
        found = traced(model, *ids)
        assert torch.equal(found.logits, alone)
        assert torch.equal(model(*rows(ids)), alone)
    assert np.array_equal(found.tensors["logits"], alone[0].numpy())
    for module, before in zip(model.modules(), attributes, strict=True):
        assert not module._forward_hooks
        assert not module._forward_pre_hooks
        assert {k: v for k, v in module.__dict__.items() if k[0] != "_"} == {
            k: v for k, v in before.items() if k[0] != "_"
        }


def softmax(scores):
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def linear(module, x):
    return x @ module.weight.numpy(force=True).T + module.bias.numpy(force=True)


def attention_follows(part, module, tensors, x, memory):
    """From what goes in to what comes out, by equation 1."""
    query, key, value, scores, visible, weights, heads, output = (
        tensors[f"{part}.{name}"]
        for name in ("query", "key", "value", "scores", "visible", "weights", "heads", "output")
    )
    by_heads = linear(module.to_value, memory).reshape(len(memory), len(value), -1)
    close(value, by_heads.transpose(1, 0, 2))
    products = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
    if getattr(module, "relative", None) is None:
        close(scores, products)
    else:
        keys, reach = module.relative.keys.numpy(force=True), module.relative.reach
        for i in range(len(x)):
            for j in range(len(memory)):
                distance = np.clip(j - i, -reach, reach) + reach
                added = query[:, i] @ keys[distance] / np.sqrt(query.shape[-1])
                close(scores[:, i, j], products[:, i, j] + added)
    close(weights, softmax(np.where(visible, scores, -np.inf)))
    close(heads, weights @ value)
    close(output, linear(module.to_output, heads.transpose(1, 0, 2).reshape(len(x), -1)))


def norm_follows(module, x):
    apart = x - x.mean(-1, keepdims=True)
    normal = apart / np.sqrt((apart**2).mean(-1, keepdims=True) + module.eps)
    return normal * module.weight.numpy(force=True) + module.bias.numpy(force=True)


def layer_follows(side, n, layer, tensors, x, memory):
    """The residual chain of one layer; returns what it gives."""
    parts = [("self", layer.around_self_attention), ("feed_forward", layer.around_feed_forward)]
    if layer.cross_attention is not None:
        parts.insert(1, ("cross", layer.around_cross_attention))
    for part, around in parts:
        name = f"{side}.{n}.{part}"
        given = norm_follows(around.norm, x) if around.norm_first else x
        if part == "self":
            attention_follows(name, layer.self_attention, tensors, given, given)
        elif part == "cross":
            attention_follows(name, layer.cross_attention, tensors, given, memory)
        else:
            inner = tensors[f"{name}.inner"]
            close(tensors[f"{name}.output"], linear(layer.feed_forward.to_output, inner))
            if layer.feed_forward.activate is torch.nn.functional.relu:
                close(inner, np.maximum(0, linear(layer.feed_forward.to_inner, given)))
        x = x + tensors[f"{name}.output"]
        close(tensors[f"{name}.residual"], x)
        if around.norm_first:
            close(tensors[f"{name}.normed"], given)
        else:
            close(tensors[f"{name}.normed"], x := norm_follows(around.norm, x))
    close(tensors[f"{side}.{n}.output"], x)
    return x


def side_follows(side, stack, last_norm, tensors, memory):
    x = tensors[f"{side}.input"]
    for n, layer in enumerate(stack):
        x = layer_follows(side, n, layer, tensors, x, memory)
    if stack[0].around_feed_forward.norm_first:
        x = norm_follows(last_norm, x)
    close(tensors[f"{side}.output"], x)


def begins_follow(model, tensors, sides):
    for side, stack, ids in sides:
        embedding = getattr(model, f"{side}_embedding", None) or model.embedding
        weight = embedding.weight.numpy(force=True)
        close(tensors[f"{side}.embedding"], weight[ids] * np.sqrt(weight.shape[1]))
        positions = tensors.get(f"{side}.positions", 0)
        close(tensors[f"{stack}.input"], tensors[f"{side}.embedding"] + positions)


@pytest.mark.parametrize("name", STANDARD)
def test_every_number_of_a_transformer_follows_from_those_before_it(name):
    model = built(STANDARD[name])
    tensors = traced(model, SOURCE, FED).tensors
    begins_follow(model, tensors, [("source", "encoder", SOURCE), ("target", "decoder", FED)])
    side_follows("encoder", model.encoder, model.encoder_norm, tensors, None)
    side_follows("decoder", model.decoder, model.decoder_norm, tensors, tensors["encoder.output"])
    logits = tensors["decoder.output"] @ model.output_weight.numpy(force=True).T
    bias = 0 if model.output_bias is None else model.output_bias.numpy(force=True)
    close(tensors["logits"], logits + bias)


def test_every_number_of_a_language_model_follows_from_those_before_it():
    model = built(OF_TEXT["decoder only"])
    tensors = traced(model, [], FED).tensors
    begins_follow(model, tensors, [("target", "decoder", FED)])
    side_follows("decoder", model.stack, model.norm, tensors, None)
    assert not [name for name in tensors if name.startswith(("source", "encoder"))]


def test_queries_and_keys_are_projections_of_what_goes_in():
    model = built(STANDARD["post"])
    tensors = traced(model, SOURCE, FED).tensors
    attention, x = model.decoder[0].cross_attention, tensors["decoder.0.self.normed"]
    query = linear(attention.to_query, x).reshape(len(FED), 3, 4).transpose(1, 0, 2)
    close(tensors["decoder.0.cross.query"], query)


def test_every_decoder_layer_makes_its_own_keys_and_values_of_the_encoders_output():
    model = built(STANDARD["pre"])
    tensors = traced(model, SOURCE, FED).tensors
    for n, layer in enumerate(model.decoder):
        for part in ("key", "value"):
            made = linear(getattr(layer.cross_attention, f"to_{part}"), tensors["encoder.output"])
            made = made.reshape(len(SOURCE), 3, -1).transpose(1, 0, 2)
            close(tensors[f"decoder.{n}.cross.{part}"], made)
    keys = [tensors[f"decoder.{n}.cross.key"] for n in range(2)]
    assert not np.allclose(*keys)
    assert not np.allclose(keys[0], tensors["decoder.0.cross.value"])


@pytest.mark.parametrize(("name", "before", "behind"), [("window", 2, 2), ("not causal", 9, 9)])
def test_visible_says_who_may_look_at_whom(name, before, behind):
    tensors = traced(built(STANDARD[name]), SOURCE, FED).tensors
    distance = np.arange(len(SOURCE)) - np.arange(len(SOURCE))[:, None]
    near = (distance >= -before) & (distance <= behind)
    assert np.array_equal(tensors["encoder.0.self.visible"], near)
    distance = distance[: len(FED), : len(FED)]
    future = 0 if name == "window" else 9
    near = (distance >= -before) & (distance <= future)
    assert np.array_equal(tensors["decoder.0.self.visible"], near)
    assert tensors["decoder.0.cross.visible"].all()


def test_a_part_that_a_model_has_not_got_has_no_name():
    def names(name):
        return set(traced(built({**STANDARD, **OTHERS}[name]), SOURCE, FED).tensors)

    assert "source.positions" not in names("rotary")
    assert not [each for each in names("no source") if ".cross." in each]
    assert not [each for each in names("no feed-forward") if ".feed_forward." in each]
    one_vector = names("one vector")
    assert "decoder.0.cross.weights" in one_vector
    assert not one_vector & {f"decoder.0.cross.{part}" for part in ("query", "key", "scores")}
    assert "decoder.0.cross.scores" not in names("additive heads")
    assert not [each for each in names("one fixed vector") if ".cross." in each]


@pytest.mark.parametrize(("name", "n_layers"), [("additive", 1), ("dot, not fed", 1),
                                              ("convolutional", 2)])  # fmt: skip
def test_of_models_of_another_make_there_is_the_attention_that_they_give(name, n_layers):
    model = built(OTHERS[name])
    tensors = traced(model, SOURCE, FED).tensors
    cross = model.look(*rows((SOURCE, FED))).cross
    assert len(cross) == n_layers
    for n, weights in enumerate(cross.detach().numpy()):
        close(tensors[f"decoder.{n}.cross.weights"], weights[0])


def test_it_can_be_asked_again_and_again():
    model = built(STANDARD["post"])
    first, second = (traced(model, SOURCE, FED).tensors for _ in range(2))
    assert list(first) == list(second)
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_model_that_was_counted_has_no_tensors():
    with pytest.raises(ConfigError, match="it was counted"):
        traced(torch.nn.Identity(), [], FED)
