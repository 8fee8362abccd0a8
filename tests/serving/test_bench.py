"""`headway bench`: what is counted is what was answered, and only this machine is loaded."""

import gc
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from everyday_run import command

from headway.core.errors import ConfigError, HeadwayError
from headway.serving.bench import LoadFigures, LoadLevel, ServiceAddress, measured
from headway.serving.bench_requests import address, request

BEFORE = 8
"""Requests that are not counted."""


class Counting(ThreadingHTTPServer):
    """Counts what it is asked and how many at a time; answers as its path says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked, self.at_once, self.most_at_once = list[bytes](), 0, 0
        self.counting, self.wait_s = threading.Lock(), 0.0
        self.statuses = [200]
        self.closes = False


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting

    def do_GET(self) -> None:
        self.answer(200, json.dumps({"pairs": [{"source": "en", "target": "de"}]}).encode())

    def do_POST(self) -> None:
        given, server = self.rfile.read(int(self.headers["content-length"])), self.server
        with server.counting:
            server.asked.append(given)
            n = len(server.asked)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        time.sleep(server.wait_s)
        with server.counting:
            server.at_once -= 1
        self.answer(server.statuses[n % len(server.statuses)], b"{}")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if self.server.closes:
            self.send_header("connection", "close")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Counting]:
    made = Counting()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def load(server: Counting, *levels: LoadLevel, seconds: float = 20, most: int = 20):
    at = ServiceAddress("127.0.0.1", server.server_address[1])
    requests = [request(at, "headway", f"text {n}", "en", "de") for n in range(5)]
    return measured(at, requests, levels, seconds=seconds, most=most)


def test_every_request_is_counted_once_and_no_client_asks_before_its_answer(server):
    server.statuses = [200, 503, 200]
    [one, four] = load(server, LoadLevel(1), LoadLevel(4))
    for figures in (one, four):
        assert figures.n_done + sum(figures.statuses.values()) == 20
        assert set(figures.statuses) == {"503"}
        assert len(figures.latencies_ms) == figures.n_done
    assert len(server.asked) == BEFORE + 40
    assert server.most_at_once <= 4
    texts = [json.loads(one)["text"] for one in server.asked[:BEFORE]]
    assert sorted(texts) == sorted(f"text {n % 5}" for n in range(BEFORE))


def test_a_service_that_closes_its_connections_is_asked_on_new_ones(server):
    server.closes = True
    for n in range(1, 41):  # a connection may be under way when the last answer comes
        [figures] = load(server, LoadLevel(3), most=12)
        assert (figures.n_done, figures.statuses) == (12, {})
        assert len(server.asked) == n * (BEFORE + 12)
    gc.collect()  # warns of connections that were left open


def test_time_ends_it(server):
    server.wait_s = 0.01
    [figures] = load(server, LoadLevel(2), seconds=0.3, most=1_000_000)
    assert 0 < figures.n_done < 1_000
    assert len(server.asked) == BEFORE + figures.n_done


def test_a_rate_is_kept_and_its_waiting_counts(server):
    server.wait_s = 0.2
    [figures] = load(server, LoadLevel(1, rate=100.0), seconds=0.5, most=1_000)
    assert figures.n_done == 50  # though each takes a fifth of a second
    assert server.most_at_once > 4
    assert figures.percentile(0.5) >= 200


def test_nothing_there_and_nothing_translated_are_errors(server):
    server.statuses = [404]
    with pytest.raises(HeadwayError, match="404"):
        load(server, LoadLevel(1))
    nowhere = ServiceAddress("127.0.0.1", 1)
    with pytest.raises(HeadwayError, match="nothing answers"):
        measured(nowhere, [b"GET / HTTP/1.1\r\n\r\n"], [LoadLevel(1)], seconds=1, most=1)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_percentiles_are_the_nearest_ranks(share, expected):
    figures = LoadFigures(1, None, 1.0, 100, [float(n) for n in range(1, 101)], {}, 0.0)
    assert figures.percentile(share) == expected
    assert figures._replace(latencies_ms=[7.0]).percentile(share) == 7.0
    assert figures._replace(latencies_ms=[]).percentile(share) is None


def test_only_this_machine_is_loaded_unless_it_is_said():
    for url in ("http://example.org", "http://127.0.0.1.example.org:5000", "http://10.0.0.1/"):
        with pytest.raises(ConfigError, match="yes-elsewhere"):
            address(url, elsewhere=False)
    assert address("https://example.org/mt/", elsewhere=True) == (
        ServiceAddress("example.org", 443, secure=True, base="/mt")
    )
    assert address("http://localhost:5000", elsewhere=False).port == 5000
    for url in ("localhost:5000", "ftp://localhost", "http://localhost:x"):
        with pytest.raises(ConfigError, match="address"):
            address(url, elsewhere=True)


@pytest.mark.parametrize(
    ("interface", "start", "body"),
    [
        ("headway", b"POST /v1/translate ", {"text": "é", "source": "en", "target": "de"}),
        ("deepl", b"POST /v2/translate ",
         {"text": ["é"], "source_lang": "EN", "target_lang": "DE"}),
        ("libretranslate", b"POST /translate ",
         {"q": "é", "source": "en", "target": "de", "format": "text", "api_key": "k"}),
    ],
)  # fmt: skip
def test_a_request_is_in_the_words_of_its_interface(interface, start, body):
    sent = request(ServiceAddress("localhost", 5), interface, "é", "en", "de", "k")
    head, _, content = sent.partition(b"\r\n\r\n")
    assert head.startswith(start)
    assert f"Content-Length: {len(content)}".encode() in head
    assert json.loads(content) == body


def test_the_command_tells_a_table_json_and_a_picture(server, tmp_path: Path):
    url = f"http://127.0.0.1:{server.server_address[1]}"
    few = ("--clients", "1,3", "--max-requests", "6", "--seconds", "20")
    finished = command("bench", url, *few, "--plot", str(tmp_path / "speed.svg"))
    assert finished.status == 0, finished.err
    assert [line.split()[0] for line in finished.out.splitlines()] == ["clients", "1", "3"]
    assert "<svg" in (tmp_path / "speed.svg").read_text(encoding="utf-8")
    told = json.loads(command("bench", url, *few, "--json").out)
    assert (told["source"], told["target"]) == ("en", "de")
    assert [(one["clients"], one["done"]) for one in told["levels"]] == [(1, 6), (3, 6)]
    assert command("bench", url, "--clients", "0").status == 2
    assert command("bench", "http://example.org").status == 2
    assert command("bench", url, "--plot", str(tmp_path / "speed.gif")).status == 2


def test_without_its_packages_it_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "httptools", None)
    monkeypatch.delitem(sys.modules, "headway.serving.bench")
    finished = command("bench", "demo")
    assert finished.status == 2
    assert 'pip install "headway[serve]"' in finished.err


def test_a_run_that_translates_nothing_is_refused_before_it_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    finished = command("bench", str(tmp_path / "no"))
    assert finished.status == 2
    assert "does not exist" in finished.err
    assert finished.err.count("error:") == 1
    monkeypatch.setattr("headway.tasks.task_of", lambda _: "language-model")
    finished = command("bench", "demo")
    assert finished.status == 2
    assert "demo is one of language-model" in finished.err


def test_a_run_is_served_for_as_long_as_it_is_asked():
    finished = command(
        "bench", "demo", "--clients", "2", "--max-requests", "10", "--seconds", "20", "--json"
    )
    assert finished.status == 0, finished.err
    [level] = json.loads(finished.out)["levels"]
    assert (level["done"], level["others"]) == (10, {})
