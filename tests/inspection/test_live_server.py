"""The live page: for this machine alone, by an address that nobody guesses, with clear refusals."""

import asyncio
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headway.core.run_folder import RunFolder
from headway.inspection import document
from headway.inspection.document import page, training
from headway.inspection.inspected_model import open_inspected
from headway.inspection.live_server import MOST_BYTES, MOST_CHARACTERS, application

WORD = "a-word"


@pytest.fixture(scope="module")
def client(everyday_run: Path) -> Iterator[TestClient]:
    inspected = open_inspected(everyday_run)
    found = {
        "run": document.run(inspected),
        "sentences": [document.sentence(inspected, "The dog runs.")],
    }
    with TestClient(
        application(partial(document.sentence, inspected), found, word=WORD),
        base_url="http://127.0.0.1:5000",
    ) as one:
        yield one


def test_what_is_typed_is_looked_at_as_the_command_does(
    client: TestClient, everyday_run: Path
) -> None:
    answer = client.post(f"/{WORD}/look", json={"text": "The cat sleeps."})
    assert answer.json() == document.sentence(open_inspected(everyday_run), "The cat sleeps.")


def test_a_target_is_followed(client: TestClient) -> None:
    found = client.post(f"/{WORD}/look", json={"text": "The dog runs.", "target": "猫。"}).json()
    assert found["forced"]
    assert "".join(token["piece"] for token in found["tokens"]["target"]).startswith("猫")


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
        {"text": "The dog runs.", "off": ["a"] * 2000},
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(client: TestClient, given: Any) -> None:
    answer = client.post(f"/{WORD}/look", json=given)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_what_is_no_json_is_refused(client: TestClient) -> None:
    assert client.post(f"/{WORD}/look", content=b"\xff{").status_code == 400


@pytest.mark.parametrize("content", [b"[" * 200_000, b'{"a":' * 200_000, b"", b"\xff" * 9])
def test_what_harms_is_no_request(client: TestClient, content: bytes) -> None:
    answer = client.post(f"/{WORD}/look", content=content)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_no_more_is_read_than_a_request_may_have(client: TestClient) -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        while read < 100 * MOST_BYTES:
            read += 1 << 16
            yield b"x" * (1 << 16)

    app, sent = client.app, list[Any]()
    chunks = endless()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": next(chunks), "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": f"/{WORD}/look", "root_path": "",
        "query_string": b"", "headers": [(b"host", b"127.0.0.1")], "http_version": "1.1",
        "scheme": "http",
    }  # fmt: skip
    with ThreadPoolExecutor(1) as thread:  # in this one a browser's event loop may be running
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()  # type: ignore[arg-type]
    assert sent[0]["status"] == 413
    assert read <= MOST_BYTES + (1 << 16)


def test_the_page_answers_once_it_is_said_and_ends_with_a_request_half_sent() -> None:
    """In a process of its own: Ctrl-C is a signal."""
    script = (
        "from headway.inspection.live_server import serve\n"
        "page = {'run': {'name': 'a'}, 'sentences': []}\n"
        "serve(None, page, say=lambda line: print(line, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)", process.stdout.readline())
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1]))) as first:
            first.sendall(f"GET {found[2]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert first.recv(12) == b"HTTP/1.1 200"
            with socket.create_connection(("127.0.0.1", int(found[1]))) as half:
                half.sendall(f"POST {found[2]}look HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode())
                half.sendall(b"Content-Length: 100\r\n\r\n{")
                first.sendall(f"GET {found[2]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
    assert "Traceback" not in said


def test_another_site_is_not_told_anything(client: TestClient) -> None:
    """A page of another site may send a request, but may not read the answer."""
    answer = client.get(f"/{WORD}/", headers={"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_what_a_training_has_logged_meanwhile_is_told(everyday_run: Path, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(everyday_run, tmp_path / "run"))
    runs = [run.path]
    news = {"training": lambda: training(runs)}
    app = application(_nothing, page(runs), word=WORD, news=news)
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
