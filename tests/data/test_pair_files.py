from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data.pair_files import PairWriter, read_pair_file, remove_pair_file
from headway.text.cleaning import Pair, clean

side = st.text(st.characters(exclude_categories=["Cs"])).map(clean)
pairs = st.builds(Pair, side, side, st.sampled_from(["a", "b", "ü/c"]), st.integers(1, 2**40 - 1))


@given(st.lists(pairs))
def test_clean_pairs_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, written: list[Pair]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    files: list[str] = ["elsewhere"]
    with PairWriter(folder, "some", files) as writer:
        for pair in written:
            writer.write(pair)
    assert writer.n_written == len(written)
    assert list(read_pair_file(folder, "some", files)) == written


def test_both_files_are_removed(tmp_path: Path) -> None:
    with PairWriter(tmp_path, "some", []):
        pass
    remove_pair_file(tmp_path, "some")
    assert list(tmp_path.iterdir()) == []
