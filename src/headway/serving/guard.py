"""What stands before every door: hosts, origins, keys, sizes and times; and headers behind it."""

import asyncio
import ipaddress
import re
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from random import uniform
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.core.errors import ConfigError
from headway.serving.keys import Account, ApiKeys
from headway.serving.limits import BODY_S, Limits
from headway.serving.metrics import Metrics
from headway.serving.requests import Caller, RefusedError

ALLOW = b"access-control-allow-"
LOCAL = ("localhost",)
EXTENSIONS = (b"chrome-extension://", b"moz-extension://", b"safari-web-extension://")
"""Origins of a browser's own extensions: no page of the web can have one."""
_ORIGIN = re.compile(r"https?://[^\s/*@?#]+/?", re.IGNORECASE)
_NAME = re.compile(r"(https?://)?[^\s/?#@*]+/?", re.IGNORECASE)
SAFE = ("GET", "HEAD", "OPTIONS")
CUT_OFF = "the service ends, and this was not done in time; come again"
AGAIN_S = (1.0, 4.0)
"""When those who find no room may come again: not all at the same moment."""
LEFT_TO_OTHERS = 8
"""Of the places for requests, one in so many is for others than the client that has most."""
LARGE_BYTES, MAX_UPLOADS = 1 << 20, 8
"""Of a body; and how many that are larger are in memory at a time."""
MAX_ACCOUNTS = 10_000
"""Addresses that are remembered where there are no keys."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
PAGES = [(b"content-security-policy", POLICY.encode()), (b"x-frame-options", b"SAMEORIGIN")]


class Guard:
    """ASGI middleware. What it finds is in the scope: `headway.caller` and `headway.refused`, the
    reason why a door that is not open to all has to refuse, in the door's own words."""

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        keys: ApiKeys | None = None,
        *,
        names: Sequence[str] = (),
        origins: Sequence[str] = (),
    ) -> None:
        """`names` are hosts under which the service may be asked for besides this machine's and
        addresses in numbers (which no other site can make a browser take for its own), with
        https:// in front where a proxy speaks TLS for it; `origins` are sites whose pages may ask
        (CORS). Raises ConfigError for one that is none."""
        self.app, self.limits, self.metrics, self.keys = app, limits, metrics, keys
        for name in names:
            if not _NAME.fullmatch(name):
                raise ConfigError(
                    "--name is a machine's name, with https:// in front behind a proxy that speaks "
                    f"TLS, and without a path; got {name!r}. A proxy can take a path away: "
                    "docs/deploy.md."
                )
        parted = [name.lower().rstrip("/").rpartition("//") for name in names]
        self.names = {*LOCAL, *(_without_port(host) for _, _, host in parted)}
        self.behind_tls = {_without_port(host) for kind, _, host in parted if kind == "https:"}
        self.origins = {origin.encode().lower().rstrip(b"/") for origin in origins}
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"--allow-origin is a site's scheme and name, without a path; got {origin!r}. "
                    "Name each site, such as https://example.org."
                )
        self.addresses: dict[str, Account] = {}
        self.stopping = False
        """The service is about to end, which those who ask whether it is ready are told."""
        self.working = 0
        """Requests for text that wait or are worked on."""
        self.uploading = 0
        """Requests with a large body."""
        self.working_of: Counter[str] = Counter()
        """The same by client."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the class."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        began = time.monotonic()
        status = 0
        extra = HEADERS

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = message.setdefault("headers", [])
                has = {name for name, _ in given}
                more = [*extra, *(PAGES if _is_page(given) else ())]
                message["headers"] = [*given, *(one for one in more if one[0] not in has)]
            await send(message)

        within_s = self.limits.deadline
        caller = scope["headway.caller"] = Caller(deadline=began + within_s if within_s else None)
        scope["headway.guard"] = self
        try:
            if refusal := self._foreign(scope, headers):
                await PlainTextResponse(refusal, 403)(scope, receive, answer)
                return
            if origin := self._allowed_origin(headers):
                extra = [*HEADERS[:2], (ALLOW + b"origin", origin), (b"vary", b"Origin")]
                if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
                    extra += [
                        (ALLOW + b"methods", b"GET, POST, PUT, PATCH, DELETE"),
                        (ALLOW + b"headers", b"Authorization, Content-Type, X-API-Key"),
                        (b"access-control-max-age", b"600"),
                    ]
                    await Response(status_code=204)(scope, receive, answer)
                    return
            try:
                self.admit(scope, caller, key_in(scope, headers))
            except RefusedError as error:
                scope["headway.refused"] = error
            await self.app(scope, self._bounded(scope, headers, receive), answer)
        except asyncio.CancelledError:  # the service ends, and its time for answers is over
            caller.gone.set()
            if status:
                raise
            await _cut_off()(scope, receive, answer)
        finally:
            self._leave(scope)
            if self.keys is not None:
                self.keys.save_soon()
            self.metrics.request(scope, status, time.monotonic() - began)

    def admit(self, scope: Scope, caller: Caller, key: str | None) -> None:
        """Find out who asks; raises RefusedError where there is no such key."""
        if self.keys is None:
            client = str((scope.get("client") or ("",))[0])
            account = self.addresses.pop(client, None) or Account(client)
            if len(self.addresses) >= MAX_ACCOUNTS:  # who asked longest ago is forgotten
                self.addresses.pop(next(iter(self.addresses)))
            self.addresses[client] = account
        elif key is None:
            raise RefusedError("key", "Please contact the server operator to get an API key")
        elif (found := self.keys.account(key)) is None:
            raise RefusedError("key", "Invalid API key")
        else:
            account = found
        caller.client = blake2b(account.name.encode(), digest_size=8).hexdigest()
        caller.charge = account.charge
        scope["headway.account"] = account
        scope.pop("headway.refused", None)

    def count(self, scope: Scope) -> None:
        """Count a request, once; raises RefusedError where they come too fast.

        What is open to all is none of them: the page has a score of files.
        """
        if "headway.account" in scope and not scope.get("headway.counted"):
            scope["headway.counted"] = True
            scope["headway.account"].admit(self.limits.requests_per_minute)

    def enter(self, scope: Scope) -> None:
        """Take a place among the requests that are worked on, until its answer is sent.

        Raises RefusedError where there is none: a queue that only grows helps nobody.
        """
        most, client = self.limits.max_waiting, scope["headway.caller"].client
        if most and (
            self.working >= most or self.working_of[client] >= most - most // LEFT_TO_OTHERS
        ):
            raise RefusedError("busy", "too many requests at once", uniform(*AGAIN_S))
        self.working += 1
        self.working_of[client] += 1
        scope["headway.entered"] = client

    def _leave(self, scope: Scope) -> None:
        self.uploading -= scope.get("headway.uploads", False)
        client = scope.get("headway.entered")
        if client is not None:
            self.working -= 1
            self.working_of[client] -= 1
            if not self.working_of[client]:
                del self.working_of[client]

    def _foreign(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """Why a request is for, or from, another site; nothing if it is not."""
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = _without_port(host)
        if name.removesuffix(".") not in self.names and not _is_address(name.strip("[]")):
            return (
                "this service is not known by that name. Its operator can add it: "
                "headway serve --name NAME"
            )
        if name in self.behind_tls:  # what stands in front of it speaks TLS
            scope["scheme"] = "https"
        origin = headers.get(b"origin", b"").lower()
        if scope["method"] in SAFE or not origin or origin.startswith(EXTENSIONS):
            return ""
        if origin.rpartition(b"//")[2] == host.encode() or origin in self.origins:
            return ""
        return (
            "pages of another site may not ask. The operator can allow one: "
            "headway serve --allow-origin SITE"
        )

    def _allowed_origin(self, headers: dict[bytes, bytes]) -> bytes:
        origin = headers.get(b"origin", b"").lower()
        return origin if origin in self.origins else b""

    def _bounded(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """`receive` that refuses a body which is too long, or comes too slowly."""
        kind = headers.get(b"content-type", b"")
        has_file = kind.startswith(b"multipart/")
        most = self.limits.max_file_bytes if has_file else self.limits.max_body_bytes
        until = time.monotonic() + BODY_S * max(1, most >> 23 if has_file else 1)
        length = headers.get(b"content-length", b"")
        n_bytes = int(length) if length.isdigit() else 0
        complete = False
        read = 0

        async def bounded() -> Message:
            nonlocal complete, read
            if complete:
                return await receive()
            if n_bytes > most:
                raise too_large(most)
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    message = await receive()
            except TimeoutError:
                raise RefusedError("slow", "the request did not come in time") from None
            complete = not message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > most:
                raise too_large(most)
            if read > LARGE_BYTES and "headway.uploads" not in scope:
                if self.uploading >= MAX_UPLOADS:
                    raise RefusedError("busy", "too many files are sent at once", 5)
                self.uploading += 1
                scope["headway.uploads"] = True
            return message

        return bounded


def too_large(most: int) -> RefusedError:
    """Of a body."""
    return RefusedError("large", f"a request has at most {most:,} bytes")


def _cut_off() -> Response:
    """To a request that the service has no more time for: in the words of every door."""
    headers = {"Retry-After": "5", "Connection": "close"}
    return JSONResponse({"error": CUT_OFF, "message": CUT_OFF}, 503, headers)


def key_in(scope: Scope, headers: dict[bytes, bytes]) -> str | None:
    """A key that a request's headers or address have; None where there is none."""
    given = headers.get(b"authorization", b"").decode("latin-1")
    scheme, _, key = given.partition(" ")
    if scheme.lower() in ("bearer", "deepl-auth-key") and key.strip():
        return key.strip()
    if found := headers.get(b"x-api-key"):
        return found.decode("latin-1")
    if not any(word in scope.get("query_string", b"") for word in (b"key=", b"token=")):
        return None
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=1_000)
    for name in ("api_key", "token", "key", "auth_key"):
        if query.get(name):
            return query[name][0]
    return None


async def guard_key(request: Request, key: str | None) -> Caller:
    """Who asks, where the key stands in a request's body.

    Raises RefusedError where there is no such key, or its requests come too fast.
    """
    refused = request.scope.get("headway.refused")
    caller: Caller = request.scope.get("headway.caller") or Caller()
    if refused is not None:
        if refused.reason != "key" or not key:
            raise refused
        guard = request.scope["headway.guard"]
        guard.admit(request.scope, caller, key)
        guard.count(request.scope)
    return caller


def _is_page(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and b"html" in value for name, value in headers)


def _without_port(host: str) -> str:
    name, _, port = host.rpartition(":")
    return name if port.isdigit() else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
