"""Words in groups, read and put on a map: counted, compared with chance, and drawn legibly."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headway
from headway.core.errors import DataError
from headway.vectors.map_picture import label_corners, map_figure, save_map
from headway.vectors.word_map import MOST, WordGroup, WordMap, read_groups, word_map
from headway.vectors.word_vectors import WordVectors, unit

WORDS = "cat dog cow red blue green one two three four".split()
GROUPS = [WordGroup("animals", WORDS[:3]), WordGroup("colours", WORDS[3:6])]


def vectors(words: list[str] = WORDS, size: int = 20) -> WordVectors:
    draws = np.random.default_rng(3)
    group = draws.standard_normal((4, size))[np.arange(len(words)) // 3 % 4]
    return WordVectors(words, (group + draws.standard_normal((len(words), size))).astype("f"))


def a_map(groups: list[WordGroup] = GROUPS, method: str = "components") -> WordMap:
    return word_map(vectors(), groups, method)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("a\nb\n\nc\n", [("1", ["a", "b"]), ("2", ["c"])]),
        ("# x y\na\nb\n# z\nc\n", [("x y", ["a", "b"]), ("z", ["c"])]),
        ("\ufeff\n\na\r\n\r\n\r\n# z\r\n\r\nb\r\n", [("1", ["a"]), ("2", ["b"])]),
        ("#a\n##\nb c\n", [("1", ["#a", "##", "b c"])]),
        ("a\nb\na\n\nb\nc", [("1", ["a", "b"]), ("2", ["c"])]),
        ("# none\n# all\n 苹果 \n", [("all", ["苹果"])]),
    ],
)
def test_a_blank_line_or_a_name_begins_a_group(
    tmp_path: Path, text: str, groups: list[tuple[str, list[str]]]
) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(text.encode())
    assert read_groups(file) == groups


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n# a\n", "has none"),
        ("\n".join(map(str, range(MOST + 1))), "has room for 1,000 words"),
        ("a\nb\xe9\n", "must be UTF-8"),
    ],
)
def test_a_file_without_fitting_words_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "words.txt"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        read_groups(file)


def test_words_that_are_missing_are_counted_and_named() -> None:
    found = a_map([*GROUPS, WordGroup("gone", ["zebra"]), WordGroup("more", ["x", "one"])])
    assert found.words == [*WORDS[:6], "one"]
    assert found.groups == ["animals", "colours", "more"]
    assert found.group_of.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert found.missing == ["zebra", "x"]
    english = [one for one, _ in found.told()]
    assert "without a vector, and left out: 2 (zebra, x)" in english
    assert found.as_dict()["missing"] == ["zebra", "x"]


def test_words_are_found_in_nfc_and_in_lower_case_too() -> None:
    words = ["\u00e9t\u00e9", "b", "C", "c"]
    found = word_map(vectors(words), [WordGroup("1", ["E\u0301te\u0301", "B", "C", "b", "D"])])
    assert found.words == words[:3]
    assert found.missing == ["D"]


def test_too_few_words_are_refused_with_those_spelled_alike() -> None:
    with pytest.raises(DataError, match=r"got 1 of 3: none for cats, dgo\..*Spelled.*: cat"):
        a_map([WordGroup("1", ["cats", "dgo", "cow"])])
    with pytest.raises(DataError, match="got 2 of 2"):
        a_map([WordGroup("1", ["dog", "cow"])])


def test_a_vector_that_is_no_number_is_refused() -> None:
    found = vectors()
    found.matrix[1, 3] = np.nan
    with pytest.raises(DataError, match="finite numbers; that of 'dog'"):
        word_map(found, GROUPS)


def test_cosines_within_and_between_groups_are_means_over_pairs() -> None:
    found, known = a_map(), vectors()
    groups = dict(zip(found.words, found.group_of.tolist(), strict=True))
    pairs = {(a, b): known.similarity(a, b) for a, b in combinations(found.words, 2)}
    same = [x for (a, b), x in pairs.items() if groups[a] == groups[b]]
    other = [x for (a, b), x in pairs.items() if groups[a] != groups[b]]
    assert found.within(found.cosines) == pytest.approx(np.mean(same), abs=1e-6)
    assert found.between(found.cosines) == pytest.approx(np.mean(other), abs=1e-6)
    animals = [x for (a, b), x in pairs.items() if groups[a] == groups[b] == 0]
    assert found.within(found.cosines, 0) == pytest.approx(np.mean(animals), abs=1e-6)
    one = a_map(GROUPS[:1])
    assert np.isnan(one.between(one.cosines))
    assert one.as_dict()["cosine_between"] is None


@pytest.mark.parametrize("method", ["components", "tsne"])
def test_random_vectors_beside_them_are_as_many_and_as_long(method: str) -> None:
    found = a_map(method=method)
    assert found.random_plane.places.shape == found.plane.places.shape
    np.testing.assert_allclose(np.diagonal(found.random_cosines), 1, atol=1e-6)
    inside = np.abs(found.random_cosines[np.triu_indices(6, 1)]) <= found.chance.band
    assert inside.mean() > 0.7
    again = a_map(method=method)
    assert again.random_cosines.tobytes() == found.random_cosines.tobytes()


@given(
    st.lists(st.tuples(st.floats(20, 480), st.floats(40, 360)), min_size=1, max_size=40),
    st.integers(5, 90),
)
def test_labels_stay_in_the_frame_and_hide_no_other(
    points: list[tuple[float, float]], width: int
) -> None:
    boxes = np.tile([float(width), 12.0], (len(points), 1))
    room = np.array([500.0, 400.0])
    corners = label_corners(np.array(points), boxes, room, 22.0)
    shown = [(*corner, *corner + box) for corner, box in zip(corners, boxes, strict=True)
             if not np.isnan(corner[0])]  # fmt: skip
    assert shown
    for left, bottom, right, top in shown:
        assert left >= 0
        assert bottom >= 22
        assert right <= 500
        assert top <= 400
    for one, other in combinations(shown, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        up = min(one[3], other[3]) - max(one[1], other[1])
        assert max(across, 0) * max(up, 0) <= 0.11 * width * 12


def test_words_that_mean_something_to_programs_are_drawn_as_they_are(tmp_path: Path) -> None:
    words = ["$\\frac{$", "<b>", "&amp;", "_", "🐱", "x" * 80, "\u202eabc"]
    found = word_map(vectors(words), [WordGroup("$a$ <i>", words[:4]), WordGroup("_b", words[4:])])
    glyphs = Path(headway.__file__).with_name("inspection") / "everyday_glyphs.otf"
    save_map(found, tmp_path / "map.png", "$title$", glyphs)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_planes_are_of_vectors_of_length_one() -> None:
    found, known = a_map(), vectors()
    known.matrix[:] *= np.arange(1, 11, dtype=np.float32)[:, None]
    again = word_map(known, GROUPS)
    np.testing.assert_allclose(found.plane.places, again.plane.places, atol=1e-5)
    assert unit(known.matrix[0]) == pytest.approx(unit(vectors().matrix[0]), abs=1e-6)


def test_points_without_room_for_their_words_are_counted() -> None:
    words = [f"word{i:03}" for i in range(200)]
    crowded = WordVectors(words, np.ones((200, 4), np.float32))
    figure = map_figure(word_map(crowded, [WordGroup("1", words)]), "Title")
    drawn = re.findall(r"<text[^>]*>(word\d+)</text>", figure)
    n_without = 200 - len(drawn)
    assert 100 < n_without < 200
    assert f"({n_without} points have no room for their words)" in figure
