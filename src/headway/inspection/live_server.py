"""The live page: the same page from a server on this machine, which looks at what is typed.

Only a browser on this machine that was given the address gets an answer: the server listens on
127.0.0.1, the address holds a random word, and a request for another host is refused, so that no
other site can reach it through a name that leads here.
"""

import json
import secrets
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from headway.core.errors import ConfigError, HeadwayError, UserError
from headway.inspection.html_page import html

if TYPE_CHECKING:
    from starlette.applications import Starlette

HOST = "127.0.0.1"
MOST_CHARACTERS = 1_000
MOST_BYTES = 1 << 20
"""Of a request: two such texts, every character escaped, and the lists."""
MOST_IN_LIST = 1_000
_MOST_AT_ONCE = 40
_PATIENCE_S = 1
"""With requests that are not done when the page is ended."""


class LiveRequest(BaseModel, strict=True):
    """What a browser may send."""

    text: str = Field(max_length=MOST_CHARACTERS)
    target: str | None = Field(None, max_length=MOST_CHARACTERS)
    off: list[str] = Field([], max_length=MOST_IN_LIST)


Look = Callable[..., dict[str, Any]]
"""A document of what was asked for: `text` and `target`."""
News = Mapping[str, Callable[[], Any]]
"""What changes while the page is looked at, by name."""


def application(
    look_at: Look, found: Mapping[str, Any], *, word: str, news: News = MappingProxyType({})
) -> "Starlette":
    """The server: `GET /WORD/` is the page, `POST /WORD/look` a document of another sentence.

    `GET /WORD/NAME` is the newest of what `news` has by that name.
    """
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route

    alone = threading.Lock()  # one model, one text at a time
    body = html({**found, "live": True}, live=True)

    def looked(given: Any) -> dict[str, Any]:
        with alone:
            return look_at(**_asked(given))

    async def page(_: Request) -> Response:
        return HTMLResponse(body, headers={"Cache-Control": "no-store"})

    async def answer(work: Callable[..., Any], *given: Any) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(work, *given))
        except (UserError, HeadwayError) as error:
            return JSONResponse({"error": str(error)}, 400)

    async def look(request: Request) -> Response:
        sent = bytearray()
        try:
            async for chunk in request.stream():
                sent += chunk
                if len(sent) > MOST_BYTES:
                    said = f"a request has at most {MOST_BYTES:,} bytes. Send a shorter text."
                    return JSONResponse({"error": said}, 413, {"Connection": "close"})
            given = json.loads(sent)
        except (ValueError, RecursionError, ClientDisconnect):
            return JSONResponse({"error": "a request is one JSON object"}, 400)
        return await answer(looked, given)

    def telling(tell: Callable[[], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def told(_: Request) -> Response:
            return await answer(tell)

        return told

    hosts = [HOST, "localhost"]
    return Starlette(
        routes=[
            Route(f"/{word}/", page),
            Route(f"/{word}/look", look, methods=["POST"]),
            *(Route(f"/{word}/{name}", telling(tell)) for name, tell in news.items()),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)],
    )


def serve(
    look_at: Look,
    found: Mapping[str, Any],
    *,
    news: News = MappingProxyType({}),
    port: int = 0,
    open_browser: bool = False,
    say: Callable[[str], None],
) -> None:
    """Serve the page until Ctrl-C.

    Raises ConfigError where the server's packages are not installed, or the port is taken.
    """
    try:
        import uvicorn
    except ImportError:
        raise ConfigError(
            'the live page needs a server. Install it with: pip install "headway[serve]"'
        ) from None
    place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((HOST, port))
    except (OSError, OverflowError) as error:
        place.close()
        raise ConfigError(
            f"--port must be free on this machine; {port} is not ({error}). Leave it out."
        ) from None
    word = secrets.token_urlsafe(16)
    port = place.getsockname()[1]
    address = f"http://{HOST}:{port}/{word}/"
    app = application(look_at, found, word=word, news=news)
    settings = uvicorn.Config(
        app,
        log_level="critical",
        lifespan="off",
        server_header=False,
        limit_concurrency=_MOST_AT_ONCE,
        timeout_graceful_shutdown=_PATIENCE_S,
    )
    settings.load()
    place.listen()  # from now on who asks gets an answer
    say(f"headway: {address} (Ctrl-C ends it)")
    if open_browser:
        webbrowser.open(address)
    try:
        uvicorn.Server(settings).run(sockets=[place])
    except KeyboardInterrupt:
        pass
    finally:
        place.close()


def _asked(given: Any) -> dict[str, Any]:
    """What `document.sentence` takes, of what a browser sent."""
    try:
        return LiveRequest.model_validate(given).model_dump()
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ConfigError(f"A request names a text; got {'; '.join(told)}.") from None
