"""Laws of analogies and similarities, beside gensim and scipy."""

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from headway.core.errors import DataError
from headway.vectors import evaluation
from headway.vectors.evaluation import (
    AnalogyScores,
    SectionScores,
    answers,
    fisher_interval,
    ranks,
    read_analogies,
    read_similarities,
    score_analogies,
    score_similarities,
    spearman,
)
from headway.vectors.word_vectors import WordVectors

WORDS = [f"w{i}" for i in range(60)]


@pytest.fixture
def vectors() -> WordVectors:
    """Words on a grid, shaken: most analogies between its places come out right."""
    shake = np.random.default_rng(1)
    places = np.array([[i % 10 + 1, i // 10 + 1, 5, 0] for i in range(60)], np.float32)
    return WordVectors(WORDS, places + shake.normal(0, 0.2, places.shape).astype(np.float32))


def of_gensim(vectors: WordVectors) -> KeyedVectors:
    keyed = KeyedVectors(vectors.size)
    keyed.add_vectors(list(vectors.words), vectors.matrix)
    return keyed


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def questions() -> dict[str, list[tuple[str, str, str, str]]]:
    draw = np.random.default_rng(2)
    found: dict[str, list[tuple[str, str, str, str]]] = {"one right": [], "one down": []}
    for name, step in (("one right", 1), ("one down", 10)):
        for one, third in draw.integers(0, 70, (80, 2)):  # some are beyond the words
            found[name].append((f"w{one}", f"w{one + step}", f"w{third}", f"w{third + step}"))
    return found


@pytest.mark.parametrize("at_once", [7, 1024])
def test_analogies_are_scored_as_gensim_scores_them(tmp_path, vectors, at_once, monkeypatch):
    monkeypatch.setattr(evaluation, "AT_ONCE", at_once)
    sections = questions()
    text = "".join(
        f": {name}\n" + "".join(" ".join(four) + "\n" for four in fours)
        for name, fours in sections.items()
    )
    path = write(tmp_path / "questions.txt", text)
    assert read_analogies(path) == sections
    scores = score_analogies(vectors, read_analogies(path))
    _, peers = of_gensim(vectors).evaluate_word_analogies(str(path), case_insensitive=False)
    for one, peer in zip(scores.sections, peers[:-1], strict=True):
        assert one.section == peer["section"]
        assert one.n_questions == 80
        assert one.n_right == len(peer["correct"])
        assert one.n_covered == len(peer["correct"]) + len(peer["incorrect"])
        assert 0 < one.n_right < one.n_covered < one.n_questions
    assert scores.total.n_right == len(peers[-1]["correct"])
    assert scores.total.n_questions == 160


def test_many_analogies_are_answered_as_one_by_one(vectors):
    three = np.random.default_rng(3).integers(0, 60, (40, 3))
    found = answers(vectors, three)
    for rows, row in zip(three, found, strict=True):
        [best] = vectors.analogy(*(WORDS[it] for it in rows), top=1)
        assert WORDS[row] == best.word


def test_one_of_the_three_words_is_never_the_answer(vectors):
    three = np.random.default_rng(4).integers(0, 60, (200, 3))
    found = answers(vectors, three)
    assert not (found[:, None] == three).any()


def test_where_all_words_are_given_there_is_no_answer():
    few = WordVectors(["a", "b"], np.eye(2, dtype=np.float32))
    [only] = score_analogies(few, {"both": [("a", "b", "a", "b")]}).sections
    assert only == SectionScores("both", 1, 1, 0)


def test_shares_are_over_the_covered_and_over_all():
    scores = AnalogyScores([SectionScores("a", 10, 4, 1), SectionScores("b", 10, 0, 0)], 0)
    assert scores.sections[0].of_covered == 0.25
    assert scores.sections[0].of_all == 0.1
    assert scores.sections[1].of_covered is None
    assert scores.total == SectionScores("all", 20, 4, 1)


def test_a_word_is_taken_as_written_and_else_in_lower_case_and_that_is_counted():
    matrix = np.eye(5, dtype=np.float32)
    known = WordVectors(["athens", "greece", "oslo", "Norway", "norway"], matrix)
    sections = {"capitals": [("Athens", "Greece", "Oslo", "Norway")] * 3}
    scores = score_analogies(known, sections)
    assert scores.total.n_covered == 3
    assert scores.n_lowered == 3  # words, not places: Norway is there as written
    assert score_similarities(known, [("Athens", "Norway", 1.0)]).n_lowered == 1


def test_of_sub_words_the_pieces_that_begin_words_are_scored_and_not_those_inside(vectors):
    pairs = [(*vectors.words[n : n + 2], float(n)) for n in range(0, 20, 2)]
    inside = np.roll(vectors.matrix, 1, axis=0)
    both = [*vectors.words, *(f"▁{word}" for word in vectors.words[:10])]
    sub_words = WordVectors(both, np.concatenate([inside, vectors.matrix[:10]]))
    words = WordVectors(vectors.words[:10], vectors.matrix[:10])
    assert score_similarities(sub_words, pairs) == score_similarities(words, pairs)


def test_rho_and_coverage_are_gensims(tmp_path, vectors):
    draw = np.random.default_rng(5)
    lines = [f"w{a}\tw{b}\t{c}" for a, b, c in draw.integers(0, 70, (200, 3))]  # ties, and unknown
    path = write(tmp_path / "pairs.tsv", "\n".join(lines) + "\n")
    scores = score_similarities(vectors, read_similarities(path))
    _, rho, percent_unknown = of_gensim(vectors).evaluate_word_pairs(
        str(path), case_insensitive=False
    )
    assert scores.rho == pytest.approx(rho.statistic, abs=1e-6)
    assert 100 * (1 - scores.n_covered / scores.n_pairs) == pytest.approx(percent_unknown)


@given(some.lists(some.tuples(some.integers(0, 5), some.integers(0, 5)), min_size=3, max_size=30))
def test_ranks_and_rho_are_scipys_whatever_is_tied(pairs):
    one, other = np.array(pairs, np.float64).T
    np.testing.assert_allclose(ranks(one), stats.rankdata(one))
    rho = spearman(one, other)
    if len({*one}) > 1 and len({*other}) > 1:
        assert rho == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-12)
    else:
        assert rho is None


def test_the_interval_holds_the_true_rho_95_times_of_100():
    draw, true = np.random.default_rng(6), 0.5
    rho = 6 / np.pi * np.arcsin(true / 2)  # of two normal variables with this correlation
    inside = 0
    for _ in range(2_000):
        one = draw.normal(size=100)
        other = true * one + np.sqrt(1 - true**2) * draw.normal(size=100)
        low, high = fisher_interval(spearman(one, other) or 0.0, 100) or (0.0, 0.0)
        inside += low < rho < high
    assert 0.935 < inside / 2_000 < 0.965


def test_few_pairs_have_no_interval_and_perfect_ones_a_point():
    assert fisher_interval(0.5, 3) is None
    assert fisher_interval(-1.0, 10) == (-1.0, -1.0)


@pytest.mark.parametrize("kind", ["\t", ",", " "])
def test_pairs_may_have_a_header_and_any_of_three_signs_between(tmp_path, kind):
    text = "".join(kind.join(row) + "\r\n" for row in (("Word1", "Word2", "mean"), "ab7", "cd8"))
    path = write(tmp_path / "pairs", "\ufeff" + text)
    assert read_similarities(path) == [("a", "b", 7.0), ("c", "d", 8.0)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (": a\nw1 w2 w3 w4\nw1 w2 w3\n", "line 3 of .* has 3: 'w1 w2 w3'"),
        ("w1 w2 w3 w4 w5\n", "line 1 of .* has 5"),
        (": a\n: b\n", "has some; .* has none"),
        ("w" * (1 << 20) + "w\n", "line 1 of"),
    ],
)
def test_lines_that_are_no_analogies_are_refused_by_number(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read_analogies(write(tmp_path / "a.txt", text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a\tb\t1\na\tb\n", "line 2 of"),
        ("a\tb\t1\na\tb\tmany\n", "line 2 of .* 'a\\\\tb\\\\tmany'"),
        ("a\tb\tnan\nc\td\tinf\n", "line 2 of"),
        ("a\tb\t1\n\tb\t1\n", "line 2 of"),
        ("one two\n", "line 1 of"),
        ("Word1\tWord2\tscore\n", "has pairs; .* has none"),
    ],
)
def test_lines_that_are_no_pairs_are_refused_by_number(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read_similarities(write(tmp_path / "a.tsv", text))


def test_analogies_before_any_section_count_too(tmp_path):
    path = write(tmp_path / "a.txt", "a b c d\n\n: family\nman king woman queen\n")
    assert list(read_analogies(path)) == [evaluation.UNNAMED, "family"]
