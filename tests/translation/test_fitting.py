"""The preset follows the corpus, the budget and the machine."""

from types import SimpleNamespace

import numpy as np
import pytest

from headway.core.errors import ConfigError
from headway.corpora.prepared import Prepared
from headway.runs.settings import Settings
from headway.runs.task_spec import Sizes
from headway.tokenizers.words import Words
from headway.translation.length_limits import refuse_too_long
from headway.translation.spec import LADDER, SPEC, build


def test_the_preset_follows_what_is_distinct_however_often_it_is_seen():
    many_times = Sizes(distinct=400_000, per_pass=80_000_000)
    assert LADDER.choose(many_times, None, True, LADDER.names)[0] == "tiny"


@pytest.mark.parametrize(
    ("tokens", "budget_s", "on_gpu", "name"),
    [
        (400_000, None, False, "tiny"),
        (400_000, None, True, "tiny"),
        (10_000_000, None, False, "small"),
        (10_000_000, 600.0, False, "tiny"),  # too little time for a larger one
        (10_000_000, 86_400.0, False, "small"),
        (100_000_000, None, False, "small"),
        (100_000_000, None, True, "paper-base"),
        (100_000_000, 600.0, True, "paper-base"),
        (100_000_000, 7 * 86_400.0, False, "paper-base"),
    ],
)
def test_the_preset_follows_corpus_budget_and_machine(tokens, budget_s, on_gpu, name):
    found, reason = LADDER.choose(Sizes(tokens, tokens), budget_s, on_gpu, LADDER.names)
    assert found == name
    assert reason


def test_a_preset_that_does_not_go_with_the_settings_is_passed_over():
    few, many = Sizes(400_000, 400_000), Sizes(100_000_000, 100_000_000)
    assert LADDER.choose(many, None, True, ["tiny", "small"])[0] == "small"
    assert LADDER.choose(few, None, True, ["small", "paper-base"])[0] == "small"
    assert LADDER.choose(few, None, True, ["paper-base", "paper-big", "small"])[0] == "small"
    assert "does not go with" in LADDER.choose(few, None, True, ["paper-base"])[1]


def test_the_longest_side_and_its_marker_must_have_a_position():
    stores = [
        SimpleNamespace(lengths={side: np.array(lengths) for side, lengths in of.items()})
        for of in ({"source": [3, 4], "target": [5, 2]}, {"source": [7], "target": [1]})
    ]
    prepared = object.__new__(Prepared)  # all that is looked at
    vars(prepared).update(train=stores[0], valid=stores[1], subwords=Words([*"abcde"]))

    def check(max_length: int, **training: str) -> None:
        model = {"positions": "learned", "max_length": max_length, "d_model": 8, "heads": 1}
        refuse_too_long(Settings.of({"model": model, "training": training}, SPEC), prepared, build)

    check(8)
    with pytest.raises(
        ConfigError, match="got 7, .* 8 tokens.* Try --model.max-length 8, or --data"
    ):
        check(7)
    with pytest.raises(ConfigError, match=r"Try --data\.max-length 6\."):  # weights have a shape
        check(7, init_from="runs/general")
