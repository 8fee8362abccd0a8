"""Files of vectors; the oracle is the format's own library."""

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from headway.core.disk import DiskError
from headway.vectors.embedded_files import EmbeddedLine, write_embedded

LINES = [["an", "apple"], [], ["苹果", "naïve", "</s>"]]


@pytest.mark.parametrize("rest", [(3,), (2, 3), (1, 1)])
def test_the_formats_library_reads_what_is_written(tmp_path, rest):
    rng = np.random.default_rng(1)
    vectors = [rng.normal(size=(len(words), *rest)).astype("f4") for words in LINES]
    file = tmp_path / "v.safetensors"
    lines = map(EmbeddedLine, LINES, vectors)
    assert write_embedded(file, lines, ["embedding", "1"]) == 5
    found = load_file(file)
    assert found["vectors"].tobytes() == np.concatenate(vectors).tobytes()
    assert found["vectors"].shape == (5, *rest)
    assert found["offsets"].tolist() == [0, 2, 2, 5]
    assert bytes(found["tokens"]).decode().split() == ["an", "apple", "苹果", "naïve", "</s>"]
    with safe_open(file, "numpy") as opened:
        assert opened.metadata() == {"layers": "embedding, 1"}
        assert opened.get_slice("vectors")[2:5].tobytes() == vectors[2].tobytes()


def test_a_text_without_words_is_a_file_too(tmp_path):
    file = tmp_path / "v.safetensors"
    write_embedded(file, [EmbeddedLine([], np.zeros((0, 7), "f4"))] * 2, ["1"])
    assert load_file(file)["vectors"].shape == (0, 7)
    assert load_file(file)["offsets"].tolist() == [0, 0, 0]
    write_embedded(file, [], ["1"])
    assert load_file(file)["offsets"].tolist() == [0]


def test_what_was_there_stays_where_reading_ends_in_an_error(tmp_path):
    file = tmp_path / "v.safetensors"
    file.write_text("before")

    def lines():
        yield EmbeddedLine(["a"], np.ones((1, 2), "f4"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_embedded(file, lines(), ["1"])
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DiskError, match="choose another place"):
        write_embedded(tmp_path / "file" / "v", [], ["1"])
