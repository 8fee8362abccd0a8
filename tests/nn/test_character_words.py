"""Words by their letters."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from headway.nn.character_words import LONGEST, PADDING, CharacterWords, Highway, spelled


def encoder(filters=(3, 4, 5), n_highways=1):
    torch.manual_seed(5)
    return CharacterWords(6, d_character=4, filters=filters, n_highways=n_highways).eval()


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6))
def test_words_that_differ_are_spelled_differently_and_no_letter_is_a_mark(words):
    rows = [bytes(row).rstrip(bytes([PADDING])) for row in spelled(words)]
    assert len({*rows}) == len({word.encode("utf-8", "surrogatepass")[:48] for word in words})
    for row, word in zip(rows, words, strict=True):
        assert row[1:-1] == word.encode("utf-8", "surrogatepass")[: LONGEST - 2]
        assert max(row[1:-1], default=0) < 0xF5


def test_a_marker_has_a_symbol_and_the_same_as_it_is_typed_has_letters():
    marker, other, typed = spelled(["<s>", "</s>", "</s>"], n_markers=2)
    assert len({bytes(marker), bytes(other), bytes(typed)}) == 3
    assert bytes(typed)[1:5] == b"</s>"


@pytest.mark.parametrize("filters", [(3,), (3, 4, 5), (1, 2, 1, 1, 1, 1, 3)])
def test_a_words_vector_is_the_same_whatever_stands_beside_it(filters):
    words = ["a", "", "苹果", "antidisestablishmentarianism", "cat", "x" * 90]
    model = encoder(filters)
    together = model(torch.tensor(spelled(words)))
    for word, expected in zip(words, together, strict=True):
        torch.testing.assert_close(model(torch.tensor(spelled([word])))[0], expected)


def test_the_filters_answers_are_those_of_a_convolution_by_hand():
    model, word = encoder((2, 3), n_highways=0), "bread"
    x = model.characters(torch.tensor(spelled([word])).long())[0].T  # [d_character, bytes]
    found = []
    for width, look in enumerate(model.filters, start=1):
        weight = look.weight.unflatten(1, (4, width))  # [filters, d_character, width]
        answers = functional.conv1d(x[None], weight, look.bias)[0]
        found.append(answers.relu().max(1).values)
    expected = model.to_output(torch.cat(found))
    torch.testing.assert_close(model(torch.tensor(spelled([word])))[0], expected)


def test_a_highway_is_a_gate_between_what_comes_and_what_is_made_of_it():
    torch.manual_seed(1)
    highway, x = Highway(3), torch.randn(2, 3)
    gate, changed = highway.to_gate(x).sigmoid(), highway.to_changed(x).relu()
    torch.testing.assert_close(highway(x), gate * changed + (1 - gate) * x)
    assert gate.mean() < 0.3, "at first most passes as it is"
