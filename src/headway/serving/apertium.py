"""Apertium APy's interface, which OmegaT's built-in connector and Weblate speak.

What differs: texts are taken as plain text unless `format=html` asks for tags, and nothing is
marked as unknown, as a model has no words that it does not know.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.doors import STATUS, Handler, body_of, route, told
from headway.serving.guard import guard_key
from headway.serving.language_codes import (
    english_name,
    served_code,
    sources,
    targets,
    three_letters,
)
from headway.serving.requests import RefusedError, TranslationRequest
from headway.serving.service import Service


def routes(service: Service) -> list[Route]:
    """`/listPairs`, `GET /translate`, `/identifyLang`, `/listLanguageNames`."""

    async def pairs(request: Request) -> Response:
        """Each pair by the codes of its run, written as Apertium does, then by three letters."""
        rows = [tuple(code.replace("-", "_") for code in pair) for pair in service.runs.pairs]
        rows += [(three_letters(source), three_letters(target)) for source, target in rows]
        listed = dict.fromkeys(rows)
        return _answered([{"sourceLanguage": a, "targetLanguage": b} for a, b in listed])

    async def identify(request: Request) -> Response:
        """Languages and how probable they are."""
        text = _argument(await _fields_of(request), "q")
        found = await anyio.to_thread.run_sync(service.detect, text)
        return JSONResponse({three_letters(one.language): one.sureness for one in found})

    async def names(request: Request) -> Response:
        """English names, whichever locale is asked for."""
        asked = str((await _fields_of(request)).get("languages") or "").split()
        codes = asked or list(dict.fromkeys([*sources(service), *targets(service)]))
        return JSONResponse({code: english_name(code) for code in codes[:1_000]})

    both = ("GET", "POST")
    return [
        route("/listPairs", pairs, methods=both, is_open=True, works=False),
        route("/listLanguageNames", names, methods=both, is_open=True, works=False),
        route("/identifyLang", identify, refuse=in_own_words, methods=both),
        Route("/translate", translation(service), methods=["GET"]),
    ]


def translation(service: Service) -> Handler:
    """What answers `/translate` with a `langpair`; refusals are in Apertium's words."""

    async def translate(request: Request) -> Response:
        given = await _fields_of(request)
        caller = await guard_key(request, str(given.get("key") or "") or None)
        source, target = _pair(service, _argument(given, "langpair"))
        markup = given.get("format", given.get("deformat"))
        wanted = TranslationRequest(
            [_argument(given, "q")], target, source,
            markup="html" if str(markup).removeprefix("apertium-des") == "html" else "text",
        )  # fmt: skip
        answers = await service.translate(wanted, caller)
        return _answered({"translatedText": answers[0].text})

    answered: Handler = route(
        "/translate", translate, refuse=in_own_words, key_in_body=True
    ).endpoint
    return answered


def in_own_words(error: RefusedError) -> Response:
    """`status`, `code`, `message` and `explanation`."""
    status = 429 if error.reason == "quota" else STATUS[error.reason]
    content = {"status": "error", "code": status, "message": HTTPStatus(status).phrase}
    return told(error, {**content, "explanation": str(error)}, status)


def _answered(data: Any) -> Response:
    return JSONResponse({"responseData": data, "responseDetails": None, "responseStatus": 200})


async def _fields_of(request: Request) -> dict[str, Any]:
    """Those of the address and of a form; of several by one name the last."""
    given = await body_of(request) if request.method == "POST" else {}
    fields = {**request.query_params, **given}
    return {name: one[-1] if isinstance(one, list) and one else one for name, one in fields.items()}


def _argument(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not value or not isinstance(value, str):
        raise RefusedError("bad", f"Missing argument {name}")
    return value


def _pair(service: Service, langpair: str) -> tuple[str, str]:
    """The codes by which runs name a pair such as `eng|spa` or `en|zh_CN`."""
    names = langpair.split("|")
    if len(names) != 2 or not all(names):
        raise RefusedError("bad", "That pair is invalid, use e.g. eng|spa")
    source = served_code(names[0], sources(service))
    target = served_code(names[1], targets(service, source)) if source else None
    if source is None or target is None:
        raise RefusedError("language", "That pair is not installed")
    return source, target
