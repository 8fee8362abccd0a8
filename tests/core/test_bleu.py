"""Which tokenizer scores a language, and how chance is measured."""

import numpy as np
import pytest

from headway.core import bleu as translation
from headway.core.bleu import bleu_statistics, bleu_tokenizer
from headway.languages.codes import base
from headway.languages.scripts import UNSPACED_SCRIPTS, scripts_of_language


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        (None, "13a"),
        ("de", "13a"),
        ("zh", "zh"),
        ("zh-Hans", "zh"),
        ("ZH_cn", "zh"),
        ("ja", "char"),
        ("th", "char"),
        ("lao_Laoo", "char"),
        ("km", "char"),
        ("my", "char"),
        ("bod_Tibt", "char"),
        ("wuu", "zh"),
        ("ko", "13a"),
        ("zha", "13a"),  # Zhuang
    ],
)
def test_the_tokenizer_follows_the_language(language, tokenizer):
    assert bleu_tokenizer(language) == tokenizer


def test_characters_are_scored_of_languages_that_all_others_take_to_be_without_spaces():
    for language in "zh yue cmn lzh ja th lo km my bo dz ko de ru hi am".split():
        unspaced = scripts_of_language(language)[0] in UNSPACED_SCRIPTS
        assert (bleu_tokenizer(language) != "13a") == unspaced, language


def test_a_language_is_known_by_its_base():
    assert [base(code) for code in ("zh-Hans", "pt_BR", "DE", None)] == [
        "zh",
        "pt",
        "de",
        "",
    ]


def test_memory_bounds_do_not_change_the_draws(monkeypatch):
    found = bleu_statistics(["a b c d e", "c", "d d"], ["a b c d f", "c c", "d"])
    at_once = found.resampled(50, 7)
    monkeypatch.setattr(translation, "DRAWS_AT_ONCE", 10)
    np.testing.assert_array_equal(found.resampled(50, 7), at_once)
