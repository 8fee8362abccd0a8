import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from services import HOSTILE_VALUES, ShoutingService, address_of, client_of, status_and_json
from starlette.testclient import TestClient

from headway.serving.app import application
from headway.serving.keys import ApiKeys, new_key
from headway.serving.requests import RefusedError


@pytest.fixture
def service() -> ShoutingService:
    return ShoutingService()


@pytest.fixture
def client(service: ShoutingService) -> Iterator[TestClient]:
    with client_of(service) as found:  # one event loop for all that it asks
        yield found


def translated(text: str) -> tuple[int, dict[str, object]]:
    data = {"translatedText": text}
    return 200, {"responseData": data, "responseDetails": None, "responseStatus": 200}


def refused(code: int, phrase: str, why: str) -> tuple[int, dict[str, object]]:
    return code, {"status": "error", "code": code, "message": phrase, "explanation": why}


def test_omegat_is_answered_over_a_true_connection(service: ShoutingService) -> None:
    """ApertiumTranslate.java of OmegaT 6 and 7: a bar that is not escaped, a key that is empty."""
    with address_of(application(service)) as address:
        url = urlsplit(address)
        text = quote("A <g0>good</g0> morning & more", safe="").replace("%20", "+")
        line = f"GET /translate?q={text}&markUnknown=no&langpair=en|zh_CN&key= HTTP/1.1"
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall(f"{line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            reply = b""
            while got := connection.recv(65_536):
                reply += got
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert b'"translatedText":"zh:A <G0>GOOD</G0> MORNING & MORE"' in body
    assert b'"responseStatus":200' in body


def test_weblate_finds_a_pair_and_translates(client: TestClient) -> None:
    """weblate/machinery/apertium.py: codes of two letters are looked for before its own table."""
    listed = client.get("/listPairs").json()
    assert listed["responseStatus"] == 200
    pairs = [(one["sourceLanguage"], one["targetLanguage"]) for one in listed["responseData"]]
    assert pairs[:2] == [("en", "zh"), ("zh", "en")]
    assert ("eng", "zho") in pairs
    scripts = client_of(ShoutingService("en|zh-Hans")).get("/listPairs").json()["responseData"]
    assert scripts[0] == {"sourceLanguage": "en", "targetLanguage": "zh_Hans"}
    asked = {"langpair": "en|zh", "q": "test", "markUnknown": "no"}
    assert status_and_json(client.get("/translate", params=asked)) == translated("zh:TEST")


@pytest.mark.parametrize("langpair", ["eng|zho", "en|zh", "en_GB|zh_CN", "EN|cmn", "en|zh-Hans"])
def test_codes_of_two_and_three_letters_are_the_same(client: TestClient, langpair: str) -> None:
    asked = {"langpair": langpair, "q": "a"}
    assert status_and_json(client.get("/translate", params=asked)) == translated("zh:A")


def test_a_form_is_told_from_libretranslates_by_its_langpair(client: TestClient) -> None:
    asked = {"langpair": "en|zh", "q": "a", "markUnknown": "no"}
    assert status_and_json(client.post("/translate", data=asked)) == translated("zh:A")
    assert status_and_json(client.post("/translate", params=asked)) == translated("zh:A")
    other = {"source": "en", "target": "zh", "q": "a"}
    assert client.post("/translate", data=other).json() == {"translatedText": "zh:A"}


def test_html_is_taken_as_such_where_it_is_said(
    client: TestClient, service: ShoutingService
) -> None:
    for fields, markup in (({}, "text"), ({"format": "txt"}, "text"), ({"format": "html"}, "html")):
        client.get("/translate", params={"langpair": "en|zh", "q": "a", **fields})
        assert service.asked[-1].markup == markup


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"q": "a"}, "Missing argument langpair"),
        ({"langpair": "en|zh"}, "Missing argument q"),
        ({"langpair": "en", "q": "a"}, "That pair is invalid, use e.g. eng|spa"),
        ({"langpair": "en|fr", "q": "a"}, "That pair is not installed"),
        ({"langpair": "fr|en", "q": "a"}, "That pair is not installed"),
    ],
)
def test_refusals_have_its_words(client: TestClient, asked: dict[str, str], why: str) -> None:
    answer = client.get("/translate", params=asked)
    assert status_and_json(answer) == refused(400, "Bad Request", why)


def test_limits_have_its_words(client: TestClient, service: ShoutingService) -> None:
    for refusal, code, phrase in (
        (RefusedError("key", "no"), 403, "Forbidden"),
        (RefusedError("rate", "slow", 3), 429, "Too Many Requests"),
        (RefusedError("quota", "used up"), 429, "Too Many Requests"),
        (RefusedError("busy", "wait", 3), 503, "Service Unavailable"),
    ):
        service.refuse_with = refusal
        answer = client.get("/translate", params={"langpair": "en|zh", "q": "a"})
        assert status_and_json(answer) == refused(code, phrase, str(refusal))


def test_languages_are_identified_and_named(client: TestClient) -> None:
    heard = client.get("/identifyLang", params={"q": "Das ist ein deutscher Satz."}).json()
    assert heard["deu"] > 0.9
    named = client.get("/listLanguageNames", params={"locale": "en", "languages": "deu zh_CN qq"})
    assert named.json() == {"deu": "German", "zh_CN": "Chinese (CN)", "qq": "qq"}
    assert client.get("/listLanguageNames").json()["zh"] == "Chinese"


def test_hostile_values_never_break_it(client: TestClient) -> None:
    for value in HOSTILE_VALUES:
        text = str(value).encode("utf-8", "replace").decode()[:2_000]
        for path in ("/translate", "/identifyLang", "/listLanguageNames", "/listPairs"):
            for name in ("q", "langpair", "format", "languages"):
                asked = {"q": "a", "langpair": "en|zh", name: text}
                assert client.get(path, params=asked).status_code in (200, 400)
                assert client.post(path, json={**asked, name: [text, None]}).status_code < 500


def test_a_key_is_taken_where_omegat_puts_it(service: ShoutingService, tmp_path: Path) -> None:
    key = new_key(tmp_path / "keys.tsv", "me", print)
    asked = client_of(service, ApiKeys(tmp_path / "keys.tsv"))
    request = {"langpair": "en|zh", "q": "a"}
    for send in ({"params": {**request, "key": key}}, {"params": {"key": key, **request}}):
        assert status_and_json(asked.get("/translate", **send)) == translated("zh:A")
    assert status_and_json(asked.post("/translate", data={**request, "key": key})) == (
        translated("zh:A")
    )
    for refusal in (
        asked.get("/translate", params={**request, "key": ""}),
        asked.post("/translate", data={**request, "key": "x"}),
    ):
        status, content = status_and_json(refusal)
        assert (status, content["status"], content["message"]) == (403, "error", "Forbidden")
    assert asked.get("/listPairs").status_code == 200  # Weblate's connector sends no key for it
