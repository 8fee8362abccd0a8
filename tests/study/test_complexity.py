"""`headway complexity`: fits and what is written of them."""

import json

import pytest
import torch

from headway.cli import main
from headway.commands import complexity as command
from headway.core import runtime
from headway.study import complexity
from headway.study.complexity import Sweep, exponent, longest_of_all
from headway.study.complexity_report import lines
from headway.study.layer_types import LAYER_TYPES, PathLength
from headway.study.measuring import peak_bytes, repeated


def points(layer, curve, lengths=(64, 128, 256, 512)):
    return [{"layer": layer, "n": n, "cpu_s": curve(n)} for n in lengths]


def test_an_exponent_is_the_slope_over_the_largest_sizes():
    assert exponent(points("a", lambda n: 3e-6 * n**2), "n", "cpu_s") == pytest.approx(2)
    crooked = [*points("a", lambda n: 1.0, (2, 4)), *points("a", lambda n: n**1.5)]
    assert exponent(crooked, "n", "cpu_s") == pytest.approx(1.5)
    assert exponent(points("a", lambda n: n, (64,)), "n", "cpu_s") is None


def test_a_time_that_the_clock_did_not_see_is_left_out():
    crooked = points("a", lambda n: 0.0 if n < 256 else n), points("b", lambda n: 0.0)
    assert exponent(crooked[0], "n", "cpu_s") == pytest.approx(1)
    assert exponent(crooked[1], "n", "cpu_s") is None


def test_on_a_gpu_the_time_on_the_clock_is_read():
    sweep = Sweep([16], [64], 16, 64, PathLength(), ["rnn"])
    assert sweep.clock == "cpu_s"
    assert sweep._replace(device="cuda").clock == "wall_s"


@pytest.mark.usefixtures("without_a_gpu")
def test_the_peak_is_what_is_held_at_once():
    def run():
        first = torch.ones(1000)
        second = torch.ones(500)
        del first, second
        return torch.ones(600)

    assert 6000 <= peak_bytes(run) < 6500


def test_what_is_over_at_once_is_timed_many_times():
    runs = []
    timing = repeated(lambda: runs.append(1), enough_s=0.0, least=3)
    assert timing.runs == 3
    assert len(runs) > 100
    assert timing.wall_s > 0


def test_the_whole_command(capsys, tmp_path):
    page = tmp_path / "report.html"
    given = ["complexity", "--d", "8", "--n", "4..8", "--r", "2", "--runtime.threads", "1"]
    chosen = ["--layers", "attention,windowed,rnn,convolution,dilated"]
    assert main([*given, *chosen, "--json", "--page", str(page), "--backward"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["layer"] for row in found["layers"]] == chosen[1].split(",")
    attention = found["layers"][0]
    assert attention["in_n"]["operations"] == pytest.approx(2)
    assert all(point["peak_bytes"] > 0 for point in found["over_n"])
    assert found["layers"][1]["longest_path"] == 4
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 4
    assert "script" not in html
    assert main([*given, "--layers", "attention,rnn"]) == 0
    shown = capsys.readouterr().out
    assert "O(n^2 d)" in shown


def test_paths_and_dilation_are_of_the_longest_text_that_every_layer_was_measured_on(monkeypatch):
    over_n = points("attention", float, (64, 128)) + points("dilated", float, (64, 128, 256))
    assert longest_of_all(over_n) == 128
    monkeypatch.setattr(complexity, "MOST_S", 0.0)  # so that every layer ends at its first length
    reach = PathLength(3, 2)
    sweep = Sweep([4, 64], [8], 4, 8, reach, ["rnn", "dilated"])
    found = complexity.measured(sweep, lambda _: None)
    paths = {row["layer"]: row["longest_path"] for row in found["layers"]}
    assert paths == {name: LAYER_TYPES[name].longest(4, reach) for name in ("rnn", "dilated")}
    shown = "\n".join(lines(found))
    assert "at n = 4 of inputs" in shown
    assert "at n = 64" not in shown


def test_why_an_exponent_is_missing_or_not_that_of_theory_is_said(capsys):
    given = ["complexity", "--d", "8", "--layers", "windowed", "--runtime.threads", "1", "--n"]
    assert main([*given, "4..16", "--r", "8"]) == 0  # 17 positions: all
    shown = capsys.readouterr().out
    assert "over d: no exponent, of one size (d = 64)" in shown
    assert "with r = 8 it sees 17 positions, which is all of up to n = 16" in shown
    assert main([*given, "4", "--r", "1"]) == 0
    shown = capsys.readouterr().out
    assert "over n: no exponent, of one size (n = 4)" in shown
    assert "full attention" not in shown


def test_a_layer_that_is_named_twice_is_measured_once(capsys):
    given = ["complexity", "--d", "8", "--n", "8", "--layers", "rnn, rnn", "--json"]
    assert main([*given, "--runtime.threads", "1", "--runtime.device", "cpu"]) == 0
    assert [row["layer"] for row in json.loads(capsys.readouterr().out)["layers"]] == ["rnn"]


@pytest.mark.usefixtures("torch_settings_restored")
def test_a_gpu_is_measured_where_there_is_one_and_without_tf32(monkeypatch, capsys):
    swept = []
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    monkeypatch.setattr(runtime, "chosen_device", lambda settings: torch.device("cuda"))
    monkeypatch.setattr(command, "with_bar", lambda sweep: swept.append(sweep) or {})
    assert main(["complexity", "--json", "--runtime.threads", "1"]) == 0
    assert swept[0].device == "cuda"
    assert torch.get_float32_matmul_precision() == "highest"
    assert not torch.backends.cudnn.allow_tf32


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--n", "many"], "16..4096"),
        (["--model.heads", "4"], "got --model.heads. Leave it out"),
        (
            ["--runtime.threads", "1", "--runtime.precision", "bf16"],
            "in float32; got --runtime.pre",
        ),
        (["--n", "128..16"], "Try 16..128."),
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
