"""The quick searches give what comparing with every row gives; the oracle is float64."""

from functools import cached_property

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headway.vectors import nearest
from headway.vectors.nearest import SPARE_BYTES, ByteSearch, RoundedRows, rounded, search_library
from headway.vectors.word_vectors import WordVectors, unit


class BytesFirst(WordVectors):
    """Searched as a mapped file is."""

    @cached_property
    def _search(self):
        rows = rounded(unit(self.matrix))
        behind = np.full(SPARE_BYTES, 99, np.int8)
        together = np.concatenate([rows.units.ravel(), behind])
        units = together[: self.matrix.size].reshape(self.matrix.shape)
        return ByteSearch(search_library(), RoundedRows(units, rows.steps, rows.errors))

    def _candidates(self, queries, wanted):
        return [self._search.candidates(query, wanted) for query in queries]


KINDS = [WordVectors, BytesFirst]
FEW = st.integers(-2, 2).map(float)  # so that vectors are equal, opposite, zero
MANY = st.floats(-(2.0**60), 2.0**60, width=32)
SHAPES = st.tuples(st.integers(1, 12), st.integers(1, 70))
MATRICES = st.one_of(arrays(np.float32, SHAPES, elements=one) for one in (FEW, MANY))


def vectors(matrix: np.ndarray, kind: type[WordVectors] = WordVectors) -> WordVectors:
    return kind([f"w{i}" for i in range(len(matrix))], matrix)


def all_cosines(matrix: np.ndarray, query: np.ndarray) -> np.ndarray:
    """With every row, by definition."""
    rows, other = matrix.astype(np.float64), query.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(other)
    return np.divide(rows @ other, lengths, out=np.zeros(len(rows)), where=lengths > 0)


@pytest.mark.parametrize("kind", KINDS)
@given(matrix=MATRICES, top=st.integers(0, 15), data=st.data())
def test_the_nearest_are_those_that_every_row_was_compared_for(kind, matrix, top, data):
    places = st.integers(0, len(matrix) - 1)
    query = data.draw(st.one_of(places.map(matrix.__getitem__), st.just(matrix.sum(0) / 64)))
    without = data.draw(st.sets(places, max_size=3))
    found = vectors(matrix, kind).nearest_rows(query[None], top, [without])
    rows, cosines = found.rows[0], found.cosines[0]
    expected = all_cosines(matrix, query)
    left = np.delete(expected, [*without])
    assert len(rows) == len({*rows.tolist()}) == min(top, len(left))
    assert not {*rows.tolist()} & without
    best = np.sort(left)[::-1][: len(rows)]
    assert np.allclose(expected[rows], best, rtol=0, atol=1e-12)
    assert np.allclose(cosines, best, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_vectors_come_in_the_order_of_their_words(kind):
    random = np.random.default_rng(1)
    one, other = random.standard_normal((2, 33)).astype("f4")
    matrix = np.stack([other, *[one] * 300, other])
    found = vectors(matrix, kind).near(one, top=5, without=[3])
    assert [near.word for near in found] == ["w1", "w2", "w4", "w5", "w6"]
    assert len({near.cosine for near in found}) == 1
    nothing = vectors(matrix, kind).near(np.zeros(33), top=2)
    assert [(near.word, near.cosine) for near in nothing] == [("w0", 0), ("w1", 0)]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 300])
def test_all_searches_give_the_same_of_many_rows_and_many_queries(size):
    random = np.random.default_rng(size)
    matrix = random.standard_normal((4_000, size)).astype("f4")
    matrix[7] = 0
    queries = random.standard_normal((300 if size < 64 else 20, size)).astype("f4")
    without = [random.choice(4_000, 3) for _ in queries]
    at_once = vectors(matrix).nearest_rows(queries, 4, without)
    byte = vectors(matrix, BytesFirst)
    for place in range(5):
        one = byte.nearest_rows(queries[place][None], 4, [without[place]])
        assert one.rows[0].tolist() == at_once.rows[place].tolist()
        assert one.cosines[0].tolist() == at_once.cosines[place].tolist()
    for place in range(len(queries)):
        cosines = all_cosines(matrix, queries[place])
        cosines[without[place]] = -2
        assert np.allclose(at_once.cosines[place], np.sort(cosines)[:-5:-1], atol=1e-6)
        assert np.allclose(cosines[at_once.rows[place]], np.sort(cosines)[:-5:-1], atol=1e-12)


def test_several_threads_find_what_one_finds(monkeypatch):
    random = np.random.default_rng(3)
    byte = vectors(random.standard_normal((5_000, 20)).astype("f4"), BytesFirst)
    alone = byte.nearest_rows(byte.matrix[:3], 7)
    monkeypatch.setattr(nearest, "_LEAST_OF_THREAD", 100)
    monkeypatch.setattr(nearest.os, "sched_getaffinity", lambda _: range(7), raising=False)
    shared = byte.nearest_rows(byte.matrix[:3], 7)
    assert alone.rows.tolist() == shared.rows.tolist()


@given(matrix=MATRICES)
def test_no_row_is_further_from_its_bytes_than_is_said(matrix):
    rows = unit(matrix)
    units, steps, errors = rounded(rows)
    rests = rows.astype(np.float64) - units.astype(np.float64) * steps.astype(np.float64)[:, None]
    assert (np.linalg.norm(rests, axis=1) <= errors).all()
    assert (errors <= 0.5 * steps * np.sqrt(rows.shape[1]) * 1.01 + 2e-6).all()


def test_few_rows_are_looked_at_exactly():
    random = np.random.default_rng(2)
    matrix = random.standard_normal((20_000, 300)).astype("f4")
    query = unit(matrix[0])
    assert len(vectors(matrix)._candidates(query[None], 10)[0]) < 20
    assert len(vectors(matrix, BytesFirst)._candidates(query[None], 10)[0]) < 1_000
