"""Loss at hidden places alone; the oracle is torch's cross-entropy on all logits."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from headway.labelling.task import Example
from headway.masked_language_models.criterion import MaskedCriterion
from headway.masked_language_models.masking import Masking
from headway.masked_language_models.model import MaskedLanguageModel
from headway.nn.encoder import EncoderConfig
from headway.tokenizers.words import Words

WORDS = Words([f"w{i}" for i in range(20)])
CONFIG = EncoderConfig(d_model=16, d_ff=32, heads=2, layers=2, dropout=0.0)


@pytest.fixture
def model():
    torch.manual_seed(1)
    made = MaskedLanguageModel(CONFIG, vocabulary_size=len(WORDS))
    torch.nn.init.normal_(made.head.output_bias)
    return made


@pytest.fixture
def batch():
    random = np.random.default_rng(2)
    rows = [Example(np.array([2, *random.integers(4, 24, n), 3]), None) for n in (9, 12, 5)]
    criterion = MaskedCriterion(Masking(WORDS, whole_words=False), 0, smoothing=0.0, seed=1)
    return criterion, criterion.tensors(rows, random)


def test_hidden_places_alone_have_loss(model, batch):
    criterion, (fed, wanted) = batch
    assert criterion.units((fed, wanted)) == (wanted != 0).sum() > 0
    loss = criterion.loss(model, (fed, wanted))
    loss.backward()
    found = {name: one.grad.clone() for name, one in model.named_parameters()}
    model.zero_grad()
    expected = F.cross_entropy(model(fed).flatten(0, 1), wanted.flatten(), ignore_index=0,
                               reduction="sum")  # fmt: skip
    torch.testing.assert_close(loss, expected)
    expected.backward()
    for name, one in model.named_parameters():
        gradient = one.grad.clone()
        if name == "encoder.embedding.weight":
            gradient[0] = found[name][0]  # the padding row, which is no piece that is told
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-5)


def test_validation_is_what_torch_says_of_all_logits(model, batch):
    criterion, (fed, wanted) = batch
    found = criterion.validation(criterion.count(model.eval(), (fed, wanted)))
    logits, hidden = model(fed), wanted != 0
    right = (logits.argmax(-1) == wanted)[hidden].float().mean()
    assert found.score == pytest.approx(100 * right.item())
    assert found.loss == pytest.approx(F.cross_entropy(logits[hidden], wanted[hidden]).item())
    assert found.others["perplexity"] == pytest.approx(np.exp(found.loss))


def test_the_trunk_is_named_as_in_every_model(model):
    for part in model.trunk.values():
        model.get_submodule(part)
    assert model.output_weight is model.encoder.embedding.weight
