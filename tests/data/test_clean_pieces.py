from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data import clean_pieces
from headway.data.clean_pieces import PieceCleaner, blocks
from headway.data.repeats import read_run, text_hashes
from headway.text.cleaning import CleaningSettings, Pair

side = st.text("ab ", max_size=6)
pairs = st.lists(st.builds(Pair, side, side, st.sampled_from("fg"), st.integers(1, 9)))


@given(pairs, st.integers(1, 4), st.integers(1, 30))
def test_blocks_hold_all_pairs_and_few_at_a_time(
    given_pairs: list[Pair], most_pairs: int, characters: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean_pieces, "PIECE_PAIRS", most_pairs)
        patch.setattr(clean_pieces, "PIECE_CHARACTERS", characters)
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
    clean = PieceCleaner(tmp_path, CleaningSettings())
    piece = clean(block)
    assert piece.lines() == ["ä\tb\n".encode(), b"same\tsame\n", b"c\tdd\n"]
    rows = piece.rows()
    assert [piece.files[number] for number in rows["file"]] == ["f", "g", "f"]
    assert rows[["line", "source", "target", "copy"]].tolist() == [
        (1, 1, 1, False),
        (7, 4, 4, True),
        (9, 1, 2, False),
    ]
    assert (read_run(piece.hashes("source")) == text_hashes(["ä", "same", "c"])).all()
    assert piece.report.dropped == {"blank_side": 1}
    assert piece.report.mended == {"outer_space": 1, "nul": 1}
    assert piece.report.read == 0
    assert clean(block) == piece
