"""Minimum Bayes risk: what is chosen is what brute force with sacreBLEU's chrF chooses."""

import math

import pytest
from sacrebleu.metrics.chrf import CHRF

from headway.core.errors import ConfigError
from headway.translation.minimum_bayes_risk import decide_by_mbr
from headway.translator import Translator

TEXTS = ["I love cats.", "The dog is tired.", "He sings.", "She reads a book.", "We go home now."]

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def translator(everyday_run):
    return Translator.load(everyday_run, device="cpu")


def candidates(translator, n, **how):
    """Texts and log-probabilities as search finds them, without anything that chooses."""
    settings = translator.decoding({"n_best": n, **how})
    request = translator.plain.request(settings)
    ids = translator.subwords.encode_batch(TEXTS)
    found = translator.search(translator.model, ids, request)
    return [
        [(translator.subwords.decode_batch([one.ids])[0], one.log_prob) for one in each]
        for each in found
    ]


def chosen_by_hand(found, by_probability):
    """Of ties the first; sums over every candidate as the reference."""
    metric = CHRF()
    weights = [math.exp(log_prob) ** 0.5 if by_probability else 1.0 for _, log_prob in found]
    utilities = [
        sum(
            weight * metric.sentence_score(text, [other]).score
            for weight, (other, _) in zip(weights, found, strict=True)
        )
        / sum(weights)
        for text, _ in found
    ]
    best = max(utilities)
    return {text for (text, _), one in zip(found, utilities, strict=True) if one > best - 1e-9}


@pytest.mark.parametrize(
    "how", [{"method": "beam", "beam": 12}, {"method": "sampling", "seed": 3, "temperature": 1.5}]
)
def test_the_choice_is_that_of_brute_force(everyday_run, translator, how):
    found = candidates(translator, 12, **how)
    assert any(len({text for text, _ in each}) > 3 for each in found)
    decided = Translator.load(everyday_run, device="cpu")
    decide_by_mbr(decided.plain, 12)
    written = decided.translate(TEXTS, **how)
    expected = [chosen_by_hand(each, how["method"] == "beam") for each in found]
    assert all(text in wanted for text, wanted in zip(written, expected, strict=True))
    assert written != [each[0][0] for each in found]  # it is not what search alone would choose


def test_scores_stay_the_models_and_there_are_as_many_as_were_asked_for(everyday_run, translator):
    decided = Translator.load(everyday_run, device="cpu")
    decide_by_mbr(decided.plain, 8)
    searched = candidates(translator, 8, beam=8)
    for n in (1, 3):
        for one, each in zip(
            decided.translate_fully(TEXTS, beam=5, n_best=n), searched, strict=True
        ):
            assert len(one.n_best) == n
            known = dict(each)
            for alternative in one.n_best:
                log_prob = sum(alternative.token_log_probs)
                assert log_prob == pytest.approx(known[alternative.target], abs=1e-3)


def test_greedy_search_has_no_candidates(everyday_run):
    decided = Translator.load(everyday_run, device="cpu")
    decide_by_mbr(decided.plain, 8)
    with pytest.raises(ConfigError, match="--method beam or --method sampling"):
        decided.translate(TEXTS, method="greedy")


@pytest.mark.parametrize("n", [1, 201])
def test_a_number_of_candidates_that_is_none_is_refused(translator, n):
    with pytest.raises(ConfigError, match="2 to 200"):
        decide_by_mbr(translator.plain, n)


def test_a_blank_text_stays_blank(everyday_run):
    decided = Translator.load(everyday_run, device="cpu")
    decide_by_mbr(decided.plain, 4)
    assert decided.translate(["", "I love cats.", " "])[::2] == ["", ""]
