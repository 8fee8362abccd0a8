"""chrF of each text with each is what sacreBLEU says of the two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from headway.translation.minimum_bayes_risk import pairwise_chrf

TEXTS = [
    "Ein Mann fährt Fahrrad.", "Ein Mann fährt ein Fahrrad .", "Zwei  Hunde\tlaufen", "Hund", "",
    "一个男人骑自行车。", "男人在骑车。", "a", "aaaaaaaaaa", "Ein Mann fährt Fahrrad.",
]  # fmt: skip


def by_sacrebleu(texts):
    metric = CHRF()
    return [[metric.sentence_score(one, [other]).score for other in texts] for one in texts]


def test_real_and_odd_texts():
    np.testing.assert_allclose(pairwise_chrf(TEXTS), by_sacrebleu(TEXTS), atol=1e-9)


@given(st.lists(st.text("ab \u4e00é", max_size=12), min_size=1, max_size=5))
def test_any_texts(texts):
    assert pairwise_chrf(texts) == pytest.approx(np.array(by_sacrebleu(texts)), abs=1e-9)
