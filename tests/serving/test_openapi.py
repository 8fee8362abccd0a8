"""What the service says of itself is so: every address, every example, and a page without scripts
of its own in it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from headway.serving.app import Served, application
from headway.serving.corrections import Corrections
from headway.serving.described import descriptions
from headway.serving.memories import KnownTranslations
from headway.serving.openapi import document, page
from headway.serving.requests import ServedPair
from headway.serving.runs import ServedRuns
from headway.serving.service import Service
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")
NOT_TOLD = re.compile(r"/(page/.*|inspector.*|.*:path\})?$")
"""Addresses that a browser asks for, not a program; and those of what is not there."""


@pytest.fixture
def served(everyday_run: Path, tmp_path: Path) -> Iterator[Served]:
    corrections = Corrections(tmp_path)
    runs = ServedRuns([everyday_run], Translator.load)
    yield application(Service(runs, known=KnownTranslations(corrections)))
    corrections.close()


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(served.app, base_url="http://localhost") as found:
        yield found


def of_document(client: TestClient) -> dict[str, Any]:
    answer = client.get("/openapi.json")
    assert answer.status_code == 200
    return answer.json()


def test_every_address_is_described_and_every_description_has_its_address(served):
    there = {
        f"{method} {one.path}"
        for one in served.app.app.routes
        if isinstance(one, Route) and not NOT_TOLD.match(one.path)
        for method in (one.methods or set()) - {"HEAD"}
    }
    described = {*descriptions(ServedPair("en", "zh"))}
    assert there - described == set()
    assert described - there == set()


def test_every_reference_leads_somewhere(client):
    found = of_document(client)
    names = re.findall(r"'#/components/schemas/(\w+)'", str(found))
    assert {*names} == {*found["components"]["schemas"]}
    ids = [one["operationId"] for methods in found["paths"].values() for one in methods.values()]
    assert len(ids) == len({*ids})


def test_every_example_is_answered_as_it_is_said(client):
    n = 0
    for path, methods in of_document(client)["paths"].items():
        for method, one in methods.items():
            content = one.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" not in content or "{" in path or one["tags"] == ["Language models"]:
                continue
            answer = client.request(method, path, json=content["example"])
            assert str(answer.status_code) in one["responses"], answer.text
            assert answer.is_success, (path, answer.text)
            n += 1
    assert n >= 8


def test_the_page_has_no_script_in_it_and_nothing_from_elsewhere(client):
    shown = client.get("/docs")
    assert shown.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in shown.headers["content-security-policy"]
    assert re.findall(r"<script[^>]*>([^<]*)", shown.text) == [""]
    assert not re.search(r"\son\w+=|style=|https?://|javascript:", shown.text)
    for name in re.findall(r'(?:src|href)="([^"#]+)"', shown.text):
        assert client.get(f"/{name}").status_code == 200
    for path in of_document(client)["paths"]:
        assert f"<code>{path}</code>" in shown.text
    assert client.get("/docs/other.js").status_code == 404


def test_what_a_run_calls_its_language_is_text_on_the_page(served):
    odd = "<script>alert(1)</script>"
    found = document(served.app.app.routes, descriptions(ServedPair(odd, odd)), with_keys=False)
    assert odd not in page(found)
    assert "&lt;script&gt;" in page(found)


def test_keys_are_asked_for_where_there_are_some(served):
    found = document(served.app.app.routes, descriptions(ServedPair("a", "b")), with_keys=True)
    schemes = {*found["components"]["securitySchemes"]}
    asked = {*(name for one in found["paths"]["/v1/translate"]["post"]["security"] for name in one)}
    assert asked == schemes
    assert "security" not in found["paths"]["/health"]["get"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/v1/translate", "POST"), ("/v2/usage", "GET, HEAD, POST"),
     ("/v3/glossaries/x", "DELETE, GET, HEAD, PATCH")],
)  # fmt: skip
def test_a_method_that_is_not_there_is_told_which_are(client, path, methods):
    for method in ("TRACE", "PUT"):
        answer = client.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)
        assert answer.json() == dict.fromkeys(("error", "message"), "Method Not Allowed")


@pytest.mark.parametrize("path", ["/v1/nothing", "/nothing"])
def test_an_address_where_nothing_is_says_so_as_every_client_reads_it(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == dict.fromkeys(("error", "message"), "Not Found")
