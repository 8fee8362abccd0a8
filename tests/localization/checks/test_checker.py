"""Damaged translations are flagged, good ones like those of training are not."""

import itertools
import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import RunError
from headway.demo import generate
from headway.languages.sentences import AtOnce
from headway.localization.checks.calibration import (
    RAISED,
    USUAL,
    Calibration,
    CheckBaseline,
    Checker,
)
from headway.localization.checks.number_words import small_numbers
from headway.localization.checks.output_checks import (
    OF_TEXTS,
    ModelEvidence,
    check_model,
    check_texts,
    repeated,
)
from headway.localization.checks.training_stats import Expansion, TrainingStats, measured

WORDS = st.lists(st.sampled_from("abc"), max_size=14)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    return [(pair[0], pair[1]) for pair in generate(1500, 7)]


@pytest.fixture(scope="module")
def checker(pairs) -> Checker:
    """Measured on the first 1,200."""
    known = pairs[:1200]
    held = measured(known, [len(source) for source, _ in known], ("en", "zh"))
    found = [check_texts(*pair, held) for pair in known]
    norms = {
        name: CheckBaseline.of([signs[name].strength if name in signs else 0.0 for signs in found])
        for name in OF_TEXTS
    }
    return Checker(held, Calibration(norms=norms))


def names(checker: Checker, source: str, target: str) -> set[str]:
    return {flag.name for flag in checker.look(source, target).flags}


def test_good_translations_are_left_alone(checker, pairs):
    n_flagged = sum(bool(checker.look(*pair).flags) for pair in pairs[:1200])
    assert n_flagged <= 0.01 * 1200
    unseen = sum(bool(checker.look(*pair).flags) for pair in pairs[1200:])
    assert unseen <= 0.03 * 300


def test_a_dropped_sentence_is_flagged(checker, pairs):
    draw = random.Random(1)
    for _ in range(50):
        some = draw.sample(pairs[1200:], draw.randint(2, 6))
        targets = [target for _, target in some]
        del targets[draw.randrange(len(targets))]
        source = " ".join(source for source, _ in some)
        assert {"sentences", "too_short"} & names(checker, source, "".join(targets))


def test_loops_copies_and_other_scripts_are_flagged(checker, pairs):
    for source, target in pairs[1200:1240]:
        assert "loop" in names(checker, source, target[:-1] + target[-5:-1] * 4 + "。")
        assert {"copy", "script"} & names(checker, source, source)
        assert "script" in names(checker, source, "Он там")


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ("He has 15 dogs.", "他有16只狗。", "number"),
        ("He has three dogs.", "他有四只狗。", "number_word"),
        ("Press {name} now.", "现在按{nam}。", "code"),
        ("Yes.", " ", "too_short"),
    ],
)
def test_what_differs_is_named(checker, source, target, name):
    assert name in names(checker, source, target)


def test_order_does_not_matter(checker, pairs):
    some = pairs[1200:1230]
    before = {pair: checker.look(*pair) for pair in some}
    assert {pair: checker.look(*pair) for pair in reversed(some)} == before


def test_a_text_without_words_is_not_judged(checker):
    assert checker.look("...", "。。。") == ((), None)


def test_without_figures_of_a_run_plain_damage_is_still_flagged():
    checker = Checker(TrainingStats.from_dict({}), Calibration.from_dict({}))
    assert names(checker, "The dog is here.", "Der Hund ist hier.") == set()
    assert "number" in names(checker, "He has 150 dogs.", "Er hat 250 Hunde.")
    assert "number" in names(checker, "He has 150 dogs.", "Er hat Hunde.")
    assert "number" in names(checker, "Set it to 3.5 bar.", "Stellen Sie es auf 35 bar.")
    assert "loop" in names(checker, "The dog is here.", "Der Hund der Hund der Hund der Hund.")
    assert "sentences" in names(checker, "The dog runs. The cat sleeps.", "Der Hund rennt.")
    assert "loop" not in names(checker, "I love my sister.", "我爱我的妹妹。")
    assert checker.look("The dog is here.", "Der Hund ist hier.").confidence is None


@pytest.mark.parametrize("name", [name for name in USUAL if name != "number"])
def test_what_is_usual_is_no_flag_and_what_is_stronger_is_one(name):
    norm = USUAL[name]
    most = max(norm.strongest, default=0.0)
    assert norm.confidence(most) < RAISED
    assert norm.confidence(most / 2) < RAISED
    assert norm.confidence(most + 0.01) >= RAISED


@given(WORDS)
def test_what_is_repeated_as_by_brute_force(words):
    """All periods at all places, letter by letter; groups of four that stand three times."""
    most = 0
    for start, period in itertools.product(range(len(words)), range(1, len(words))):
        n = 0
        while start + period + n < len(words) and words[start + n] == words[start + period + n]:
            n += 1
        most = max(most, n if n >= period else 0)
    text = "".join(words)
    for place in range(len(text) - 3):
        n = len(re.findall(f"(?={text[place : place + 4]})", text))
        most = max(most, 4 * (n - 1) if n > 2 else 0)
    assert repeated(words)[0] == most


def test_source_words_that_nothing_looked_at_are_counted():
    reading = ModelEvidence(
        ["the", " dog", " eats", " fish", "."], [-0.1], [1.0, 0.1, 0.0, 0.1, 2.0]
    )
    sign = check_model(reading)["uncovered"]
    assert sign.strength == 3
    assert "dog eats fish" in sign.why


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("twenty-one dogs and 3 cats, one cow", "en", {3}),
        ("einundzwanzig Hunde, zwei Katzen, 100 Kühe", "de", {2}),
        ("二十一只狗，两只猫，十五头牛，一匹马", "zh", {2}),
        ("三明治", "zh-Hans", set()),
        ("tre", "sv", None),
    ],
)
def test_small_numbers_in_words(text, language, expected):
    found = small_numbers(text, language)
    assert (found if found is None else set(found)) == expected


def test_chinese_numbers_up_to_12_are_counted():
    digits = "零一二三四五六七八九"
    for n in range(2, 100):
        tens, units = divmod(n, 10)
        word = ("" if tens == 1 else digits[tens]) + "十" if tens else ""
        word += digits[units] if units else ""
        assert small_numbers(f"有{word}只", "zh") == ({n: 1} if n <= 12 else {})


# -- what training held ------------------------------------------------------------------------


def test_a_training_of_single_sentences_takes_one_at_once(checker):
    at_once = checker.held.at_once
    assert at_once.sentences == 1
    assert at_once.subwords == checker.held.subwords["99.9%"]


def test_a_training_of_longer_texts_takes_as_many_as_it_held():
    texts = [" ".join(["It is so."] * (1 + n % 5)) for n in range(100)]
    held = measured([(text, text) for text in texts], [len(text) for text in texts])
    assert held.single == 0.2
    assert held.at_once == AtOnce(5, max(map(len, texts)))


def test_what_training_held_is_read_back(checker):
    plain = json.loads(json.dumps(checker.held.as_dict()))
    assert TrainingStats.from_dict(plain) == checker.held
    assert TrainingStats.from_dict({}).at_once == AtOnce(1, None)


@pytest.mark.parametrize(
    "damage",
    [
        {"sentences": 0},
        {"sentences": "many"},
        {"subwords": {"99.9%": -1}},
        {"subwords": 3},
        {"expansion": [{"ratio": 1}]},
        {"languages": 3},
        {"unknown": 1},
    ],
)
def test_anything_else_is_refused(checker, damage):
    with pytest.raises(RunError, match=r"checks\.json"):
        TrainingStats.from_dict({**checker.held.as_dict(), **damage})


def test_each_sentence_is_compared_with_its_own_source() -> None:
    held = TrainingStats()
    ours = "A team is in gold . The man is an actor in a hat ."
    theirs = "Ein Team in Gold . Der Mann ist an der Reihe ."
    alone = [check_texts(*pair, held) for pair in zip(*map(split, (ours, theirs)), strict=True)]
    both = check_texts(ours, theirs, held)
    strengths = [signs["copy"].strength for signs in alone if "copy" in signs]
    assert both["copy"].strength == max(strengths)


def split(text: str) -> list[str]:
    first, second = text.split(" . ")
    return [f"{first} .", second]


def test_what_a_source_says_twice_may_be_said_twice_and_once_is_a_loop_said_twice() -> None:
    source, target = "Where was he yesterday?", "Wo war er gestern denn nur?"
    twice = f"{target} {target}"
    assert "loop" not in check_texts(f"{source} {source}", twice, TrainingStats())
    assert check_texts(source, twice, TrainingStats())["loop"].strength == 6
    fixed = "Er isst jetzt gerade Brot. Sie liest jetzt gerade laut. Es ist jetzt gerade kalt."
    assert "loop" not in check_texts("He eats. She reads. It is cold.", fixed, TrainingStats())


def test_what_one_text_in_some_shows_is_more_common_in_several_sentences() -> None:
    held = TrainingStats(texts=1, expansion=(Expansion(100, 1.0, 0.5, 1.5),))
    one, two = ("A cat sat here.", "Kort."), ("A cat sat here. A dog slept.", "Kort. Ja.")
    for strongest, of_one, of_two in (
        ((), 1, 1),
        ((9.0, 9.0, 9.0, 9.0), 1, 0),
        ((9.0,) * 32, 0, 0),
    ):
        checker = Checker(held, Calibration({"too_short": CheckBaseline(2500, strongest)}))
        assert len(checker.look(*one).flags) == of_one
        assert len(checker.look(*two).flags) == of_two


def test_sentences_without_spaces_between_them_are_as_long_as_expected() -> None:
    held = TrainingStats(texts=1, expansion=(Expansion(100, 0.5, 0.9, 1.1),))
    source, target = "A cat sat here now.", "一只猫现在坐着。。"
    assert not {"too_short", "too_long"} & {*check_texts(source, target, held)}
    joined = check_texts(" ".join([source] * 5), "".join([target] * 5), held)
    assert not {"too_short", "too_long"} & {*joined}
