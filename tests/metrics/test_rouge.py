"""Laws of ROUGE: n-grams counted by hand, and the longest common subsequence by brute force."""

import re
from collections import Counter
from itertools import combinations

import pytest

from headway.core.errors import DataError
from headway.metrics.evaluation import compare, measure, summarize
from headway.metrics.rouge import NAMES, rouge_statistics

TEXTS = ["The cat sat on the mat.", "a dog ran", "one two three four", "Nothing alike"]
RIGHTS = ["the cat lay on a mat", "A dog ran!", "four three two one", "other words"]


def f_measure(both: int, output: int, right: int) -> float:
    return 2 * both / (output + right) if both else 0.0


def by_hand(text: str, right: str, name: str) -> float:
    """From the definition in the paper."""
    one, other = (re.findall("[a-z0-9]+", side.lower()) for side in (text, right))
    if name == "rougeL":
        longest = max(
            n for n in range(min(len(one), len(other)) + 1)
            if {*combinations(one, n)} & {*combinations(other, n)} or not n
        )  # fmt: skip
        return f_measure(longest, len(one), len(other))
    n = int(name[-1])
    grams = [Counter(zip(*(side[i:] for i in range(n)), strict=False)) for side in (one, other)]
    return f_measure((grams[0] & grams[1]).total(), *(some.total() for some in grams))


@pytest.mark.parametrize("name", NAMES)
def test_each_sentence_has_the_f_measure_of_its_definition(name):
    [*found] = rouge_statistics(TEXTS, [RIGHTS])[name].counts[:, 0]
    assert found == pytest.approx(
        [by_hand(text, right, name) for text, right in zip(TEXTS, RIGHTS, strict=True)]
    )


def test_of_several_references_the_nearest_counts():
    for statistics in rouge_statistics(TEXTS, [RIGHTS, TEXTS]).values():
        assert statistics.score() == 100.0


def test_text_without_spaces_is_cut_into_characters():
    found = rouge_statistics(["今天天气好"], [["今天天气很好"]], unspaced=True)
    assert found["rougeL"].score() == pytest.approx(100 * f_measure(5, 5, 6))
    assert rouge_statistics(["今天天气好"], [["今天天气很好"]])["rougeL"].score() == 0


def test_it_stands_beside_bleu_where_it_is_asked_for():
    assert summarize(measure(TEXTS, RIGHTS)).rouge == {}
    found = measure(TEXTS, RIGHTS, rouge=True)
    rouge = summarize(found, n_bootstrap=100).rouge
    assert [*rouge] == [*NAMES]
    assert rouge["rouge1"].low <= rouge["rouge1"].score <= rouge["rouge1"].high
    assert "case:lc" in rouge["rouge1"].signature
    assert {"bleu", *NAMES} <= compare(found, found).keys()


def test_unequal_numbers_of_sentences_are_refused():
    with pytest.raises(DataError):
        rouge_statistics(TEXTS, [RIGHTS[:2]])
