"""`headway neighbours RUN --in ..`, by the command line; cosines by hand from `headway embed`."""

import json
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from text_run import train, write_corpus

LINES = [
    "The dog runs in the park.", "", "A cat sleeps.", "My small dog sleeps; Dog and cat.",
    "The hotdog is cold.", "I love my dog.",
]  # fmt: skip
SENTENCE = "The big dog runs."


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return str(file)


def asked(corpus: str, *more: str, run: str = "demo", sentence: str = SENTENCE, word: str = "dog"):
    names = ("--in", sentence, "--word", word, "--corpus", corpus)
    return command("neighbours", run, *names, *more)


def vector(text: str, word: str, layer: str, folder: Path) -> np.ndarray:
    """The only piece of a word that stands between spaces in a text."""
    file = folder / "one.txt"
    file.write_text(text + "\n", encoding="utf-8")
    printed = json.loads(command("embed", "demo", str(file), "--layer", layer, "--json").out)
    [line] = printed["lines"]
    return np.array(line["vectors"][line["tokens"].index(word)])


def test_the_nearest_use_is_that_of_the_largest_cosine(corpus, tmp_path):
    found = asked(corpus, "--json", "--layer", "1")
    assert found.status == 0, found.err
    told = json.loads(found.out)
    assert [told["n_uses"], told["word"], told["layer"], told["same"]] == [4, "dog", "1", False]
    assert told["span"] == [8, 11]
    assert {(one["line"], *one["span"]) for one in told["uses"]} == {
        (1, 4, 7), (4, 9, 12), (4, 21, 24), (6, 10, 13)
    }  # fmt: skip
    cosines = [one["cosine"] for one in told["uses"]]
    assert cosines == sorted(cosines, reverse=True)
    assert told["mean"] == pytest.approx(np.mean(cosines))
    one, other = vector(SENTENCE, "dog", "1", tmp_path), vector(LINES[0], "dog", "1", tmp_path)
    by_hand = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert next(one for one in told["uses"] if one["line"] == 1)["cosine"] == pytest.approx(by_hand)


def test_the_word_is_marked_in_its_line_and_the_last_layer_is_the_usual_one(corpus):
    found = asked(corpus, "--top", "2")
    assert found.out.count("\n") == 2
    assert all("[dog]" in line.casefold() for line in found.out.splitlines())
    assert "by layer 2, which sees the words on both sides; 4 uses" in found.err
    assert asked(corpus, "--top", "2", "--layer", "2").out == found.out


def test_the_sentence_itself_is_no_use_of_the_corpus(corpus):
    told = json.loads(asked(corpus, "--json", sentence=LINES[0]).out)
    assert 1 not in {one["line"] for one in told["uses"]}


def test_of_several_places_the_first_is_meant_and_that_is_said(corpus):
    first = asked(corpus, "--json", sentence="The dog and the big dog run.")
    assert "stands 2 times in the sentence; the first is meant" in first.err
    assert json.loads(first.out)["span"] == [4, 7]


def test_where_a_word_has_one_vector_that_is_said_instead_of_a_list(tmp_path):
    run, text = tmp_path / "run", write_corpus(tmp_path / "text.txt", 100)
    assert train("nnlm", text, run).status == 0
    found = asked(str(text), "--json", run=str(run), sentence="the dog", word="the")
    told = json.loads(found.out)
    assert (told["same"], told["uses"], told["sees"]) == (True, [], "the word alone")
    assert told["n_uses"] > 10
    assert "has one vector for a word, whatever stands around it" in found.err
    assert asked(str(text), run=str(run), sentence="the dog", word="the").out == ""
    unknown = asked(str(text), run=str(run), sentence="a zyzzyva", word="zyzzyva")
    assert (unknown.status, unknown.out) == (2, "")
    assert "its one unknown word" in unknown.err


def test_what_cannot_be_answered_is_refused(corpus, tmp_path):
    for refused, why in (
        (asked(corpus, word="cat"), "'cat' does not stand in 'The big dog runs.'"),
        (asked(corpus, word=" "), "--word is a word of the sentence"),
        (asked(corpus, word="big"), "no other line of"),
        (asked(corpus, "--layer", "9"), "It has 0 (embedding), 1, 2."),
        (asked(corpus, "--top", "0"), "Try --top 10"),
        (asked(str(tmp_path / "none")), "no such file"),
        (command("neighbours", "demo", "--word", "dog", "--corpus", corpus), "--in is missing"),
        (command("neighbours", "demo", "--in", SENTENCE, "--word", "a"), "--corpus is missing"),
        (command("neighbours", "demo", "dog", "--in", SENTENCE), "got 'dog' as well"),
    ):
        assert refused.status == 2, refused
        assert not refused.out
        assert why in refused.err
