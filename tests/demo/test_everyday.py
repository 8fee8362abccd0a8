"""The everyday corpus: no sentence twice, no leak, one translation each, and *it* resolved."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from headway.core.errors import ConfigError
from headway.demo import (
    DEMO_SEED,
    DEMO_SIZES,
    EXAMPLES,
    INVITED,
    Pair,
    finished,
    generate,
    sentence,
    split,
)
from headway.demo.lexicon import Referent, Scene, adjectives, rows, scenes, things, verbs
from headway.demo.sampling import Writer
from headway.demo.sentences import KINDS, liking, plain, told

SIGHT = KINDS["sight"][1]


@pytest.fixture(scope="module")
def drawn() -> list[Pair]:
    """What the demo's corpus is drawn from, and some more."""
    writer = Writer(DEMO_SEED)
    return [sentence(writer) for _ in range(30_000)]


@pytest.fixture(scope="module")
def corpus(drawn: list[Pair]) -> list[Pair]:
    left = iter(drawn)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headway.demo.sentence", lambda _: next(left))
        return generate(sum(DEMO_SIZES), DEMO_SEED)


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another(
    corpus: list[Pair],
) -> None:
    assert generate(300, DEMO_SEED) == corpus[:300]
    assert generate(300, DEMO_SEED + 1) != corpus[:300]


def test_no_sentence_occurs_twice_in_either_language(corpus: list[Pair]) -> None:
    english, chinese = zip(*corpus, strict=True)
    assert len(set(english)) == len(set(chinese)) == len(corpus) == sum(DEMO_SIZES)


def test_what_is_set_apart_never_occurs_in_training(corpus: list[Pair]) -> None:
    _, n_valid, n_test = DEMO_SIZES
    parts = split(corpus, n_valid=n_valid, n_test=n_test)
    assert (len(parts.train), len(parts.valid), len(parts.test)) == DEMO_SIZES
    seen = {text for pair in parts.train for text in pair}
    held_out = [*parts.valid, *parts.test, *EXAMPLES, *INVITED]
    assert not seen & {text for pair in held_out for text in pair}
    assert not set(parts.valid) & set(parts.test)


def test_a_split_that_leaves_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(ConfigError, match="got 3 and 2 of 5"):
        split(generate(5, seed=1), n_valid=3, n_test=2)


def test_an_english_sentence_has_one_translation(drawn: list[Pair]) -> None:
    translation: dict[str, str] = {}
    for english, chinese in drawn:
        assert translation.setdefault(english, chinese) == chinese
    # Few repeats among so many: the grammar holds far more than anybody will generate.
    assert len(translation) > 26_000


def test_sentences_of_both_languages_look_as_their_readers_expect(corpus: list[Pair]) -> None:
    for english, chinese in corpus:
        assert re.fullmatch(r"[A-Z][a-zA-Z']*( [a-zA-Z']+,?)*[.?]", english), english
        assert re.fullmatch(r"[\u4e00-\u9fff]+(，[\u4e00-\u9fff]+)*[。？]", chinese), chinese
        assert english.endswith("?") == chinese.endswith("？")


def test_articles_agree_with_the_next_word(corpus: list[Pair]) -> None:
    for english, _ in corpus:
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", english), english


def test_every_word_is_seen_often_enough_to_be_learned(corpus: list[Pair]) -> None:
    count = Counter(re.findall(r"[a-z]+", " ".join(english.lower() for english, _ in corpus)))
    assert 300 <= len(count) <= 650
    assert min(count.values()) >= 8, count.most_common()[-5:]
    characters = Counter("".join(chinese for _, chinese in corpus))
    assert min(characters.values()) >= 8, characters.most_common()[-5:]


def every_it() -> Iterator[tuple[Scene, Referent, Referent, Referent, str, Pair]]:
    """Every sentence about *it*, with what it is made of."""
    for scene in scenes():
        for first, second in product(things()[scene.first], things()[scene.second]):
            for named, reasons in ((first, scene.reasons), (second, second.reasons)):
                for mode, reason, pattern in product(scene.modes, reasons, rows("it")):
                    pair = told(scene, first, second, mode, named, reason, pattern)
                    yield scene, first, second, named, reason, finished(*pair)


def test_chinese_names_the_antecedent_that_the_reason_fits() -> None:
    for scene, first, second, named, reason, (english, chinese) in every_it():
        assert first != second
        assert not set(scene.reasons) & set(second.reasons)
        assert named is (first if reason in scene.reasons else second)
        assert " because it " in english
        before, after = chinese.split("，因为那")
        assert "它" not in chinese
        assert f"{first.measure}{first.zh}" in before
        assert second.zh in before
        assert after.startswith(f"{named.measure}{named.zh}")


def test_the_reason_alone_decides_what_it_is() -> None:
    antecedents: dict[str, set[str]] = {}
    for _, _, _, named, _, (english, _) in every_it():
        event = english.split(" because ")[0]
        antecedents.setdefault(event, set()).add(named.zh)
    assert {len(named) for named in antecedents.values()} == {2}


def test_the_grammar_contains_the_sentences_that_the_demo_shows(
    monkeypatch: pytest.MonkeyPatch, sights: list[Pair]
) -> None:
    about_it = {pair for *_, pair in every_it()}
    writer = Writer(1)
    monkeypatch.setattr(writer, "who", writer.pronoun)
    monkeypatch.setattr(writer, "pastime", writer.doing)
    likings = (finished(*liking(writer)) for _ in range(10_000))
    assert all(pair in about_it or pair in likings for pair in EXAMPLES)
    writer = Writer(3)
    told = {finished(*plain(writer)) for _ in range(5_000)}
    assert set(INVITED) <= {*sights, *told}


@pytest.fixture(scope="module")
def sights() -> list[Pair]:
    """Of who is seen."""
    writer = Writer(3)
    return [finished(*SIGHT(writer)) for _ in range(15_000)]


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (r"^An? (\w+ )?dog \w+s\.$", r"^一只.*狗(在.+|[坐站]着)。$"),
        (r"^The (cat|bird|panda) \w+s\.$", r"^那只(猫|鸟|熊猫)(在.+|[坐站]着)。$"),
        (r"^(Two|Three) \w+ (run|sleep|jump)\.$", r"^[两三].+在(跑|跑步|睡觉|跳)。$"),
        (r"^The \w+ is (running|sleeping)\.$", r"正在(跑|跑步|睡觉)。$"),
        (r"^An? \w+ runs in the park\.$", r"^一.+在公园里跑步?。$"),
        (r"^(Tom|Mary|Anna|He|She) \w+s every", r"^(汤姆|玛丽|安娜|[他她])每"),
    ],
)
def test_who_is_seen_is_doing_something_and_who_is_named_has_a_habit(
    english: str, chinese: str, corpus: list[Pair], sights: list[Pair]
) -> None:
    hits = [pair for pair in [*corpus, *sights] if re.search(english, pair[0])]
    assert len(hits) >= 3
    assert [pair for pair in hits if not re.search(chinese, pair[1])] == []


def test_forms_of_verbs_follow_the_rules_of_english() -> None:
    of = {verb.base: verb for verb in verbs()}
    assert [of[base].third for base in ("run", "wash", "cry", "fly", "play the piano")] == [
        "runs", "washes", "cries", "flies", "plays the piano",
    ]  # fmt: skip
    assert [of[base].past for base in ("run", "use", "cry", "visit {}", "watch television")] == [
        "ran", "used", "cried", "visited {}", "watched television",
    ]  # fmt: skip
    assert [of[base].ing for base in ("swim", "write", "eat", "visit {}", "feed")] == [
        "swimming", "writing", "eating", "visiting {}", "feeding",
    ]  # fmt: skip
    assert [of[base].done for base in ("learn English", "call {}", "buy")] == [
        "学习 了 英语", "给 {} 打 了 电话", "买 了",
    ]  # fmt: skip
    more = {adjective.en: adjective.comparative for adjective in adjectives()}
    assert [more[en] for en in ("big", "clever", "famous", "expensive", "fresh")] == [
        "bigger", "cleverer", "more famous", "more expensive", "fresher",
    ]  # fmt: skip


def test_measure_words_and_word_order_are_chinese(corpus: list[Pair]) -> None:
    for english_pattern, chinese_pattern in {
        r"\bthree books\b": r"三本书",
        r"\btwo (cats|dogs|rabbits)\b": r"两只[猫狗兔]",
        r"two (cups of tea|glasses of water)": r"两杯[茶水]",
        r" years old\.$": r"岁。$",
        r"^Where is my ": r"^我.+在哪里？$",
        r"^(He|She) (will|must|should) .*tomorrow\.$": r"^[他她]明天(会|必须|应该)",
        r"^[A-Z]\w+ \w+ not as \w+ as ": r"没有.+那么",
        r"^(Is|Are) \w+ at school\?$": r"在学校吗？$",
        r"^If it rains .* will ": r"^如果.+下雨，.+会",
        r" is \w+ing .* in the kitchen\.$": r"正在(和.+一起在)?厨房里",
    }.items():
        hits = [chinese for english, chinese in corpus if re.search(english_pattern, english)]
        assert hits, english_pattern
        for chinese in hits:
            assert re.search(chinese_pattern, chinese), chinese
