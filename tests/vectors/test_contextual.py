"""Words and their pieces, layers, and where a word is used; the oracle is arithmetic by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import ConfigError
from headway.vectors.contextual import (
    EmbeddedText,
    Layers,
    WordUse,
    nearest_uses,
    occurrences,
    uses,
)


def read(text, pieces, unknown=()):
    """As a model of two layers, whose vectors are (n, n) and (10 n, 1) of piece n."""
    n = np.arange(len(pieces), dtype=np.float32)
    vectors = np.stack([np.stack([n, n], 1), np.stack([10 * n, n * 0 + 1], 1)])
    return EmbeddedText(text, pieces, vectors, [i in unknown for i in range(len(pieces))])


def words(text, pieces):
    return [text[begin:end] for begin, end in read(text, pieces).words()]


def test_a_word_has_the_mean_of_its_pieces():
    one = read("an apple .", [(0, 2), (2, 5), (5, 8), (8, 10)])
    assert one.words() == [(0, 2), (3, 8), (9, 10)]
    assert one.of(one.words()).tolist() == [
        [[0, 0], [1.5, 1.5], [3, 3]],
        [[0, 1], [15, 1], [30, 1]],
    ]


def test_a_word_within_a_longer_piece_has_that_piece_alone():
    one = read("eat apples.", [(0, 3), (4, 11)])
    assert one.of([(4, 9)])[0].tolist() == [[1, 1]]
    assert one.of([(3, 4)])[0].tolist() == [[0, 0]]  # no piece has letters there


@given(st.text(st.sampled_from("ab. \tü\u3000"), max_size=30), st.data())
def test_spaced_text_has_the_words_of_split_however_it_is_cut(text, data):
    inner = sorted(data.draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    ends = [0, *inner, len(text)]
    pieces = list(pairwise(ends)) if text else []
    assert words(text, pieces) == text.split()


def test_without_spaces_the_pieces_stand_for_words():
    assert words("我喜欢苹果。", [(0, 1), (1, 3), (3, 5), (5, 6)]) == ["我", "喜欢", "苹果", "。"]
    mixed = [(0, 2), (2, 6), (6, 9), (9, 13)]
    assert words("使用 Python 写代码", mixed) == ["使用", "Python", "写代码"]
    assert words("𠀀𠀁", [(0, 1), (0, 1), (1, 2), (1, 2)]) == ["𠀀", "𠀁"]  # bytes of one character


def test_spaces_between_chinese_words_are_believed():
    text = "我 喜欢 苹果"
    assert words(text, [(i, i + 1) for i in range(len(text))]) == ["我", "喜欢", "苹果"]


NAMES = ("embedding", "1", "2")


def test_a_layer_has_a_number_or_a_name_and_the_mean_is_of_all():
    vectors = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    assert (
        Layers("0", NAMES).of(vectors).tolist() == Layers("embedding", NAMES).of(vectors).tolist()
    )
    assert Layers("2", NAMES).of(vectors).tolist() == [[8, 9], [10, 11]]
    assert Layers("mean", NAMES).of(vectors).tolist() == [[4, 5], [6, 7]]
    assert Layers(None, NAMES).of(vectors)[1].tolist() == [[2, 3], [6, 7], [10, 11]]
    assert [Layers(one, NAMES).names for one in ("2", "mean", None)] == [["2"], ["mean"], [*NAMES]]


def test_a_layer_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ConfigError, match=r"got 3\. It has 0 \(embedding\), 1, 2\."):
        Layers("3", NAMES)


def test_a_word_is_found_however_it_is_capitalized_and_whole():
    text = "Apple: an apple, apples, pine-apple and (APPLE)"
    assert [text[a:b] for a, b in occurrences(text, "apple")] == [
        "Apple",
        "apple",
        "apple",
        "APPLE",
    ]
    assert occurrences("U.S. and u.s.", "U.S.") == [(0, 4), (9, 13)]
    assert occurrences("吃苹果,苹果公司", "苹果") == [(1, 3), (4, 6)]
    assert occurrences("cafe\u0301", "café") == []  # a text is NFC
    assert occurrences("caf\u00e9", "cafe\u0301") == [(0, 4)]


class TurningEmbedder:
    """Two layers: the same for each word, and its place on the line as an angle of 10 degrees."""

    layers, sees = ("embedding", "1"), "the words before it"

    def __init__(self):
        self.read = []

    def embed(self, texts):
        for text in texts:
            self.read.append(text)
            ends = np.cumsum([len(word) + 1 for word in text.split()])
            pieces = [
                (int(e) - len(w) - 1, int(e) - 1) for e, w in zip(ends, text.split(), strict=True)
            ]
            angles = np.radians(10 * np.arange(len(pieces)))
            turned = np.stack([np.cos(angles), np.sin(angles)], 1)
            vectors = np.stack([np.ones_like(turned), turned]).astype(np.float32)
            yield EmbeddedText(text, pieces, vectors, [word == "?" for word in text.split()])


LINES = ["an apple", "no fruit", "a b c Apple", "apple a apple", "pineapple", "an apple"]


def test_the_nearest_uses_come_first_and_other_or_repeated_lines_are_not_read():
    model = TurningEmbedder()
    found = uses(model, enumerate(LINES, start=1), "apple")
    near = nearest_uses(found, np.array([1, 0], np.float32), Layers("1", model.layers), top=3)
    assert model.read == [LINES[0], LINES[2], LINES[3]]
    assert [(use.line, use.span) for use in near.nearest] == [
        (4, (0, 5)),
        (1, (3, 8)),
        (4, (8, 13)),
    ]
    cosines = [use.cosine for use in near.nearest]
    assert cosines == pytest.approx(np.cos(np.radians([0, 10, 20])), abs=1e-6)
    assert near.n_uses == 4
    assert near.mean == pytest.approx(np.mean(np.cos(np.radians([0, 10, 20, 30]))), abs=1e-6)
    assert not near.same


def test_one_vector_for_all_uses_is_noticed():
    model = TurningEmbedder()
    found = uses(model, enumerate(LINES), "apple")
    near = nearest_uses(found, np.array([1, 1], np.float32), Layers("0", model.layers), top=2)
    assert near.same
    assert [use.line for use in near.nearest] == [0, 2]


def test_a_word_that_a_model_does_not_know_has_no_uses():
    assert list(uses(TurningEmbedder(), [(1, "what ?")], "?")) == []


def test_a_use_is_marked_in_its_text():
    use = WordUse(1, "he ate an apple in the sun", (10, 15), "apple")
    assert use.marked(around=20) == "he ate an [apple] in the sun"
    assert use.marked(around=3) == "..an [apple] in.."
