"""The service in OpenAPI 3.1, from its routes and from what is described of each.

A door describes its addresses as `Described` by "METHOD /path" (`described.py`); bodies and answers
are pydantic models or JSON schemas. An address that nobody describes is not told of.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from headway.serving.doors import route
from headway.version import __version__

Schema = Mapping[str, Any]
SAID = {
    200: "Done.", 201: "Made.", 202: "Accepted.", 204: "Done; there is nothing to say.",
    400: "The request cannot be read, or what it asks for is not there.",
    401: "There is no such key.", 403: "There is no such key, or another site asks.",
    404: "There is no such thing.", 408: "The body did not come in time.",
    413: "The body is too large.", 429: "Too much at once: come again later.",
    456: "The quota of this key is used up.", 503: "Too busy, too late, or about to end.",
}  # fmt: skip
"""What each status means, wherever it comes."""
RETRIED = (429, 503)


class Described(NamedTuple):
    """What is told of one method of one address."""

    summary: str
    tag: str
    """The interface that it is part of."""
    answer: type[BaseModel] | Schema | None = None
    """Of a JSON answer, or of another `kind`; None: nothing is in it."""
    body: type[BaseModel] | Schema | None = None
    errors: Mapping[int, Schema] = {}
    """The statuses of refusals, and what they hold."""
    query: Mapping[str, Schema] = {}
    """Parameters in the address; a schema with "required" is of one that must be there."""
    status: int = 200
    kind: str = "application/json"
    streamed: bool = False
    """Whether it may be server-sent events instead."""
    body_kind: str = "application/json"
    needs_body: bool = True
    example: Any = None
    """A body that works."""
    is_open: bool = False
    """Whether nobody needs a key."""
    headers: Mapping[str, Schema] = {}
    """Headers that it reads."""


Descriptions = Mapping[str, Described]


def document(
    routes: Iterable[BaseRoute], described: Descriptions, *, with_keys: bool
) -> dict[str, Any]:
    """The whole document; `with_keys`: clients need one."""
    models: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for path, method, one in listed(routes, described):
        paths.setdefault(path, {})[method.lower()] = operation(path, method, one, models, with_keys)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "headway",
            "version": __version__,
            "description": "Translations by trained runs, in the interfaces of several services.",
        },
        "paths": paths,
        "components": {"schemas": models},
    }
    if with_keys:
        found["components"]["securitySchemes"] = {
            "key": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
    return found


def listed(
    routes: Iterable[BaseRoute], described: Descriptions
) -> Iterator[tuple[str, str, Described]]:
    """Path, method and description of each address that is there and described."""
    for one in routes:
        if isinstance(one, Route):
            for method in sorted((one.methods or set()) - {"HEAD"}):
                if (found := described.get(f"{method} {one.path}")) is not None:
                    yield one.path, method, found


def operation(
    path: str, method: str, one: Described, models: dict[str, Any], with_keys: bool
) -> dict[str, Any]:
    """One method of one address; adds what it refers to to the `models`."""
    answer: dict[str, Any] = {"description": SAID[one.status]}
    if one.answer is not None:
        answer["content"] = {one.kind: {"schema": schema(one.answer, models)}}
    if one.streamed:
        answer["content"]["text/event-stream"] = {"schema": {}}
    found: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", f"{method.lower()}{path}").strip("_"),
        "summary": one.summary,
        "tags": [one.tag],
        "responses": {str(one.status): answer},
    }
    for status, said in one.errors.items():
        refused: dict[str, Any] = {
            "description": SAID[status], "content": {"application/json": {"schema": said}},
        }  # fmt: skip
        if status == 403:  # the guard, which knows no interface
            refused["content"]["text/plain"] = {"schema": {"type": "string"}}
        if status in RETRIED:
            refused["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
        found["responses"][str(status)] = refused
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]
    for place, named in (("query", one.query), ("header", one.headers)):
        for name, given in named.items():
            rest = {key: value for key, value in given.items() if key != "required"}
            required = bool(given.get("required"))
            parameters.append({"name": name, "in": place, "required": required, "schema": rest})
    if parameters:
        found["parameters"] = parameters
    if one.body is not None:
        content: dict[str, Any] = {"schema": schema(one.body, models)}
        if one.example is not None:
            content["example"] = one.example
        found["requestBody"] = {"required": one.needs_body, "content": {one.body_kind: content}}
    if with_keys and not one.is_open:
        found["security"] = [{"key": []}, {"header": []}]
    return found


def schema(given: type[BaseModel] | Schema, models: dict[str, Any]) -> Schema:
    """As it stands, or a reference to a model's."""
    if not isinstance(given, type):
        return given
    whole = given.model_json_schema(ref_template="#/components/schemas/{model}")
    models.update(whole.pop("$defs", {}))
    models[given.__name__] = whole
    return {"$ref": f"#/components/schemas/{given.__name__}"}


# -- the page ----------------------------------------------------------------------------------


def page(found: Mapping[str, Any]) -> str:
    """The document for people: HTML with no script in it, readable without any."""
    by_tag: dict[str, list[str]] = {}
    for path, methods in found["paths"].items():
        for method, one in methods.items():
            by_tag.setdefault(one["tags"][0], []).append(section(path, method, one, found))
    parts = [
        f"<section><h2 id='{_slug(tag)}'>{escape(tag)}</h2>{''.join(sections)}</section>"
        for tag, sections in by_tag.items()
    ]
    links = "".join(f"<li><a href='#{_slug(tag)}'>{escape(tag)}</a></li>" for tag in by_tag)
    info = found["info"]
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(info["title"])}: interfaces</title>
<link rel="stylesheet" href="page/docs.css"><script type="module" src="page/docs.js"></script>
</head><body><header><h1>{escape(info["title"])} <small>{escape(info["version"])}</small></h1>
<p>{escape(info["description"])} As <a href="openapi.json">openapi.json</a> for programs.</p>
<p><label>Key, where one is needed: <input id="key" type="password" autocomplete="off"></label></p>
<nav><ul>{links}</ul></nav></header><main>{"".join(parts)}</main></body></html>
"""


def section(path: str, method: str, one: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """One method of one address."""
    body = one.get("requestBody", {}).get("content", {})
    [(kind, given)] = body.items() or [("", {})]
    fields = [(p["name"], p["schema"], p["required"], p["in"]) for p in one.get("parameters", [])]
    described = _resolved(given.get("schema", {}), found)
    needed = described.get("required", ())
    fields += [
        (name, _resolved(field, found), name in needed, "body")
        for name, field in described.get("properties", {}).items()
    ]
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if required else ''}</td><td>{escape(place)}"
        f"</td><td>{escape(_type(field))}</td><td>{escape(field.get('description', ''))}</td></tr>"
        for name, field, required, place in fields
    )
    table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    statuses = "".join(
        f"<li><b>{escape(status)}</b> {escape(said['description'])}</li>"
        for status, said in one["responses"].items()
    )
    example = given.get("example")
    shown = json.dumps(example, ensure_ascii=False, indent=1) if example is not None else ""
    typed = (
        f"<textarea aria-label='body' rows='6' spellcheck='false'>{escape(shown)}</textarea>"
        if kind == "application/json"
        else ""
    )
    form = (
        f"<form data-method='{escape(method)}'><input aria-label='address' value='{escape(path)}'>"
        f"{typed}<button>Try it</button><pre aria-live='polite'></pre></form>"
    )
    if kind.startswith("multipart"):
        form = ""
    return (
        f"<details><summary><b>{escape(method.upper())}</b> <code>{escape(path)}</code> "
        f"{escape(one['summary'])}</summary>{table}<ul class='statuses'>{statuses}</ul>{form}"
        "</details>"
    )


def _slug(tag: str) -> str:
    return re.sub(r"\W+", "-", tag.lower()).strip("-")


def _resolved(given: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(given.get("$ref", "")).rpartition("/")[2]
    return {**found["components"]["schemas"].get(name, {}), **given} if name else given


def _type(field: Mapping[str, Any]) -> str:
    """In words, what a field may hold."""
    if "enum" in field:
        return " or ".join(json.dumps(one) for one in field["enum"])
    if "const" in field:
        return json.dumps(field["const"])
    if several := field.get("anyOf") or field.get("oneOf"):
        return " or ".join(dict.fromkeys(map(_type, several)))
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    kind = field.get("type", "anything")
    if kind == "array":
        return f"list of {_type(field.get('items', {}))}"
    return kind if isinstance(kind, str) else " or ".join(kind)


def routes(others: Sequence[BaseRoute], described: Descriptions, *, with_keys: bool) -> list[Route]:
    """`/openapi.json` and the page `/docs`, of all the others; `page_routes` has its files."""

    @cache
    def found() -> tuple[Response, Response]:
        whole = document(others, described, with_keys=with_keys)
        return JSONResponse(whole), HTMLResponse(page(whole))

    async def told(_: Request) -> Response:
        return found()[0]

    async def shown(_: Request) -> Response:
        return found()[1]

    get = ("GET",)
    return [
        route("/openapi.json", told, methods=get, is_open=True),
        route("/docs", shown, methods=get, is_open=True),
    ]
