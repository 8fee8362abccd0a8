"""What users of LibreTranslate complain of, one by one, on runs that are there to be tried with.

Files that come back untouched are the business of the doors for files.
"""

import re
import socket
from pathlib import Path

import pytest

from headway.languages.codes import LanguagePair
from headway.localization.checks.output_checks import repeated, words_of
from headway.localization.terms.keeping import Terms
from headway.serving import looping as looping_module
from headway.serving.bodies import GlossaryPair, read, terms_of
from headway.serving.corrections import Corrections
from headway.serving.looping import is_odd
from headway.serving.memories import KnownTranslations, PairMemories
from headway.serving.requests import Caller, RefusedError, ServedText, TranslationRequest
from headway.serving.runs import ServedRuns
from headway.serving.service import Service
from headway.serving.xml_outline import XmlTags
from headway.translator import Translator

SENTENCE = "The teacher reads a book in the garden."
WORDS = ["hello", "ok", "Yes!", "Hello", "no", "thanks", "Good morning", "OK.", "bye bye"]


@pytest.fixture(scope="module")
def shipped() -> Service:
    return Service(ServedRuns([Path("demo")], Translator.load))


@pytest.fixture(scope="module")
def weak(everyday_run: Path) -> Service:
    return Service(ServedRuns([everyday_run], Translator.load))


def ask(service: Service, texts: list[str], target: str = "zh", **how) -> list[ServedText]:
    return service.translate_now(TranslationRequest(texts, target, **how), Caller())


@pytest.mark.parametrize("run", ["shipped", "weak"])
def test_46_167_566_828_single_words_are_not_repeated(run: str, request) -> None:
    service = request.getfixturevalue(run)
    for method in ("greedy", "beam"):
        decoding = {"method": method, "max_extra_length": 50}
        answers = ask(service, WORDS, source="en", decoding=decoding)
        for word, answer in zip(WORDS, answers, strict=True):
            assert not is_odd(word, answer.text) or answer.text == word, (word, answer.text)
            assert repeated(words_of(answer.text))[0] <= 2
            assert answer.origin in ("model", "none")
            assert (answer.text == word) >= (answer.origin == "none")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("hello", "你好你好你好"),
        ("ok", "gut gut"),
        ("ok", "gut gut gut gut"),
        ("Hello &", "Ein Kitesitesites."),
        ("Good morning", "Guten Morgen Guten Morgen"),
        ("Good morning.", "Einoodood-ood-Essen."),
        ("Indented line.", "IndIndische Reihe."),
        ("The dog runs.", "Der Hund läuft der Hund läuft der Hund läuft."),
        ("Yes!", "ja" * 30),
        ("A man is using equipment.", "Ein Mann benutzt Elektrorororo."),
        ("hello", "olleh"),
        ("Two dogs run.", ".nur sgod owT"),
    ],
)
def test_a_loop_and_a_mirrored_text_are_seen(source: str, target: str) -> None:
    assert is_odd(source, target)


def test_sentences_of_a_long_text_that_begin_alike_are_no_loop(shipped, monkeypatch) -> None:
    sentences = [f"The teacher {verb} a book in the garden." for verb in ("reads", "buys", "sees")]
    alone = [answer.text for answer in ask(shipped, sentences, source="en")]
    calls = []
    whole = Translator.translate_fully
    monkeypatch.setattr(
        Translator,
        "translate_fully",
        lambda self, texts, **how: calls.append(list(texts)) or whole(self, texts, **how),
    )
    [answer] = ask(shipped, ["\n\n".join(sentences)], source="en")
    assert answer.text.split("\n\n") == alone
    assert len(calls) == 1


def test_of_a_long_text_only_what_loops_is_made_anew(shipped: Service, monkeypatch) -> None:
    text = f"{SENTENCE}\n My sister drinks tea.\n\nThe dog runs."
    [before] = ask(shipped, [text], source="en", n_best=2)
    looping, anew = "The dog runs.", []
    whole = Translator.translate_fully
    monkeypatch.setattr(looping_module, "is_doubtful", lambda source, _: source == looping)
    monkeypatch.setattr(
        Translator,
        "translate_fully",
        lambda self, texts, **how: anew.append(list(texts)) or whole(self, texts, **how),
    )
    [answer] = ask(shipped, [text], source="en", n_best=2)
    assert anew[1:] == [[looping]] * 2
    assert answer.text == before.text


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("mum", "妈妈"),
        ("Please think about it.", "请你考虑考虑。"),
        ("It uses solar power.", "Es nutzt Sonnenenergie."),
        ("bye bye", "tschüss tschüss"),
        ("otto", "otto"),
        ("No, no, no!", "Nein, nein, nein!"),
        ("The man and the boy", "Der Mann und der Junge und der Hund"),
        ("banana", "banana"),
        ("ok", "Einverstanden."),
    ],
)
def test_what_a_language_repeats_is_no_loop(source: str, target: str) -> None:
    assert not is_odd(source, target)


def test_567_984_no_text_comes_out_as_it_went_in_or_turned_round(shipped: Service) -> None:
    texts = [SENTENCE, "My sister drinks tea.", "We are going to the market tomorrow."]
    for text, answer in zip(texts, ask(shipped, texts, source="en"), strict=True):
        assert answer.text not in (text, text[::-1])
        assert re.search("[\u4e00-\u9fff]", answer.text)


def test_902_676_508_short_texts_get_a_served_language_with_little_sureness(shipped) -> None:
    answers = ask(shipped, ["Hola", "ok", "123", "", " "])
    assert [answer.source for answer in answers] == ["en"] * 5
    assert all(answer.sureness < 0.3 for answer in answers)
    assert [answer.text for answer in answers[2:]] == ["123", "", " "]


def test_779_each_text_of_a_list_has_its_own_language(shipped: Service) -> None:
    chinese = "老师在花园里看书，学生们在教室里写字。"
    answers = ask(shipped, [SENTENCE, chinese, "ok", SENTENCE])
    assert [answer.source for answer in answers] == ["en", "zh", "en", "en"]
    assert (answers[1].text, answers[1].origin) == (chinese, "none")
    assert answers[0].text == answers[3].text != SENTENCE
    assert answers[0].sureness > 0.8


def test_806_288_552_nested_html_and_white_space_are_kept(shipped: Service) -> None:
    text = (
        '<div lang="en">\n  <p>The teacher <b>reads <i>a book</i></b> in the garden.</p>\n'
        "\n  <ul><li>My sister drinks tea.</li></ul> <pre>  x  y </pre>\n</div>\n"
    )
    [answer] = ask(shipped, [text], markup="html")
    assert sorted(re.findall("<[^>]*>", answer.text.replace('"zh"', '"en"'))) == sorted(
        re.findall("<[^>]*>", text)
    )
    outside = re.compile(r"\A<div lang=\"zh\">\n  <p>.*</p>\n\n  <ul><li>.*</li></ul> <pre>  x  y "
                         r"</pre>\n</div>\n\Z")  # fmt: skip
    assert outside.match(answer.text)
    assert not re.search("sister|teacher", answer.text)


def test_html_has_alternatives_where_it_is_one_text(shipped: Service) -> None:
    [answer] = ask(shipped, ["<p>My sister drinks tea.</p>\n"], markup="html", n_best=3)
    assert len({answer.text, *answer.alternatives}) == 3
    assert all(re.fullmatch("<p>[^<]+</p>\n", one) for one in answer.alternatives)


def test_123_565_placeholders_arrive(shipped: Service) -> None:
    texts = [
        "My sister drinks %s.",
        "The teacher reads {name} in the garden.",
        "See http://a.b/c?d=1 now.",
    ]
    codes = ["%s", "{name}", "http://a.b/c?d=1"]
    for code, answer in zip(codes, ask(shipped, texts, source="en"), strict=True):
        assert answer.text.count(code) == 1
    for text in ('The teacher <x id="7"></x> reads a book.', "<x id='1'></x> <x id='2'></x>"):
        [answer] = ask(shipped, [text], source="en", markup="xml", xml_tags=XmlTags(["x"]))
        assert re.findall("<[^>]*>", answer.text) == re.findall("<[^>]*>", text)


def test_775_820_a_glossary_of_the_request_holds_and_is_compiled_once(shipped: Service) -> None:
    pairs = [("garden", "公园"), ("sister", "")]
    terms = terms_of(as_sent(pairs))
    assert terms_of(as_sent(pairs)) is terms
    assert isinstance(terms, Terms)
    with_terms, without = (
        ask(shipped, [SENTENCE], source="en", terms=one)[0].text for one in (terms, "none")
    )
    assert "公园" in with_terms
    assert "公园" not in without


@pytest.mark.parametrize("pairs", [[("", "x")], [("a", "b"), ("a", "=")], [("x", "y")] * 2_001])
def test_a_glossary_that_is_none_is_refused(pairs) -> None:
    with pytest.raises(RefusedError):
        terms_of(as_sent(pairs))


def as_sent(pairs: list[tuple[str, str]]) -> list[GlossaryPair]:
    return [read(GlossaryPair, {"source": one, "target": other}) for one, other in pairs]


def test_924_820_corrections_and_memories_go_first(shipped: Service, tmp_path: Path) -> None:
    memory = tmp_path / "old.tsv"
    memory.write_text(
        f"en\tzh\n{SENTENCE}\t旧的。\nHello there\t您好\nPress <b>it</b>\t按<b>它</b>\n", "utf-8"
    )
    memories = PairMemories([memory], shipped.runs.pairs)
    corrections = Corrections(tmp_path / "corrections")
    service = Service(shipped.runs, known=KnownTranslations(corrections, memories))
    [answer] = ask(service, [SENTENCE])
    assert (answer.text, answer.origin) == ("旧的。", "memory")
    corrections.add(shipped.runs.pairs[0], SENTENCE, "新的。")
    answers = ask(service, [f" {SENTENCE}\n", "Hello there", "My sister drinks tea."], source="EN")
    assert [(one.text, one.origin) for one in answers[:2]] == [
        (" 新的。\n", "correction"), ("您好", "memory")
    ]  # fmt: skip
    assert answers[2].origin == "model"
    [answer] = ask(service, ["<p>Press <b>it</b></p>"], source="en", markup="html")
    assert (answer.text, answer.origin) == ("<p>按<b>它</b></p>", "memory")
    [answer] = ask(service, [SENTENCE], use_memory=False)
    assert answer.origin == "model"
    corrections.close()


def test_952_349_332_nothing_is_fetched(everyday_run: Path, monkeypatch) -> None:
    def refuse(*_, **__):
        raise AssertionError("it wants the network")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    service = Service(ServedRuns([everyday_run], Translator.load))
    assert len(ask(service, [SENTENCE, "<b>ok</b>"], markup="html", details=True)) == 2
    assert service.detect(SENTENCE)[0].language == "en"


def test_a_wrong_target_or_a_text_without_a_run_is_refused_in_words(shipped: Service) -> None:
    for how in ({"target": "fr"}, {"source": "de"}, {"source": "de", "pivot": "auto"}):
        with pytest.raises(RefusedError, match="There are: en to zh") as told:
            ask(shipped, ["x"], **{"target": "zh", **how})
        assert told.value.reason == "language"


def test_a_memory_of_other_languages_is_refused_and_so_is_one_that_does_not_say(tmp_path) -> None:
    from headway.core.errors import ConfigError, DataError
    from headway.serving.requests import ServedPair

    file = tmp_path / "x.tsv"
    file.write_text("fr\tit\na\tb\n", "utf-8")
    with pytest.raises(DataError):
        PairMemories([file], [ServedPair("en", "zh")])
    file.write_text("a\tb\n", "utf-8")
    with pytest.raises(ConfigError, match="says its languages"):
        PairMemories([file], [ServedPair("en", "zh"), ServedPair("zh", "en")])
    assert len(PairMemories([file], [ServedPair("en", "zh")])._memories) == 1


def test_runs_are_in_the_memory_that_their_weights_take(shipped: Service) -> None:
    ask(shipped, [SENTENCE], source="en")
    [state] = shipped.runs.states()
    assert 0.5 < state.n_bytes / shipped.runs.all[0].estimate() < 4
    assert LanguagePair(*state.pair) == ("en", "zh")
