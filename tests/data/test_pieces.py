from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data import pieces
from headway.data.pieces import blocks, clean_block, text_hashes, write_piece
from headway.text.cleaning import CleaningSettings, Pair, clean

side = st.text("ab ", max_size=6)
many_pairs = st.lists(st.builds(Pair, side, side, st.sampled_from("fg"), st.integers(1, 9)))


@given(many_pairs, st.integers(1, 4), st.integers(1, 30))
def test_blocks_hold_all_pairs_and_few_at_a_time(
    given_pairs: list[Pair], most_pairs: int, characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_PAIRS", most_pairs)
        patch.setattr(pieces, "PIECE_CHARACTERS", characters)
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
    found = clean_block(tmp_path, "train", CleaningSettings(), block)
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
    assert piece.hashes().source.tolist() == text_hashes(["ä", "same", "c"]).tolist()
    assert piece.hashes().target.tolist() == text_hashes(["b", "same", "dd"]).tolist()
    assert found.report.dropped == {"blank_side": 1}
    assert found.report.mended == {"outer_space": 1, "nul": 1}
    assert found.report.read == 0
    assert not found.may_hold_codes
    assert clean_block(tmp_path, "train", CleaningSettings(), block) == found


clean_side = st.text(st.characters(exclude_categories=["Cs"])).map(clean)
clean_pairs = st.builds(
    Pair, clean_side, clean_side, st.sampled_from(["a", "b", "ü/c"]), st.integers(1, 2**40)
)


@given(st.lists(st.tuples(clean_pairs, st.booleans())))
def test_clean_pairs_come_back_as_they_were_and_those_that_are_not_used_do_not(
    tmp_path_factory: pytest.TempPathFactory, given_pairs: list[tuple[Pair, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "other").mkdir()
    everything = [pair for pair, _ in given_pairs]
    piece = write_piece(folder, "some", everything)
    assert list(piece.pairs()) == everything
    kept = np.array([is_kept for _, is_kept in given_pairs], np.bool_)
    moved = piece.moved(folder / "other", kept)
    expected = [pair for pair, is_kept in given_pairs if is_kept]
    assert list(moved.pairs()) == expected
    assert list(moved.sides()) == [text for pair in expected for text in pair[:2]]
    assert (moved.n_rows, moved.n_kept) == (len(everything), len(expected))
    assert list(moved.pairs(~kept)) == [pair for pair, is_kept in given_pairs if not is_kept]
    assert list(piece.pairs()) == everything


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("a %s", "b %s", True), ("a %s", "b", False), ("a", "b", False)],
)
def test_codes_count_where_both_sides_may_hold_them(
    source: str, target: str, expected: bool, tmp_path: Path
) -> None:
    (block,) = blocks([Pair("c", "d", "f", 1), Pair(source, target, "f", 2)])
    found = clean_block(tmp_path, "train", CleaningSettings(), block)
    assert found.may_hold_codes == expected
