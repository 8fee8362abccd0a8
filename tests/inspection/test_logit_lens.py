"""Layer by layer: the last one says what the model says."""

from pathlib import Path

import numpy as np
import pytest
import torch
from analyses import analysis_of

from headway.inspection.html_page import unpacked
from headway.inspection.logit_lens import lens


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_through_the_lens_the_last_layer_says_what_the_model_says(
    everyday_run: Path, norm: str
) -> None:
    analysis = analysis_of(everyday_run, norm=norm)
    found = lens(analysis)
    probs = torch.from_numpy(analysis.trace["logits"]).softmax(-1)
    top = probs.topk(3)
    np.testing.assert_allclose(unpacked(found["values"])[-1], top.values, atol=1e-6)
    np.testing.assert_array_equal(unpacked(found["ids"])[-1], top.indices)
    written = [*analysis.passage.target_ids, analysis.inspected.special.end]
    for position, token in enumerate(written):
        n_better = int((probs[position] > probs[position, token]).sum())
        assert unpacked(found["rank"])[-1, position] == n_better + 1
        np.testing.assert_allclose(
            unpacked(found["value"])[-1, position], probs[position, token], atol=1e-6
        )
    assert len(unpacked(found["rank"])) == 3  # what goes in, and two layers
