"""Laws of what BLEU takes for a word."""

import sys
from importlib.metadata import version

import pytest
from sacrebleu.metrics.bleu import BLEU

from headway.core.bleu import bleu_statistics
from headway.core.errors import ConfigError
from headway.metrics import tokenizers
from headway.metrics.tokenizers import (
    TOKENIZERS,
    MosesTokens,
    bleu_metric,
    has_compounds,
    lacking,
    tokenized_share,
)


def test_every_tokenizer_can_be_used_or_says_what_it_lacks(monkeypatch, tmp_path):
    monkeypatch.setattr(tokenizers, "SACREBLEU_DIR", str(tmp_path))  # no model is here
    for name in TOKENIZERS:
        if lack := lacking(name):
            assert "Try: pip install" in lack or f"--tokenize {name}" in lack
            with pytest.raises(ConfigError, match=f"{name} cannot be used"):
                bleu_metric(name, target_language="de")
        else:
            scored = bleu_metric(name, target_language="de").corpus_score(
                ["a b c d"], [["a b c d"]]
            )
            assert scored.score == pytest.approx(100.0)


def test_moses_tokens_are_sacremoses_and_words_joined_by_a_hyphen_may_be_split():
    pytest.importorskip("sacremoses")
    line = "Z.B. „rich-text format“, a-b-c & l'homme - gut."
    whole, split = MosesTokens("de", split=False), MosesTokens("de", split=True)
    assert whole(line) == "Z.B. „ rich-text format “ , a-b-c & l ' homme - gut ."
    # By hand, as perl's s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g does it: matches do not overlap.
    assert split(line) == (
        "Z.B. „ rich ##AT##-##AT## text format “ , a ##AT##-##AT## b-c & l ' homme - gut ."
    )
    assert MosesTokens("fr", split=False)("l'homme") == "l' homme"


def test_moses_tokens_make_spacing_and_on_request_case_irrelevant():
    pytest.importorskip("sacremoses")
    lines, rights = ["Der Hund läuft, „schnell“."], ["der hund läuft , „schnell“ ."]
    folded = bleu_metric("moses", target_language="de", lowercase=True)
    assert bleu_statistics(lines, rights, folded).score() == pytest.approx(100.0)
    assert bleu_statistics(lines, rights, bleu_metric("moses", target_language="de")).score() < 100


def test_sacrebleu_counts_and_signs_for_moses():
    pytest.importorskip("sacremoses")
    metric = bleu_metric("moses-split", target_language="de-AT", lowercase=True)
    scored = metric.corpus_score(["Ein E-Mail-Konto, gut."], [["ein E-mail-Konto , gut ."]])
    assert scored.score == pytest.approx(100.0)
    assert scored.sys_len == 9  # ein e @-@ mail @-@ konto , gut . (hyphens are tokens)
    assert f"case:lc|eff:no|tok:sacremoses-{version('sacremoses')}-de-split|smooth:exp" in str(
        metric.get_signature()
    )


def test_sacrebleus_own_are_untouched():
    for name in ("13a", "intl", "zh", "char", "none"):
        ours, theirs = bleu_metric(name), BLEU(tokenize=name)
        output, reference = (
            ["The co-op's 3.5% – isn't 我爱 bad."],
            [["The co-op 3.5% is 我爱 bad!"]],
        )
        assert str(ours.corpus_score(output, reference)) == str(
            theirs.corpus_score(output, reference)
        )
        assert str(ours.get_signature()) == str(theirs.get_signature())


def test_an_unknown_tokenizer_a_missing_language_and_a_missing_package_are_refused(monkeypatch):
    with pytest.raises(ConfigError, match=r"one of 13a, .*; got 'spm'. Try 13a"):
        bleu_metric("spm")
    pytest.importorskip("sacremoses")
    with pytest.raises(ConfigError, match="moses differs by language; got none. Give the target's"):
        bleu_metric("moses")
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(ConfigError, match=r"pip install 'headway\[moses\]'"):
        bleu_metric("moses", target_language="de")


def test_a_model_that_sacrebleu_downloaded_is_found_and_none_is_fetched(monkeypatch, tmp_path):
    pytest.importorskip("sentencepiece")
    monkeypatch.setattr(tokenizers, "SACREBLEU_DIR", str(tmp_path))
    assert "sacrebleu REFERENCE -i OUTPUT --tokenize flores200" in (lacking("flores200") or "")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "flores200sacrebleuspm").write_bytes(b"")
    assert lacking("flores200") is None


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("Ein Hund , der läuft .", 1.0),
        ("Ein Hund, der läuft.", 0.0),
        ("Ein Hund , der läuft.", 0.5),
        ("Dr. No wohnt z.B. hier", None),  # abbreviations say nothing
        ("我 爱 学习 。", 1.0),
        ("我爱学习，也爱你。", 0.0),
        ("", None),
    ],
)
def test_tokenized_text_is_known_by_its_commas_and_full_stops(line, share):
    assert tokenized_share([line]) == share


def test_a_hyphen_joins_words_or_stands_alone():
    assert has_compounds("an E-Mail")
    assert not has_compounds("this - and - that -")
