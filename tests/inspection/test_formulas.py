"""Every formula that the page shows, computed: it gives its tensor, of the tensors that it names.

The oracle is numpy; a formula is nearly Python, and is read as such here.
"""

import re

import numpy as np
import pytest
from small_models import (
    FED,
    OF_TEXT,
    OTHERS,
    SOURCE,
    STANDARD,
    built,
    decoder_only,
    language_model,
    recurrent,
    transformer,
)

from headway.inspection.tracing import traced

GIVEN = re.compile(r".*\.(ids|visible|real)")
MORE = {
    "pre, bias": lambda: transformer(norm="pre", output_bias=True, tied=False),
    "gru translator": lambda: recurrent(recurrence="gru"),
    "lstm, one fixed vector": lambda: recurrent(attention="none", recurrence="lstm"),
    "relative text": lambda: decoder_only(positions="relative", norm="pre"),
    "scaled rnn": lambda: language_model("rnn", output_scale=8.0, tied=False),
}
ALL = {**STANDARD, **OTHERS, **OF_TEXT, **MORE}
WITHOUT_SOURCE = {*OF_TEXT, "relative text", "scaled rnn"}


def softmax(scores, visible=None):
    scores = scores if visible is None else np.where(visible, scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def heads(x, h):
    return x.reshape(len(x), int(h), -1).swapaxes(0, 1)


def joined(x):
    return x.swapaxes(0, 1).reshape(x.shape[1], -1)


def normal(x, epsilon):
    apart = x - x.mean(-1, keepdims=True)
    return apart / np.sqrt((apart**2).mean(-1, keepdims=True) + epsilon)


def sinusoid(n, d):
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(int(n), -1)


def rotated(x):
    table = sinusoid(x.shape[1], x.shape[2])
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * (table[:, 1::2] + 1j * table[:, 0::2])
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


def by_distance(query, keys):
    n, reach = query.shape[1], len(keys) // 2
    column = np.clip(np.arange(n) - np.arange(n)[:, None], -reach, reach) + reach
    return np.einsum("hqd,qkd->hqk", query, keys[column])


def additive(query, key, v):
    return np.einsum("hqkd,hd->hqk", np.tanh(query[:, :, None] + key[:, None]), v)


def concat(*parts):
    n = max(len(part) for part in parts if part.ndim == 2) if any(p.ndim == 2 for p in parts) else 0
    return np.concatenate([np.tile(p, (n, 1)) if n and p.ndim == 1 else p for p in parts], -1)


def before(x, first=None):
    return np.vstack([np.zeros_like(x[:1]) if first is None else first[None], x[:-1]])


def neighbours(x, offsets):
    padded = np.pad(x, ((200, 200), (0, 0)))
    return np.hstack([padded[200 + offset : 200 + offset + len(x)] for offset in offsets])


def around(x, k, d):
    return neighbours(x, [(i - k // 2) * d for i in range(k)])


def behind(x, k, d):
    return neighbours(x, [(i - k + 1) * d for i in range(k)])


def window(x, n):
    return np.hstack([x[n - 1 - i : len(x) - i] for i in range(n)])


def last_seen(visible):
    return np.eye(visible.shape[-1])[visible.shape[-1] - 1 - visible[..., ::-1].argmax(-1)]


def erf(x):
    from scipy.special import erf

    return erf(x)


FUNCTIONS = {
    "softmax": softmax, "heads": heads, "joined": joined, "LayerNorm": normal, "PE": sinusoid,
    "rotated": rotated, "by_distance": by_distance, "additive": additive, "concat": concat,
    "before": before, "after": lambda x: before(x[::-1])[::-1], "around": around, "behind": behind,
    "window": window, "tanh": np.tanh, "sqrt": np.sqrt, "max": np.maximum,
    "σ": lambda x: 1 / (1 + np.exp(-x)), "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "first": lambda x: x[0], "last": lambda x: x[-1], "last_seen": last_seen,
    "even": lambda visible: visible / visible.sum(-1, keepdims=True),
    "fitted": lambda x, m: np.pad(x, ((0, max(0, m - len(x))), (0, 0)))[:m],
}  # fmt: skip


def computed(formula, tensors, weights):
    """The formula in Python, with the arrays of its letters."""
    python = formula.text.replace("·", "@").replace("∘", "*").replace("−", "-")
    python = re.sub(r"√(\w+)", r"sqrt(\1)", python.replace("√(", "sqrt("))
    python = python.replace("ᵀ", ".swapaxes(-1, -2)")

    def value(name):
        if name in tensors:
            return tensors[name].astype(int) if name.endswith(".ids") else tensors[name]
        if re.fullmatch(r"[\d.e+-]+", name):
            return float(name) if re.search(r"[.e]", name) else int(name)
        weight, _, part = name.partition("[")
        return eval(f"weight[{part}", {"weight": weights[weight]}) if part else weights[weight]

    return eval(python, FUNCTIONS | {letter: value(name) for letter, name in formula.where.items()})


@pytest.mark.parametrize("name", ALL)
def test_every_tensor_follows_by_its_formula_from_those_that_it_names(name):
    model = built(ALL[name])
    found = traced(model, [] if name in WITHOUT_SOURCE else SOURCE, FED)
    assert set(found.tensors) - set(found.formulas) == set(filter(GIVEN.fullmatch, found.tensors))
    named = [*model.named_parameters(), *model.named_buffers()]
    weights = {key: tensor.numpy(force=True) for key, tensor in named}
    for one, formula in found.formulas.items():
        letters = set(re.findall(r"[^\W\d]\w*", formula.text.replace("ᵀ", ""))) - set(FUNCTIONS)
        assert letters == set(formula.where), (one, formula)
        again = computed(formula, found.tensors, weights)
        assert "?" not in formula.where.values(), (one, formula)
        np.testing.assert_allclose(
            np.broadcast_to(again, found.tensors[one].shape), found.tensors[one],
            rtol=0, atol=5e-5, err_msg=f"{one}: {formula}",
        )  # fmt: skip


def test_every_decoder_layer_makes_its_own_keys_and_values_of_the_encoders_output():
    model = built(STANDARD["pre"])
    found = traced(model, SOURCE, FED)
    for n, layer in enumerate(model.decoder):
        for part in ("key", "value"):
            formula = found.formulas[f"decoder.{n}.cross.{part}"]
            assert formula.where["y"] == "encoder.output"
            assert formula.where["W"] == f"decoder.{n}.cross_attention.to_{part}.weight"
            linear = getattr(layer.cross_attention, f"to_{part}")
            made = found.tensors["encoder.output"] @ linear.weight.numpy(force=True).T
            made = heads(made + linear.bias.numpy(force=True), 3)
            np.testing.assert_allclose(found.tensors[f"decoder.{n}.cross.{part}"], made, atol=5e-5)
    keys = [found.tensors[f"decoder.{n}.cross.key"] for n in range(2)]
    assert not np.allclose(*keys)
    assert not np.allclose(keys[0], found.tensors["decoder.0.cross.value"])
