"""Layers of every encoder; the oracle is each model's own layers, run by hand."""

import numpy as np
import pytest
import torch
from small_models import OTHERS, STANDARD, built, recurrent, transformer

from headway.tokenizers.words import Words
from headway.translation.embedding import EncoderEmbedder

WORDS = Words(["a", "b", "c", "d", "e", "f", "g", "h", "i"])
ALL = {**STANDARD, **OTHERS}


def embedder(make, longest=None):
    torch.manual_seed(3)
    return EncoderEmbedder(built(make), WORDS, longest)


def vectors(model, *texts):
    return [one.vectors for one in model.embed(texts)]


def by_hand(model, text):
    """What each layer of a Transformer gives, the last one behind the final norm."""
    source = torch.tensor([[*WORDS.encode(text), WORDS.special.end]])
    with torch.no_grad():
        x = model.source_positions(model.source_embedding(source))
        found = [x]
        for layer in model.encoder:
            x = layer(x)
            found.append(x)
        found[-1] = model.encoder_norm(x)
    return torch.cat(found)[:, :-1].numpy()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_layers_of_a_transformer_are_those_that_run_one_after_another(norm):
    model = embedder(lambda: transformer(norm=norm))
    [found] = vectors(model, "a b c d")
    np.testing.assert_allclose(found, by_hand(model.model, "a b c d"), atol=1e-5)
    assert model.layers == ("embedding", "1", "2")


def test_layers_of_a_two_way_encoder_run_one_after_another_and_narrow_ones_end_in_zeros():
    model = embedder(recurrent)
    [found] = vectors(model, "a b c d")
    source = torch.tensor([[*WORDS.encode("a b c d"), WORDS.special.end]])
    with torch.no_grad():
        x = model.model.source_embedding(source)
        np.testing.assert_allclose(found[0, :, :6], x[0, :-1], atol=1e-5)
        assert not found[0, :, 6:].any()
        mirror = torch.arange(4, -1, -1)[None]
        for n, layer in enumerate(model.model.encoder, start=1):
            x = layer(x, mirror)
            np.testing.assert_allclose(found[n], x[0, :-1], atol=1e-5)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_what_else_is_read_changes_nothing(make):
    model = embedder(make)
    texts = ["a b c", "", "d", "e f g h i a b c d", "b b"]
    together = vectors(model, *texts)
    for text, found in zip(texts, together, strict=True):
        assert found.shape[:2] == (len(model.layers), len(text.split()))
        [alone] = vectors(model, text)
        np.testing.assert_allclose(found, alone, atol=1e-5)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_a_word_is_another_one_behind_other_words_and_before_them(make):
    model = embedder(make)
    first, *others = vectors(model, "a b c", "d b c", "a b d")
    for other in others:
        assert np.array_equal(first[0, 1], other[0, 1])
        assert np.abs(first[-1, 1] - other[-1, 1]).max() > 1e-4


def test_long_texts_are_read_in_stretches_of_as_much_as_is_read_at_once():
    model = embedder(lambda: transformer(positions="learned", max_length=9), longest=8)
    text = "a b c d e f g h i a b c d e f g h i"
    [found] = vectors(model, text)
    assert found.shape[1] == 18
    [start], [end] = vectors(model, text[:15]), vectors(model, text[-15:])
    np.testing.assert_allclose(found[:, :6], start[:, :6], atol=1e-5)
    np.testing.assert_allclose(found[:, -5:], end[:, -5:], atol=1e-5)


def test_words_that_are_not_known_are_told():
    [one] = embedder(transformer).embed(["a zebra b"])
    assert [one.knows(span) for span in one.words()] == [True, False, True]
