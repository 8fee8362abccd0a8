import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import pytest
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
from headway.serving.keys import ApiKeys, new_key
from headway.serving.requests import Reason, RefusedError
from headway.serving.xml_outline import XmlTags

KEY = {"Authorization": "DeepL-Auth-Key mine"}


@pytest.fixture
def service() -> ShoutingService:
    return ShoutingService("en|zh", "de|en", "en|de")


@pytest.fixture
def client(service: ShoutingService) -> Iterator[TestClient]:
    with client_of(service) as found:  # one event loop for all that it asks
        yield found


@pytest.fixture
def real(service: ShoutingService, monkeypatch: pytest.MonkeyPatch) -> Iterator[deepl.DeepLClient]:
    """DeepL's own client, which does not wait to try again."""
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)
    with address_of(application(service)) as address, deepl_client(address) as found:
        yield found


class deepl_client(deepl.DeepLClient):  # noqa: N801 (a context)
    def __init__(self, address: str, key: str = "mine") -> None:
        super().__init__(key, server_url=address)

    def __enter__(self) -> "deepl_client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def test_its_client_translates_one_text_and_several(
    real: deepl.DeepLClient, service: ShoutingService
) -> None:
    one = real.translate_text("good morning", target_lang="ZH")
    assert (one.text, one.detected_source_lang, one.billed_characters) == (
        "zh:GOOD MORNING", "EN", 12,
    )  # fmt: skip
    several = real.translate_text(
        ["a", "bc"], source_lang="EN", target_lang="ZH-HANS", context="of letters",
        split_sentences="nonewlines", preserve_formatting=True, formality="prefer_more",
        tag_handling="xml", ignore_tags=["x", "code,pre"], outline_detection=False,
        non_splitting_tags=["b"], splitting_tags="p", model_type="prefer_quality_optimized",
    )  # fmt: skip
    assert [(one.text, one.billed_characters, one.model_type_used) for one in several] == [
        ("zh:A", 1, "quality_optimized"), ("zh:BC", 2, "quality_optimized"),
    ]  # fmt: skip
    asked = service.asked[-1]
    assert (asked.source, asked.target, asked.markup) == ("en", "zh", "xml")
    assert asked.xml_tags == XmlTags(["x", "code", "pre"], ["p"], ["b"], outline=False)
    assert real.translate_text("ein Satz", source_lang="DE", target_lang="EN-US").text == (
        "en:EIN SATZ"
    )


def test_its_client_reads_languages_and_usage(real: deepl.DeepLClient) -> None:
    assert [(one.code, one.name) for one in real.get_source_languages()] == [
        ("EN", "English"), ("DE", "German"),
    ]  # fmt: skip
    targets = [(one.code, one.name, one.supports_formality) for one in real.get_target_languages()]
    assert targets == [
        ("ZH", "Chinese (simplified)", False),
        ("ZH-HANS", "Chinese (simplified)", False),
        ("EN-GB", "English (British)", False),
        ("EN-US", "English (American)", False),
        ("DE", "German", False),
    ]
    before = real.get_usage()
    real.translate_text("four", target_lang="ZH")
    after = real.get_usage()
    assert after.character.valid
    assert after.character.count == before.character.count + 4
    assert not after.any_limit_reached


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        ("key", deepl.AuthorizationException, "Authorization failed., detail: why"),
        ("quota", deepl.QuotaExceededException, "Quota for this billing period has been exceeded."),
        ("rate", deepl.TooManyRequestsException, "Too many requests., detail: why"),
        ("busy", deepl.DeepLException, "Service unavailable., detail: why"),
        ("too_long", deepl.DeepLException, "Bad request, message: why"),
        ("large", deepl.DeepLException, "413"),
    ],
)
def test_its_client_knows_why_it_is_refused(
    real: deepl.DeepLClient, service: ShoutingService, reason: Reason, error: type, words: str
) -> None:
    service.refuse_with = RefusedError(reason, "why")
    with pytest.raises(error) as raised:
        real.translate_text("a", target_lang="ZH")
    assert words in str(raised.value)


def test_keys_and_quotas_are_those_of_the_service(
    service: ShoutingService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deepl.http_client, "max_network_retries", 0)
    key = new_key(tmp_path / "keys.tsv", "me", print, characters=5)
    served = application(service, keys=ApiKeys(tmp_path / "keys.tsv"))
    with address_of(served) as address:
        with deepl_client(address) as wrong, pytest.raises(deepl.AuthorizationException):
            wrong.translate_text("a", target_lang="ZH")
        with deepl_client(address, key) as right:
            assert right.translate_text("12345", target_lang="ZH").text == "zh:12345"
            usage = right.get_usage()
            assert (usage.character.count, usage.character.limit) == (5, 5)
            assert usage.any_limit_reached
            with pytest.raises(deepl.QuotaExceededException, match="5 characters a month"):
                right.translate_text("1", target_lang="ZH")


def test_a_form_of_its_earlier_clients_is_the_same(client: TestClient) -> None:
    """As deepl 1.12.0 sends it: `text` as often as there are texts, numbers for yes and no."""
    body = (
        "target_lang=ZH&source_lang=EN&formality=default&split_sentences=1&preserve_formatting=0"
        "&tag_handling=xml&outline_detection=1&ignore_tags=x%2Cy&text=a+b&text=c"
    )
    form = {"Content-Type": "application/x-www-form-urlencoded", **KEY}
    answer = client.post("/v2/translate", content=body, headers=form)
    row = {"detected_source_language": "EN"}
    assert status_and_json(answer) == (
        200,
        {
            "translations": [
                {**row, "text": "zh:A B", "billed_characters": 3},
                {**row, "text": "zh:C", "billed_characters": 1},
            ]
        },
    )
    for send in ({"params": {"type": "target"}}, {"data": {"type": "target"}},
                 {"json": {"type": "target"}}):  # fmt: skip
        for method in ("GET", "POST"):
            listed = client.request(method, "/v2/languages", **send).json()
            assert {"language": "DE", "name": "German", "supports_formality": False} in listed


def test_weblate_is_answered(client: TestClient, service: ShoutingService) -> None:
    """weblate/machinery/deepl.py: of 5.14.3 with /v2/, of 2026.10.1 with /v3/ for languages."""
    old = client.get("/v2/languages", params={"type": "source"}, headers=KEY).json()
    assert {one["language"] for one in old} == {"EN", "DE"}
    pairs = client.get("/v2/glossary-language-pairs", headers=KEY).json()["supported_languages"]
    assert ("EN", "ZH") in {(one["source_lang"].upper(), one["target_lang"].upper())
                            for one in pairs}  # fmt: skip
    new = client.get("/v3/languages", params={"resource": "translate_text"}, headers=KEY).json()
    assert {one["lang"] for one in new if one["usable_as_source"]} == {"en", "de"}
    into = {one["lang"] for one in new if one["usable_as_target"]}
    assert {"zh", "zh-Hans", "en-GB", "en-US", "de"} <= into
    assert not any("formality" in one.get("features", {}) for one in new)
    glossary = client.get("/v3/languages", params={"resource": "glossary"}, headers=KEY).json()
    assert {one["lang"] for one in glossary if one["usable_as_target"]} == {"zh", "en", "de"}
    assert client.get("/v3/languages", params={"resource": "write"}, headers=KEY).json() == []
    sent = {
        "text": ['Hi <x id="3"></x>'], "source_lang": "EN", "target_lang": "ZH-HANS",
        "formality": "default", "tag_handling": "xml", "ignore_tags": ["x"], "context": "a game",
        "model_type": "prefer_quality_optimized",
    }  # fmt: skip
    answer = client.post("/v2/translate", json=sent, headers=KEY).json()
    assert [one["text"] for one in answer["translations"]] == ['zh:HI <X ID="3"></X>']
    assert (service.asked[-1].markup, service.asked[-1].xml_tags) == ("xml", XmlTags(["x"], [], []))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "Parameter 'text' not specified."),
        ({"text": []}, "Parameter 'text' not specified."),
        ({"text": [3]}, "Value for 'text' not supported."),
        ({"target_lang": None}, "Value for 'target_lang' not supported."),
        ({"target_lang": "FR"}, "Value for 'target_lang' not supported."),
        ({"source_lang": "FR"}, "Value for 'source_lang' not supported."),
        ({"source_lang": "DE"}, "Value for 'target_lang' not supported."),  # nobody has de to zh
        ({"split_sentences": "2"}, "Value for 'split_sentences' not supported."),
        ({"preserve_formatting": "x"}, "Value for 'preserve_formatting' not supported."),
        ({"tag_handling": "md"}, "Value for 'tag_handling' not supported."),
        ({"model_type": "big"}, "Value for 'model_type' not supported."),
        ({"splitting_tags": [1]}, "Value for 'splitting_tags' not supported."),
        ({"ignore_tags": [1]}, "Value for 'ignore_tags' not supported."),
        ({"glossary_ids": [1]}, "Value for 'glossary_ids' not supported."),
        ({"formality": "x"}, "Value for 'formality' not supported."),
        ({"formality": "more"}, "'formality' is not supported for given 'target_lang'."),
        ({"style_id": "a"}, "'style_id' is not supported by this service."),
        ({"custom_instructions": ["a"]}, "'custom_instructions' is not supported by this service."),
        (
            {"glossary_id": "a", "source_lang": None},
            "Use of a glossary requires the source_lang parameter to be specified",
        ),
    ],
)
def test_refusals_have_its_words(client: TestClient, change: dict[str, Any], message: str) -> None:
    request = {"text": ["a"], "target_lang": "ZH", "source_lang": "EN", **change}
    answer = client.post("/v2/translate", json=request, headers=KEY)
    assert status_and_json(answer) == (400, {"message": message})


def test_what_is_not_here_says_so(real: deepl.DeepLClient, client: TestClient) -> None:
    with pytest.raises(deepl.DeepLException, match="not rephrased or corrected"):
        real.rephrase_text("a", target_lang="EN-GB")
    with pytest.raises(deepl.DeepLException, match="not rephrased or corrected"):
        real.correct_text("a")
    answer = client.get("/v3/languages", params={"resource": "x"})
    assert answer.status_code == 400
    assert client.get("/v2/languages", params={"type": "x"}).status_code == 400


def test_hostile_bodies_never_break_it(client: TestClient) -> None:
    for body in HOSTILE:
        answer = client.post("/v2/translate", content=body, headers=KEY)
        assert answer.status_code == 400
        assert "message" in answer.json()
    names = (
        "text", "target_lang", "source_lang", "formality", "tag_handling", "ignore_tags",
        "splitting_tags", "non_splitting_tags", "outline_detection",
        "glossary_id", "glossary_ids", "model_type", "custom_instructions", "split_sentences",
    )  # fmt: skip
    for name in names:
        for value in HOSTILE_VALUES:
            request = {"text": ["a"], "target_lang": "ZH", "source_lang": "EN", name: value}
            answer = client.post("/v2/translate", content=json.dumps(request), headers=KEY)
            assert answer.status_code in (200, 400, 404), (name, value)
