"""The page of a map: its numbers, by hand; words as text; both languages; narrow and wide."""

from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PHONE, browser, needs_chromium, opened

from headway.vectors.in_play import PlaceInText, places, rows_in_play
from headway.vectors.map_page import examples, page
from headway.vectors.word_map import WordGroup, word_map
from headway.vectors.word_vectors import WordVectors

HOSTILE = ["<img", "</script><script>alert(2)</script>", '"><b>', "&lt;", "苹果", "🐱", "a\"b'c"]
WORDS = ["cat", "dog", "red", "blue", "the", *HOSTILE]


def known(words: list[str] = WORDS) -> WordVectors:
    draws = np.random.default_rng(4)
    return WordVectors(words, draws.standard_normal((len(words), 12)).astype(np.float32))


def a_place(direction: str = "cbow") -> PlaceInText:
    vectors = known()
    outputs = np.random.default_rng(5).standard_normal((len(WORDS), 12)).astype(np.float32)
    words = ["the", "<img", "cat", "unknown<b>", "red"]
    return PlaceInText(
        direction, words, 2, [0, 1, 4], ["dog", HOSTILE[0]],
        {word: vectors.row(word) for word in WORDS}, vectors.matrix, outputs,
    )  # fmt: skip


def written(tmp_path: Path, place: PlaceInText | str, words: list[str] = WORDS) -> Path:
    vectors = known(words)
    found = word_map(vectors, [WordGroup("<script>", words[:4]), WordGroup("b", words[4:])])
    rows = np.stack([vectors.vector(found.words[i]) for i in examples(found)])
    file = tmp_path / "map.html"
    file.write_text(page(found, "<name>", rows, place), encoding="utf-8")
    return file


def test_cbow_reads_the_context_and_asks_for_the_middle() -> None:
    place = a_place()
    play = rows_in_play(place, "cbow")
    assert [row.word for row in play.given] == ["the", "<img", "red"]
    mean = sum(place.vectors[WORDS.index(word)] for word in ("the", "<img", "red")) / 3
    assert play.mean == pytest.approx(mean[:5], abs=1e-6)
    asked = ["cat", "dog", HOSTILE[0]]
    assert [(row.word, row.wanted) for row in play.asked] == [*zip(asked, (1, 0, 0), strict=True)]
    for row in play.asked:
        output = place.outputs[WORDS.index(row.word)]
        assert row.number == WORDS.index(row.word)
        assert row.numbers == pytest.approx(output[:5].tolist())
        assert row.probability == pytest.approx(1 / (1 + np.exp(-(mean @ output))), abs=1e-6)


def test_skip_gram_reads_the_middle_and_asks_for_the_context() -> None:
    place = a_place()
    play = rows_in_play(place, "skip-gram")
    assert [row.word for row in play.given] == ["cat"]
    assert [row.word for row in play.asked] == ["the", "dog", HOSTILE[0]]
    product = place.vectors[0] @ place.outputs[WORDS.index("dog")]
    assert play.asked[1].probability == pytest.approx(1 / (1 + np.exp(-product)), abs=1e-6)


def test_the_fullest_context_nearest_to_the_middle_is_taken() -> None:
    words = "a b c d e f g".split()
    assert places(words, [True] * 7, 2, 10) == (3, [1, 2, 4, 5])
    assert places(words, [True, False, True, True, True, True, True], 2, 10) == (3, [0, 2, 4, 5])
    assert places(words, [False, True, False, False, True, False, False], 5, 10) == (4, [1])
    assert places(words, [True, False, False, False, True, False, True], 5, 2) == (4, [6])
    assert (
        places(words, [True, *[False] * 5, True], 5, 5)[1]
        == places(words, [False] * 7, 5, 5)[1]
        == []
    )


def test_examples_are_of_all_groups() -> None:
    words = [f"w{i}" for i in range(30)]
    groups = [WordGroup("1", words[:20]), WordGroup("2", words[20:22]), WordGroup("3", words[22:])]
    found = word_map(known(words), groups)
    assert examples(found) == [0, 1, 2, 20, 21, 22, 23, 24]


def test_a_look_up_is_said_to_equal_the_product_and_does(tmp_path: Path) -> None:
    text = written(tmp_path, "no run").read_text(encoding="utf-8")
    assert "they differ by at most 0. With all 12 words" in text
    assert "With all 12 words the product is 144 multiplications" in text


@needs_chromium
def test_words_are_text_in_both_languages_on_a_phone_and_on_a_screen(tmp_path: Path) -> None:
    file = written(tmp_path, a_place())
    with browser() as started:
        for width, dark in ((PHONE, True), (1280, False)):
            with opened(started, file, width=width, dark=dark) as shown:
                assert shown.evaluate("document.documentElement.scrollWidth") <= width
                assert shown.locator("script, img").count() == 0
                assert Axe().run(shown).response["violations"] == []
                assert shown.get_by_text("One-hot vectors beside learned ones").is_visible()
                assert not shown.get_by_text("独热编码与词向量").is_visible()
                shown.get_by_label("中文").check()
                assert shown.get_by_text("独热编码与词向量").is_visible()
                assert not shown.get_by_text("One-hot vectors beside learned ones").is_visible()
                assert shown.locator("svg text", has_text=HOSTILE[1][:23]).count() == 1


@needs_chromium
def test_without_a_run_of_word_vectors_it_is_said_why_rows_are_missing(tmp_path: Path) -> None:
    file = written(tmp_path, "a file has <no> outputs", ["a", "b", "c", "d", "e"])
    with browser() as started, opened(started, file) as shown:
        assert shown.get_by_text("a file has <no> outputs").is_visible()
