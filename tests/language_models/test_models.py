"""Which size of Transformer suits a corpus and a budget."""

import pytest

from headway.language_models.models import LADDER, choose
from headway.runs.task_spec import Sizes

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("tokens", "budget_s", "preset"),
    [
        (MILLION, None, "tiny"),
        (MILLION, 180.0, "tiny"),
        (MILLION, 45 * 60.0, "small"),
        (3 * MILLION, 45 * 60.0, "tiny"),  # `small` would see it under six times
        (MILLION // 10, 45 * 60.0, "tiny"),  # nor is it large enough for `small`
        (100 * MILLION, 24 * 3600.0, "small"),
    ],
)
def test_a_long_budget_makes_the_model_of_a_small_corpus_larger(tokens, budget_s, preset):
    assert choose(Sizes(tokens, tokens), budget_s, False, LADDER.names)[0] == preset


def test_what_is_not_allowed_is_not_chosen():
    sizes = Sizes(MILLION, MILLION)
    assert choose(sizes, 3600.0, False, ["tiny"])[0] == "tiny"
    assert choose(sizes, 3600.0, False, ["lstm"])[0] == "lstm"
