"""The live page: for this machine alone, by an address that nobody guesses, with clear refusals."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headway.inspection import document
from headway.inspection.live import MOST_CHARACTERS, application
from headway.inspection.subject import open_subject
from headway.inspection.training import page, training
from headway.training.run_folder import RunFolder

WORD = "a-word"


@pytest.fixture(scope="module")
def client(everyday_run: Path) -> Iterator[TestClient]:
    subject = open_subject(everyday_run)
    found = {
        "run": document.run(subject),
        "sentences": [document.sentence(subject, "The dog runs.")],
    }
    with TestClient(
        application(partial(document.sentence, subject), found, word=WORD),
        base_url="http://127.0.0.1:5000",
    ) as one:
        yield one


def test_what_is_typed_is_looked_at_as_the_command_does(
    client: TestClient, everyday_run: Path
) -> None:
    answer = client.post(f"/{WORD}/look", json={"text": "The cat sleeps."})
    assert answer.json() == document.sentence(open_subject(everyday_run), "The cat sleeps.")


def test_a_target_is_followed(client: TestClient) -> None:
    found = client.post(f"/{WORD}/look", json={"text": "The dog runs.", "target": "猫。"}).json()
    assert found["forced"]
    assert "".join(token["piece"] for token in found["tokens"]["target"]).startswith("猫")


def test_what_is_forced_is_gone_on_with(client: TestClient) -> None:
    free = client.post(f"/{WORD}/look", json={"text": "The dog runs."}).json()["steps"]
    begin = [token for token in free["courses"]["beam"]["likeliest"][0] if token > 3][-1:]
    found = client.post(f"/{WORD}/look", json={"text": "The dog runs.", "begin": begin}).json()
    assert found["steps"]["courses"]["forced"]["taken"][0] == begin[0]


def test_without_the_word_there_is_nothing(client: TestClient) -> None:
    for path in ("/", "/look", "/another/", "/another/look"):
        assert client.get(path).status_code == 404
    assert client.get(f"/{WORD}/").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "0.0.0.0", ""])
def test_a_name_that_leads_here_is_refused(client: TestClient, host: str) -> None:
    for method, path in (("GET", f"/{WORD}/"), ("POST", f"/{WORD}/look")):
        assert client.request(method, path, headers={"Host": host}).status_code == 400


@pytest.mark.parametrize(
    "given",
    [
        [],
        {},
        {"text": 3},
        {"text": "a", "target": 1},
        {"text": ""},
        {"text": "a" * (MOST_CHARACTERS + 1)},
        {"text": "The dog runs.", "begin": "a"},
        {"text": "The dog runs.", "begin": ["a"]},
        {"text": "The dog runs.", "begin": [0]},
        {"text": "The dog runs.", "begin": [10**30]},
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(client: TestClient, given: Any) -> None:
    answer = client.post(f"/{WORD}/look", json=given)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_what_is_no_json_is_refused(client: TestClient) -> None:
    assert client.post(f"/{WORD}/look", content=b"\xff{").status_code == 400


def test_another_site_is_not_told_anything(client: TestClient) -> None:
    """A page of another site may send a request, but may not read the answer."""
    answer = client.get(f"/{WORD}/", headers={"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_what_a_training_has_logged_meanwhile_is_told(everyday_run: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(everyday_run, tmp_path / "run"))
    runs = [run.path]
    news = {"training": lambda: training(runs)}
    app = application(_nothing, page(runs, "A dog."), word=WORD, news=news)
    with TestClient(app, base_url="http://127.0.0.1:5000") as client:
        assert client.get(f"/{WORD}/training").json() == training(runs)
        run.log({"step": 99, "time_s": 99.5, "target_tokens": 1, "source_tokens": 1, "loss": 0.5})
        assert client.get(f"/{WORD}/training").json()["runs"][0]["updates"] == 99
        shutil.rmtree(run.path)
        gone = client.get(f"/{WORD}/training")
        assert gone.status_code == 400
        assert "run folder" in gone.json()["error"]
        assert client.get("/training").status_code == 404


def _nothing(**_: Any) -> dict[str, Any]:
    raise AssertionError
