"""A real server on a real socket: slow clients, those who leave, and an end that loses nothing."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from headway.serving import protocol
from headway.serving.app import application
from headway.serving.limits import Limits
from headway.serving.requests import Caller, RefusedError, ServedText, TranslationRequest
from headway.serving.runs import ServedRuns
from headway.serving.server import Server, bound, serve
from headway.serving.service import Service

BODY = b'{"texts": ["A dog runs."], "source": "en", "target": "zh"}'
HEAD = (
    b"POST /v1/translate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n" % len(BODY)
)


class Waiting(Service):
    """A service that answers when it is told to."""

    def __init__(self) -> None:
        super().__init__(ServedRuns([], lambda _: None))
        self.callers: list[Caller] = []
        self.go = threading.Event()

    def translate_now(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        self.callers.append(caller)
        self.go.wait(20)
        return [ServedText(text, "en") for text in request.texts]


@contextmanager
def serving(service: Service) -> Iterator[tuple[int, Server]]:
    place = bound("127.0.0.1", 0)
    server = Server(application(service))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    port = place.getsockname()[1]
    thread.start()
    until(lambda: server.started)
    try:
        yield port, server
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def until(true: Callable[[], object], seconds: float = 15) -> None:
    """Wait for it; fail after so long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


def connected(port: int, sent: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=15)
    made.sendall(sent)
    return made


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no such signal")
def test_sighup_has_runs_and_keys_read_anew(waiting, monkeypatch) -> None:
    served, heard = application(waiting), list[str]()
    monkeypatch.setattr(served, "reload", lambda: heard.append("reload"))
    monkeypatch.setattr(Server, "run", lambda *_, **__: signal.raise_signal(signal.SIGHUP))
    usual = signal.getsignal(signal.SIGHUP)
    try:
        serve(served, bound("127.0.0.1", 0))
    finally:
        signal.signal(signal.SIGHUP, usual)
    assert heard == ["reload"]


def test_who_is_slow_with_headers_is_left_and_others_are_served(
    waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_S", 0.5)
    waiting.go.set()
    with serving(waiting) as (port, server):
        silent = [connected(port) for _ in range(20)]
        trickling = [connected(port, HEAD[:30]) for _ in range(20)]
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
        asked.request("POST", "/v1/translate", BODY, {"content-type": "application/json"})
        assert asked.getresponse().status == 200
        for one in (*silent, *trickling):
            assert one.recv(1) == b""  # closed by the server
            one.close()
        asked.close()
        until(lambda: not server.server_state.connections)


def test_who_takes_no_answers_is_left(waiting: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "SEND_S", 0.3)
    get = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with serving(waiting) as (port, server), connected(port, get * 1_000) as silent:
        until(lambda: server.server_state.connections)
        until(lambda: not server.server_state.connections)
        with pytest.raises(ConnectionResetError):  # nothing is kept for it
            list(iter(lambda: silent.recv(1 << 16), b""))


def test_headers_without_end_are_refused(waiting: Waiting) -> None:
    with serving(waiting) as (port, _), connected(port, b"GET / HTTP/1.1\r\n") as sent:
        answer = b""
        with suppress(OSError):  # closed already
            for _ in range(100):
                sent.sendall(b"x: " + b"y" * 1000 + b"\r\n")
            answer = sent.recv(12)
        assert answer in (b"HTTP/1.1 400", b"")


def test_one_connection_too_many_is_told_so(waiting: Waiting) -> None:
    waiting.limits = Limits(max_connections=3)
    with serving(waiting) as (port, _):
        inside = [connected(port) for _ in range(3)]
        time.sleep(0.2)
        outside = connected(port)
        assert b"503" in outside.recv(100)
        for one in (*inside, outside):
            one.close()


def test_work_is_told_when_its_client_leaves(waiting: Waiting) -> None:
    with serving(waiting) as (port, _):
        stays, leaves = connected(port, HEAD + BODY), connected(port, HEAD + BODY)
        until(lambda: len(waiting.callers) == 2)
        leaves.close()
        until(lambda: any(caller.gone.is_set() for caller in waiting.callers))
        assert sum(caller.gone.is_set() for caller in waiting.callers) == 1
        waiting.go.set()
        assert b"200 OK" in stays.recv(100)
        stays.close()


def test_who_hangs_up_is_no_failure_of_the_service_in_its_metrics() -> None:
    class Leaving(Waiting):
        def translate_now(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
            self.callers.append(caller)
            assert caller.gone.wait(20)
            caller.refuse_over()
            raise AssertionError("nobody waits")

    service = Leaving()
    with serving(service) as (port, server):
        leaves = connected(port, HEAD + BODY)
        until(lambda: service.callers)
        leaves.close()
        until(lambda: server.served.metrics.requests)
    assert dict(server.served.metrics.requests) == {("/v1/translate", 499): 1}


def test_what_was_accepted_is_answered_when_it_ends(waiting: Waiting) -> None:
    with serving(waiting) as (port, server):
        inside = [connected(port, HEAD + BODY) for _ in range(8)]
        until(lambda: len(waiting.callers) == 8)
        idle = connected(port)
        server.should_exit = True
        time.sleep(0.15)
        idle.sendall(HEAD + BODY)  # on its way as the service was told to end
        time.sleep(0.1)
        waiting.go.set()
        for one in (*inside, idle):
            answer = one.recv(4096)
            assert b"200 OK" in answer or b"503" in answer, answer
            one.close()
        assert len(waiting.callers) >= 8


def test_what_is_not_done_in_the_time_that_is_left_is_refused_and_holds_up_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Endless(Waiting):
        def translate_now(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
            self.callers.append(caller)
            if not caller.gone.wait(20):
                raise AssertionError("it goes on for nobody")
            raise RefusedError("late", "nobody waits")

    monkeypatch.setattr("headway.serving.server.GRACE_S", 1)
    service, said = Endless(), list[str]()
    service.runs.say = said.append
    begun = time.monotonic()
    with serving(service) as (port, server):
        inside = [connected(port, HEAD + BODY) for _ in range(3)]
        half = connected(port, HEAD + BODY[:5])
        until(lambda: len(service.callers) == 3)
        server.should_exit = True
        for one in (*inside, half):
            answer = b"".join(iter(lambda one=one: one.recv(4096), b"")).decode()
            assert answer.startswith("HTTP/1.1 503 "), answer
            assert "retry-after: 5" in answer.lower()
            assert "come again" in json.loads(answer.partition("\r\n\r\n")[2])["error"]
            one.close()
    assert all(caller.gone.is_set() for caller in service.callers)
    assert time.monotonic() - begun < 15
    assert len(said) == 1
    assert "4 took longer and got 503" in said[0]


def test_a_port_that_is_taken_is_told() -> None:
    from headway.core.errors import ConfigError

    place = bound("127.0.0.1", 0)
    with pytest.raises(ConfigError, match="Take another --port"):
        bound("127.0.0.1", place.getsockname()[1])
    place.close()


@pytest.mark.parametrize("port", [-1, 65_536, 99_999])
def test_a_port_that_does_not_exist_is_told(port: int) -> None:
    from headway.core.errors import ConfigError

    with pytest.raises(ConfigError, match=f"{port} are not"):
        bound("127.0.0.1", port)


def test_the_command_serves_until_it_is_told_to_end() -> None:
    command = [sys.executable, "-m", "headway", "serve", "demo", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as run:
        assert run.stderr is not None
        try:
            line = next(line for line in run.stderr if "http://" in line)
            port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as asked:
                asked.request("POST", "/v1/translate", BODY, {"content-type": "application/json"})
                answer = asked.getresponse().read().decode("utf-8")
            assert "狗" in answer, answer
            run.send_signal(signal.SIGTERM)
            assert run.wait(30) == 0
            assert "Traceback" not in run.stderr.read()
        finally:
            run.kill()


def test_small_answers_wait_for_no_acknowledgement() -> None:
    """asyncio sends at once (TCP_NODELAY) only where a socket says that it is TCP's; else the body
    behind its headers waits for 40 ms."""
    with closing(bound("127.0.0.1", 0)) as place:
        assert place.proto == socket.IPPROTO_TCP
