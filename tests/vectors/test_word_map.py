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
from headway.vectors.word_map import (
    MOST,
    WordGroup,
    WordMap,
    components,
    kept,
    read_groups,
    squared_distances,
    word_map,
)
from headway.vectors.word_vectors import WordVectors, unit

WORDS = "cat dog cow red blue green one two three four".split()
GROUPS = [WordGroup("animals", WORDS[:3]), WordGroup("colours", WORDS[3:6])]


def vectors(words: list[str] = WORDS, size: int = 20) -> WordVectors:
    draws = np.random.default_rng(3)
    group = draws.standard_normal((4, size))[np.arange(len(words)) // 3 % 4]
    return WordVectors(words, (group + draws.standard_normal((len(words), size))).astype("f"))


def a_map(groups: list[WordGroup] = GROUPS) -> WordMap:
    return word_map(vectors(), groups)


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
    one = a_map(GROUPS[:1])
    assert np.isnan(one.between(one.cosines))
    assert "different" not in [*one.told()][-1][0]


def test_random_vectors_beside_them_are_as_many_and_as_long() -> None:
    found = a_map()
    assert found.random_plane.places.shape == found.plane.places.shape
    np.testing.assert_allclose(np.diagonal(found.random_cosines), 1, atol=1e-6)
    inside = np.abs(found.random_cosines[np.triu_indices(6, 1)]) <= found.chance.band
    assert inside.mean() > 0.7
    again = a_map()
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


def drawn(n_words: int, size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n_words, size)).astype(np.float32)


def five_groups(n_each: int = 12, size: int = 50) -> tuple[np.ndarray, np.ndarray]:
    group = np.repeat(np.arange(5), n_each)
    return drawn(5, size, 2)[group] * 2 + drawn(5 * n_each, size), group


@pytest.mark.parametrize(("n_words", "size"), [(30, 8), (5, 40), (60, 2), (4, 1)])
def test_components_are_eigenvectors_of_the_covariance(n_words: int, size: int) -> None:
    vectors = drawn(n_words, size).astype(np.float64)
    values, directions = np.linalg.eigh(np.cov(vectors.T, bias=True).reshape(size, size))
    plane = components(vectors)
    expected = (vectors - vectors.mean(0)) @ directions[:, ::-1][:, :2]
    found = plane.places[:, : expected.shape[1]]
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
    assert plane.variance == pytest.approx(values[::-1][:2].sum() / values.sum())


def test_of_two_numbers_nothing_is_lost() -> None:
    vectors = drawn(20, 2)
    plane = components(vectors)
    assert plane.variance == pytest.approx(1)
    np.testing.assert_allclose(
        squared_distances(plane.places), squared_distances(vectors), atol=1e-5
    )
    assert kept(vectors, plane.places) == 1


def test_of_vectors_without_groups_none_are_made() -> None:
    group = np.repeat(np.arange(5), 12)
    apart = squared_distances(components(drawn(60, 100)).places)
    np.fill_diagonal(apart, np.inf)
    assert np.mean(group[apart.argmin(1)] == group) < 0.45  # 11 of 59 are expected


def test_the_same_vectors_lie_where_they_lay() -> None:
    vectors, _ = five_groups(5)
    assert components(vectors).places.tobytes() == components(vectors.copy()).places.tobytes()


@pytest.mark.parametrize(
    "vectors", [np.ones((6, 4)), np.zeros((3, 5)), drawn(3, 2), drawn(4, 1), drawn(1, 3)]
)
def test_few_or_equal_vectors_have_places_too(vectors: np.ndarray) -> None:
    places = components(vectors.astype(np.float32)).places
    assert places.shape == (len(vectors), 2)
    assert np.isfinite(places).all()


def test_what_is_kept_is_counted_word_by_word() -> None:
    vectors, _ = five_groups(4)
    places = drawn(20, 2, 5)
    both = 0
    for word in range(20):
        near = [
            sorted((float(((each[word] - each[other]) ** 2).sum()), other) for other in range(20)
                   if other != word)[:5]
            for each in (vectors, places)
        ]  # fmt: skip
        both += len({other for _, other in near[0]} & {other for _, other in near[1]})
    assert kept(vectors, places) == pytest.approx(both / 100)
