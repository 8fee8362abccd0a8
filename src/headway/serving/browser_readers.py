"""What Immersive Translate and KISS Translator, readers of foreign pages, ask a custom service."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.doors import STATUS, body_of, caller_of, route, told
from headway.serving.language_codes import same_or_into, served_code, short, sources
from headway.serving.requests import AUTO, RefusedError, ServedText, TranslationRequest
from headway.serving.service import Service


def routes(service: Service) -> list[Route]:
    """`POST /imme` and `POST /kiss`; a key is given as `?token=`."""

    async def translated(
        request: Request, texts: Sequence[str], source: str, target: str
    ) -> list[ServedText]:
        own_source = AUTO if source.lower() == AUTO else served_code(source, sources(service))
        if own_source is None:
            raise RefusedError("language", f"{short(source)} is not translated here")
        own_target = same_or_into(service, own_source, target)
        if own_target is None:
            raise RefusedError("language", f"nothing is translated into {short(target)} here")
        wanted = TranslationRequest(texts, own_target, own_source)
        return await service.translate(wanted, caller_of(request))

    async def immersive(request: Request) -> Response:
        given = await body_of(request)
        source, target = _strings(given, "source_lang", "target_lang", all_of=_IMMERSIVE)
        texts = _texts(given.get("text_list"), _IMMERSIVE)
        answers = await translated(request, texts, source, target)
        rows = [{"detected_source_lang": one.source, "text": one.text} for one in answers]
        return JSONResponse({"translations": rows})

    async def kiss(request: Request) -> Response:
        given = await body_of(request)
        source, target = _strings(given, "from", "to", all_of=_KISS)
        several = "texts" in given
        texts = _texts(given["texts"] if several else [given.get("text")], _KISS)
        answers = await translated(request, texts, source, target)
        rows = [{"text": one.text, "src": one.source} for one in answers]
        return JSONResponse({"translations": rows} if several else rows[0])

    return [
        route("/imme", immersive, refuse=in_own_words),
        route("/kiss", kiss, refuse=in_own_words),
    ]


_IMMERSIVE = "source_lang, target_lang, text_list"
_KISS = "from, to, text or texts"


def in_own_words(error: RefusedError) -> Response:
    """`{"error": ..}`; 401 for keys."""
    status = {"key": 401, "quota": 429}.get(error.reason, STATUS[error.reason])
    return told(error, {"error": str(error)}, status)


def _strings(given: Mapping[str, Any], *names: str, all_of: str) -> list[str]:
    values = [given.get(name) for name in names]
    found = [value for value in values if isinstance(value, str) and value]
    if len(found) < len(names):
        raise RefusedError("bad", f"Missing required fields: {all_of}")
    return found


def _texts(given: Any, all_of: str) -> list[str]:
    if not isinstance(given, list) or not given or not all(isinstance(one, str) for one in given):
        raise RefusedError("bad", f"Missing required fields: {all_of}")
    return given
