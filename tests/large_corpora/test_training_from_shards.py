"""What training reads of a folder of shards."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shard_cases import ids, in_shards, written

from headway.api import train
from headway.core.batching import TokenBatches
from headway.core.errors import ConfigError, DataError
from headway.corpora.cache_place import silent
from headway.corpora.sharded import open_shards
from headway.translation.pairs import TranslationData


def test_each_row_comes_once_in_a_pass_in_an_order_of_seed_and_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.corpora.sharded.BLOCK_ROWS", 16)
    monkeypatch.setattr("headway.corpora.sharded.GROUP_ROWS", 100)
    data = TranslationData(pairs=written(tmp_path, 3, 300), workers=1)
    found = in_shards(tmp_path / "shards", data)
    rounds = found.rounds
    lengths = [np.array([len(row[place]) for row in ids(found.train)]) for place in (0, 1)]
    assert rounds.n_groups > 4

    def batches(seed: int, number: int) -> list[list[list[int]]]:
        of = TokenBatches(
            list(found.train.lengths.values()), batch_tokens=60, seed=seed, rounds=rounds
        )
        groups = range(number * rounds.n_groups, (number + 1) * rounds.n_groups)
        return [[batch.tolist() for batch in of.epoch(group)] for group in groups]

    for number in range(2):
        one = batches(1, number)
        rows = [row for group in one for batch in group for row in batch]
        assert sorted(rows) == list(range(len(found.train)))
        assert one == batches(1, number)
        for group in one:
            assert sum(map(len, group)) <= 100 + 3 * 16  # what is sorted at once
            for batch in group:
                widest = max(int(side[batch].max()) for side in lengths) + 1
                assert len(batch) * widest <= 60 or len(batch) == 1
    assert batches(1, 0) != batches(1, 1)
    assert batches(1, 0) != batches(2, 0)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    folder = tmp_path_factory.mktemp("finished")
    files = written(folder, 2, 300)
    in_shards(folder / "shards", TranslationData(pairs=files, workers=1))
    return folder, files


def test_a_run_from_shards_has_the_weights_of_one_from_the_files_and_resumes(
    finished: tuple[Path, tuple[str, ...]], tmp_path: Path
) -> None:
    folder, files = finished
    settings = {
        "text": {"vocabulary_size": 400},
        "model": {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1},
        "training": {"max_steps": 6, "checkpoint_every": 3, "batch_tokens": 200},
        "decoding": {"length_penalty": 1.0},
        "runtime": {"threads": 1, "device": "cpu"},
    }
    train(out=tmp_path / "files", pairs=list(files), settings=settings, say=silent)
    settings["text"] = {}
    given: dict[str, Any] = {"prepared": folder / "shards", "say": silent}
    train(out=tmp_path / "shards", settings=settings, **given)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("files", "shards")]
    assert weights[0] == weights[1]
    told = [json.loads((tmp_path / name / "data.json").read_text()) for name in ("files", "shards")]
    assert told[0]["train"]["dropped"] == told[1]["train"]["dropped"]
    assert [*told[1]["prepared_from"]] == [str(Path(file).absolute()) for file in files]
    train(out=tmp_path / "shards", resume=True, **given)  # finished: nothing to do


def test_what_was_settled_when_shards_were_made_is_not_set_again(
    finished: tuple[Path, tuple[str, ...]], tmp_path: Path
) -> None:
    folder, _ = finished
    for settings, rule in (
        ({"data": {"max_length": 9}}, "max_length was settled when .*: 256; got 9"),
        ({"text": {"vocabulary_size": 77}}, "vocabulary_size was settled"),
        ({"data": {"source": ["a.en"]}}, "source was settled"),
    ):
        with pytest.raises(ConfigError, match=rule):
            train(out=tmp_path / "r", prepared=folder / "shards", settings=settings, say=silent)


def test_a_folder_that_is_not_finished_or_damaged_is_refused(
    finished: tuple[Path, tuple[str, ...]], tmp_path: Path
) -> None:
    folder, _ = finished
    with pytest.raises(DataError, match="there is no prepared.json in it"):
        open_shards(tmp_path)
    shutil.copytree(folder / "shards", tmp_path / "copy")
    open_shards(tmp_path / "copy")
    ids_file = tmp_path / "copy" / "train-00001" / "target.ids"
    content = bytearray(ids_file.read_bytes())
    content[7] ^= 1
    ids_file.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        open_shards(tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "train-00001")
    shutil.copytree(folder / "shards" / "train-00000", tmp_path / "copy" / "train-00001")
    with pytest.raises(DataError, match="not the shard that was made with the others"):
        open_shards(tmp_path / "copy")
