"""`/v1`: all that a translation tells, and nothing that was not asked for by its name."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from served import client_of, service_of, written
from starlette.testclient import TestClient

from headway.serving.bodies import TranslateBody, read
from headway.serving.corrections import Corrections
from headway.serving.memories import KnownTranslations
from headway.serving.requests import RefusedError
from headway.serving.service import Service


@pytest.fixture(scope="module")
def service(everyday_run: Path) -> Service:
    return service_of(everyday_run)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Corrections]:
    with Corrections(tmp_path / "kept") as found:
        yield found


@pytest.fixture
def client(service: Service, tmp_path: Path, kept: Corrections) -> Iterator[TestClient]:
    keeping = Service(service.runs, known=KnownTranslations(kept))
    with client_of(keeping, tmp_path) as (found, _):
        yield found


def ask(client: TestClient, **body: Any) -> Any:
    return client.post("/v1/translate", json={"source": "en", "target": "zh", **body})


def test_an_answer_is_what_the_translator_says(tmp_path: Path) -> None:
    service = service_of(Path("demo"))  # of a run in training loops are not told
    with client_of(service, tmp_path) as (client, _):
        answers_are_what_the_translator_says(client, service)


def answers_are_what_the_translator_says(client: TestClient, service: Service) -> None:
    with service.runs.using(service.runs.of("en", "zh")) as translator:
        pass
    texts = ["The dog runs.", "I love learning."]
    rows = ask(client, texts=texts).json()["translations"]
    assert [row["text"] for row in rows] == translator.translate(texts)
    assert {row["origin"] for row in rows} == {"model"}
    [row] = ask(client, text=texts[0], n_best=2, details=True).json()["translations"]
    [known] = translator.translate_fully([texts[0]], n_best=2, want_alignment=True)
    best, second = known.n_best
    assert row["text"] == best.target
    assert row["score"] == pytest.approx(best.score)
    assert [one["text"] for one in row["alternatives"]] == [second.target]
    assert row["alternatives"][0]["score"] == pytest.approx(second.score)
    assert row["tokens"] == best.tokens
    assert row["alignment"] == [list(pair) for pair in best.alignment]
    assert row["source_tokens"] == known.source_tokens
    assert row["confidence"] == pytest.approx(translator.judged(known).confidence)


def test_sampling_repeats_with_its_seed(client: TestClient) -> None:
    def drawn(seed: int) -> str:
        how = {"method": "sampling", "temperature": 2.0, "top_k": 50, "top_p": 0.9}
        text = "The dog runs through the garden."
        answer = ask(client, text=text, seed=seed, **how).json()
        found: str = answer["translations"][0]["text"]
        return found

    assert drawn(1) == drawn(1)
    assert len({drawn(seed) for seed in range(1, 6)}) > 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, 'either "text" or "texts"'),
        ({"text": "a", "texts": ["a"]}, 'either "text" or "texts"'),
        ({"text": 3}, "text"),
        ({"texts": ["a", None]}, "texts.1"),
        ({"text": "a", "n_best": 0}, "n_best"),
        ({"text": "a", "n_best": 1e9}, "n_best"),
        ({"text": "a", "n_best": "2"}, "n_best"),
        ({"text": "a", "temperature": float("inf")}, "temperature"),
        ({"text": "a", "nbest": 2}, "nbest"),
        ({"text": "a", "format": "pdf"}, "format"),
        ({"text": "a", "target": ""}, "target"),
        ({"text": "a", "target": "xx"}, "xx"),
        ({"text": "a", "prefixes": ["a", "b"]}, "as many prefixes"),
        ({"text": "a", "temperature": 2.0, "method": "greedy"}, "sampling"),
        ({"text": "a", "glossary": [{"source": ""}]}, "glossary"),
        ({"text": "a" * 200_001}, "at most 100,000 characters; got 200,001"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(
    client: TestClient, body: dict[str, Any], said: str
) -> None:
    data = json.dumps({"source": "en", "target": "zh", **body})
    refused = client.post(
        "/v1/translate", content=data, headers={"content-type": "application/json"}
    )
    assert refused.status_code == 400, refused.text
    assert said in refused.json()["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"text": 3}, "text is a text; got 3"),
        ({"texts": ["a", None]}, "texts.1 is a text; got null"),
        ({"texts": "a"}, 'texts is a list; got "a"'),
        ({"text": "a", "n_best": 0}, "n_best is at least 1; got 0"),
        ({"text": "a", "n_best": "2"}, 'n_best is a whole number; got "2"'),
        ({"text": "a", "temperature": 0}, "temperature is more than 0; got 0"),
        ({"text": "a", "seed": 1 << 31}, "seed is less than 2,147,483,648; got 2147483648"),
        ({"text": "a", "details": 1}, "details is true or false; got 1"),
        ({"text": "a", "nbest": 2}, "there is no field nbest here. Did you mean 'n_best'?"),
        ({"text": "a", "format": "pdf"}, 'format is "text", "html" or "xml"; got "pdf"'),
        ({"text": "a", "target": "x" * 36}, "target has at most 35 characters; got 36"),
        ({"text": "a", "glossary": "x"}, 'glossary is a list or "none"; got "x"'),
        ({"text": "a", "glossary": [{"target": "b"}]}, "glossary.0.source is missing. Give it."),
        (
            {"text": "a", "glossary": [{"source": ""}]},
            "glossary.0.source has at least 1 characters; got 0",
        ),
        ({"text": "a", "glossary": [3]}, "glossary.0 is an object; got 3"),
    ],
)
def test_a_wrong_field_is_told_by_its_rule_and_what_was_given(
    body: dict[str, Any], said: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        read(TranslateBody, {"source": "en", "target": "zh", **body})
    assert str(refused.value) == said


def test_half_a_character_is_translated_as_what_it_is(client: TestClient) -> None:
    body = b'{"text": "a\\ud800", "source": "en", "target": "zh"}'
    assert client.post("/v1/translate", content=body).status_code == 200


def test_events_come_for_each_text_and_then_an_end(client: TestClient) -> None:
    texts = ["The dog runs.", "", "I love learning."]
    whole = ask(client, texts=texts).json()["translations"]
    answer = ask(client, texts=texts, stream=True)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    names = [lines[0].removeprefix("event: ") for lines in events]
    rows = [json.loads(lines[1].removeprefix("data: ")) for lines in events]
    assert names == ["translation"] * 3 + ["done"]
    assert rows[-1] == {"n": 3}
    found = {row["index"]: row["text"] for row in rows[:-1]}
    assert found == dict(enumerate(row["text"] for row in whole))


def test_a_text_that_is_refused_stops_no_other(client: TestClient) -> None:
    texts = ["The dog runs through the garden.", "Press %s now."]  # whose code forbids a prefix
    answer = ask(client, texts=texts, prefixes=["", "你"], source="auto", stream=True)
    assert answer.text.count("event: translation") == 1
    assert answer.text.count("event: error") == 1
    assert answer.text.endswith('event: done\ndata: {"n": 2}\n\n')


def test_what_of_a_text_was_not_read_is_told(client: TestClient) -> None:
    texts = ["The dog runs.", "The dog " * 600]
    rows = ask(client, texts=texts).json()["translations"]
    assert rows[0]["n_cut"] == 0
    assert rows[1]["n_cut"] > 100


def test_the_tags_of_a_run_are_told(tagged_demo: Path, tmp_path: Path) -> None:
    with client_of(service_of(tagged_demo), tmp_path) as (client, _):
        [pair] = client.get("/v1/languages").json()["pairs"]
    assert pair == {"source": "en", "target": "zh", "tags": ["", "formal"]}


def test_pairs_and_corrections(client: TestClient, kept: Corrections) -> None:
    pairs = [{"source": "en", "target": "zh"}]
    assert client.get("/v1/languages").json() == {
        "pairs": pairs, "corrections": True, "characters": 100_000,
    }  # fmt: skip
    body = {"source_text": "The dog.", "target_text": "狗。", "source": "EN", "target": "zh-CN"}
    assert client.post("/v1/correct", json=body).json() == {"kept": True}
    assert written(kept) == [("The dog.", "狗。")]
    assert client.post("/v1/correct", json={**body, "target": "de"}).status_code == 400
    assert client.post("/v1/correct", json={**body, "target_text": ""}).status_code == 400
