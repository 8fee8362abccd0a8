"""N-grams of every order are counted right, however many windows are sorted at a time."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from counted import BEGIN, END, adjusted, all_grams, counts_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.language_models import ngram_counting
from headway.language_models.ngram_counting import NgramCounts
from headway.language_models.ngram_windows import MOST_ROWS, Packing

A, B, C = 4, 5, 6


def table(counts: NgramCounts, order: int) -> dict[tuple[int, ...], int]:
    """The n-grams of an order as words, with their counts."""
    size = counts.counting.vocabulary_size
    names = [(word,) for word in range(size)]
    numbers = counts.counts(1)
    for n in range(2, order + 1):
        keys, numbers = counts.keys(n), counts.counts(n)
        assert (np.diff(keys) > 0).all()
        assert len(keys) == counts.n_grams[n - 1]
        names = [(*names[key // size], int(key % size)) for key in keys]
    return {name: int(n) for name, n in zip(names, numbers, strict=True) if n}


THREE = [[A, B], [A, B, C], [B]]  # "a b", "a b c", "b"


def test_counts_of_three_sentences_by_hand(tmp_path: Path):
    counts = counts_of(THREE, 3, 7, tmp_path / "counts")
    assert table(counts, 1) == {(BEGIN,): 3, (END,): 3, (A,): 2, (B,): 3, (C,): 1}
    assert table(counts, 2) == {
        (BEGIN, A): 2, (BEGIN, B): 1, (A, B): 2, (B, C): 1, (B, END): 2, (C, END): 1,
    }  # fmt: skip
    assert table(counts, 3) == {
        (BEGIN, A, B): 2, (BEGIN, B, END): 1, (A, B, END): 1, (A, B, C): 1, (B, C, END): 1,
    }  # fmt: skip
    assert counts.n_tokens == 6 + 3
    assert counts.n_grams == (7, 6, 5)


def test_contexts_are_counted_by_hand_but_at_the_beginning_of_a_line(tmp_path: Path):
    counts = counts_of(THREE, 3, 7, tmp_path / "counts", continuations=True)
    # b stands after <s> and a; </s> after b and c. <s> stands after nothing: it came three times.
    assert table(counts, 1) == {(BEGIN,): 3, (END,): 2, (A,): 1, (B,): 2, (C,): 1}
    assert table(counts, 2) == {
        (BEGIN, A): 2, (BEGIN, B): 1, (A, B): 1, (B, C): 1, (B, END): 2, (C, END): 1,
    }  # fmt: skip
    assert table(counts, 3) == table(counts_of(THREE, 3, 7, tmp_path / "plain"), 3)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.lists(st.integers(4, 9), max_size=7), min_size=1, max_size=12),
    order=st.integers(1, 6),
    scale=st.sampled_from([1, 7001]),  # packed in one column, or in several
    at_once=st.sampled_from([5, 17, 1 << 22]),
    continuations=st.booleans(),
)
def test_windows_sorted_however_many_at_a_time_give_the_counts_of_brute_force(
    rows, order, scale, at_once, continuations, tmp_path, monkeypatch
):
    monkeypatch.setattr(ngram_counting, "AT_ONCE", at_once)
    rows = [[word * scale for word in row] for row in rows]
    expected = all_grams(rows, order)
    folder = tmp_path / "counts"
    shutil.rmtree(folder, ignore_errors=True)
    counts = counts_of(rows, order, 70_000, folder, continuations=continuations)
    for n, of_order in enumerate(adjusted(expected) if continuations else expected, start=1):
        assert table(counts, n) == dict(of_order)


def test_damaged_counts_are_refused(tmp_path: Path):
    counts_of(THREE, 2, 7, tmp_path / "counts")
    file = tmp_path / "counts" / "keys.2"
    file.write_bytes(file.read_bytes()[:-1] + b"\1")
    with pytest.raises(DataError, match="damaged"):
        NgramCounts(tmp_path / "counts")


@pytest.mark.parametrize(("length", "size"), [(3, 7), (5, 33_000), (5, 1 << 22), (20, 300)])
def test_windows_sort_as_their_words_do_and_can_be_read_back(length: int, size: int):
    random = np.random.default_rng(1)
    words = [random.integers(0, min(size, 50), 200).astype(np.uint32) for _ in range(length)]
    words[-1][:] = random.integers(0, size, 200)
    packing = Packing.of(length, size)
    assert packing.length == length
    assert all(width * packing.bits + MOST_ROWS.bit_length() <= 64 for width in packing.widths[1:])
    columns = packing.pack(words)
    for read, word in zip(packing.words(columns), words, strict=True):
        assert (read == word).all()
    order, numbers = packing.order(columns)
    rows = list(zip(*(word.tolist() for word in words), strict=True))
    assert [rows[i] for i in order] == sorted(rows)
    assert numbers[-1] + 1 == len(set(rows))
