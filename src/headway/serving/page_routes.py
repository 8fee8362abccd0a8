"""The page at `/`: its files, and the inspector of a text, live, from the same address."""

import re
import secrets
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from headway.inspection import document
from headway.inspection.html_page import FOLDER as INSPECTOR
from headway.inspection.html_page import html
from headway.inspection.inspected_model import InspectedModel, open_inspected
from headway.inspection.live_server import LiveRequest
from headway.serving.bodies import InspectBody, read
from headway.serving.doors import body_of, route
from headway.serving.guard import POLICY
from headway.serving.requests import RefusedError, TranslationRequest
from headway.serving.service import Service

FOLDER = Path(__file__).with_name("page")
SHARED = ("dom.js",)
"""What it shares with the inspector's page."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGE_POLICY = f"{POLICY}; require-trusted-types-for 'script'; trusted-types 'none'"
"""A browser takes no text for markup or a script, whatever a module does."""
MOST_OPENED = 64
"""Inspected texts whose addresses are good."""
_META_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


class InspectedText(NamedTuple):
    """A text of a pair, behind an address that nobody guesses."""

    text: str
    source: str
    target: str


def routes(service: Service) -> list[Route]:
    """`/`, `/page/..` and `/inspector`."""
    files = [*sorted(FOLDER.iterdir()), *(INSPECTOR / name for name in SHARED)]
    found = [_file(f"/page/{file.name}", file) for file in files if file.suffix in TYPES]
    return [_file("/", FOLDER / "index.html"), *found, *InspectorDoor(service).routes()]


def _file(path: str, file: Path) -> Route:
    """A route to a file of the package, which is read once."""
    data = file.read_bytes()
    headers = {
        "ETag": f'"{blake2b(data, digest_size=12).hexdigest()}"',
        "Cache-Control": "no-cache",
        "Content-Type": TYPES[file.suffix],
    }
    if file.suffix == ".html":
        headers["Content-Security-Policy"] = PAGE_POLICY

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers)

    return route(path, send, methods=("GET",), is_open=True, works=False)


class InspectorDoor:
    """The inspector's page of a text, and what it asks: one model is open, one text at a time."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._alone: anyio.CapacityLimiter | None = None
        self._opened: tuple[object, InspectedModel] | None = None
        """With what tells whether it is still the run's."""
        self._texts: dict[str, InspectedText] = {}

    def routes(self) -> list[Route]:
        """A text is opened by who may ask; its address, with a random word in it, is open to who
        was told it: a frame sends no key."""
        path = "/inspector/{word}/"
        return [
            route("/inspector", self.open),
            route(path, self.page, methods=("GET",), is_open=True, works=True),
            route(f"{path}look", self.look, is_open=True),
        ]

    async def open(self, request: Request) -> Response:
        """Give an address for a text."""
        body = read(InspectBody, await body_of(request))
        wanted = TranslationRequest([body.text], body.target, body.source)
        source, _ = self.service.language_of(body.text, wanted)
        self.service.refuse_left(body.text, wanted)
        pair = self.service.runs.of(source, body.target).pair
        word = secrets.token_urlsafe(18)
        while len(self._texts) >= MOST_OPENED:
            del self._texts[next(iter(self._texts))]
        self._texts[word] = InspectedText(body.text, *pair)
        return JSONResponse({"address": f"inspector/{word}/"})

    async def page(self, request: Request) -> Response:
        """The page of a text."""
        opened = self._of(request)
        body = await self._look(opened, partial(_page, text=opened.text))
        policy = _META_POLICY.search(body)
        assert policy is not None, "the page has its policy"
        return HTMLResponse(
            body,
            headers={
                "Content-Security-Policy": f"{policy[1]}; frame-ancestors 'self'",
                "Cache-Control": "no-store",
            },
        )

    async def look(self, request: Request) -> Response:
        """What the page asks of another text."""
        opened = self._of(request)
        given = read(LiveRequest, await body_of(request)).model_dump()
        return JSONResponse(await self._look(opened, partial(_sentence, given=given)))

    def _of(self, request: Request) -> InspectedText:
        found = self._texts.get(request.path_params["word"])
        if found is None:
            raise RefusedError("absent", "this text is no longer looked at. Open it again.")
        return found

    async def _look(self, opened: InspectedText, work: Callable[[InspectedModel], Any]) -> Any:
        """What `work` makes of the model; who comes meanwhile waits without a thread."""
        run = self.service.runs.of(opened.source, opened.target)

        def look() -> Any:
            state = run.path, run.files()
            if self._opened is None or self._opened[0] != state:
                self._opened = None
                self._opened = state, open_inspected(run.path, device="cpu")
            return work(self._opened[1])

        if self._alone is None:
            self._alone = anyio.CapacityLimiter(1)
        return await anyio.to_thread.run_sync(look, limiter=self._alone)


def _page(inspected: InspectedModel, *, text: str) -> str:
    found = {"run": document.run(inspected), "sentences": [document.sentence(inspected, text)]}
    return html({**found, "live": True}, live=True)


def _sentence(inspected: InspectedModel, *, given: dict[str, Any]) -> dict[str, Any]:
    return document.sentence(inspected, **given)
