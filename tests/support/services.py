"""A service without a model, for the laws of doors; and any application behind a true address."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from headway.serving.app import Served, application
from headway.serving.keys import ApiKeys
from headway.serving.requests import (
    AUTO,
    Caller,
    RefusedError,
    ServedPair,
    ServedText,
    TranslationRequest,
)
from headway.serving.server import Server, bound
from headway.serving.service import Service


class PairsAlone:
    """In the place of runs: what is translated, and nothing that translates it."""

    def __init__(self, *pairs: str) -> None:
        self.pairs = [ServedPair(*pair.split("|")) for pair in pairs]


class ShoutingService(Service):
    """Translates by capitals, marks the language, and keeps what it was asked."""

    def __init__(self, *pairs: str) -> None:
        super().__init__(PairsAlone(*(pairs or ("en|zh", "zh|en", "de|en"))))  # type: ignore[arg-type]
        self.asked: list[TranslationRequest] = []
        self.refuse_with: RefusedError | None = None

    async def translate(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        """Texts of one kind of letters are English, others Chinese."""
        self.asked.append(request)
        caller.charge(self.limits.admit(request.texts))
        if self.refuse_with:
            raise self.refuse_with
        return [self._answer(text, request) for text in request.texts]

    def _answer(self, text: str, request: TranslationRequest) -> ServedText:
        found, sureness = request.source, None
        if request.source == AUTO:
            found, sureness = ("en", 0.9) if text.isascii() else ("zh", 0.75)
        shouted = f"{request.target}:{text.upper()}"
        others = [f"{shouted} {n}" for n in range(1, request.n_best)]
        return ServedText(shouted, found, sureness, others)


def client_of(service: Service, keys: ApiKeys | None = None) -> TestClient:
    """Who asks a service from this machine."""
    return TestClient(application(service, keys=keys).app, base_url="http://127.0.0.1:5000")


def status_and_json(reply: Any) -> tuple[int, Any]:
    """Of an answer to a test client."""
    return reply.status_code, reply.json()


HOSTILE: Sequence[bytes] = (
    b"",
    b"null",
    b"[]",
    b"3",
    b'"text"',
    b"{",
    b"\xff\xfe\x00",
    b"\xed\xa0\x80",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"q": ' + b"[" * 900 + b"]" * 900 + b"}",
    b"9" * 10_000,
    b'{"q": 1e999, "text": 1e999, "alternatives": 1e999}',
    b'{"q": NaN, "source": NaN, "target": Infinity}',
)
"""Bodies that no door takes."""
HOSTILE_VALUES: Sequence[Any] = (
    None, True, 0, -1, 1e300, 10**300, "", " ", "\x00", "a\x00b", "\ud800", "\udfff\ud800 x",
    "\u202e", "x" * 10_000, "../../etc/passwd", "<script>alert(1)</script>", [], {}, [[]], [None],
    [1, "a"], ["\ud83d"], {"a": {"b": ["c"]}}, ["x"] * 10_000, ["", ""], "en|zh", "9" * 5_000,
)  # fmt: skip
"""What stands in the place of one field."""


@contextmanager
def address_of(served: Served) -> Iterator[str]:
    """Serve on a free port of this machine while the context lasts."""
    place = bound("127.0.0.1", 0)
    server = Server(served)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        thread.join(0.01)
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        place.close()
