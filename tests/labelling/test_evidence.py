"""Which words decided, where it is known: in linear models, and where one planted word decides."""

from itertools import permutations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from headway.core.embedding import TokenEmbedding
from headway.core.optimizer import FlatAdam
from headway.labelling.deletion import RANDOM, DeletionTest, deletion_test
from headway.labelling.evidence import (
    ATTENTION,
    GRADIENT,
    LabelReader,
    TextInWords,
    in_words,
    rollout,
)
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.nn.encoder import Encoded, Encoder, EncoderConfig

PLANTED = {4: 0, 5: 1}
"""Ids that decide, and the label of each."""


class Bag(nn.Module):
    """Embeddings as they are: with a mean and a matrix behind it, a linear model."""

    d_output = 6

    def __init__(self) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(30, 6, padding=0)

    def forward(self, ids):
        return Encoded(self.embedding(ids), ids != 0)


def text_of(*ids: int) -> TextInWords:
    """Each id a word, between markers."""
    places = [[i] for i in range(1, len(ids) + 1)]
    return TextInWords([2, *ids, 3], [f"w{one}" for one in ids], places)


def labeller(encoder, pooling="mean"):
    head = PoolingHead(encoder.d_output, 2, pooling=pooling, dropout=0.0)
    return Labeller(encoder, head).eval()


def transformer(seed=1, **options) -> Encoder:
    torch.manual_seed(seed)
    config = EncoderConfig(d_model=16, d_ff=32, heads=2, layers=2, dropout=0.0, **options)
    return Encoder(config, vocabulary_size=30).eval()


def planted_texts(n: int, seed: int) -> tuple[list[TextInWords], list[int]]:
    """Words at random, one of which decides."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        ids = random.integers(6, 30, size=random.integers(4, 9)).tolist()
        decides = int(random.integers(4, 6))
        ids.insert(int(random.integers(len(ids) + 1)), decides)
        texts.append(text_of(*ids))
        labels.append(PLANTED[decides])
    return texts, labels


@pytest.fixture(scope="module", params=["pre", "post"])
def trained(request):
    """A Transformer that has learned which word decides."""
    model = labeller(transformer(norm=request.param)).train()
    reader = LabelReader(model, 0)
    adam = FlatAdam(model, torch.float32, betas=(0.9, 0.999), epsilon=1e-8)
    for step in range(60):
        texts, labels = planted_texts(64, step)
        F.cross_entropy(reader.logits(texts), torch.tensor(labels)).backward()
        adam.step(0.01, clip_norm=0.0)
    model.eval()
    return reader


def test_of_a_linear_model_it_is_the_exact_contribution_of_each_word():
    torch.manual_seed(2)
    model = labeller(Bag())
    texts = [text_of(7, 8, 7), text_of(9, 10, 11, 12, 13)]
    found = LabelReader(model, 0).gradient_times_input(texts, [0, 1])
    weight, bias = model.head.to_labels.weight, model.head.to_labels.bias
    for text, scores, label in zip(texts, found, (0, 1), strict=True):
        toward = weight[label] - weight[1 - label]
        embedded = model.encoder.embedding(torch.tensor([text.ids]))[0] / len(text.ids)
        each = (embedded @ toward).detach().numpy()
        np.testing.assert_allclose(scores, each[1:-1], rtol=1e-5, atol=1e-6)
        logits = model(torch.tensor([text.ids]))[0]
        log_odds = (logits[label] - logits[1 - label] - bias[label] + bias[1 - label]).item()
        assert scores.sum() + each[0] + each[-1] == pytest.approx(log_odds, abs=1e-5)


def test_of_a_linear_model_it_is_what_the_word_being_nothing_changes():
    """Brute force: the word's embedding is set to zero in its place."""
    model = labeller(Bag())
    (scores,) = LabelReader(model, 0).gradient_times_input([text_of(7, 8, 9)], [1])

    def log_odds(gone: int | None) -> float:
        embedded = model.encoder.embedding(torch.tensor([[2, 7, 8, 9, 3]])).clone()
        if gone is not None:
            embedded[0, gone] = 0
        logits = model.head(Encoded(embedded, torch.ones(1, 5, dtype=torch.bool)))[0]
        return (logits[1] - logits[0]).item()

    for word in range(3):
        assert scores[word] == pytest.approx(log_odds(None) - log_odds(word + 1), abs=1e-5)


def test_a_text_has_the_same_evidence_alone_and_in_a_batch():
    reader = LabelReader(labeller(transformer()), 0)
    texts, labels = planted_texts(9, 3)
    together = reader.evidence(texts, labels)
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        alone = reader.evidence([text], [label])
        for way in (GRADIENT, ATTENTION):
            np.testing.assert_allclose(together[way][i], alone[way][0], rtol=1e-3, atol=1e-5)


def test_the_model_is_as_it_was_and_gives_the_same_while_norms_are_held():
    model = labeller(transformer())
    reader, text = LabelReader(model, 0), text_of(6, 7, 8)
    before = reader.probs([text])
    reader.evidence([text], [0])
    assert np.array_equal(reader.probs([text]), before)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_norm_makes_the_gradient_blind_for_the_length_of_its_input():
    """Ali et al. 2022: through one LayerNorm gradient times input sums to nothing at all."""
    model = labeller(NormedBag())
    texts = [text_of(7, 8, 9)]
    free = LabelReader(model, 0, norms_held=False).gradient_times_input(texts, [1])[0]
    held = LabelReader(model, 0).gradient_times_input(texts, [1])[0]
    assert np.abs(free).max() < 1e-4 < 0.01 < np.abs(held).max()


class NormedBag(Bag):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(6)

    def forward(self, ids):
        return Encoded(self.norm(self.embedding(ids)), ids != 0)


def test_attention_without_positions_permutes_with_the_words():
    reader = LabelReader(labeller(transformer(positions="none")), 0)
    ids = (7, 8, 9, 10)
    (plain,) = reader.attention([text_of(*ids)])
    for order in permutations(range(4)):
        (found,) = reader.attention([text_of(*(ids[i] for i in order))])
        np.testing.assert_allclose(found, plain[list(order)], rtol=1e-4)


def test_attention_is_of_the_place_that_is_pooled_or_asked():
    model, text = labeller(transformer(), pooling="first"), text_of(7, 8, 9)
    reader = LabelReader(model, 0)
    arrived = rollout(reader.seen([text])[0].mean(2))[0].detach().numpy()
    np.testing.assert_allclose(reader.attention([text])[0], arrived[0, 1:-1], rtol=1e-5)
    np.testing.assert_allclose(arrived.sum(1), 1.0, rtol=1e-5)
    model.head.pooling = "mean"
    asked = reader.attention([text._replace(asked=1)])[0]
    np.testing.assert_allclose(asked, arrived[2, 1:-1], rtol=1e-5)
    np.testing.assert_allclose(reader.attention([text])[0], arrived.mean(0)[1:-1], rtol=1e-5)
    model.head.pooling = "max"
    features = model.encoded(torch.tensor([text.ids])).features[0]
    chosen = arrived[features.argmax(0).numpy()].mean(0)
    np.testing.assert_allclose(reader.attention([text])[0], chosen[1:-1], rtol=1e-5)


def test_rollout_of_one_layer_is_half_of_it_and_half_of_what_came_in():
    maps = torch.rand(2, 1, 3, 3).softmax(-1)
    whole = (torch.eye(3) + maps[1]) / 2 @ ((torch.eye(3) + maps[0]) / 2)
    torch.testing.assert_close(rollout(maps), whole)


def test_the_planted_word_is_named_and_the_deletion_test_finds_it(trained):
    texts, labels = planted_texts(80, 1_000)
    assert (trained.probs(texts).argmax(1) == labels).mean() > 0.95
    named = [int(one.argmax()) for one in trained.gradient_times_input(texts, labels)]
    planted = [text.words[i] in ("w4", "w5") for text, i in zip(texts, named, strict=True)]
    assert np.mean(planted) > 0.95
    test = deletion_test(trained, texts, k=1)
    means = {way: fall.mean() for way, fall in test.falls.items()}
    assert means[GRADIENT] > 30 > 15 > means[RANDOM]
    assert GRADIENT in test.believed
    assert f"{GRADIENT} names words whose removal costs" in test.told()


def test_words_that_are_removed_leave_the_others_as_they_stood():
    text = TextInWords([2, 5, 6, 7, 8, 3], ["a", "bc", "d"], [[1], [2, 3], [4]], asked=2)
    left = text.without([1])
    assert left == TextInWords([2, 5, 8, 3], ["a", "d"], [[1], [2]], asked=1)
    assert text.without([2]) == text, "the word whose label is asked stays"
    assert text.without([]) == text


def test_what_is_no_better_than_chance_is_not_believed():
    random = np.random.default_rng(1)
    noise = {name: random.normal(5, 3, 200) for name in (GRADIENT, ATTENTION, RANDOM)}
    test = DeletionTest(noise, 3)
    assert test.believed == []
    assert test.told().endswith("believe none of them")
    equal = DeletionTest({**noise, GRADIENT: noise[RANDOM] + 9, ATTENTION: noise[RANDOM] + 9}, 3)
    assert equal.believed == [GRADIENT, ATTENTION]
    better = DeletionTest({**noise, ATTENTION: noise[RANDOM] + 9}, 3)
    assert better.told().endswith(f"believe {ATTENTION}")


def test_texts_that_have_no_more_words_are_left_out_of_the_test():
    reader = LabelReader(labeller(Bag()), 0)
    assert deletion_test(reader, [text_of(7, 8, 9)], k=3) is None
    test = deletion_test(reader, [text_of(7, 8, 9), text_of(7, 8, 9, 10)], k=3)
    assert test.n == 1
    assert set(test.falls) == {GRADIENT, RANDOM}, "a bag has no attention"


@pytest.mark.parametrize(
    ("text", "spans", "words"),
    [
        ("un bo, no", [(0, 2), (2, 4), (4, 5), (5, 6), (6, 7), (7, 9)], ["un", "bo", ",", "no"]),
        ("don't x-ray", [(0, 3), (3, 5), (5, 7), (7, 11)], ["don't", "x-ray"]),
        ("我爱北京", [(0, 1), (1, 2), (2, 4)], ["我", "爱", "北京"]),
        ("é😀", [(0, 1), (1, 2), (1, 2)], ["é", "😀"]),
    ],
)  # fmt: skip
def test_pieces_become_words(text, spans, words):
    found, places = in_words(text, spans)
    assert found == words
    assert sorted(i for word in places for i in word) == [
        i for i, (start, end) in enumerate(spans) if text[start:end].strip()
    ]
