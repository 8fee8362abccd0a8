"""ARPA files say what the model says, are read by kenlm, and are refused where they are damaged."""

import gzip
import math
import re
from pathlib import Path

import kenlm
import numpy as np
import pytest
import torch
from counted import BEGIN, END, PADDING, model_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.language_models.arpa import Arpa, read_arpa, write_arpa
from headway.language_models.exchange import arrays
from headway.language_models.ngram import Ngram, NgramConfig

SIZE = 14
PIECES = ["<pad>", "<unk>", "<s>", "</s>", *(f"w{i}" for i in range(4, SIZE))]


def sentences(n: int, seed: int) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [
        [int(word) for word in 4 + random.geometric(0.25, random.integers(1, 10)).clip(max=9)]
        for _ in range(n)
    ]


def imported(arpa: Arpa) -> Ngram:
    config = NgramConfig(len(arpa.orders), "backoff", n_grams=arpa.n_grams)
    model = Ngram(config, vocabulary_size=len(arpa.words), padding=PADDING, begin=BEGIN, end=END)
    model.load_state_dict(arrays(arpa), assign=True)
    return model


def logs10(model: Ngram, row: list[int]) -> np.ndarray:
    """Of each word of a line, and of its end."""
    scores = model.log_probs(torch.tensor([[BEGIN, *row]]), torch.tensor([[*row, END]]))
    return scores.log_probs[0].double().numpy() / math.log(10)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize(
    "smoothing", ["none", "add-one", "add-k", "kneser-ney", "modified-kneser-ney"]
)
def test_kenlm_and_we_ourselves_read_what_the_model_says(smoothing, order, tmp_path: Path):
    k = 0.3 if smoothing == "add-k" else 1.0
    model = model_of(sentences(120, 1), SIZE, tmp_path, order=order, smoothing=smoothing, k=k)
    file = tmp_path / "model.arpa"
    n_grams = write_arpa(model, PIECES, file)
    assert n_grams == SIZE - 1 + sum(model.config.n_grams[1:])
    other, again = kenlm.Model(str(file)), imported(read_arpa(file))
    for row in sentences(30, 2):
        ours = logs10(model, row).clip(min=-90)  # the file has -99 for what is impossible
        text = " ".join(PIECES[word] for word in row)
        theirs = np.array([word[0] for word in other.full_scores(text)]).clip(min=-90)
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-5)
        np.testing.assert_allclose(logs10(again, row).clip(min=-90), ours, rtol=0, atol=1e-5)


def test_words_by_themselves_have_a_file_as_well(tmp_path: Path):
    model = model_of(sentences(20, 1), SIZE, tmp_path, order=1, smoothing="add-one")
    write_arpa(model, PIECES, tmp_path / "model.arpa")
    again = imported(read_arpa(tmp_path / "model.arpa"))
    np.testing.assert_allclose(logs10(again, [4, 5, 1]), logs10(model, [4, 5, 1]), atol=1e-6)


@pytest.mark.parametrize("name", ["a.arpa", "a.arpa.gz"])
def test_what_was_read_is_written_again_byte_by_byte(name: str, tmp_path: Path):
    model = model_of(sentences(60, 3), SIZE, tmp_path, order=3, smoothing="modified-kneser-ney")
    write_arpa(model, PIECES, tmp_path / name)
    again = imported(read_arpa(tmp_path / name))
    (tmp_path / "other").mkdir()
    write_arpa(again, PIECES, tmp_path / "other" / name)
    assert (tmp_path / "other" / name).read_bytes() == (tmp_path / name).read_bytes()


# Characters that python would split words at are no part of words here.
WORD = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]),
    min_size=1, max_size=5,
)  # fmt: skip


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(WORD, min_size=1, max_size=6, unique=True), data=st.data())
def test_words_of_any_letters_come_back(words, data, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("words")
    size = 4 + len(words)
    row = st.lists(st.integers(4, size - 1), max_size=5)
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    model = model_of(rows, size, tmp_path, order=3, smoothing="kneser-ney")
    pieces = [*PIECES[:4], *words]
    try:
        write_arpa(model, pieces, tmp_path / "model.arpa")
        arpa = read_arpa(tmp_path / "model.arpa")
    except DataError:  # a marker's name, or alike in NFC
        import unicodedata

        normal = [unicodedata.normalize("NFC", word) for word in words]
        assert len(set(normal)) < len(words) or {*normal, *words} & {*PIECES[:4], "<UNK>"}
        return
    encoded = [arpa.words.encode(" ".join(words[i - 4] for i in some)) for some in rows]
    assert encoded == rows
    for some in rows:
        np.testing.assert_allclose(
            logs10(imported(arpa), some), logs10(model, some), rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("odd", ["a b", "a\tb", "", "w4", "a\r", "<s>"])
def test_words_that_could_not_be_read_again_are_refused(odd: str, tmp_path: Path):
    model = model_of([[4, 5]], SIZE, tmp_path, order=2, smoothing="add-one")
    with pytest.raises(DataError, match="has words that differ, without blanks"):
        write_arpa(model, [*PIECES[:5], odd, *PIECES[6:]], tmp_path / "model.arpa")
    assert not (tmp_path / "model.arpa").exists()


BY_HAND = r"""made by hand

\data\
ngram 1=5
ngram 2=4

\1-grams:
-99 <s> -0.5
-1.0 </s>
-2.0 <unk>
-0.4	a	-0.25
-0.6 b -0.125

\2-grams:
-0.2 <s> a
-0.3 a b
-0.7 b </s>
-0.9 a </s>

\end\
"""


def read_text(text: str, tmp_path: Path) -> Arpa:
    file = tmp_path / "model.arpa"
    file.write_text(text, encoding="utf-8")
    return read_arpa(file)


def test_a_file_by_hand_is_read_by_hand(tmp_path: Path):
    arpa = read_text(BY_HAND, tmp_path)
    a, b, unknown = arpa.words.encode("a b neither")
    model = imported(arpa)
    np.testing.assert_allclose(logs10(model, [a, b]), [-0.2, -0.3, -0.7], atol=1e-6)
    # backed off: <s> b, then b unknown; after an unknown word </s> stands by itself
    expected = [-0.5 - 0.6, -0.125 - 2.0, -1.0]
    np.testing.assert_allclose(logs10(model, [b, unknown]), expected, atol=1e-6)
    assert not any(arpa.repaired.values())
    (tmp_path / "x.arpa.gz").write_bytes(gzip.compress(BY_HAND.encode()))
    packed = read_arpa(tmp_path / "x.arpa.gz")
    assert (packed.orders[1].keys == arpa.orders[1].keys).all()


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("\\data\\\n", "", "begins with"),
        ("ngram 1=5\n", "", "counts n-grams of each order from 1"),
        ("ngram 2=4", "ngram 3=4", "counts n-grams of each order from 1"),
        ("ngram 2=4", "ngram 2=five", "has .1-grams: here"),
        ("ngram 1=5", "ngram 1=6", "as many n-grams as it says, 6 of order 1"),
        ("ngram 1=5", "ngram 1=4", "as many n-grams as it says, 4 of order 1"),
        ("ngram 2=4", "ngram 2=5", "as many n-grams as it says, 5 of order 2"),
        ("ngram 2=4", "ngram 2=3", "as many n-grams as it says, 3 of order 2"),
        ("\\2-grams:\n", "", "as many n-grams as it says"),
        ("\\2-grams:", "\\3-grams:", "has .2-grams: here"),
        ("\\end\\\n", "", "as many n-grams as it says|ends with"),
        ("-0.3 a b", "0.3 a b", "at most 0"),
        ("-0.3 a b", "nan a b", "at most 0"),
        ("-0.6 b -0.125", "-0.6 b inf", "weights that are numbers"),
        ("-0.3 a b", "-0.3 a b -0.1", "a logarithm and 2 words"),
        ("-0.3 a b", "-0.3 a", "a logarithm and 2 words"),
        ("-0.3 a b", "a b c", "a logarithm and 2 words"),
        ("-0.3 a b", "-0.3 a c", "each word of an n-gram among its words"),
        ("-0.3 a b", "-0.2 <s> a", "has each n-gram once"),
        ("-0.6 b -0.125", "-0.6 a -0.125", "has each word once"),
        ("-0.4\ta", "-0.4\tc</s>", "each word of an n-gram among its words"),
        ("-99 <s> -0.5", "-99 c -0.5", "has <s> among its words"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(old, new, rule, tmp_path: Path):
    assert old in BY_HAND
    with pytest.raises(DataError, match=rule) as refused:
        read_text(BY_HAND.replace(old, new, 1), tmp_path)
    assert re.search(r"line \d+ of .*model.arpa", str(refused.value))


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_cut_anywhere_is_refused(packed: bool, tmp_path: Path):
    whole = BY_HAND.rstrip("\n").encode()
    whole = gzip.compress(whole, mtime=0) if packed else whole
    file = tmp_path / ("cut.arpa.gz" if packed else "cut.arpa")
    for n_bytes in range(0, len(whole) - 1, 5):
        file.write_bytes(whole[:n_bytes])
        with pytest.raises(DataError):
            read_arpa(file)


def test_what_is_odd_is_put_right_and_counted(tmp_path: Path):
    text = BY_HAND.replace("-2.0 <unk>\n", "-2.0 e\u0301\n").replace("-0.9 a </s>", "-0.9 a <s>")
    arpa = read_text(text, tmp_path)
    assert dict(arpa.repaired) == {
        "not_nfc": 1, "unknown_word_unlisted": 1, "begin_inside": 1,
    }  # fmt: skip
    assert arpa.words.encode("\u00e9 e\u0301 c") == [4, 4, 1]
    assert logs10(imported(arpa), [1])[0] == pytest.approx(-100.5)


def test_an_n_gram_whose_first_words_are_not_listed_is_refused(tmp_path: Path):
    text = BY_HAND.replace("ngram 2=4\n", "ngram 2=4\nngram 3=1\n")
    text = text.replace("\\end\\", "\\3-grams:\n-0.1 b a b\n\n\\end\\")
    with pytest.raises(DataError, match="'b a b' without them"):
        read_text(text, tmp_path)
