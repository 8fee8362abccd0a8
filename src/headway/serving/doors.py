"""What every door has in common: how a body is read, and refusals in the door's own words."""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from headway.core.disk import DiskError
from headway.core.errors import RunError, UserError
from headway.serving.guard import Guard
from headway.serving.requests import Caller, RefusedError

Handler = Callable[[Request], Awaitable[Response]]
Refuse = Callable[[RefusedError], Response]
"""A door's answer to a request that is not done."""

STATUS = {
    "bad": 400, "language": 400, "too_long": 400, "large": 413, "slow": 408,
    "key": 403, "rate": 429, "quota": 456, "absent": 404, "busy": 503, "late": 503, "stopping": 503,
}  # fmt: skip
"""HTTP's number for each reason, where a door has no other."""

LEFT = 499
"""As nginx counts a request whose client hung up before its answer."""
EVENTS = "text/event-stream"
"""Of answers that are sent while they are worked on."""
_LOG = logging.getLogger(__name__)
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")
"""Halves of characters (surrogates) as JSON writes them."""
_ONE_OBJECT = "A request is one JSON object, or a form"


def told(error: RefusedError, content: Mapping[str, Any], status: int | None = None) -> Response:
    """A refusal as JSON, with `Retry-After` where a client is to come again."""
    headers = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after_s)))
    return JSONResponse(content, status or STATUS[error.reason], headers)


def as_error(error: RefusedError) -> Response:
    """`{"error": ..}`, as LibreTranslate and others have it."""
    return told(error, {"error": str(error)})


def route(
    path: str,
    handler: Handler,
    *,
    refuse: Refuse = as_error,
    methods: tuple[str, ...] = ("POST",),
    is_open: bool = False,
    key_in_body: bool = False,
    works: bool | None = None,
) -> Route:
    """A route whose refusals, and whatever else its user can put right, go through `refuse`.

    It is closed to who has no key (where keys are asked for), unless it `is_open` to all, or its
    handler asks `guard.guard_key` for one with the `key_in_body`. One that `works`, by default each
    that is posted to, is bounded in number, and its time is measured.
    """
    is_work = "POST" in methods if works is None else works

    async def answered(request: Request) -> Response:
        scope = request.scope
        is_inside = scope.get("headway.works", False)  # of a route that leaves it to this one
        scope["headway.route"], scope["headway.works"] = path, is_work or is_inside
        guard: Guard | None = scope.get("headway.guard")
        refused: RefusedError | None = scope.get("headway.refused")
        try:
            if refused is not None and not is_open and (refused.reason != "key" or not key_in_body):
                raise refused
            if guard is not None and not is_open:
                guard.count(scope)
            if guard is not None and is_work and not is_inside:
                guard.enter(scope)
            return await handler(request)
        except RefusedError as error:
            caller: Caller | None = scope.get("headway.caller")
            if caller is not None and caller.gone.is_set():  # nobody hears why
                return Response(status_code=LEFT)
            return refuse(error)
        except (DiskError, RunError) as error:  # our files, not those of who asks
            _failed(path, error)
            return refuse(RefusedError("busy", "a file of this service cannot be used", 5))
        except UserError as error:
            return refuse(RefusedError("bad", str(error)))
        except ClientDisconnect:
            return Response(status_code=LEFT)
        except Exception as error:
            _failed(path, error)
            return _said("something went wrong on our side", 500)
        finally:
            await request.close()  # and with it the files of a form

    answered.__doc__ = handler.__doc__
    answered.__name__ = getattr(handler, "__name__", "answered")
    return Route(path, answered, methods=list(methods))


def _failed(path: str, error: Exception) -> None:
    """Tell the operator what went wrong and where: no message, which could hold a text."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else "?"
    _LOG.error("%s: %s at %s", path, type(error).__name__, where)


def methods_at(request: Request) -> list[str]:
    """Those that an address has, by all its routes but such as take whatever else there is."""
    matching = [
        one
        for one in request.app.routes
        if one.matches(request.scope)[0] != Match.NONE and ":path}" not in one.path
    ]
    return sorted({method for one in matching for method in one.methods or ()})


def not_allowed(request: Request, _: Exception | None = None) -> Response:
    """What is said of a method that an address does not have: which ones it has."""
    allowed = {"Allow": ", ".join(methods_at(request))}
    return _said("Method Not Allowed", 405, allowed)


def not_found(_: Request, __: Exception) -> Response:
    """What is said of an address where nothing is."""
    return _said("Not Found", 404)


def _said(what: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A refusal in front of all doors: `error` for most of them, `message` for DeepL's."""
    return JSONResponse({"error": what, "message": what}, status, headers)


def caller_of(request: Request) -> Caller:
    """Who asks, as the guard in front of all doors found out.

    Raises RefusedError where nobody did.
    """
    if (refused := request.scope.get("headway.refused")) is not None:
        raise refused
    found = request.scope.get("headway.caller")
    return found if isinstance(found, Caller) else Caller()


async def body_of(request: Request) -> dict[str, Any]:
    """The fields of a body in JSON or of a form, a field that comes several times as a list.

    The guard bounds its length. Raises RefusedError for what is neither.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return _fields(await request.body())
    if kind == "multipart/form-data":
        try:
            form = await request.form(max_files=8, max_fields=20_000, max_part_size=8 << 20)
        except HTTPException as error:
            raise RefusedError("bad", f"the form cannot be read: {error.detail}") from None
        return _together(form.multi_items())
    try:
        body = (await request.body()).decode("utf-8-sig")
        read = json.loads(body or "{}")
        if _HALVES.search(body):
            read = _whole(read)
    except (ValueError, RecursionError) as error:
        raise RefusedError("bad", f"{_no_json(error)}. {_ONE_OBJECT}.") from None
    if not isinstance(read, dict):
        raise RefusedError("bad", f"{_ONE_OBJECT}; got another value of JSON")
    return read


def _no_json(error: ValueError | RecursionError) -> str:
    """Why a body cannot be read, and where."""
    if isinstance(error, json.JSONDecodeError):
        where = f"line {error.lineno}, column {error.colno}"
        return f"this is no JSON: {where}: {error.msg[:1].lower()}{error.msg[1:]}"
    if isinstance(error, UnicodeDecodeError):
        return f"this is no JSON: byte {error.start + 1} is not UTF-8"
    return "this JSON cannot be read: it is nested too deeply, or has a number that is too long"


def _fields(body: bytes) -> dict[str, Any]:
    """Of a form in UTF-8, with or without %-signs: `curl -d q=你好` sends it as it is."""
    try:
        pairs = parse_qsl(body.decode("utf-8"), True, errors="strict", max_num_fields=20_000)
    except ValueError:
        raise RefusedError("bad", "a form is UTF-8, and has at most 20,000 fields") from None
    return _together(pairs)


def _together(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: some if len(some) > 1 else some[0] for name, some in found.items()}


def _whole(value: Any) -> Any:
    """What JSON held, halves of characters replaced by U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return value
