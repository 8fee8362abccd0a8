from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.cleaning import Pair
from headway.corpora.encoding import StorePiece, join_stores
from headway.corpora.store import SideEncoder, Store, write_store

SPELLED = SideEncoder(lambda texts: [list(text.encode()) for text in texts], 256, unknown=0)
side = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def _written(pairs: list[Pair], directory: Path) -> Store:
    return write_store(
        pairs,
        directory,
        {"source": SPELLED, "target": SPELLED},
        texts=lambda pair: pair[:2],
        file_of=lambda pair: pair.file,
        files=["a", "b"],
        max_length=9,
    )


@settings(max_examples=20)
@given(st.lists(st.lists(st.tuples(side, side, st.sampled_from("ab")), max_size=5), min_size=1))
def test_joined_stores_equal_one_that_is_written_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[tuple[str, str, str]]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    pieces, everything = [], []
    for number, some in enumerate(texts):
        pairs = [Pair(source, target, file, 1) for source, target, file in some]
        piece = _written(pairs, folder / f"{number}")
        pieces.append(StorePiece(piece.directory, len(everything), piece.content))
        everything += pairs
    whole = _written(everything, folder / "whole")
    joined = join_stores(pieces, folder / "joined", {})
    assert joined.content == whole.content
    for name in ("rows", "file_numbers", "source.ids", "source.offsets", "target.lengths"):
        assert (folder / "joined" / name).read_bytes() == (folder / "whole" / name).read_bytes()
