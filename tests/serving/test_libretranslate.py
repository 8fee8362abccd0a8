import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from libretranslatepy import LibreTranslateAPI
from services import (
    HOSTILE,
    HOSTILE_VALUES,
    ShoutingService,
    address_of,
    client_of,
    status_and_json,
)
from starlette.testclient import TestClient

from headway.serving.app import application
from headway.serving.corrections import Corrections
from headway.serving.keys import ApiKeys, new_key
from headway.serving.memories import KnownTranslations
from headway.serving.requests import RefusedError, ServedPair


@pytest.fixture
def service() -> ShoutingService:
    return ShoutingService()


@pytest.fixture
def client(service: ShoutingService) -> Iterator[TestClient]:
    with client_of(service) as found:  # one event loop for all that it asks
        yield found


def test_libretranslatepy_works_whole(service: ShoutingService) -> None:
    with address_of(application(service)) as address:
        api = LibreTranslateAPI(address, api_key="any")
        assert api.translate("good morning & 早", "en", "zh") == "zh:GOOD MORNING & 早"
        heard = api.detect("Das ist ein ganz gewöhnlicher deutscher Satz.")
        assert heard[0]["language"] == "de"
        assert 90 < heard[0]["confidence"] <= 100
        assert api.languages() == [
            {"code": "en", "name": "English", "targets": ["zh"]},
            {"code": "zh", "name": "Chinese", "targets": ["en"]},
            {"code": "de", "name": "German", "targets": ["en"]},
        ]


def test_weblate_reads_languages_and_one_list(client: TestClient, service: ShoutingService) -> None:
    # weblate/machinery/libretranslate.py of 5.14.3 and 2026.10.1
    codes = [one["code"] for one in client.get("/languages").json()]
    assert "zh" in codes
    request = {"api_key": "", "q": ["One", "Two"], "source": "en", "target": "zh"}
    assert status_and_json(client.post("/translate", json=request)) == (
        200, {"translatedText": ["zh:ONE", "zh:TWO"]},
    )  # fmt: skip
    assert len(service.asked) == 1  # as one, not text by text


@pytest.mark.parametrize("kind", ["json", "data", "files"])
def test_json_forms_and_multipart_are_one(client: TestClient, kind: str) -> None:
    fields = {"q": "a line\nand another", "source": "auto", "target": "zh", "alternatives": "2"}
    sent = {name: (None, value) for name, value in fields.items()} if kind == "files" else fields
    answer = client.post("/translate", **{kind: sent})
    assert status_and_json(answer) == (
        200,
        {
            "translatedText": "zh:A LINE\nAND ANOTHER",
            "detectedLanguage": {"confidence": 90.0, "language": "en"},
            "alternatives": ["zh:A LINE\nAND ANOTHER 1", "zh:A LINE\nAND ANOTHER 2"],
        },
    )


def test_each_text_of_a_list_has_its_own_language_and_alternatives(client: TestClient) -> None:
    request = {"q": ["hello", "你好"], "source": "auto", "target": "en", "alternatives": 1}
    answer = client.post("/translate", json=request).json()
    assert answer["detectedLanguage"] == [
        {"confidence": 90.0, "language": "en"},
        {"confidence": 75.0, "language": "zh"},
    ]
    assert answer["alternatives"] == [["en:HELLO 1"], ["en:你好 1"]]


def test_lines_of_a_form_end_as_elsewhere(client: TestClient) -> None:
    asked = {"source": "en", "target": "zh"}
    for q, found in (("a\r\nb\n", "zh:A\nB\n"), (["a\r\n", "b"], ["zh:A\n", "zh:B"])):
        answer = client.post("/translate", data={**asked, "q": q})
        assert answer.json() == {"translatedText": found}


def test_codes_are_taken_as_clients_write_them(
    client: TestClient, service: ShoutingService
) -> None:
    for code in ("zh", "ZH", "zh-Hans", "zh-CN", "zh_Hans", "zho"):
        answer = client.post("/translate", json={"q": "a", "source": "eng", "target": code})
        assert answer.json() == {"translatedText": "zh:A"}, code
    assert {(one.source, one.target) for one in service.asked} == {("en", "zh")}


def test_html_is_asked_for_as_html(client: TestClient, service: ShoutingService) -> None:
    request = {"q": "<b>a</b>", "source": "en", "target": "zh", "format": "html"}
    assert client.post("/translate", json=request).status_code == 200
    assert service.asked[-1].markup == "html"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": [1]}, "Invalid request: q parameter is not a string or a list of them"),
        ({"source": ""}, "Invalid request: missing source parameter"),
        ({"target": None}, "Invalid request: missing target parameter"),
        ({"source": "xx"}, "xx is not supported"),
        ({"target": "fr"}, "fr is not supported"),
        (
            {"source": "de", "target": "zh"},
            "Chinese (zh) is not available as a target language from German (de)",
        ),
        ({"format": "pdf"}, "pdf format is not supported"),
        ({"alternatives": "many"}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 11}, "Invalid request: alternatives parameter must be <= 10"),
    ],
)
def test_refusals_have_its_words(client: TestClient, change: dict[str, object], words: str) -> None:
    request = {"q": "a", "source": "en", "target": "zh", **change}
    assert status_and_json(client.post("/translate", json=request)) == (400, {"error": words})


@pytest.mark.parametrize(
    ("refusal", "status", "words"),
    [
        (RefusedError("rate", "at most 3 a minute", 20), 429, "Slowdown: at most 3 a minute"),
        (RefusedError("quota", "used up"), 429, "Slowdown: used up"),
        (RefusedError("busy", "come again", 2), 503, "come again"),
        (RefusedError("too_long", "too long"), 400, "too long"),
    ],
)
def test_limits_have_its_statuses(
    client: TestClient, service: ShoutingService, refusal: RefusedError, status: int, words: str
) -> None:
    service.refuse_with = refusal
    answer = client.post("/translate", json={"q": "a", "source": "en", "target": "zh"})
    assert status_and_json(answer) == (status, {"error": words})
    wait = refusal.retry_after_s
    assert answer.headers.get("Retry-After") == (str(round(wait)) if wait else None)


def test_a_key_may_stand_in_the_body(service: ShoutingService, tmp_path: Path) -> None:
    key = new_key(tmp_path / "keys.tsv", "me", print, characters=10)
    asked = client_of(service, ApiKeys(tmp_path / "keys.tsv"))
    request = {"q": "12345", "source": "en", "target": "zh"}
    please = "Please contact the server operator to get an API key"
    assert status_and_json(asked.post("/translate", json=request)) == (403, {"error": please})
    wrong = {"error": "Invalid API key"}
    assert status_and_json(asked.post("/translate", data={**request, "api_key": "x"})) == (
        403, wrong,
    )  # fmt: skip
    assert status_and_json(asked.post("/detect", json={"q": "a", "api_key": "x"})) == (403, wrong)
    for kind in ("json", "data"):
        answer = asked.post("/translate", **{kind: {**request, "api_key": key}})
        assert answer.json() == {"translatedText": "zh:12345"}
    status, error = status_and_json(asked.post("/translate", json={**request, "api_key": key}))
    assert status == 429
    assert error["error"].startswith("Slowdown: the quota of 10 characters")
    assert asked.get("/languages").status_code == 200
    settings = asked.get("/frontend/settings").json()
    assert settings["apiKeys"] is settings["keyRequired"] is True


def test_too_much_is_told_as_it_tells_it(client: TestClient) -> None:
    request = {"source": "en", "target": "zh"}
    for q, n, most in ((["a"] * 2_001, 2_001, 2_000), ("a" * 100_001, 100_001, 100_000)):
        answer = client.post("/translate", json={**request, "q": q})
        words = f"Invalid request: request ({n}) exceeds text limit ({most})"
        assert status_and_json(answer) == (400, {"error": words})


def test_settings_have_all_that_a_page_reads(client: TestClient) -> None:
    settings = client.get("/frontend/settings").json()
    assert settings.keys() == {
        "charLimit", "frontendTimeout", "apiKeys", "keyRequired", "suggestions",
        "filesTranslation", "supportedFilesFormat", "language",
    }  # fmt: skip
    assert settings["language"]["source"] == {"code": "auto", "name": "Auto Detect"}
    assert settings["language"]["target"] == {"code": "zh", "name": "Chinese"}


def test_a_service_of_language_models_alone_has_settings_too() -> None:
    service = ShoutingService()
    service.runs.pairs = []
    answer = client_of(service).get("/frontend/settings")
    assert answer.status_code == 200
    assert answer.json()["language"]["target"]["code"] == "en"


def test_several_texts_are_detected_as_one(client: TestClient) -> None:
    german = "Das ist ein ganz gewöhnlicher deutscher Satz."
    texts = [german, german, "这是一个普通的句子。"]
    heard = client.post("/detect", json={"q": texts}).json()
    assert [one["language"] for one in heard] == ["de", "zh"]
    assert heard[0]["confidence"] > heard[1]["confidence"]


@pytest.mark.parametrize("path", ["/translate", "/detect"])
def test_hostile_bodies_are_refused(client: TestClient, path: str) -> None:
    for body in HOSTILE:
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json().keys() == {"error"}


def test_hostile_values_never_break_it(client: TestClient) -> None:
    for value in HOSTILE_VALUES:
        for name in ("q", "source", "target", "format", "alternatives", "api_key"):
            request = {"q": "a", "source": "en", "target": "zh", name: value}
            answer = client.post("/translate", content=json.dumps(request))
            assert answer.status_code in (200, 400), (name, value)
        client.post("/detect", content=json.dumps({"q": value}))


def test_a_suggestion_is_a_correction(tmp_path: Path) -> None:
    service = ShoutingService()
    asked = client_of(service)
    request = {"q": "a dog", "s": "狗", "source": "en", "target": "zh-CN"}
    disabled = {"error": "Suggestions are disabled on this server."}
    assert status_and_json(asked.post("/suggest", json=request)) == (403, disabled)
    kept = Corrections(tmp_path)
    service.known = KnownTranslations(kept)
    assert asked.get("/frontend/settings").json()["suggestions"] is True
    for kind in ("json", "data"):
        answer = asked.post("/suggest", **{kind: request})
        assert status_and_json(answer) == (200, {"success": True})
    assert kept.exact(ServedPair("en", "zh"), "a dog") == "狗"
    for name in request:
        without = {key: value for key, value in request.items() if key != name}
        words = f"Invalid request: missing {name} parameter"
        assert status_and_json(asked.post("/suggest", json=without)) == (400, {"error": words})
    for source in ("auto", "zh"):
        refused = asked.post("/suggest", json={**request, "source": source})
        assert status_and_json(refused) == (400, {"error": f"{source} is not supported"})
    for value in HOSTILE_VALUES:
        for name in request:
            content = json.dumps({**request, name: value})
            assert asked.post("/suggest", content=content).status_code in (200, 400)
    kept.close()


def test_a_language_into_itself_is_not_refused(
    client: TestClient, service: ShoutingService
) -> None:
    request = {"q": "a", "source": "en-US", "target": "en-GB"}
    assert client.post("/translate", json=request).status_code == 200
    assert (service.asked[-1].source, service.asked[-1].target) == ("en", "en")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"q": "A dog.",\n "target": "de",}', "this is no JSON: line 2, column "),
        (b'{"text": 5', "this is no JSON: line 1, column 11: expecting ',' delimiter. A request"),
        (b'{"q": "\xff"}', "this is no JSON: byte 8 is not UTF-8. A request is one JSON object"),
        (b"[" * 100_000, "this JSON cannot be read: it is nested too deeply, or has"),
        (b'["a"]', "A request is one JSON object, or a form; got another value of JSON"),
    ],
)
def test_a_body_that_is_no_json_is_told_where(client: TestClient, body: bytes, said: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/translate", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(said)
