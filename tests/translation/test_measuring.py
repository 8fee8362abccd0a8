"""What is good for nothing is called so; a weak translator is not."""

import random

from headway.demo import generate
from headway.translation.measuring import below_use, told_apart

PAIRS = list(dict(generate(400, seed=5)).items())
SOURCES, TARGETS = [s for s, _ in PAIRS], [t for _, t in PAIRS]


def test_good_and_half_wrong_translations_are_of_use():
    assert below_use(SOURCES, TARGETS, TARGETS) == ""
    drawn = random.Random(1)
    damaged = ["".join(c for c in text if drawn.random() < 0.6) for text in TARGETS]
    assert below_use(SOURCES, damaged, TARGETS) == ""


def test_translations_of_other_sentences_or_of_none_are_not():
    shuffled = random.Random(2).sample(TARGETS, len(TARGETS))
    for useless in (shuffled, [TARGETS[0]] * len(TARGETS), [""] * len(TARGETS)):
        assert "reference" in below_use(SOURCES, useless, TARGETS)
        assert abs(told_apart(useless, TARGETS) - 0.5) < 0.06


def test_copies_of_the_source_are_not():
    assert "untranslated sources" in below_use(SOURCES, SOURCES, TARGETS)


def test_of_few_sentences_nothing_is_said():
    assert below_use(SOURCES[:10], [""] * 10, TARGETS[:10]) == ""
    assert told_apart(["a"], ["a"]) == 1.0
