"""On a GPU pairs are packed where they can be, and nobody said otherwise."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import small_pairs
import torch

from headway.core.dataset import PairsSettings
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.runs.on_gpu import fit_rows
from headway.runs.settings import Settings
from headway.runs.task_spec import Run
from headway.translation.length_limits import longest_of, refuse_too_long
from headway.translation.pairs import Pairs
from headway.translation.spec import SPEC, build

CPU = Runtime(torch.device("cpu"), torch.float32, 1, "")


def fitted(longest: int = 0, **given: Any) -> tuple[int, list[str]]:
    """The length of rows, and what was said."""
    prepared, said = small_pairs.prepared(), list[str]()
    prepared.train.lengths["source"][0] += longest
    settings = Settings.of(given, SPEC)
    run = Run(SPEC, RunFolder(Path()), settings, Pairs(prepared), CPU, said.append, given)
    training: Any = fit_rows(run, settings.training)
    if training.pack_length:
        assert training.pack_length >= longest_of(prepared)
        refuse_too_long(replace(settings, training=training), prepared, build)
    return training.pack_length, said


def test_rows_are_the_shortest_usual_ones_that_hold_any_pair():
    assert fitted(training={"batch_tokens": 2048})[0] == 128
    assert fitted(longest=130, training={"batch_tokens": 2048})[0] == 264
    assert fitted(longest=1000)[0] == 0
    assert fitted(longest=130, training={"batch_tokens": 200})[0] == 0


def test_what_the_usual_longest_pair_needs_is_among_them():
    assert PairsSettings().max_length + 1 in range(129, 265)


def test_it_is_said():
    (said,) = fitted(training={"batch_tokens": 2048})[1]
    assert "rows of 128 tokens" in said
    assert "--training.pack-length 0" in said


@pytest.mark.parametrize(
    "given",
    [
        {"training": {"pack_length": 0}},
        {"model": {"type": "recurrent"}},
        {"model": {"type": "transformer", "window": 4}},
        {"training": {"init_from": "runs/old"}},
        {"training": {"freeze": ("encoder",)}},
    ],
)
def test_they_are_left_padded_where_that_was_chosen_or_rows_cannot_be(given):
    assert fitted(**given) == (0, [])
