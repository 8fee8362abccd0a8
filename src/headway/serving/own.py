"""headway's own door, `/v1`: all that a translation tells."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from headway.core.errors import HeadwayError
from headway.corpora.mixing import chosen_tag
from headway.serving.bodies import CorrectBody, TranslateBody, read
from headway.serving.doors import EVENTS, body_of, caller_of, route
from headway.serving.requests import (
    Caller,
    RefusedError,
    ServedPair,
    ServedText,
    TranslationRequest,
)
from headway.serving.service import Service
from headway.translation.detailed import Translation

AT_ONCE = 16
"""Texts of one stream that are on their way."""


def routes(service: Service) -> list[Route]:
    """`/v1/translate`, `/v1/languages`, `/v1/correct`."""
    return [
        route("/v1/translate", partial(translate, service)),
        route("/v1/languages", partial(languages, service), methods=("GET",)),
        route("/v1/correct", partial(correct, service)),
    ]


async def translate(service: Service, request: Request) -> Response:
    """Translate one text or several."""
    body = read(TranslateBody, await body_of(request))
    caller = caller_of(request)
    wanted = body.request() if not body.glossary else await anyio.to_thread.run_sync(body.request)
    service.limits.admit(wanted.texts)
    tell = partial(told, n_best=body.n_best > 1, details=body.details)
    if body.stream:
        return EventStream(service, wanted, caller, tell)
    answers = await service.translate(wanted, caller)
    return JSONResponse({"translations": [tell(one) for one in answers]})


async def languages(service: Service, _: Request) -> Response:
    """The pairs that are translated, with the tags of their runs; whether corrections are kept;
    the characters that a request may have (0: any)."""

    def told(pair: ServedPair) -> dict[str, Any]:
        tags = service.runs.of(*pair).tags
        return {**pair._asdict(), **({"tags": tags} if any(tags) else {})}

    def all_told() -> list[dict[str, Any]]:
        return [told(pair) for pair in dict.fromkeys(service.runs.pairs)]

    pairs = await anyio.to_thread.run_sync(all_told)
    return JSONResponse(
        {
            "pairs": pairs,
            "corrections": service.known.corrections is not None,
            "characters": service.limits.max_characters,
        }
    )


async def correct(service: Service, request: Request) -> Response:
    """Keep a translation as it should have been."""
    if (corrections := service.known.corrections) is None:
        raise RefusedError(
            "absent",
            "nothing is kept here. Its operator can have it: headway serve --state DIR",
        )
    body = read(CorrectBody, await body_of(request))
    run = service.runs.of(body.source, body.target)

    def keep() -> None:
        if body.tag:
            chosen_tag(body.tag, run.tags)
        corrections.add(run.pair, body.source_text, body.target_text, body.tag or "")

    await anyio.to_thread.run_sync(keep)
    return JSONResponse({"kept": True})


def told(answer: ServedText, *, n_best: bool, details: bool) -> dict[str, Any]:
    """An answer as JSON."""
    found: dict[str, Any] = {
        "text": answer.text,
        "source": answer.source,
        "sureness": answer.sureness,
        "origin": answer.origin,
        "n_cut": answer.n_cut,
    }
    made = answer.translation
    if n_best:
        scores = [one.score for one in made.n_best[1:]] if made is not None else []
        scored = len(scores) == len(answer.alternatives)
        found["score"] = made.n_best[0].score if made is not None and made.n_best else None
        found["alternatives"] = [
            {"text": text, "score": scores[n] if scored else None}
            for n, text in enumerate(answer.alternatives)
        ]
    if details:
        verdict = answer.verdict
        found |= _tokens(made) if made is not None else {}
        found |= {
            "parts": [_part(one) for one in made.parts] if made is not None else [],
            "confidence": verdict.confidence if verdict else None,
            "flags": [flag._asdict() for flag in verdict.flags] if verdict else [],
        }
    return found


def _tokens(made: Translation) -> dict[str, Any]:
    """Sub-words of both sides, in nats what each was worth, and which looks at which."""
    best = made.n_best[0] if made.n_best else None
    return {
        "source_tokens": made.source_tokens,
        "tokens": best.tokens if best else [],
        "token_log_probs": best.token_log_probs if best else [],
        "alignment": [list(pair) for pair in best.alignment] if best else [],
    }


def _part(made: Translation) -> dict[str, Any]:
    """A stretch of a text that the model read at once."""
    return {"from": made.source, "text": made.target, **_tokens(made)}


class EventStream(Response):
    """Server-sent events: a `translation` for each text as it is done, with its `index`; in the
    place of one that is refused an `error`; a `done` at the end."""

    media_type = EVENTS

    def __init__(
        self,
        service: Service,
        wanted: TranslationRequest,
        caller: Caller,
        tell: Callable[[ServedText], dict[str, Any]],
    ) -> None:
        """`tell` makes an answer JSON."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self.service, self.wanted, self.caller, self.tell = service, wanted, caller, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until all texts are done."""
        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        room, writing = anyio.Semaphore(AT_ONCE), anyio.Lock()
        async with anyio.create_task_group() as texts:
            for index in range(len(self.wanted.texts)):
                texts.start_soon(self._one, index, room, writing, send)
        await send(_event("done", {"n": len(self.wanted.texts)}, more=False))

    async def _one(
        self, index: int, room: anyio.Semaphore, writing: anyio.Lock, send: Send
    ) -> None:
        prefixes = self.wanted.prefixes[index : index + 1]
        alone = self.wanted._replace(texts=[self.wanted.texts[index]], prefixes=prefixes)
        async with room:
            if self.caller.gone.is_set():
                return
            try:
                [answer] = await self.service.translate(alone, self.caller)
                event = _event("translation", {"index": index, **self.tell(answer)})
            except HeadwayError as error:
                event = _event("error", {"index": index, "error": str(error)})
            async with writing:
                await send(event)


def _event(name: str, data: dict[str, Any], *, more: bool = True) -> dict[str, Any]:
    text = f"event: {name}\ndata: {json.dumps(data)}\n\n"
    return {"type": "http.response.body", "body": text.encode(), "more_body": more}
