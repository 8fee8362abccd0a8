"""Curves are what was logged: no value is made up, and thinning hides no spike."""

import json
import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from headway.core.run_folder import RunFolder
from headway.exchange.curves import Point, counts, curve, scores, speed, thinned


def line(step, time_s, tokens, **found):
    counted = {"source_tokens": tokens, "target_tokens": 2 * tokens}
    return {"step": step, "time_s": time_s, **counted, **found}


LOG = [
    line(20, 2.0, 100, loss=5.0, learning_rate=0.1, gradient_norm=1.5),
    line(40, 4.0, 220, loss=4.0, learning_rate=0.2, gradient_norm=2.5),
    line(40, 4.0, 220, valid_loss=3.5, bleu=7.25),
    line(60, 9.0, 300, loss=3.0, learning_rate=0.3, gradient_norm=0.5),
    line(80, 10.0, 400, loss=2.0, learning_rate=0.2, gradient_norm=0.25),
    line(80, 10.0, 400, valid_loss=2.5, bleu=11.0),
]


def test_a_curve_has_the_logged_values_over_updates_tokens_and_time():
    assert curve(LOG, "bleu") == [Point(40, 660, 4.0, 7.25), Point(80, 1200, 10.0, 11.0)]
    assert [point.value for point in curve(LOG, "gradient_norm")] == [1.5, 2.5, 0.5, 0.25]
    assert curve(LOG, "perplexity") == []
    assert scores(LOG) == ["bleu"]
    assert counts(LOG) == {"source_tokens": 400, "target_tokens": 800}
    assert counts([]) == {}


def test_speed_is_tokens_by_seconds_without_the_time_of_validations():
    assert speed(LOG) == [
        Point(20, 300, 2.0, 150.0),  # 300 tokens in the first two seconds
        Point(40, 660, 4.0, 180.0),
        Point(80, 1200, 10.0, 300.0),  # and nothing of the five seconds with a validation
    ]


def test_where_every_stretch_holds_a_validation_the_speed_is_with_them():
    log = [line(1, 1.0, 10, loss=1.0), line(1, 1.0, 10, valid_loss=1.0, bleu=0.0)]
    log = [line(0, 0.0, 0, valid_loss=1.0, bleu=0.0), *log]
    assert speed(log) == [Point(1, 30, 1.0, 30.0)]


def test_what_cannot_be_drawn_is_left_out():
    bad = [
        line(20, 2.0, 1, loss=math.nan), line(40, math.inf, 1, loss=1.0),
        line(60, "6", 1, loss=1.0), {"step": 80, "loss": 1.0},
        line(100, 8.0, 10**400, loss=1.0), line(120, 9.0, 1, loss="low"),
    ]  # fmt: skip
    good = line(140, 10.0, 5, loss=0.5)
    assert curve([*bad, good], "loss") == [Point(140, 15, 10.0, 0.5)]


def test_a_line_that_is_being_written_is_not_there_yet(tmp_path):
    folder = RunFolder(tmp_path)
    for one in LOG:
        folder.log(one)
    text = json.dumps(line(100, 11.0, 500, loss=1.5))
    for n_written in range(len(text)):
        with folder.metrics.open("a") as file:
            file.write(text[n_written])
        seen = curve(folder.read_log(), "loss")
        assert len(seen) == (5 if n_written == len(text) - 1 else 4)


points = st.lists(st.floats(-1e6, 1e6), max_size=300).map(
    lambda values: [Point(i, 10 * i, float(i), value) for i, value in enumerate(values)]
)


@given(points, st.integers(4, 40))
def test_thinning_keeps_the_order_the_ends_and_every_extreme(all_points, most):
    kept = thinned(all_points, most)
    assert len(kept) <= most
    assert len(kept) == len(all_points) or len(all_points) > most
    assert kept == [point for point in all_points if point in set(kept)]
    if all_points:
        assert (kept[0], kept[-1]) == (all_points[0], all_points[-1])
        for extreme in (min, max):
            value = extreme(point.value for point in all_points)
            assert extreme(point.value for point in kept) == value


def test_a_spike_in_thousands_of_points_is_still_seen():
    values = [1.0 + 0.001 * (i % 7) for i in range(5000)]
    values[3217] = 50.0
    values[3218] = 0.1
    kept = thinned([Point(i, i, float(i), value) for i, value in enumerate(values)], 1000)
    assert len(kept) <= 1000
    assert {50.0, 0.1} <= {point.value for point in kept}
    assert max(b.updates - a.updates for a, b in pairwise(kept)) < 25
