"""Rows of several corpora are what they were, one after the other."""

import numpy as np

from headway.core.rows import SIDES
from headway.corpora.in_memory import RowsInMemory
from headway.corpora.joined import AmendedRows, JoinedRows, some_rows, texts_of, without


def pairs(texts: list[str], file: str) -> RowsInMemory:
    sides = [(text, text[::-1] + "!") for text in texts]
    rows = [[np.array([*map(ord, side)], np.uint16) for side in both] for both in sides]
    return RowsInMemory(rows, [file] * len(texts), [file])


def test_a_join_of_joins_gives_every_row_with_its_file():
    one = pairs(["ab", "c", "def"], "one")
    two = pairs(["gh", "ijkl"], "two")
    inner = JoinedRows([(one, np.array([2, 0])), (two, np.array([1]))])
    joined = JoinedRows([(two, np.array([0])), (inner, np.array([2, 1]))])
    texts = ["".join(map(chr, joined["source"][i])) for i in range(len(joined))]
    assert texts == ["gh", "ijkl", "ab"]
    assert [chr(joined["target"][i][-1]) for i in range(3)] == ["!"] * 3
    assert joined.lengths["source"].tolist() == [2, 4, 2]
    assert joined.lengths["target"].tolist() == [3, 5, 3]
    files = [joined.files[n] for n in joined.file_numbers]
    assert files == ["two", "two", "one"]


def test_rows_with_an_unwanted_side_are_left_out():
    one = pairs(["ab", "c", "def", "ba"], "one")
    rows = np.arange(4)
    unwanted = {"source": set(texts_of(one, "source", np.array([1]))), "target": set()}
    assert without(one, rows, unwanted).tolist() == [0, 2, 3]
    unwanted["target"] = set(texts_of(one, "target", np.array([0])))
    assert without(one, rows, unwanted).tolist() == [2, 3]


def test_some_rows_are_drawn_alike_and_each_once():
    assert some_rows(5, 9, seed=1).tolist() == [0, 1, 2, 3, 4]
    drawn = some_rows(1000, 100, seed=1)
    assert len(set(drawn.tolist())) == 100
    assert drawn.tolist() == sorted(drawn.tolist()) == some_rows(1000, 100, seed=1).tolist()
    assert drawn.tolist() != some_rows(1000, 100, seed=2).tolist()


def test_amended_rows_have_their_new_text_and_length_and_all_else_stays():
    one = pairs(["ab", "c", "def"], "one")
    amended = JoinedRows([(AmendedRows(one, "target", {1: [65, 66, 67]}), np.array([1, 2]))])
    texts = [["".join(map(chr, amended[side][i])) for i in range(2)] for side in SIDES]
    assert texts == [["c", "def"], ["ABC", "fed!"]]
    assert amended.lengths["target"].tolist() == [3, 4]
    assert one.lengths["target"].tolist() == [3, 2, 4], "what they were is not changed"
