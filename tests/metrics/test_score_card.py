"""Every row of the card is what the tool that it names would say."""

import sys

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from headway.core.bleu import UNSPACED, bleu_tokenizer
from headway.core.errors import DataError
from headway.metrics.evaluation import ter_statistics
from headway.metrics.score_card import CONVENTIONS, score_card
from headway.metrics.tokenizers import TOKENIZERS

REFERENCES = [
    "Der E-Mail-Verkehr „nahm“ stark zu, sagte z.B. Frau Dr. Meier.",
    "Das kostet 3.500 € (ca. 20%) — und mehr!",
    "Sie wohnt im Nord-Süd-Viertel.",
]
OUTPUTS = [
    "Der e-mail-Verkehr \"nahm\" sehr zu, sagte z.B. Frau Dr. Meier.",
    "Das kostet 3.500 € (etwa 20%) — und viel mehr!",
    "Sie lebt im Nord-Süd-Viertel .",
]  # fmt: skip
OTHERS = ["Der Verkehr nahm zu.", "Es kostet mehr!", "Sie lebt im Nord-Süd-Viertel."]


def rows(*arguments, **options):
    return {row.name: row for row in score_card(*arguments, n_bootstrap=0, **options).rows}


def reasons(*arguments, **options):
    card = score_card(*arguments, n_bootstrap=0, **options)
    return {convention.name: convention.reason for convention in card.left_out}


@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, OTHERS]])
def test_rows_of_sacrebleu_are_sacrebleus(references):
    first, *more = references
    found = rows(OUTPUTS, first, more_references=more, target_language="de")
    metrics = {
        "13a": BLEU(),
        "13a lower-cased": BLEU(lowercase=True),
        "intl": BLEU(tokenize="intl"),
        "intl lower-cased": BLEU(tokenize="intl", lowercase=True),
        "chrF2": CHRF(),
        "chrF2++": CHRF(word_order=2),
        "TER": TER(),
    }
    for name, metric in metrics.items():
        expected = metric.corpus_score(OUTPUTS, references)
        assert found[name].score == pytest.approx(expected.score), name
        assert found[name].signature == str(metric.get_signature())
        assert found[name].metric == (
            expected.name if name in ("chrF2", "chrF2++", "TER") else "BLEU"
        )
    assert len({found[name].score for name in metrics}) == len(metrics)


def test_rows_of_moses_are_bleu_over_tokens_cut_beforehand():
    sacremoses = pytest.importorskip("sacremoses")
    moses = sacremoses.MosesTokenizer(lang="de")

    def cut(lines, *, lower=False, split=False):
        tokens = [moses.tokenize(x.lower() if lower else x, escape=False) for x in lines]
        if not split:
            return [" ".join(line) for line in tokens]
        parts = ([token.replace("-", " ##AT##-##AT## ") if len(token) > 1 else token
                  for token in line] for line in tokens)  # fmt: skip
        return [" ".join(line) for line in parts]

    found = rows(OUTPUTS, REFERENCES, target_language="de")
    for name, how in [
        ("moses", {}),
        ("moses lower-cased", {"lower": True}),
        ("moses-split", {"split": True}),
    ]:
        expected = BLEU(tokenize="none").corpus_score(cut(OUTPUTS, **how), [cut(REFERENCES, **how)])
        assert found[name].score == pytest.approx(expected.score), name
    assert found["moses-split"].score > found["moses"].score


def test_every_row_or_reason_is_given_in_order():
    card = score_card(OUTPUTS, REFERENCES, target_language="de", n_bootstrap=0)
    names = [row.name for row in card.rows if row.metric == "BLEU"]
    left_out = [convention.name for convention in card.left_out]
    assert sorted([*names, *left_out]) == sorted(convention.name for convention in CONVENTIONS)
    assert [c.name for c in CONVENTIONS if c.name in names] == names
    assert [row.name for row in card.rows][-3:] == ["chrF2", "chrF2++", "TER"]
    assert {convention.tokenizer for convention in CONVENTIONS} == set(TOKENIZERS)


def test_chinese_is_scored_by_characters_and_not_by_words():
    lines, wrong = ["我爱学习，他也爱。", "今天很好。"], ["我爱学习，她也爱。", "今天好。"]
    found = rows(wrong, lines, target_language="zh-Hans")
    assert found["zh"].score == pytest.approx(
        BLEU(tokenize="zh").corpus_score(wrong, [lines]).score
    )
    assert "char" in found
    left_out = reasons(wrong, lines, target_language="zh-Hans")
    for name in ("13a", "intl", "moses", "moses lower-cased", "moses-split"):
        assert "whole clause" in left_out[name]
    assert left_out["ja-mecab"] == "not for this language"
    assert "not tokenized already" in left_out["none"]


@pytest.mark.parametrize("language", UNSPACED)
def test_the_card_has_the_tokenizer_that_the_language_is_scored_by(language):
    lines = ["我爱学习，他也爱。", "เขารอที่นี่นานมาก"]
    found = rows(lines, lines, target_language=language)
    assert bleu_tokenizer(language) in found
    assert not {"13a", "intl"} & set(found)


def test_tokenized_text_is_scored_as_it_is():
    lines, wrong = ["Ein Hund , der läuft .", "ja , so ist es ."], ["Ein Hund , er läuft .", "ja ."]
    found = rows(wrong, lines, target_language="de")
    assert found["none"].score == pytest.approx(
        BLEU(tokenize="none").corpus_score(wrong, [lines]).score
    )
    assert "none lower-cased" in found
    one_side = reasons([line.replace(" ,", ",") for line in wrong], REFERENCES[:2])
    assert "none" in one_side


def test_what_would_repeat_another_row_or_needs_a_language_is_left_out():
    lines = ["a b c, d.", "e f g."]
    assert "equals moses" in reasons(lines, lines, target_language="de")["moses-split"]
    assert "language is not known" in reasons(lines, lines)["moses"]
    assert reasons(lines, lines)["zh"] == "not for this language"


def test_without_sacremoses_its_rows_are_left_out_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    left_out = reasons(OUTPUTS, REFERENCES, target_language="de")
    assert "pip install 'headway[moses]'" in left_out["moses"]
    assert "13a" not in left_out


def test_scores_lie_in_their_intervals_and_ter_is_not_counted_twice():
    ter = ter_statistics(OUTPUTS, [REFERENCES])
    told = []
    card = score_card(
        OUTPUTS, REFERENCES, target_language="de", ter=ter, n_bootstrap=50, advance=told.append
    )
    assert all(row.low <= row.score <= row.high for row in card.rows)
    assert all("bs:50|seed:12345" in row.signature for row in card.rows)
    assert sum(told) == 3 * (len(card.rows) - 1)


def test_unequal_files_are_refused():
    with pytest.raises(DataError, match="3 translations and 2 references"):
        score_card(OUTPUTS, REFERENCES, more_references=[OTHERS[:2]])
