from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import Pair
from headway.core.dedup_split import text_hashes
from headway.corpora import many_pieces
from headway.corpora.many_pieces import blocks, clean_block, hashes
from headway.corpora.settings import NotedCleaning

side = st.text("ab ", max_size=6)
many_pairs = st.lists(
    st.builds(Pair, side, side, st.sampled_from("fg"), st.integers(1, 9), st.just(()))
)


@given(many_pairs, st.integers(1, 4), st.integers(1, 30))
def test_blocks_hold_all_pairs_and_few_at_a_time(
    given_pairs: list[Pair], most_pairs: int, characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_pieces, "PIECE_PAIRS", most_pairs)
        patch.setattr(many_pieces, "PIECE_CHARACTERS", characters)
        found = list(blocks(iter(given_pairs)))
    assert [pair for block in found for pair in block.pairs()] == given_pairs
    assert [block.number for block in found] == list(range(len(found)))
    for block in found:
        sizes = [len(pair.source) + len(pair.target) for pair in block.pairs()]
        assert len(sizes) <= most_pairs
        assert sum(sizes[:-1]) < characters


def test_a_piece_tells_all_about_its_clean_pairs(tmp_path: Path) -> None:
    given_pairs = [
        Pair(" ä ", "b", "f", 1),
        Pair("", "x", "f", 2),
        Pair("same", "same", "g", 7),
        Pair("\x00c", "dd", "f", 9),
    ]
    (block,) = blocks(given_pairs)
    found = clean_block(tmp_path, "train", NotedCleaning(), block)
    piece = found.piece
    assert piece.name == "train-00000"
    assert list(piece.pairs()) == [
        Pair("ä", "b", "f", 1), Pair("same", "same", "g", 7), Pair("c", "dd", "f", 9)
    ]  # fmt: skip
    rows = piece.rows()
    assert [piece.files[number] for number in rows["file"]] == ["f", "g", "f"]
    assert [(file, len(some)) for file, some in piece.rows_by_file()] == [
        ("f", 1), ("g", 1), ("f", 1)
    ]  # fmt: skip
    assert rows[["line", "source", "target", "copy", "kept"]].tolist() == [
        (1, 1, 1, False, True),
        (7, 4, 4, True, True),
        (9, 1, 2, False, True),
    ]
    assert hashes([piece]).source.tolist() == text_hashes(["ä", "same", "c"]).tolist()
    assert hashes([piece]).target.tolist() == text_hashes(["b", "same", "dd"]).tolist()
    assert found.report.dropped == {"blank_side": 1}
    assert found.report.mended == {"outer_space": 1, "nul": 1}
    assert found.report.read == 0
    assert not found.may_hold_codes
    assert clean_block(tmp_path, "train", NotedCleaning(), block) == found


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("a %s", "b %s", True), ("a %s", "b", False), ("a", "b", False)],
)
def test_codes_count_where_both_sides_may_hold_them(
    source: str, target: str, expected: bool, tmp_path: Path
) -> None:
    (block,) = blocks([Pair("c", "d", "f", 1), Pair(source, target, "f", 2)])
    found = clean_block(tmp_path, "train", NotedCleaning(), block)
    assert found.may_hold_codes == expected
