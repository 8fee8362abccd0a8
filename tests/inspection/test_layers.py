"""Layer by layer: the last one says what the model says, and removed words cost what they cost."""

from pathlib import Path

import numpy as np
import pytest
import torch
from analyses import analysis_of

from headway.inspection.html_page import unpacked
from headway.inspection.layers import (
    layers,
    log_probs_without,
    similarity,
)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_through_the_lens_the_last_layer_says_what_the_model_says(
    everyday_run: Path, norm: str
) -> None:
    analysis = analysis_of(everyday_run, norm=norm)
    lens = layers(analysis)["lens"]
    probs = torch.from_numpy(analysis.trace["logits"]).softmax(-1)
    top = probs.topk(3)
    np.testing.assert_allclose(unpacked(lens["values"])[-1], top.values, atol=1e-6)
    np.testing.assert_array_equal(unpacked(lens["ids"])[-1], top.indices)
    written = [*analysis.passage.target_ids, analysis.inspected.special.end]
    for position, token in enumerate(written):
        n_better = int((probs[position] > probs[position, token]).sum())
        assert unpacked(lens["rank"])[-1, position] == n_better + 1
        np.testing.assert_allclose(
            unpacked(lens["value"])[-1, position], probs[position, token], atol=1e-6
        )
    assert len(unpacked(lens["rank"])) == 3  # what goes in, and two layers


def test_similarity_is_the_mean_cosine_of_all_pairs() -> None:
    x = torch.randn(5, 7)
    pairs = [(i, j) for i in range(5) for j in range(5) if i != j]
    expected = np.mean([float(torch.cosine_similarity(x[i], x[j], dim=0)) for i, j in pairs])
    np.testing.assert_allclose(similarity(x), expected, atol=1e-6)
    np.testing.assert_allclose(similarity(torch.ones(4, 3)), 1.0)
    assert similarity(x[:1]) is None


def test_a_removed_word_costs_what_the_text_without_it_costs(everyday_run: Path) -> None:
    analysis = analysis_of(everyday_run)
    model, passage = analysis.inspected.model, analysis.passage
    removed = [[], [0], [2, 3], list(range(len(passage.source) - 1))]
    found = log_probs_without(analysis, removed)
    wanted = [*passage.target_ids, analysis.inspected.special.end]
    for positions, log_probs in zip(removed, found, strict=True):
        kept = [one for i, one in enumerate(passage.source) if i not in positions]
        logits = model(torch.tensor([kept]), torch.tensor([passage.fed]))[0]
        alone = logits.log_softmax(-1)[torch.arange(len(wanted)), wanted]
        np.testing.assert_allclose(log_probs, alone.detach(), atol=1e-5)


def test_importance_puts_attention_beside_loss_word_by_word(everyday_run: Path) -> None:
    analysis = analysis_of(everyday_run)
    found = layers(analysis)["importance"]
    assert found["words"] == "The dog didn't see the cat because it was tired .".split()
    weights = analysis.trace["decoder.1.cross.weights"][:, :-1].mean((0, 1))
    assert sum(found["attention"]) == pytest.approx(weights[:-1].sum(), abs=1e-5)
    lost = unpacked(found["lost"])
    assert lost.shape == (len(found["words"]), len(analysis.passage.fed))


def test_words_of_a_long_text_are_not_removed(
    everyday_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.inspection.layers.MOST_WORDS", 10)
    found = layers(analysis_of(everyday_run))["importance"]
    assert found == {"n_words": 11, "most": 10}
