"""Terms that a model would not write stand where they belong, and nothing else moves."""

import re
from pathlib import Path
from typing import Any

import pytest

from headway.core.hypothesis import Hypothesis, penalty
from headway.localization.checks.calibration import Verdict
from headway.localization.placeholders.segments import Segment
from headway.operations.shipped import SHIPPED
from headway.translator import Translator

TEXTS = ["Where is my hat?", "There is a dog behind the tree.", "This student is at school.", "Hi."]
TERMS = {"hat": "AcmeCap", "dog": "犬只", "school": "学堂"}
USUAL = {"hat": "帽子", "dog": "狗", "school": "学校"}


@pytest.fixture(scope="module")
def translator() -> Translator:
    """The package's."""
    return Translator.load(SHIPPED, device="cpu")


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    file = tmp_path / "terms.tsv"
    file.write_text("".join(f"{a}\t{b}\n" for a, b in TERMS.items()), encoding="utf-8")
    return file


def exchanged(text: str, source: str) -> str:
    """What a reader expects: the term in the place of the usual word."""
    for word, usual in USUAL.items():
        if word in re.findall(r"\w+", source):
            assert text.count(usual) == 1, "the model's own translation has it"
            text = text.replace(usual, TERMS[word])
    return text


@pytest.mark.parametrize("engine", ["native", "torch"])
@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_each_takes_the_place_of_its_usual_word_and_nothing_else_changes(
    terms: Path, engine: str, method: str
) -> None:
    translator = Translator.load(SHIPPED, device="cpu", engine=engine)
    plain = translator.translate(TEXTS, method=method)
    found = translator.translate(TEXTS, method=method, glossary=terms)
    assert found == [exchanged(*each) for each in zip(plain, TEXTS, strict=True)]


def test_terms_stand_where_the_model_says_whatever_else_scored_the_text(terms: Path) -> None:
    translator, search = (Translator.load(SHIPPED, device="cpu") for _ in range(2))
    usual = translator.translate(TEXTS, glossary=terms)

    def told_otherwise(*given: Any) -> list[list[Hypothesis]]:
        return [
            [one._replace(token_log_probs=[-20.0 for _ in one.token_log_probs]) for one in each]
            for each in search.plain.decode(search.model, *given[1:])
        ]

    translator.plain.decode = told_otherwise
    assert translator.translate(TEXTS, glossary=terms) == usual


def test_what_the_model_writes_anyway_is_left_alone(translator: Translator, tmp_path: Path) -> None:
    file = tmp_path / "usual.tsv"
    file.write_text("".join(f"{a}\t{b}\n" for a, b in USUAL.items()), encoding="utf-8")
    assert translator.translate_fully(TEXTS, glossary=file) == translator.translate_fully(TEXTS)


def test_sub_words_scores_and_alignments_are_those_of_what_is_shown(
    translator: Translator, terms: Path
) -> None:
    how = {"n_best": 3, "want_alignment": True}
    plain = translator.translate_fully(TEXTS, **how)
    found = translator.translate_fully(TEXTS, glossary=terms, **how)
    for one, before in zip(found, plain, strict=True):
        assert len(one.n_best) == 3
        for each in one.n_best:
            assert translator.subwords.decode(each.ids) == each.target == each.written
            assert len(each.tokens) == len(each.ids) == len(each.alignment)
            assert len(each.token_log_probs) == len(each.ids) + 1
            assert all(0 <= at < len(one.source_tokens) for at, _ in each.alignment)
        assert one.n_best[0].score == before.n_best[0].score
        log_prob = sum(before.n_best[0].token_log_probs)
        assert sum(one.n_best[0].token_log_probs) == pytest.approx(log_prob)


def test_the_score_of_several_sentences_is_that_of_their_log_probabilities(
    translator: Translator, terms: Path
) -> None:
    texts = [" ".join(TEXTS[:2]), " ".join(TEXTS[1:3])]
    alpha = translator.settings.decoding.length_penalty
    plain = translator.translate_fully(texts)
    for one, before in zip(translator.translate_fully(texts, glossary=terms), plain, strict=True):
        [best] = one.n_best
        log_prob = sum(before.n_best[0].token_log_probs)
        assert len(best.ids) != len(before.n_best[0].ids), "else the score is the same anyway"
        assert sum(best.token_log_probs) == pytest.approx(log_prob)
        assert best.score == pytest.approx(log_prob / float(penalty(len(best.ids) + 2, alpha)))


def test_alternatives_do_not_put_a_sentence_without_its_term_first_where_several_stand_together(
    translator: Translator, tmp_path: Path
) -> None:
    file = tmp_path / "terms.tsv"
    file.write_text("dog\t小狗\nbook\t书本\nbird\t小鸟\n", encoding="utf-8")
    how = {"beam": 8, "n_best": 6, "glossary": file}
    each = ["The dog likes the book.", "The bird reads the dog.", "The dog reads the book."]
    alone = translator.translate(each, **how)
    assert all("小狗" in text for text in alone), "else nothing is shown"
    assert translator.translate(" ".join(each), **how) == "".join(alone)


def test_terms_stand_in_each_sentence_and_codes_where_they_were(
    translator: Translator, terms: Path
) -> None:
    plain, found = (
        translator.translate(
            ["Where is my hat? This student is at school.\nThere is a dog <b>behind</b> the tree."],
            glossary=one,
        )
        for one in ("none", terms)
    )
    assert found[0] == exchanged(plain[0], "hat dog school")
    assert (found[0].count("<b>"), found[0].count("</b>")) == (1, 1)


def test_what_has_no_place_is_left_out_and_named(translator: Translator, tmp_path: Path) -> None:
    file = tmp_path / "the.tsv"
    file.write_text("is\tXYZ\n", encoding="utf-8")
    [found] = translator.translate(["Where is my hat?"], glossary=file)
    [plain] = translator.translate(["Where is my hat?"])
    assert found in (plain, plain.replace("在", "XYZ")), "never behind the end"


def test_a_text_that_is_nothing_but_a_term_becomes_that_term_unread(
    translator: Translator, tmp_path: Path
) -> None:
    file = tmp_path / "menu.tsv"
    file.write_text("dog\t=\ncat\tkatze|mieze\nbird*\tVogel*\n", encoding="utf-8")
    wanted = {
        "dog": "dog", "Dog": "Dog", "DOG!": "DOG!", "cat": "katze", "Cat:": "Katze:",
        "<b>Cat</b>": "<b>Katze</b>", "Bird": "Vogel",
    }  # fmt: skip
    found = translator.translate_fully([*wanted], glossary=file)
    assert [one.target for one in found] == [*wanted.values()]
    assert {translator.judged(one) for one in found} == {Verdict((), None)}, "as from a memory"
    segments = translator.translate_segments([Segment((one,)) for one in wanted], glossary=file)
    assert [one.segment.text for one in segments] == [*wanted.values()]
    [several] = translator.translate_fully(["Cat"], glossary=file, n_best=3)
    assert [several.target, len({one.target for one in several.n_best})] == ["Katze", 3]
    plain = translator.translate(["The cat.", "birds"])
    assert translator.translate(["birds"], glossary=file) != ["Vogel"] != plain[1:]
    mixed = translator.translate_fully("Cat. Where is my hat?", glossary=file)
    assert mixed.target.startswith("Katze.")
    assert translator.judged(mixed).confidence is not None
