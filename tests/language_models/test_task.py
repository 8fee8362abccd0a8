"""Validation of the language-modelling task, by a model whose every probability is known."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headway.core.subwords import SpecialIds
from headway.corpora.store import Store
from headway.language_models.interfaces import Read, TextModel
from headway.language_models.task import LanguageTask, LanguageTraining

PROBABILITIES = [0.0, 0.0, 0.0, 0.1, 0.6, 0.3]
"""Of each token; the end marker is 3."""


class Unigram(TextModel):
    """The same probabilities behind whatever is fed."""

    carries = False

    def __init__(self) -> None:
        super().__init__()
        self.output_weight = torch.zeros(len(PROBABILITIES), 2)
        self.output_bias = torch.tensor(PROBABILITIES).clamp(min=1e-9).log()

    def read(self, fed, carried=None):
        return Read(torch.zeros(*fed.shape, 2), {})


class Text(Store):
    """In memory."""

    def __init__(self, ids):
        self._sides = {"text": SimpleNamespace(ids=np.array(ids, np.int32))}


def task(ids, *, valid_tokens, window=8, carries=False):
    return LanguageTask(
        Text(ids), Text(ids), SpecialIds(),
        LanguageTraining(window=window, valid_tokens=valid_tokens, batch_tokens=64),
        carries=carries, seed=1, device=torch.device("cpu"),
    )  # fmt: skip


@pytest.mark.parametrize("carries", [False, True])
def test_a_part_of_the_validation_text_is_from_all_over_it(carries):
    """The first half is of one word and the second of another."""
    ids = [4] * 8_000 + [5] * 8_000
    expected = -(math.log(0.6) + math.log(0.3)) / 2
    for valid_tokens in (10**6, 16_000, 2_000, 200):
        found = task(ids, valid_tokens=valid_tokens, carries=carries).validation_loss(Unigram())
        assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("n_tokens", [1, 2, 15, 16, 17, 129, 1_000])
@pytest.mark.parametrize("valid_tokens", [1, 7, 100, 10**6])
def test_any_text_can_be_validated_on(n_tokens, valid_tokens):
    found = task([4] * n_tokens, valid_tokens=valid_tokens).validation_loss(Unigram())
    assert found == pytest.approx(-math.log(0.6), rel=1e-5)
