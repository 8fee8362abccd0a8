"""A service on a small run, and the doors of `/v1` on it, for tests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from headway.serving import own, own_documents
from headway.serving.app import application
from headway.serving.corrections import Corrections
from headway.serving.documents import DocumentLimits, Documents
from headway.serving.keys import ApiKeys
from headway.serving.requests import ServedPair
from headway.serving.runs import ServedRuns
from headway.serving.server import Server, bound
from headway.serving.service import Service
from headway.translator import Translator

PO = """# a comment that stays
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: zh\\n"

#: a.c:1
msgid "The dog runs."
msgstr ""

msgid "I love learning."
msgstr "我爱学习。"

#, c-format
msgid "%d cats sleep."
msgstr ""
"""


def written(kept: Corrections) -> list[tuple[str, str]]:
    """What people corrected from English to Chinese, as it lies on the disk."""
    file = kept.file_of(ServedPair("en", "zh"))
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [(row["source"], row["target"]) for row in map(json.loads, lines)]


def service_of(*runs: Path) -> Service:
    return Service(ServedRuns(runs, lambda path: Translator.load(path, device="cpu")))


@contextmanager
def client_of(
    service: Service, folder: Path, limits: DocumentLimits | None = None
) -> Iterator[tuple[TestClient, Documents]]:
    """A client of `/v1`, and the documents behind it."""
    documents = Documents(service, folder, limits or DocumentLimits())
    doors = [*own.routes(service), *own_documents.routes(documents)]
    try:
        with TestClient(Starlette(routes=doors), base_url="http://127.0.0.1:5000") as client:
            yield client, documents
    finally:
        documents.close()


@contextmanager
def running(service: Service, keys: ApiKeys | None = None) -> Iterator[str]:
    """The whole application at a free port of this machine; its address."""
    served = application(service, keys)
    server, place = Server(served), bound("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        served.documents.close()
        place.close()
