"""`benchmarks/gpu.py` measures here what it measures on a card, and counts what torch counts."""

import os
import subprocess
import sys
from pathlib import Path

import gpu
import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.core.embedding import project
from headway.core.errors import ConfigError
from headway.core.transformer import Transformer, TransformerConfig

FLAGS = "--device cpu --tiny --presets tiny --seconds 0.05 --backend eager --batch-tokens 1024"


def test_one_call_measures_everything_and_writes_the_tables(tmp_path):
    results = tmp_path / "results.md"
    results.write_text(f"before\n{gpu.BEGIN}\nnot yet measured\n{gpu.END}\nafter\n")
    script, source = Path(gpu.__file__), Path(gpu.__file__).parent.parent / "src"
    done = subprocess.run(
        [sys.executable, str(script), *FLAGS.split(), "--results", str(results)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    text = results.read_text()
    assert text.startswith(f"before\n{gpu.BEGIN}\n")
    assert text.endswith(f"{gpu.END}\nafter\n")
    assert "not yet measured" not in text
    ways = [way for way in gpu.VARIANTS if not way.replayed]  # that takes a GPU
    for way in ways:
        assert f"| {way.words()} " in text
    for search in ("greedy, 1", "greedy, 2", "beam 4, 1", "beam 4, 2"):
        assert f"| {search} " in text
    assert "Left out" not in text
    speeds = [
        float(line.split("|")[3].replace(",", ""))
        for line in text.splitlines()
        if line.startswith("| tiny")
    ]
    assert len(speeds) == len(ways) + 4
    assert min(speeds) > 0


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_operations_are_those_that_torch_counts_where_nothing_is_padded(activation):
    config = TransformerConfig(
        encoder_layers=3, decoder_layers=2, d_model=16, d_ff=24, heads=2, d_k=4, d_v=6,
        activation=activation, dropout=0.0,
    )  # fmt: skip
    with torch.device("meta"):
        model = Transformer(config, vocabulary_size=50)
        source, target = (torch.ones(5, n, dtype=torch.int64) for n in (7, 9))
    with FlopCounterMode(display=False) as counter:
        project(model.features(source, target), model.output_weight)
    counted = gpu.operations(config, 50, np.full(5, 7), np.full(5, 9))
    assert counted == 3 * counter.get_total_flops()


def test_of_names_that_begin_with_another_the_longer_is_looked_for_first():
    names = [*gpu.PEAKS]
    for n, name in enumerate(names):
        assert not [one for one in names[:n] if name.startswith(f"{one} ")]


def test_a_file_without_a_place_for_tables_is_refused(tmp_path):
    (tmp_path / "a.md").write_text("nothing\n")
    with pytest.raises(ConfigError, match="Put them where the table is to be"):
        gpu.put_into(tmp_path / "a.md", "table")
