"""headway's own door, `/v1`: all that a translation tells."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.doors import body_of, caller_of, route
from headway.serving.requests import AUTO, RefusedError, TranslationRequest
from headway.serving.service import Service


def routes(service: Service) -> list[Route]:
    """`POST /v1/translate`."""

    async def translate(request: Request) -> Response:
        given = await body_of(request)
        texts = given.get("texts", given.get("text"))
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
            raise RefusedError("bad", '"texts" is a list of strings')
        wanted = TranslationRequest(texts, given.get("target", ""), given.get("source", AUTO))
        answers = await service.translate(wanted, caller_of(request))
        rows = [{"text": one.text, "source": one.source, "origin": one.origin} for one in answers]
        return JSONResponse({"translations": rows})

    return [route("/v1/translate", translate)]
