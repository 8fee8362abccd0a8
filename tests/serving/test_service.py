"""Texts in, answers out: languages, pivots, beginnings, and work that nobody waits for."""

import os
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from served_runs import Loader, run_folder
from starlette.testclient import TestClient

from headway.commands import serve as command
from headway.localization.formats.units import Unit
from headway.localization.placeholders.segments import Segment
from headway.serving import served_run
from headway.serving.app import application
from headway.serving.bodies import GlossaryPair, terms_of
from headway.serving.corrections import Corrections, KeptCorrection
from headway.serving.keys import Account
from headway.serving.limits import Limits
from headway.serving.memories import KnownTranslations, PairMemories
from headway.serving.requests import (
    Caller,
    RefusedError,
    ServedPair,
    ServedText,
    TranslationRequest,
)
from headway.serving.runs import ServedRuns
from headway.serving.service import Service
from headway.translator import Translator

GERMAN, FRENCH = "Ein Hund läuft über die Wiese.", "La maison est rouge et grande."
ENGLISH = "The dog runs across the meadow."


def serving(tmp_path: Path, *pairs: str, **settings: Any) -> tuple[Service, Loader]:
    loader = Loader()
    folders = [run_folder(tmp_path / pair, *pair.split("-")) for pair in pairs]
    return Service(ServedRuns(folders, loader, **settings)), loader


def ask(service: Service, texts: list[str], target: str, caller=None, **how) -> list[ServedText]:
    return service.translate_now(TranslationRequest(texts, target, **how), caller or Caller())


def test_each_text_of_a_list_goes_to_the_run_of_its_own_language_in_one_call(tmp_path) -> None:
    service, loader = serving(tmp_path, "de-en", "fr-en")
    texts = [GERMAN, FRENCH, ENGLISH, f"{GERMAN} ", "\n"]
    answers = ask(service, texts, "EN-gb")
    assert [one.text for one in answers] == [
        f"de-en:{GERMAN}", f"fr-en:{FRENCH}", ENGLISH, f"de-en:{GERMAN} ", "\n"
    ]  # fmt: skip
    assert [one.source for one in answers] == ["de", "fr", "en", "de", "de"]
    assert [one.origin for one in answers] == ["model", "model", "none", "model", "none"]
    assert all(one.sureness > 0.9 for one in answers[:4])
    assert answers[4].sureness == 0.0
    assert len(loader.made["de-en"].asked) == 1


def test_a_source_that_is_given_is_believed_and_costs_no_detection(tmp_path, monkeypatch) -> None:
    service, _ = serving(tmp_path, "de-en")

    def refuse(*_):
        raise AssertionError("nobody asked which language it is")

    monkeypatch.setattr("headway.serving.service.source_of", refuse)
    [answer] = ask(service, [ENGLISH], "en", source="de-AT")
    assert answer[:3] == (f"de-en:{ENGLISH}", "de-AT", None)
    assert answer.n_cut == 1


def test_a_text_in_its_own_language_stays_as_it_is(tmp_path) -> None:
    service, loader = serving(tmp_path, "de-en", "en-de")
    [answer] = ask(service, [ENGLISH], "en", source="en-US")
    assert (answer.text, answer.origin) == (ENGLISH, "none")
    assert loader.loaded == []


def test_a_pivot_is_taken_by_choice_where_no_run_knows_the_pair_and_is_said(tmp_path) -> None:
    service, _ = serving(tmp_path, "de-en", "en-fr", "de-es", "es-fr", "es-en")
    for pivot, way in {"auto": ("en", "en-fr:de-en"), "en": ("en", "en-fr:de-en"),
                       "ES": ("es", "es-fr:de-es")}.items():  # fmt: skip
        [answer] = ask(service, [" x\n"], "fr", source="de", pivot=pivot, details=True)
        assert answer.text == f" {way[1]}:x\n"
        assert (answer.origin, answer.source) == (f"pivot:{way[0]}", "de")
        assert answer.translation is answer.verdict is None
        assert answer.n_cut == 2
    [direct] = ask(service, ["x"], "en", source="de", pivot="auto")
    assert (direct.text, direct.origin) == ("de-en:x", "model")
    with pytest.raises(RefusedError, match="There are: de to en, en to fr"):
        ask(service, ["x"], "fr", source="de")
    with pytest.raises(RefusedError, match="Through 'it' there is no way"):
        ask(service, ["x"], "fr", source="de", pivot="it")
    terms = terms_of([GlossaryPair(source="a", target="b")])
    with pytest.raises(RefusedError, match="terms hold from one language to the other"):
        ask(service, ["x"], "fr", source="de", pivot="en", terms=terms)


def test_a_pivot_keeps_tags_and_makes_its_language_one_that_is_found(tmp_path) -> None:
    service, _ = serving(tmp_path, "de-en", "en-fr")
    page = "<p>schon <b>da</b></p>"
    [same] = ask(service, [page], "de", source="de", markup="html")
    assert (same.text, same.origin) == (page, "none")
    [answer] = ask(service, [f"<p><b>{GERMAN}</b> ja</p>"], "fr", markup="html", pivot="auto")
    assert answer.text == f"<p>en-fr:de-en:<b>{GERMAN}</b> ja</p>"
    assert (answer.source, answer.origin, answer.n_cut) == ("de", "pivot:en", 2)
    assert ask(service, [GERMAN], "fr", pivot="en")[0].source == "de"
    assert ask(service, [GERMAN], "fr")[0].source == "en"  # the only one, and that is not sure
    assert ask(service, [GERMAN], "fr")[0].sureness < 0.1


def test_two_runs_with_room_for_one_in_memory_serve_pivots_of_many_at_once(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(served_run, "BESIDE", 0)
    service, _ = serving(tmp_path, "de-en", "en-fr", memory_limit=2500)
    found: list[str] = []

    def work() -> None:
        asked = (ask(service, ["x"], "fr", source="de", pivot="en") for _ in range(2))
        found.extend(answer.text for [answer] in asked)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    assert found == ["en-fr:de-en:x"] * 8


def test_nothing_that_is_asked_for_while_a_run_is_swapped_is_lost(tmp_path) -> None:
    retired: list[str] = []
    service, _ = serving(tmp_path, "de-en", retire=lambda one: retired.append(one.stamp))
    found = [ask(service, ["x"], "en", source="de")[0].text]
    swapped = threading.Event()
    assert ask(service, ["x"], "en", source="de")[0].text == "de-en:x"

    def work() -> None:
        while not swapped.is_set():
            found.append(ask(service, ["x"], "en", source="de")[0].text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    weights = tmp_path / "de-en" / "model.safetensors"
    for n in range(4):
        (tmp_path / "aside").write_bytes(f"run{n}".encode() + bytes(900))
        os.replace(tmp_path / "aside", weights)
        service.runs.reload()
        assert ask(service, ["x"], "en", source="de")[0].text == f"run{n}:x"
    swapped.set()
    for one in threads:
        one.join(30)
    assert set(found) <= {"de-en:x", *(f"run{n}:x" for n in range(4))}
    assert sorted(retired) == ["de-en", "run0", "run1", "run2"]
    assert service.runs.states()[0].n_users == 0


def test_beginnings_go_with_their_texts_whatever_their_languages(tmp_path) -> None:
    service, loader = serving(tmp_path, "de-en", "fr-en")
    ask(service, [FRENCH, GERMAN, FRENCH], "en", prefixes=["a", "b", "c"])
    assert loader.made["fr-en"].asked[-1]["prefixes"] == ["a", "c"]
    assert loader.made["de-en"].asked[-1]["prefixes"] == ["b"]
    for wrong in ({"prefixes": ["a"]}, {"prefixes": ["a", "b"], "markup": "html"}):
        with pytest.raises(RefusedError, match="one prefix for each text"):
            ask(service, ["x", "y"], "en", **wrong)


@pytest.mark.parametrize(
    ("hypotheses", "wanted"),
    [
        (["gut gut gut", "gut gut", "gut"], ("gut", "model")),
        (["gut gut gut gut", "ja ja ja ja"], ("ok", "none")),
        (["Guten Tag", "gut gut"], ("Guten Tag", "model")),
    ],
)
def test_of_hypotheses_the_first_that_is_no_loop_is_taken(tmp_path, hypotheses, wanted) -> None:
    service, loader = serving(tmp_path, "en-de")
    ask(service, ["x"], "de", source="en")
    loader.made["en-de"].say = lambda text: hypotheses
    [answer] = ask(service, ["ok"], "de", source="en", details=wanted[1] == "none")
    assert (answer.text, answer.origin) == wanted
    if wanted[1] == "none":
        assert [flag.name for flag in answer.verdict.flags] == ["loop"]
        assert answer.verdict.confidence == 0.0


def test_halves_of_characters_become_what_can_be_sent(tmp_path) -> None:
    service, _ = serving(tmp_path, "de-en")
    for markup in ("text", "html"):
        [answer] = ask(service, ["a\ud800b"], "en", source="de", markup=markup)
        assert answer.text == "de-en:a\ufffdb"


def test_control_characters_hide_no_end_of_a_sentence(tmp_path) -> None:
    service, loader = serving(tmp_path, "de-en")
    ask(service, ["a.\x00\x1b b\tc\nd"], "en", source="de")
    assert loader.made["de-en"].asked[-1]["texts"] == ["a. b\tc\nd"]


class Leaving(Caller):
    """A client that leaves while its texts are translated."""

    n_asked = 0

    def refuse_over(self, n_done: int = 0) -> None:
        self.n_asked += 1
        if self.n_asked == 3:
            self.gone.set()
        super().refuse_over(n_done)


def test_a_long_text_is_left_when_its_client_leaves(everyday_run: Path) -> None:
    service = Service(ServedRuns([everyday_run], Translator.load))
    text = "The teacher reads a book in the garden. " * 2_000
    caller = Leaving()
    with pytest.raises(RefusedError, match="nobody waits") as told:
        ask(service, [text], "zh", caller, source="en")
    assert told.value.reason == "late"
    assert caller.n_asked == 3
    assert service.runs.states()[0].n_users == 0
    with pytest.raises(RefusedError, match="in time"):
        ask(service, ["x"], "zh", Caller(deadline=0.0), source="en")


def test_what_is_asked_for_is_charged_and_bounded_before_it_is_done(tmp_path) -> None:
    runs = serving(tmp_path, "de-en")[0].runs
    service, charged = Service(runs, Limits(max_characters=10)), list[int]()
    request = TranslationRequest(["abc", "de"], "en", "de")
    answers = anyio.run(service.translate, request, Caller(charge=charged.append))
    assert [one.text for one in answers] == ["de-en:abc", "de-en:de"]
    assert charged == [5]
    with pytest.raises(RefusedError, match="at most 10 characters"):
        anyio.run(service.translate, request._replace(texts=["a" * 11]), Caller())


@pytest.mark.parametrize(
    "asked",
    [
        {"target": "fr"},
        {"source": "fr"},
        {"prefixes": ["a", "b"]},
        {"markup": "html", "prefixes": ["a"]},
    ],
)
def test_what_is_refused_costs_nothing_of_a_quota(tmp_path, asked) -> None:
    service, account = serving(tmp_path, "de-en")[0], Account("me", monthly_characters=10)
    request = TranslationRequest(["abcd"], "en", "de")
    caller = Caller(charge=account.charge)
    account.charge(4)
    for _ in range(3):
        with pytest.raises(RefusedError) as refused:
            anyio.run(service.translate, request._replace(**asked), caller)
        assert refused.value.reason != "quota"
    assert account.used == 4
    with pytest.raises(RefusedError, match="quota of 10"):
        account.charge(7)
    account.charge(6)


def test_what_people_translated_holds_for_the_tag_that_it_was_given_for(tmp_path) -> None:
    service, _ = serving(tmp_path, "en-de")
    with (tmp_path / "en-de" / "config.toml").open("a", encoding="utf-8") as config:
        config.write('tags = ["", "formal", "fr"]\n')
    memory, pair = tmp_path / "old.tsv", service.runs.pairs[0]
    memory.write_text("en\tde\nBye.\tTschüss.\n", "utf-8")
    with Corrections(tmp_path / "corrections") as kept:
        service.known = KnownTranslations(kept, PairMemories([memory], [pair]))
        client = TestClient(application(service).app, base_url="http://127.0.0.1:5000")
        body = {"source": "en", "target": "de", "source_text": "Hello."}
        for tag, target in ((None, "Hallo."), ("formal", "Guten Tag.")):
            given = {**body, "target_text": target, "tag": tag}
            assert client.post("/v1/correct", json=given).json() == {"kept": True}
        unknown = client.post("/v1/correct", json={**body, "target_text": "x", "tag": "formall"})
        assert (unknown.status_code, "formal, fr" in unknown.json()["error"]) == (400, True)
        for tag, wanted in {
            None: ["Hallo.", "Tschüss."],
            "formal": ["Guten Tag.", "en-de:Bye."],
            "fr": ["en-de:Hello.", "en-de:Bye."],
        }.items():
            answers = ask(service, ["Hello.", "Bye."], "de", source="en", tag=tag)
            assert [one.text for one in answers] == wanted
            of_markup = ask(service, ["<p>Hello.</p>"], "de", source="en", tag=tag, markup="html")
            assert of_markup[0].text == f"<p>{wanted[0]}</p>"
    assert len(list((tmp_path / "corrections").glob("*.jsonl"))) == 2


def test_of_what_people_translated_the_one_in_context_goes_first(tmp_path) -> None:
    memory, pair = tmp_path / "old.po", ServedPair("en", "de")
    entry = 'msgctxt "state"\nmsgid "Open"\nmsgstr "Offen"\n\n'
    memory.write_text(entry + 'msgid "Shut"\nmsgstr "Zu"\n', "utf-8")
    units = [Unit(Segment(("Open",)), key=key) for key in ("state", "button", "")]
    with Corrections(tmp_path / "corrections") as kept:
        known = KnownTranslations(kept, PairMemories([memory], [pair]))

        def targets() -> list[str]:
            return [found.segment.text for unit in units if (found := known.exact(pair, unit))]

        assert targets() == ["Offen"] * 3
        kept.add_all(pair, [KeptCorrection("Open", "Öffnen", "menu")])
        assert targets() == ["Offen", "Öffnen", "Öffnen"]
        kept.add(pair, "Open", "Auf")
        assert targets() == ["Offen", "Auf", "Auf"]
        kept.add_all(pair, [KeptCorrection("Open", "Geöffnet", "state")])
        assert targets() == ["Geöffnet", "Auf", "Auf"]


@pytest.mark.parametrize(("given", "asked"), [({}, None), ({"glossary": []}, "none")])
def test_a_glossary_without_terms_is_not_that_of_the_run(tmp_path, given, asked) -> None:
    service, loader = serving(tmp_path, "en-de")
    client = TestClient(application(service).app, base_url="http://127.0.0.1:5000")
    body = {"text": "Hello.", "source": "en", "target": "de", **given}
    assert client.post("/v1/translate", json=body).status_code == 200
    assert loader.made["en-de"].asked[-1].get("glossary") == asked


def test_whether_runs_are_ready_is_told_without_their_places(tmp_path) -> None:
    service, _ = serving(tmp_path, "de-en", "en-fr", "fr-de")
    ask(service, ["x"], "en", source="de")
    ask(service, ["x"], "fr", source="en")
    for broken in ("de-en", "fr-de"):
        (tmp_path / broken / "model.safetensors").write_bytes(b"broken")
    service.runs.reload()
    with pytest.raises(RefusedError):
        ask(service, ["x"], "de", source="fr")
    client = TestClient(application(service).app, base_url="http://127.0.0.1:5000")
    reply = client.get("/ready")
    told = {f"{one['source']}-{one['target']}": one["state"] for one in reply.json()["runs"]}
    assert told == {"de-en": "outdated", "en-fr": "ready", "fr-de": "broken"}
    assert str(tmp_path) not in reply.text


def test_the_command_keeps_corrections_reads_memories_and_loads_at_once(
    everyday_run: Path, tmp_path, monkeypatch, capsys
) -> None:
    found: list[Any] = []

    def instead(served, place) -> None:
        place.close()
        found.append(served)

    monkeypatch.setattr("headway.serving.server.serve", instead)
    memory = tmp_path / "old.tsv"
    memory.write_text("en\tzh\nHello there.\t您好。\n", "utf-8")
    told = command.ServeOptions(
        port=0, state=tmp_path, memory=(memory,), load=True, memory_limit=500
    )
    command.serve(everyday_run, told=told)
    [served] = found
    service = served.service
    assert service.runs.states()[0].is_loaded
    assert service.runs.memory.limit == 500 << 20
    assert ask(service, ["Hello there."], "zh", source="en")[0].text == "您好。"
    assert "has 1 units" in capsys.readouterr().err
    with Corrections(tmp_path / "corrections"):  # its folder is free again
        pass
