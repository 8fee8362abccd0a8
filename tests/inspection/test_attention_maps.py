"""What the page draws is what the model computed, to half a step of 8 bits."""

from pathlib import Path

import numpy as np
import pytest
import torch
from analyses import analysis_of

from headway.inspection.attention_maps import LARGEST_ERROR, attention, in_steps
from headway.inspection.html_page import unpacked
from headway.nn.attention_weights import look


def test_maps_are_the_models_weights_to_half_a_step(everyday_run: Path) -> None:
    analysis = analysis_of(everyday_run)
    found = attention(analysis)
    passage = analysis.passage
    looked = look(
        analysis.inspected.model, torch.tensor([passage.source]), torch.tensor([passage.fed])
    )
    assert [kind["kind"] for kind in found["kinds"]] == [
        "encoder.self", "decoder.self", "decoder.cross",
    ]  # fmt: skip
    for kind, weights in zip(found["kinds"], looked, strict=True):
        maps = unpacked(kind["maps"]) / 255
        expected = weights[:, 0].detach().numpy()
        assert maps.shape == expected.shape == tuple(kind["shape"])
        assert np.abs(maps - expected).max() <= LARGEST_ERROR + 1e-7


def test_a_hundred_random_weights_follow_from_queries_and_keys(everyday_run: Path) -> None:
    """softmax(q k^T / sqrt(d_k)) in float64 from the trace, against the page's maps."""
    analysis = analysis_of(everyday_run, norm="pre")
    maps = {kind["kind"]: unpacked(kind["maps"]) / 255 for kind in attention(analysis)["kinds"]}
    random = np.random.default_rng(1)
    for _ in range(100):
        name = random.choice(sorted(maps))
        layer, head, row, column = (int(random.integers(n)) for n in maps[name].shape)
        stack, kind = name.split(".")
        at = f"{stack}.{layer}.{kind}"
        query = analysis.trace[f"{at}.query"][head, row].astype(np.float64)
        key = analysis.trace[f"{at}.key"][head].astype(np.float64)
        seen = np.arange(len(key)) <= row if name == "decoder.self" else np.full(len(key), True)
        powers = np.where(seen, np.exp(key @ query / np.sqrt(len(query))), 0.0)
        expected = powers[column] / powers.sum()
        assert abs(maps[name][layer, head, row, column] - expected) <= LARGEST_ERROR + 1e-3


def test_steps_are_the_nearest() -> None:
    weights = np.array([0.0, 0.001, 0.00197, 0.5, 0.999, 1.0, 1.0000001])
    assert in_steps(weights).tolist() == [0, 0, 1, 128, 255, 255, 255]


def test_a_text_with_too_many_weights_is_not_drawn(
    everyday_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.inspection.attention_maps.MOST", 1_000)
    assert "1,000 are drawn" in attention(analysis_of(everyday_run))["missing"]["en"]
