from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data import pair_files
from headway.data.pair_files import PairWriter, Stretch, read_pair_file, read_sides
from headway.text.cleaning import Pair, clean

side = st.text(st.characters(exclude_categories=["Cs"])).map(clean)
pairs = st.builds(Pair, side, side, st.sampled_from(["a", "b", "ü/c"]), st.integers(1, 2**40 - 1))


@given(st.lists(st.lists(pairs), max_size=4), st.integers(1, 3), st.integers(1, 9))
def test_clean_pairs_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, written: list[list[Pair]], n_rows: int, n_bytes: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    files: list[str] = ["elsewhere"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_files, "_ROWS", n_rows)
        patch.setattr(pair_files, "_BYTES", n_bytes)
        with PairWriter(folder, "some", files) as writer:
            for some in written:
                writer.write(some)
        all_pairs = list(chain.from_iterable(written))
        assert list(read_pair_file(folder, "some", files)) == all_pairs
        assert list(read_sides(folder, "some")) == [text for pair in all_pairs for text in pair[:2]]
        for some, stretch in zip(written, writer.stretches, strict=True):
            assert list(read_pair_file(folder, "some", files, stretch)) == some


def test_a_stretch_may_begin_anywhere(tmp_path: Path) -> None:
    with PairWriter(tmp_path, "some", files := []) as writer:
        writer.write([Pair("ä", "b", "f", 1), Pair("c", "d", "f", 3), Pair("e", "f", "g", 2)])
    inner = Stretch(first=1, n_pairs=1, offset=len("ä\tb\n".encode()))
    assert list(read_pair_file(tmp_path, "some", files, inner)) == [Pair("c", "d", "f", 3)]
