import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import Pair, clean
from headway.corpora.many_pieces import moved
from headway.corpora.pieces import write_piece

clean_side = st.text(st.characters(exclude_categories=["Cs"])).map(clean)
clean_pairs = st.builds(
    Pair,
    clean_side,
    clean_side,
    st.sampled_from(["a", "b", "ü/c"]),
    st.integers(1, 2**40),
    st.just(()),
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
    other = moved(piece, folder / "other", kept)
    expected = [pair for pair, is_kept in given_pairs if is_kept]
    assert list(other.pairs()) == expected
    assert list(other.sides()) == [text for pair in expected for text in pair[:2]]
    assert (other.n_rows, other.n_kept) == (len(everything), len(expected))
    assert list(other.pairs(~kept)) == [pair for pair, is_kept in given_pairs if not is_kept]
    assert list(piece.pairs()) == everything
