"""Planted faults are found, with their lines; sound output has none."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from headway.core.bleu import bleu_formula, bleu_statistics
from headway.metrics.corpus_scores import counted
from headway.metrics.diagnosis import diagnose, words
from headway.metrics.evaluation import by_length, compare, measure, summarize
from headway.metrics.score_card import score_card
from headway.translation.measuring import below_use

N = 40
FRENCH = "le la un une chien chat homme femme court mange rouge bleu vite rue maison".split()
ENGLISH = "the a one some dog cat man woman runs eats red blue fast street house".split()


def sound():
    """Sources, references, and an output with one wrong word in each line."""
    random = np.random.default_rng(1)
    sources, references, outputs = [], [], []
    for _ in range(N):
        chosen = random.integers(0, len(ENGLISH), 9)
        english = [ENGLISH[i] for i in chosen]
        sources.append(" ".join(FRENCH[i] for i in chosen).capitalize() + ".")
        references.append(" ".join([*english[:4], "Rex,", *english[4:]]).capitalize() + ".")
        english[2] = "thing"
        outputs.append(" ".join([*english[:4], "Rex,", *english[4:]]).capitalize() + ".")
    return sources, references, outputs


def notes(outputs, references, sources=None, **options):
    bleu = bleu_statistics(outputs, references, **options)
    found = diagnose(outputs, references, sources=sources, bleu=bleu)
    return {note.fault: note for note in found}


def test_sound_output_has_no_faults():
    sources, references, outputs = sound()
    assert notes(outputs, references, sources) == {}
    assert notes(references, references, sources) == {}


def test_short_output_is_told_with_the_brevity_penalty():
    _, references, outputs = sound()
    cut = [" ".join(line.split()[:7]) for line in outputs]
    note = notes(cut, references)["short output"]
    counts = bleu_statistics(cut, references)
    length, wanted = counts.counts.sum(0)[:2]
    penalty = np.exp(1 - wanted / length)
    assert f"{length / wanted:.2f} of the references' length" in note.finding
    assert f"({penalty:.2f}) it would be {counts.score() / penalty:.1f}" in note.finding
    assert "length_penalty" in note.remedy


@given(
    lines=st.lists(
        st.tuples(st.sampled_from(["", "a", "a.", "the dog runs.", "的", "a " * 90]),
                  st.sampled_from(["", "b", "the dog runs away.", "的 狗", "b " * 90])),
        min_size=1, max_size=25,
    )
)  # fmt: skip
@settings(deadline=None, max_examples=60)
@example(lines=[("a", "b " * 900)])
def test_no_lengths_are_too_odd_for_any_figure(lines):
    outputs, references = map(list, zip(*lines, strict=True))
    notes(outputs, references, outputs)
    measured = measure(outputs, references, ter=False)
    summarize(measured, n_bootstrap=40)
    by_length(measured, [len(line.split()) for line in references])
    compare(measured, measured, n_bootstrap=40)
    score_card(outputs, references, ter=False, n_bootstrap=40)
    below_use(references, outputs, references)


def test_the_shortest_outputs_are_the_examples():
    _, references, outputs = sound()
    cut = [line if i in (3, 30) else "A dog." for i, line in enumerate(outputs)]
    cut[7] = "Dog"
    note = notes(cut, references)["short output"]
    assert note.lines[0] == 8
    assert not {4, 31} & set(note.lines)


def test_long_output_is_told():
    _, references, outputs = sound()
    long = [line + " It is so and nothing else." for line in outputs]
    assert "1.5" in notes(long, references)["long output"].finding


def test_blank_lines_are_told_on_either_side_but_not_where_both_are_blank():
    _, references, outputs = sound()
    outputs[4] = outputs[9] = references[9] = references[20] = " "
    found = notes(outputs, references)
    assert found["blank output"].lines == [5]
    assert found["blank references"].lines == [10, 21]


@pytest.mark.parametrize("mark", ["ru@@ ns", "▁runs", "rich @-@ text", "it &apos;s", "an <unk>"])
def test_marks_of_preparation_are_told_unless_the_reference_has_them(mark):
    _, references, outputs = sound()
    outputs[11] += " " + mark
    note = notes(outputs, references)["marks of preparation"]
    assert note.lines == [12]
    assert note.finding.startswith(f"1 of {N} lines")
    references[11] += " " + mark
    assert notes(outputs, references) == {}


def test_untranslated_lines_are_told_where_sources_are_given():
    sources, references, outputs = sound()
    outputs[2], outputs[33] = sources[2], sources[33].lower()
    assert notes(outputs, references, sources)["untranslated"].lines == [3, 34]
    assert notes(outputs, references) == {}
    references[2], references[33] = sources[2], sources[33]  # names, code: rightly untranslated
    assert notes(outputs, references, sources) == {}


def test_loops_are_told_unless_the_reference_goes_round_as_well():
    _, references, outputs = sound()
    outputs[5] = "The dog, the dog, the dog, the dog."
    outputs[6] = "Very very very fast."
    found = notes(outputs, references)["loops"]
    assert found.lines == [6]
    references[5] = "No no no no no."
    assert "loops" not in notes(outputs, references)


def test_a_word_of_chinese_is_a_character():
    assert words("我爱Python 3，你呢？") == ["我", "爱", "python", "3", "你", "呢"]


def test_one_of_several_references_excuses():
    sources, references, outputs = sound()
    outputs[2] = sources[2]
    bleu = counted(BLEU(force=True), bleu_formula, outputs, [references, outputs])
    assert (
        diagnose(outputs, references, more_references=[outputs], sources=sources, bleu=bleu) == []
    )
