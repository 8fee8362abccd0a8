"""Who picks what *it* stands for, on weights and vectors of which the answer is known."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from torch import nn

from headway.core.errors import ConfigError
from headway.demo.sentences import coreference
from headway.inspection.coreference_probe import (
    Proportion,
    best_heads,
    coreference_results,
    pass_of,
    probe,
    unseen_sentences,
)
from headway.inspection.pronoun_picture import Look
from headway.translator import Translator


def looking(antecedent: int) -> Look:
    """One layer, two heads, 4 words (the nouns are 0 and 1): head 0 always looks most at word 0,
    head 1 at the antecedent more than at the rival, and most at word 3."""
    weights = np.full((1, 2, 4, 4), 0.25)
    weights[0, 0, 2] = [0.7, 0.1, 0.1, 0.1]
    weights[0, 1, 2] = [0.05, 0.05, 0.1, 0.6]
    weights[0, 1, 2, antecedent] += 0.2
    return Look(weights, [], [], 2, antecedent, 1 - antecedent)


def test_the_best_head_follows_the_antecedent_and_is_counted_on_other_sentences() -> None:
    chosen = [looking(0), looking(0), looking(1)]
    [picker] = best_heads(chosen, [looking(1), looking(0)])
    assert (picker.layer, picker.head) == (0, 1)
    assert picker.right == Proportion(2, 2)
    assert picker.most == Proportion(0, 2)
    assert picker.weight == pytest.approx(0.25)
    [always_first] = best_heads([looking(0)], [looking(1), looking(0)])  # both are right once
    assert (always_first.head, always_first.right) == (0, Proportion(1, 2))


@pytest.mark.parametrize(("right", "of"), [(8, 10), (0, 5), (5, 5), (231, 480)])
def test_at_wilsons_bounds_the_count_is_1_96_standard_deviations_away(right: int, of: int) -> None:
    found = Proportion(right, of)
    for bound in found.interval:
        deviation = (bound * (1 - bound) / of) ** 0.5
        assert abs(found.share - bound) == pytest.approx(1.959964 * deviation, abs=1e-9)


def test_a_probe_finds_a_noun_that_a_direction_names_and_nothing_in_noise() -> None:
    random = np.random.default_rng(1)
    nouns = ["cat", "dog", "street", "wall"]
    directions = random.normal(size=(4, 16))

    def drawn(n: int, signal: float) -> tuple[np.ndarray, list[tuple[str, str]]]:
        pairs = [tuple(random.choice(4, 2, replace=False)) for _ in range(n)]
        vectors = signal * directions[[meant for meant, _ in pairs]] + random.normal(size=(n, 16))
        return vectors, [(nouns[meant], nouns[rival]) for meant, rival in pairs]

    for signal, least, most in ((3.0, 0.97, 1.0), (0.0, 0.35, 0.65)):
        fitted, fitted_pairs = drawn(400, signal)
        counted, counted_pairs = drawn(200, signal)
        found = probe(fitted, [meant for meant, _ in fitted_pairs], counted, counted_pairs)
        assert found.of == 200
        assert least <= found.share <= most


def test_sentences_are_new_and_either_noun_is_meant_about_as_often() -> None:
    known = {sentence.text for sentence in unseen_sentences(50, 1, set())}
    found = unseen_sentences(200, 1, known)
    assert len({sentence.text for sentence in found}) == 200
    assert not known & {sentence.text for sentence in found}
    for one in found:
        assert coreference(one.text, one.translation) == (one.antecedent, one.rival, one.named_at)
    first = sum(one.text.split().index(one.antecedent) == 1 for one in found)
    assert 70 <= first <= 130


def test_of_a_trained_run_each_layer_is_told_and_a_pass_gives_its_vectors(
    everyday_run: Path,
) -> None:
    translator = Translator.load(everyday_run)
    sentences = unseen_sentences(12, 3, set())
    found = coreference_results(translator, sentences[:6], sentences[6:])
    assert [p.layer for p in found.encoder] == [0]
    assert [p.layer for p in found.probe] == [p.layer for p in found.reason] == [-1, 0]
    assert [p.layer for p in found.deciding] == [p.layer for p in found.naming] == [0]
    assert all(p.right.of == 6 for p in (*found.encoder, *found.probe, *found.naming))
    one = pass_of(translator, sentences[0])
    assert one.pronoun.shape == one.reason.shape == (2, 32)
    assert one.encoder.weights[0, :, one.encoder.focus].sum(-1) == pytest.approx(1.0)
    again = pass_of(translator, sentences[0])  # no hook was left behind
    np.testing.assert_array_equal(one.pronoun, again.pronoun)
    assert not np.allclose(one.pronoun, one.reason)


def test_a_model_without_self_attention_is_refused() -> None:
    blind = SimpleNamespace(model=nn.GRU(2, 2))
    with pytest.raises(ConfigError, match="an encoder with self-attention"):
        pass_of(blind, unseen_sentences(1, 3, set())[0])  # type: ignore[arg-type]
