"""Layers of language models; the oracle is each model's own step."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_models import OF_TEXT, built

from headway.language_models.elmo import Elmo, ElmoConfig
from headway.language_models.embedding import LanguageModelEmbedder, both_ways, stacked, static
from headway.language_models.trained import TrainedLanguageModel
from headway.runs.loading import LoadedRun
from headway.tokenizers.words import Words

WORDS = Words(["a", "b", "c", "d", "e", "f", "g", "h", "i"])
STACKED = {name: make for name, make in OF_TEXT.items() if name != "nnlm"}


def embedder(make, window=128, layered=stacked, model_type=""):
    torch.manual_seed(3)
    model = built(make)
    text = SimpleNamespace(unit="words", segmenter="none")
    training = SimpleNamespace(window=window)
    settings = SimpleNamespace(text=text, training=training, model_type=model_type)
    used = TrainedLanguageModel(LoadedRun(settings, WORDS, model, torch.device("cpu")))
    return LanguageModelEmbedder(used, layered(used))


def vectors(model, *texts):
    return [one.vectors for one in model.embed(texts)]


@pytest.mark.parametrize("make", STACKED.values(), ids=STACKED)
def test_a_vector_knows_the_words_before_it_and_none_behind(make):
    model = embedder(make)
    first, behind, before = vectors(model, "a b c d e", "a b c f g", "f b c d e")
    assert np.array_equal(first[:, :3], behind[:, :3])
    assert np.array_equal(first[0, 1:], before[0, 1:])
    assert np.abs(first[-1, 1:] - before[-1, 1:]).max(-1).min() > 1e-5
    assert first.shape[0] == len(model.layers) == 3


@pytest.mark.parametrize("make", STACKED.values(), ids=STACKED)
def test_the_last_layer_is_what_words_to_come_are_told_from(make):
    model = embedder(make)
    [found] = vectors(model, "a b c d")
    fed = torch.tensor([[2, *WORDS.encode("a b c d")]])
    with torch.no_grad():
        features = model.used.decoder.read(fed).features[0, 1:].numpy()
    np.testing.assert_allclose(found[-1], features, atol=1e-5)


@pytest.mark.parametrize("recurrence", ["rnn", "lstm", "gru"])
def test_layers_are_what_each_remembers_after_a_word(recurrence):
    model = embedder(OF_TEXT[recurrence])
    [found] = vectors(model, "a b c")
    decoder = model.used.decoder
    state = decoder.start(None, torch.tensor([[2]]))
    for n, one in enumerate(WORDS.encode("a b c")):
        state = decoder.step(state, torch.tensor([one])).state
        np.testing.assert_allclose(found[1:, n], state.memory["hidden"][0], atol=1e-5)


def test_words_of_an_nnlm_have_one_vector_each():
    model = embedder(OF_TEXT["nnlm"], layered=static)
    [found] = vectors(model, "a b a")
    rows = model.used.decoder.word_vectors()[WORDS.encode("a b a")]
    assert found.tolist() == [rows.tolist()]
    assert model.layers == ("embedding",)


@pytest.mark.parametrize("make", STACKED.values(), ids=STACKED)
def test_what_else_is_read_changes_nothing(make):
    model = embedder(make)
    texts = ["a b c", "", "d", "e f g h i a b c d"]
    for text, found in zip(texts, vectors(model, *texts), strict=True):
        [alone] = vectors(model, text)
        np.testing.assert_allclose(found, alone, atol=1e-5)


def test_behind_the_window_half_of_it_is_seen():
    model = embedder(OF_TEXT["as gpt-2"], window=7)
    text = "a b c d e f g h i a b c d e f g h i"
    [found] = vectors(model, text)
    assert found.shape[1] == 18
    [end] = vectors(model, " ".join(text.split()[-6:]))
    np.testing.assert_allclose(found[:, -3:], end[:, -3:], atol=1e-5)


def test_spans_are_those_of_text_with_the_spaces_of_the_segmenter():
    model = embedder(OF_TEXT["lstm"])
    model.used.cut = " ".join
    [one] = model.embed(["abz"])
    assert one.text == "a b z"
    assert one.words() == [(0, 1), (2, 3), (4, 5)]
    assert [one.knows(span) for span in one.words()] == [True, True, False]


def elmo():
    sizes = {"d_model": 6, "d_cell": 10, "filters": (4, 4)}
    return Elmo(ElmoConfig(**sizes), vocabulary_size=13, pieces=WORDS.pieces(range(13)))


def test_elmo_sees_the_words_on_both_sides_and_knows_every_word():
    model = embedder(elmo, layered=both_ways, model_type="elmo")
    texts = ["a b c", "a b zebra", "zebra b c", "", "b", "a zebra b"]
    first, behind, before, *others = model.embed(texts)
    for one in (behind, before):
        assert np.array_equal(first.vectors[0, 1], one.vectors[0, 1])
        assert np.abs(first.vectors[1:, 1] - one.vectors[1:, 1]).max(-1).min() > 1e-6
    assert not any(any(one.unknown) for one in (before, *others))
    for text, one in zip(texts, (first, behind, before, *others), strict=True):
        np.testing.assert_allclose(one.vectors, vectors(model, text)[0], atol=1e-5)
