import json
from collections.abc import Iterator

import pytest
from services import HOSTILE, HOSTILE_VALUES, ShoutingService, client_of, status_and_json
from starlette.testclient import TestClient

from headway.serving.requests import RefusedError


@pytest.fixture
def service() -> ShoutingService:
    return ShoutingService()


@pytest.fixture
def client(service: ShoutingService) -> Iterator[TestClient]:
    with client_of(service) as found:  # one event loop for all that it asks
        yield found


def test_immersive_translate_gets_each_text_with_its_language(client: TestClient) -> None:
    """The body that its page on custom interfaces describes."""
    request = {
        "source_lang": "auto", "target_lang": "zh-CN", "text_list": ["{0} Hello", "<b0></b0> 早"],
    }  # fmt: skip
    assert status_and_json(client.post("/imme?token=key", json=request)) == (
        200,
        {
            "translations": [
                {"detected_source_lang": "en", "text": "zh:{0} HELLO"},
                {"detected_source_lang": "zh", "text": "zh:<B0></B0> 早"},
            ]
        },
    )


def test_kiss_gets_one_text_or_several(client: TestClient) -> None:
    """What its `genCustom` sends, with and without batches, and its `parseTransRes` reads."""
    one = {"text": "hello", "from": "auto", "to": "zh-CN"}
    assert status_and_json(client.post("/kiss?token=key", json=one)) == (
        200, {"text": "zh:HELLO", "src": "en"},
    )  # fmt: skip
    several = {"texts": ["hello", "a"], "from": "en", "to": "zh-CN"}
    assert status_and_json(client.post("/kiss?token=key", json=several)) == (
        200, {"translations": [{"text": "zh:HELLO", "src": "en"}, {"text": "zh:A", "src": "en"}]},
    )  # fmt: skip


def test_a_script_is_found_before_a_language() -> None:
    service = ShoutingService("en|zh-Hant", "en|zh-Hans", "en|pt-BR", "en|pt")
    client = client_of(service)
    for code, found in (
        ("zh-TW", "zh-Hant"), ("zh-HK", "zh-Hant"), ("zh-CN", "zh-Hans"), ("zh_Hans_CN", "zh-Hans"),
        ("pt-BR", "pt-BR"), ("pb", "pt-BR"), ("zt", "zh-Hant"), ("pt-PT", "pt"), ("por", "pt"),
    ):  # fmt: skip
        client.post("/kiss", json={"text": "a", "from": "en", "to": code})
        assert service.asked[-1].target == found, code


def test_refusals_are_errors_in_json(client: TestClient, service: ShoutingService) -> None:
    asked = {"source_lang": "en", "target_lang": "zh", "text_list": ["a"]}
    missing = "Missing required fields: source_lang, target_lang, text_list"
    for name in asked:
        without = {key: value for key, value in asked.items() if key != name}
        assert status_and_json(client.post("/imme", json=without)) == (400, {"error": missing})
    wrong = client.post("/kiss", json={"from": "en", "to": "fr", "text": "a"})
    assert status_and_json(wrong) == (400, {"error": "nothing is translated into fr here"})
    wrong = client.post("/kiss", json={"from": "fr", "to": "en", "text": "a"})
    assert status_and_json(wrong) == (400, {"error": "fr is not translated here"})
    service.refuse_with = RefusedError("key", "a key is needed")
    refused = client.post("/imme", json=asked)
    assert status_and_json(refused) == (401, {"error": "a key is needed"})


def test_hostile_bodies_never_break_them(client: TestClient) -> None:
    for path, valid in (
        ("/imme", {"source_lang": "en", "target_lang": "zh", "text_list": ["a"]}),
        ("/kiss", {"from": "en", "to": "zh", "text": "a", "texts": ["b"]}),
    ):
        for body in HOSTILE:
            answer = client.post(path, content=body)
            assert answer.status_code == 400
            assert answer.json().keys() == {"error"}
        for name in valid:
            for value in HOSTILE_VALUES:
                content = json.dumps({**valid, name: value})
                assert client.post(path, content=content).status_code in (200, 400)
