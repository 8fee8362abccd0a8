import asyncio
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import pytest
from deepl.api_data import MultilingualGlossaryDictionaryEntries as Entries
from services import HOSTILE, HOSTILE_VALUES, ShoutingService, address_of, status_and_json
from starlette.testclient import TestClient

from headway.core.errors import DataError
from headway.localization.terms.keeping import Terms
from headway.serving import glossary_store
from headway.serving.app import Served, application
from headway.serving.assembly import assembled
from headway.serving.glossary_store import DictionaryPair, GlossaryStore, read_entries
from headway.serving.limits import Limits
from headway.serving.requests import RefusedError

KEY = {"Authorization": "DeepL-Auth-Key mine"}
TSV = {"name": "g", "source_lang": "en", "target_lang": "zh", "entries_format": "tsv"}


@pytest.fixture
def service() -> ShoutingService:
    return ShoutingService("en|zh", "de|en", "en|de")


@pytest.fixture
def served(service: ShoutingService, tmp_path: Path) -> Served:
    return application(service, state=tmp_path)


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(served.app, base_url="http://127.0.0.1:5000", headers=KEY) as found:
        yield found


@pytest.fixture
def real(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[deepl.DeepLClient]:
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)
    with address_of(served) as address:
        found = deepl.DeepLClient("mine", server_url=address)
        yield found
        found.close()


def asked_terms(service: ShoutingService) -> dict[str, tuple[str, ...]]:
    terms = service.asked[-1].terms
    assert isinstance(terms, Terms)
    return {term.source: term.targets for term in terms.glossary.terms}


def test_its_client_makes_uses_and_removes_one_of_a_pair(
    real: deepl.DeepLClient, service: ShoutingService
) -> None:
    pairs = {(one.source_lang, one.target_lang) for one in real.get_glossary_languages()}
    assert pairs == {("en", "zh"), ("de", "en"), ("en", "de")}
    made = real.create_glossary("mine", "EN", "ZH", {"engine": "引擎", "a|b": "甲|乙"})
    assert (made.name, made.ready, made.source_lang, made.target_lang, made.entry_count) == (
        "mine", True, "EN", "ZH", 2,
    )  # fmt: skip
    assert [one.glossary_id for one in real.list_glossaries()] == [made.glossary_id]
    assert real.get_glossary(made.glossary_id).creation_time == made.creation_time
    assert real.get_glossary_entries(made) == {"engine": "引擎", "a|b": "甲|乙"}
    real.translate_text("an engine", source_lang="EN", target_lang="ZH", glossary=made)
    assert asked_terms(service) == {"engine": ("引擎",), "a|b": ("甲|乙",)}
    real.translate_text_with_glossary("an engine", made)
    real.delete_glossary(made)
    with pytest.raises(deepl.GlossaryNotFoundException, match="Glossary not found"):
        real.get_glossary(made.glossary_id)
    with pytest.raises(deepl.DeepLException, match="Glossary not found"):
        real.translate_text("a", source_lang="EN", target_lang="ZH", glossary=made)


def test_its_client_makes_one_of_csv(real: deepl.DeepLClient) -> None:
    made = real.create_glossary_from_csv("csv", "EN", "DE", 'dog,Hund,en,de\n"a ""b""","c, d"\n')
    assert real.get_glossary_entries(made) == {"dog": "Hund", 'a "b"': "c, d"}


def test_its_client_changes_one_of_several_pairs(
    real: deepl.DeepLClient, service: ShoutingService
) -> None:
    made = real.create_multilingual_glossary(
        "all", [Entries("EN-US", "ZH", {"dog": "狗"}), Entries("DE", "EN-GB", {"Hund": "dog"})]
    )
    assert [(d.source_lang, d.target_lang, d.entry_count) for d in made.dictionaries] == [
        ("EN", "ZH", 1), ("DE", "EN", 1),
    ]  # fmt: skip
    assert real.list_glossaries() == []  # of one pair
    assert real.update_multilingual_glossary_name(made, "every").name == "every"
    real.update_multilingual_glossary_dictionary(made, Entries("EN", "ZH", {"cat": "猫"}))
    found = real.get_multilingual_glossary_entries(made, "EN", "ZH").dictionaries[0]
    assert found.entries == "dog\t狗\ncat\t猫"
    replaced = real.replace_multilingual_glossary_dictionary(
        made, Entries("EN", "ZH", {"cat": "猫咪"})
    )
    assert replaced.entry_count == 1
    real.replace_multilingual_glossary_dictionary_from_csv(made, "EN", "DE", "cat,Katze")
    now = real.get_multilingual_glossary(made.glossary_id)
    assert [(one.name, len(one.dictionaries)) for one in [now]] == [("every", 3)]
    real.translate_text("a cat", source_lang="EN", target_lang="ZH", glossary=now)
    assert asked_terms(service) == {"cat": ("猫咪",)}
    second = real.create_multilingual_glossary(
        "more", [Entries("EN", "ZH", {"cat": "貓", "sun": "太阳"})]
    )
    real.translate_text("a", source_lang="EN", target_lang="ZH", glossary_ids=[now, second])
    assert asked_terms(service) == {"cat": ("猫咪",), "sun": ("太阳",)}
    real.delete_multilingual_glossary_dictionary(now, source_lang="en", target_lang="de")
    with pytest.raises(deepl.DeepLException, match="Dictionary not found"):
        real.get_multilingual_glossary_entries(now, "EN", "DE")
    with pytest.raises(deepl.DeepLException, match="No dictionary found for language pair"):
        real.translate_text("a", source_lang="EN", target_lang="DE", glossary=made.glossary_id)
    real.delete_multilingual_glossary(now)
    assert [one.name for one in real.list_multilingual_glossaries()] == ["more"]


def test_weblate_keeps_one_up_to_date(client: TestClient) -> None:
    """The requests of weblate/machinery/deepl.py, of 5.14.3 and of 2026.10.1."""
    old = {**TSV, "name": "weblate:1:EN:ZH:", "source_lang": "EN", "target_lang": "ZH",
           "entries": "dog\t狗"}  # fmt: skip
    assert client.post("/v2/glossaries", json=old).status_code == 201
    listed = client.get("/v2/glossaries").json()["glossaries"]
    oldest = sorted(listed, key=lambda one: one["creation_time"])[0]
    assert oldest["name"] == "weblate:1:EN:ZH:"
    dictionary = {"source_lang": "en", "target_lang": "zh", "entries": "a\tb",
                  "entries_format": "tsv"}  # fmt: skip
    made = client.post("/v3/glossaries", json={"name": "w", "dictionaries": [dictionary]})
    assert made.status_code == 201
    place = f"/v3/glossaries/{made.json()['glossary_id']}"
    assert client.put(f"{place}/dictionaries", json=dictionary).json()["entry_count"] == 1
    assert client.patch(place, json={"name": "w2"}).json()["name"] == "w2"
    every = client.get("/v3/glossaries").json()["glossaries"]
    assert [one["name"] for one in every] == ["weblate:1:EN:ZH:", "w2"]
    assert client.delete(place).status_code == 204
    assert client.delete(place).status_code == 404


def test_they_are_there_again_after_a_restart(
    service: ShoutingService, tmp_path: Path, client: TestClient
) -> None:
    made = client.post("/v2/glossaries", json={**TSV, "entries": "dog\t狗\n猫\tcat"}).json()
    again = TestClient(
        application(service, state=tmp_path).app, base_url="http://127.0.0.1", headers=KEY
    )
    assert again.get("/v2/glossaries").json() == {"glossaries": [made]}
    place = f"/v2/glossaries/{made['glossary_id']}"
    entries = again.get(f"{place}/entries")
    assert entries.headers["content-type"].startswith("text/tab-separated-values")
    assert entries.text == "dog\t狗\n猫\tcat"
    assert again.delete(place).status_code == 204
    assert not list((tmp_path / "glossaries").iterdir())


@pytest.mark.skipif(os.name != "posix", reason="this system has other rights")
def test_nobody_else_of_the_machine_reads_them(tmp_path: Path) -> None:
    folder = tmp_path / "glossaries"
    folder.mkdir(mode=0o755)  # of a version that left it so
    store = GlossaryStore(folder)
    store.create("me", "mine", {DictionaryPair("en", "zh"): {"dog": "狗"}})
    assert folder.stat().st_mode & 0o077 == 0
    with assembled([Path("demo")], Limits(), state=tmp_path / "state"):
        assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for content in ("{", "[]", '{"id": "y"}', json.dumps({"id": "y", "owner": "", "name": "",
                    "created": "", "dictionaries": []})):  # fmt: skip
        file.write_text(content)
        with pytest.raises(DataError, match=r"x\.json holds a glossary"):
            GlossaryStore(tmp_path)


def test_a_glossary_belongs_to_the_key_that_made_it(client: TestClient) -> None:
    made = client.post("/v2/glossaries", json={**TSV, "entries": "a\tb"}).json()
    other = {"Authorization": "DeepL-Auth-Key another"}
    place = f"/glossaries/{made['glossary_id']}"
    for method, path in (
        ("GET", f"/v2{place}"), ("GET", f"/v2{place}/entries"), ("DELETE", f"/v2{place}"),
        ("GET", f"/v3{place}"), ("PATCH", f"/v3{place}"), ("DELETE", f"/v3{place}"),
    ):  # fmt: skip
        refused = client.request(method, path, headers=other)
        assert status_and_json(refused) == (404, {"message": "Glossary not found"})
    assert client.get("/v3/glossaries", headers=other).json() == {"glossaries": []}
    asked = {"text": ["a"], "source_lang": "EN", "target_lang": "ZH", "glossary_id": "x"}
    asked["glossary_id"] = made["glossary_id"]
    assert client.post("/v2/translate", json=asked, headers=other).status_code == 404
    assert client.post("/v2/translate", json=asked).status_code == 200


@pytest.mark.parametrize(
    ("entries", "kind", "detail"),
    [
        ("dog", "tsv", "Entry 1 misses tab separator"),
        ("a\tb\n\na\tc", "tsv", "Entry 3 duplicates the source of entry 1"),
        ("a\tb\tc", "tsv", "Entry 1 has more than one tab separator"),
        ("a\t ", "tsv", "Entry 1 has an empty term"),
        (" \tb", "tsv", "Entry 1 has an empty term"),
        ("a\x01\tb", "tsv", "Entry 1 has a character that cannot be in a term"),
        ("\n \n", "tsv", "There is no entry"),
        ("a,b,c", "csv", "Entry 1 has 3 cells instead of 2"),
        ("x" * 201 + "\tb", "tsv", "longer than 200 characters"),
        ("!\tb", "tsv", "no letter or digit in the source"),
    ],
)
def test_entries_that_would_not_hold_are_refused(
    client: TestClient, entries: str, kind: str, detail: str
) -> None:
    answer = client.post("/v2/glossaries", json={**TSV, "entries": entries, "entries_format": kind})
    status, content = status_and_json(answer)
    assert (status, content["message"]) == (400, "Invalid glossary entries provided")
    assert detail in content["detail"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "Missing or invalid argument: name"),
        ({"name": "ä" * 513}, "Missing or invalid argument: name"),
        ({"entries": ""}, "Missing or invalid argument: entries"),
        ({"entries_format": "tbx"}, "Value for 'entries_format' not supported."),
        ({"source_lang": "fr"}, "Unsupported glossary source and target language pair"),
        ({"source_lang": None}, "Missing or invalid argument: source_lang"),
    ],
)
def test_refusals_have_its_words(client: TestClient, change: dict[str, Any], message: str) -> None:
    request = {**TSV, "entries": "a\tb", **change}
    answer = client.post("/v2/glossaries", json=request)
    assert status_and_json(answer) == (400, {"message": message})


def test_they_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = DictionaryPair("en", "zh")
    store = GlossaryStore()
    monkeypatch.setattr(glossary_store, "MOST_GLOSSARIES", 2)
    for _ in range(2):
        store.create("me", "g", {pair: {"a": "b"}})
    with pytest.raises(RefusedError, match="at most 2 glossaries"):
        store.create("me", "g", {pair: {"a": "b"}})
    store.create("you", "g", {pair: {"a": "b"}})
    monkeypatch.setattr(glossary_store, "MOST_STORED_BYTES", 20)
    with pytest.raises(RefusedError, match="no room for more glossaries"):
        store.create("her", "g", {pair: {"a": "b" * 10}})
    store.remove(store.of("me")[0])
    store.create("her", "g", {pair: {"a": "b" * 5}})
    monkeypatch.setattr(glossary_store, "MOST_ENTRIES_BYTES", 10)
    with pytest.raises(RefusedError, match="at most 10 bytes"):
        read_entries("a\t" + "b" * 10, "tsv")


def test_nobody_who_reads_waits_for_who_writes_and_no_change_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = GlossaryStore(tmp_path)
    pairs = [DictionaryPair("en", "zh"), DictionaryPair("de", "en")]
    first = store.create("o", "g", {pairs[0]: {"a": "b"}})
    writing, go_on = threading.Event(), threading.Event()
    real_write = glossary_store.write_text

    def slow(file: Path, text: str) -> None:
        writing.set()
        assert go_on.wait(10)
        real_write(file, text)

    monkeypatch.setattr(glossary_store, "write_text", slow)
    threads = [
        threading.Thread(target=store.change, args=(first, None, {pairs[1]: {"c": "d"}})),
        threading.Thread(target=store.change, args=(first, "other")),
        threading.Thread(target=store.change, args=(first, None, {}, {pairs[0]: {"e": "f"}})),
        threading.Thread(target=store.change, args=(first, None, {}, {pairs[0]: {"g": "h"}})),
    ]
    for one in threads:
        one.start()
    assert writing.wait(10)
    assert store.get(first.id, "o") == first
    assert store.of("o") == [first]
    go_on.set()
    for one in threads:
        one.join(10)
    found = store.get(first.id, "o")
    assert found.name == "other"
    assert found.dictionaries == {
        pairs[0]: {"a": "b", "e": "f", "g": "h"},
        pairs[1]: {"c": "d"},
    }


def test_terms_are_put_together_beside_the_event_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = client.post("/v2/glossaries", json={**TSV, "entries": "engine\t引擎"}).json()

    def in_thread(glossaries: list[Any], pair: DictionaryPair) -> Terms:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return glossary_store.terms_of(glossaries, pair)

    monkeypatch.setattr("headway.serving.deepl.terms_of", in_thread)
    asked = {"text": ["a"], "source_lang": "EN", "target_lang": "ZH"}
    answer = client.post("/v2/translate", json={**asked, "glossary_id": made["glossary_id"]})
    assert answer.status_code == 200


def test_one_that_could_not_be_written_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = GlossaryStore(tmp_path)
    kept = store.create("me", "kept", {DictionaryPair("en", "zh"): {"a": "b"}})

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(glossary_store, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        store.create("me", "new", {DictionaryPair("en", "zh"): {"a": "b"}})
    with pytest.raises(OSError, match="No space"):
        store.change(kept, "changed")
    assert [one.name for one in store.of("me")] == ["kept"]
    assert [one.name for one in GlossaryStore(tmp_path).of("me")] == ["kept"]


def test_hostile_requests_never_break_it(client: TestClient) -> None:
    made = client.post("/v2/glossaries", json={**TSV, "entries": "a\tb"}).json()["glossary_id"]
    dictionary = {**TSV, "entries": "a\tb"}
    for method, path, valid in (
        ("POST", "/v2/glossaries", dictionary),
        ("POST", "/v3/glossaries", {"name": "g", "dictionaries": [dictionary]}),
        ("PUT", f"/v3/glossaries/{made}/dictionaries", dictionary),
        ("PATCH", f"/v3/glossaries/{made}", {"name": "g", "dictionaries": [dictionary]}),
    ):
        for body in HOSTILE:
            answer = client.request(method, path, content=body)
            assert answer.status_code in (200, 400), (method, path, body[:20])
        for name in valid:
            for value in HOSTILE_VALUES:
                for change in ({**valid, name: value}, {**valid, "dictionaries": [value]}):
                    answer = client.request(method, path, content=json.dumps(change))
                    assert answer.status_code in (200, 201, 400), (path, name, value)
    for place in ("..", "%2e%2e%2fkeys", "x" * 5_000, "%00", "../../../etc/passwd"):
        for version in ("v2", "v3"):
            answer = client.get(f"/{version}/glossaries/{place}")
            assert answer.status_code in (200, 404)
