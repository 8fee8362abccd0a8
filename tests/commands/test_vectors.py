"""`headway neighbours`, `analogy`, `similarity` and `evaluate` with sets of words."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from topics import TOPICS, write_topics

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

PLACES = {
    "man": (1, 0, 4), "woman": (1, 1, 4), "king": (4, 0, 4), "queen": (4, 1, 4),
    "apple": (-4, 0.2, 1), "pear": (-4, 0.1, 1), "苹果": (-4, 0.3, 1.2),
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [f"{word} {' '.join(map(str, at))}" for word, at in PLACES.items()]
    path = tmp_path / "vectors.txt"
    path.write_text(f"{len(PLACES)} 3\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def cosine(one: str, other: str) -> float:
    first, second = np.array(PLACES[one]), np.array(PLACES[other])
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_neighbours_are_printed_nearest_first_with_chance_beside_them(file):
    shown = command("neighbours", str(file), "apple", "--top", "2")
    assert shown.status == 0
    found = [line.split("\t") for line in shown.out.splitlines()]
    assert [word for _, word in found] == ["pear", "苹果"]
    assert [float(it) for it, _ in found] == pytest.approx(
        [cosine("apple", "pear"), cosine("apple", "苹果")], abs=1e-4
    )
    assert "chance: random vectors of 3 numbers" in shown.err
    assert "the largest of 6 " in shown.err


def test_neighbours_as_json(file):
    found = json.loads(command("neighbours", str(file), "apple", "--json").out)
    assert [it["word"] for it in found["neighbours"]][:2] == ["pear", "苹果"]
    assert len(found["neighbours"]) == 6
    assert found["chance"]["size"] == 3
    assert found["chance"]["n_words"] == 6


def test_an_analogy_and_a_similarity(file):
    shown = command("analogy", str(file), "man", "king", "woman", "--top", "1")
    assert shown.out.endswith("\tqueen\n")
    near = command("similarity", str(file), "king", "queen")
    assert near.out == f"{cosine('king', 'queen'):.4f}\n"
    assert "chance" in near.err
    found = json.loads(command("similarity", str(file), "king", "queen", "--json").out)
    assert found["similarity"] == pytest.approx(cosine("king", "queen"))


def test_a_word_that_is_not_there_is_answered_with_the_nearest_spellings(file):
    for words in (["neighbours", "aple"], ["analogy", "man", "king", "aple"],
                  ["similarity", "aple", "king"]):  # fmt: skip
        shown = command(words[0], str(file), *words[1:])
        assert shown.status == 2
        assert "'aple'. Spelled alike: apple" in shown.err
        assert shown.out == ""


def test_words_are_found_in_nfc_too(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("2 2\ncafé 1 0\nthé 1 1\n", encoding="utf-8")
    assert command("neighbours", str(path), "cafe\u0301").out.endswith("\tthé\n")


def test_a_word_that_begins_with_a_dash_stands_behind_two_dashes(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("2 2\n--top 1 0\n-5 1 1\n", encoding="utf-8")
    assert command("neighbours", str(path), "--", "--top").out.endswith("\t-5\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("neighbours", "{file}", "apple", "--top", "0"), "--top .* got 0"),
        (("neighbours", "{file}", "apple", "--tpo", "3"), "--tpo"),
        (("analogy", "{file}", "man", "king"), "THIRD"),
        (("neighbours", "{file}"), "RUN apple"),
        (("analogy", "{file}", "man", "king", "woman", "queen"), "queen"),
        (("similarity", "{file}", "man"), "OTHER"),
        (("neighbours", "{folder}/none.txt", "apple"), "none.txt"),
        (("neighbours", "{folder}", "apple"), "config.toml|run"),
        (("evaluate", "{file}", "--analogies", "{file}", "--corpus", "{file}"), "got --corpus"),
        (("evaluate", "{file}", "--similarities", "{file}"), "line 1 of"),
        (("evaluate", "--similarities", "{pairs}"), "got 0"),
        (("evaluate", "{file}", "{file}", "--similarities", "{pairs}"), "got 2"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path, file, arguments, says):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("man\twoman\t9\n", encoding="utf-8")
    places = {"file": str(file), "folder": str(tmp_path), "pairs": str(pairs)}
    shown = command(*(it.format(**places) for it in arguments))
    assert shown.status == 2
    assert re.search(says, shown.err), shown.err


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    analogies, pairs = tmp_path / "analogies.txt", tmp_path / "pairs.tsv"
    analogies.write_text(
        ": family\nman king woman queen\nMan King Woman Queen\nman king woman god\n"
        ": fruit\napple cherry pear plum\n",
        encoding="utf-8",
    )
    pairs.write_text(
        "apple\tpear\t9\nking\tqueen\t8\nman\tking\t5\nman\tapple\t1\nplum\tpear\t9\n",
        encoding="utf-8",
    )
    return analogies, pairs


def test_evaluate_scores_analogies_and_similarities(file, sets):
    analogies, pairs = map(str, sets)
    shown = command("evaluate", str(file), "--analogies", analogies, "--similarities", pairs)
    assert shown.status == 0, shown.err
    family, fruit, total = shown.out.splitlines()[3:6]
    assert family.split()[:5] == ["family", "100.0%", "2", "of", "2"]
    assert fruit.split()[:5] == ["fruit", "–", "0", "of", "0"]
    assert "covered  50.0% of      4" in total
    assert "4 words found in lower case only" in shown.out
    assert "pairs.tsv      1.000  [1.000, 1.000]    covered  80.0% of 5" in shown.out
    found = json.loads(
        command("evaluate", str(file), "--analogies", analogies, "--similarities", pairs,
                "--json").out
    )  # fmt: skip
    assert found["words"] == 7
    [scored] = found["analogies"]
    assert scored["n_right"] == scored["n_covered"] == 2
    assert [it["of_covered"] for it in scored["sections"]] == [1.0, None]
    assert found["similarities"][0]["rho"] == pytest.approx(1.0)


def test_several_sets_are_scored_at_once(file, sets, tmp_path):
    again = tmp_path / "again.tsv"
    again.write_text("man\tking\t5\nman\tapple\t5\n", encoding="utf-8")
    shown = command("evaluate", str(file), "--similarities", str(sets[1]), str(again))
    assert "undefined" in shown.out  # people find one as near as the other
    assert "again.tsv" in shown.out


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of word vectors on four interleaved topics."""
    folder = tmp_path_factory.mktemp("words")
    corpus = write_topics(folder / "topics.txt")
    trained = command(
        "train", "--task", "word-vectors", "--corpus", str(corpus), "--out", str(folder / "run"),
        "--model.d-model=16", "--training.epochs=4", "--runtime.threads=1",
    )  # fmt: skip
    assert trained.status == 0, trained.err
    return folder / "run"


@pytest.mark.parametrize("what", ["file", "run"])
def test_files_and_runs_of_word_vectors_are_asked_without_torch(what, file, run):
    place, word = {"file": (file, "apple"), "run": (run, TOPICS["fruit"][0])}[what]
    code = (
        "import sys; from headway.cli import main; "
        f"status = main(['neighbours', {str(place)!r}, {word!r}]); "
        "sys.exit(status or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_run_is_asked_and_scored_as_a_file_is(run, tmp_path):
    one, *others = next(iter(TOPICS.values()))
    found = json.loads(command("neighbours", str(run), one, "--json").out)["neighbours"]
    assert found == sorted(found, key=lambda it: -it["cosine"])
    pairs = tmp_path / "pairs.tsv"
    strangers = list(TOPICS.values())[-1]
    rows = [f"{one}\t{it}\t9\n" for it in others] + [f"{one}\t{it}\t1\n" for it in strangers]
    pairs.write_text("".join(rows), encoding="utf-8")
    [scores] = json.loads(
        command("evaluate", str(run), "--similarities", str(pairs), "--json").out
    )["similarities"]
    assert scores["n_covered"] == scores["n_pairs"] == len(rows)
    assert scores["interval"][0] > 0
    exported = tmp_path / "vectors.txt"
    assert command("export", str(run), str(exported), "--to", "word2vec").status == 0
    again = json.loads(
        command("evaluate", str(exported), "--similarities", str(pairs), "--json").out
    )
    assert again["similarities"][0]["rho"] == pytest.approx(scores["rho"])
    refused = command("evaluate", str(run), "--corpus", str(pairs))
    assert refused.status == 2
    assert "--analogies and --similarities" in refused.err
