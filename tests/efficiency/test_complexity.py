"""`headway complexity`: fits, crossings and what is written of them."""

import json
import math

import pytest
import torch

from headway.cli import main
from headway.efficiency.complexity import crossing, exponent
from headway.efficiency.timing import peak_bytes, timed


def points(layer, curve, lengths=(64, 128, 256, 512)):
    return [{"layer": layer, "n": n, "cpu_s": curve(n)} for n in lengths]


def test_an_exponent_is_the_slope_over_the_largest_sizes():
    assert exponent(points("a", lambda n: 3e-6 * n**2), "n") == pytest.approx(2)
    crooked = [*points("a", lambda n: 1.0, (2, 4)), *points("a", lambda n: n**1.5)]
    assert exponent(crooked, "n") == pytest.approx(1.5)
    assert exponent(points("a", lambda n: n, (64,)), "n") is None


def test_a_crossing_lies_between_the_lengths():
    square, straight = points("a", lambda n: n * n), points("b", lambda n: 200 * n)
    assert crossing(square + straight, "a", "b", "cpu_s") == pytest.approx(200)
    assert crossing(square + straight, "b", "a", "cpu_s") is None


def test_the_peak_is_what_is_held_at_once():
    def run():
        first = torch.ones(1000)
        second = torch.ones(500)
        del first, second
        return torch.ones(600)

    assert 6000 <= peak_bytes(run) < 6500


def test_what_is_over_at_once_is_timed_many_times():
    runs = []
    timing = timed(lambda: runs.append(1), enough_s=0.0, least=3)
    assert timing.runs == 3
    assert len(runs) > 100
    assert timing.wall_s > 0


def test_the_whole_command(capsys, tmp_path):
    page = tmp_path / "report.html"
    given = ["complexity", "--d", "8", "--n", "4..8", "--r", "2", "--runtime.threads", "1"]
    chosen = ["--layers", "attention,windowed,rnn,convolution"]
    assert main([*given, *chosen, "--json", "--page", str(page), "--backward"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["layer"] for row in found["layers"]] == chosen[1].split(",")
    attention = found["layers"][0]
    assert attention["in_n"]["operations"] == pytest.approx(2)
    assert all(point["peak_bytes"] > 0 for point in found["over_n"])
    assert math.isclose(found["crossings"]["rnn"]["operations"] or 8, 8, rel_tol=0.1)
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 5
    assert "script" not in html
    assert main([*given, "--layers", "attention,rnn"]) == 0
    shown = capsys.readouterr().out
    assert "O(n^2 d)" in shown
    assert "one more token with a cache" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--n", "many"], "16..4096"),
        (["--k", "4"], "--k is odd"),
        (["--k", "999999"], "--k is odd, from 3 to"),
        (["--page", "no/such/folder/page.html"], "--page is written into a folder that is there"),
        (["--page", "."], "--page names a file"),
        (["--d", "100"], "Try 128"),
        (["--layers", "attention,mamba"], "mamba"),
    ],
)
def test_what_cannot_be_measured_is_refused(capsys, arguments, told):
    assert main(["complexity", *arguments]) == 2
    assert told in capsys.readouterr().err
