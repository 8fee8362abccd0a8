"""`/v1/completions` and `/v1/models` of OpenAI's interface, for language models.

Behind them are the three addresses by which vLLM tells of a tokenizer: `lm-eval` reads texts and
ids through them, so that it needs no file of the model. As they name no model, each address is
there for each model as well: `/models/NAME/v1/completions`, `/models/NAME/tokenize`.
"""

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from headway.core.errors import UserError
from headway.core.runtime import available_cores
from headway.serving.bodies import read
from headway.serving.completing import (
    CompletionChunk,
    WritingSettings,
    echo_of,
    joined,
    written,
)
from headway.serving.doors import EVENTS, STATUS, body_of, caller_of, route, told
from headway.serving.language_models import PromptText, ServedLanguageModel
from headway.serving.limits import Limits
from headway.serving.requests import Caller, RefusedError
from headway.serving.service import Service

MOST_TOKENS, MOST_IN_ALL = 8_192, 65_536
"""Of one prompt, and of those of one request."""
MOST_WRITTEN, MOST_WRITTEN_IN_ALL = 4_096, 8_192

Id = Annotated[int, Field(ge=0, lt=1 << 31)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=MOST_TOKENS)]
Found = TypeVar("Found")


class CompletionRequest(BaseModel):
    """Body of `POST /v1/completions`."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    model: str = Field("", description="name of a run; without it, the first language model")
    prompt: (
        str | Annotated[list[str], Field(min_length=1, max_length=256)] | Ids
        | Annotated[list[Ids], Field(min_length=1, max_length=256)]
    ) = Field(description="a text, texts, ids, or lists of ids")  # fmt: skip
    max_tokens: int | None = Field(16, ge=0, le=MOST_WRITTEN)
    temperature: float | None = Field(1.0, ge=0, le=100)
    top_p: float | None = Field(1.0, gt=0, le=1)
    top_k: int = Field(0, ge=0, description="of the likeliest tokens only; 0: of all")
    seed: int | None = Field(None, ge=-(1 << 63), lt=1 << 63)
    n: int | None = Field(1, ge=1, le=16)
    best_of: int | None = Field(None, ge=1, le=16, description="only as many as `n`")
    stop: (
        Annotated[str, Field(max_length=1_000)]
        | Annotated[list[Annotated[str, Field(max_length=1_000)]], Field(max_length=16)]
        | None
    ) = None
    echo: bool | None = False
    logprobs: int | None = Field(None, ge=0, le=20)
    stream: bool | None = False
    stream_options: dict[Literal["include_usage"], bool] | None = None
    user: str | None = Field(None, description="not read")
    suffix: None = None
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] | None = None
    presence_penalty: float | None = Field(None, ge=0, le=0)
    frequency_penalty: float | None = Field(None, ge=0, le=0)


class TokenizeRequest(BaseModel):
    """Body of `POST /tokenize`."""

    model_config = ConfigDict(strict=True, extra="ignore")

    model: str = ""
    prompt: str
    add_special_tokens: bool = Field(True, description="begin with the begin marker")


class DetokenizeRequest(BaseModel):
    """Body of `POST /detokenize`."""

    model_config = ConfigDict(strict=True, extra="ignore")

    model: str = ""
    tokens: Annotated[list[Id], Field(max_length=MOST_IN_ALL)]


def as_openai(error: RefusedError) -> Response:
    """A refusal in OpenAI's shape."""
    status = {"key": 401, "quota": 429}.get(error.reason, STATUS[error.reason])
    kind = {
        401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error",
    }.get(status, "invalid_request_error" if status < 500 else "server_error")  # fmt: skip
    code = {
        "absent": "model_not_found", "key": "invalid_api_key", "quota": "insufficient_quota",
        "rate": "rate_limit_exceeded", "too_long": "context_length_exceeded",
    }.get(error.reason)  # fmt: skip
    said = {"message": str(error), "type": kind, "param": None, "code": code}
    return told(error, {"error": said}, status)


async def in_thread(work: Callable[[], Found]) -> Found:
    """Work of a model, as much at a time as there are cores."""
    return await anyio.to_thread.run_sync(work, limiter=at_once())


@cache
def at_once() -> anyio.CapacityLimiter:
    """For all language models of the process."""
    return anyio.CapacityLimiter(available_cores())


def prompts_of(served: ServedLanguageModel, given: str | Sequence[Any]) -> list[PromptText]:
    """Raises RefusedError for what the model cannot read."""
    several = not isinstance(given, str) and not isinstance(given[0], int)
    found = [served.prompt(one) for one in (given if several else [given])]
    longest, n_all = max(len(one.ids) for one in found), sum(len(one.ids) for one in found)
    if longest > MOST_TOKENS or n_all > MOST_IN_ALL:
        raise RefusedError(
            "too_long",
            f"a prompt has at most {MOST_TOKENS:,} tokens, and all of a request {MOST_IN_ALL:,}; "
            f"got {longest:,}, and {n_all:,} in all",
        )
    return found


class CompletionChoices(NamedTuple):
    """What one request is answered with: for each choice, its pieces as they are written."""

    rows: list[Iterator[CompletionChunk]]
    n_read: int
    """Tokens of the prompts."""


def begun(
    served: ServedLanguageModel, asked: CompletionRequest, caller: Caller, limits: Limits
) -> CompletionChoices:
    """Read the prompts; nothing is scored or written yet."""
    if asked.best_of not in (None, asked.n or 1):
        raise RefusedError("bad", "best_of: only as many as n are written")
    prompts, n = prompts_of(served, asked.prompt), asked.n or 1
    n_characters = limits.admit([one.text for one in prompts])
    if len(prompts) * n * (asked.max_tokens or 0) > MOST_WRITTEN_IN_ALL:
        raise RefusedError(
            "bad", f"max_tokens: {MOST_WRITTEN_IN_ALL:,} at most for all that is written"
        )
    caller.charge(n_characters)
    stop = [asked.stop] if isinstance(asked.stop, str) else asked.stop or []
    seed = secrets.randbelow(1 << 31) if asked.seed is None else asked.seed
    settings = WritingSettings(
        max_tokens=16 if asked.max_tokens is None else asked.max_tokens,
        temperature=1.0 if asked.temperature is None else asked.temperature,
        top_p=asked.top_p or 1.0,
        top_k=asked.top_k,
        seed=seed,
        stop=[one for one in stop if one],
        n_top=asked.logprobs,
    )

    def pieces(prompt: PromptText, number: int) -> Iterator[CompletionChunk]:
        caller.refuse_over()
        if asked.echo:
            yield echo_of(served, prompt, asked.logprobs)
        at = settings._replace(seed=(seed + number) % (1 << 63))
        yield from written(served, prompt, at, caller)

    rows = [pieces(prompt, number) for prompt in prompts for number in range(n)]
    return CompletionChoices(rows, sum(len(one.ids) + one.begins for one in prompts))


def as_choice(index: int, piece: CompletionChunk, *, told: bool) -> dict[str, Any]:
    """In OpenAI's names; `told` where log-probabilities were asked for."""
    tokens = piece.tokens
    logprobs = {
        "tokens": [one.token for one in tokens],
        "token_logprobs": [one.log_prob for one in tokens],
        "top_logprobs": [one.top for one in tokens],
        "text_offset": [one.offset for one in tokens],
    }
    return {
        "index": index,
        "text": piece.text,
        "logprobs": logprobs if told else None,
        "finish_reason": piece.finish,
    }


def usage(n_read: int, n_written: int) -> dict[str, int]:
    """Tokens; a prompt counts once."""
    return {
        "prompt_tokens": n_read,
        "completion_tokens": n_written,
        "total_tokens": n_read + n_written,
    }


def finished(choices: CompletionChoices, head: Mapping[str, Any], *, told: bool) -> dict[str, Any]:
    """The whole answer."""
    whole = [joined(row) for row in choices.rows]
    counted = usage(choices.n_read, sum(one.n_written for one in whole))
    rows = [as_choice(index, one, told=told) for index, one in enumerate(whole)]
    return {**head, "choices": rows, "usage": counted}


async def streamed(
    choices: CompletionChoices, head: Mapping[str, Any], *, told: bool, with_usage: bool
) -> AsyncIterator[str]:
    """Server-sent events: choice after choice, each piece when it is written."""
    n_written = 0
    try:
        for index, row in enumerate(choices.rows):
            while (piece := await in_thread(partial(next, row, None))) is not None:
                n_written += piece.n_written
                if piece.text or piece.tokens or piece.finish:
                    choice = as_choice(index, piece, told=told)
                    yield event({**head, "choices": [choice]})
        if with_usage:
            yield event({**head, "choices": [], "usage": usage(choices.n_read, n_written)})
    except UserError as error:
        said = {"message": str(error), "type": "server_error", "param": None, "code": None}
        yield event({"error": said})
    yield "data: [DONE]\n\n"


def event(content: Mapping[str, Any]) -> str:
    """One of a stream."""
    return f"data: {json.dumps(content, separators=(',', ':'))}\n\n"


def as_model(one: ServedLanguageModel) -> dict[str, Any]:
    """A row of `/v1/models`."""
    return {
        "id": one.name,
        "object": "model",
        "created": one.created,
        "owned_by": "headway",
        "max_model_len": MOST_TOKENS,
    }


def routes(service: Service) -> list[Route]:
    """For the language models of a service."""

    def named(request: Request, name: str = "", *, one: bool = False) -> ServedLanguageModel:
        """That of the address or the body; `one`: there must be a name where there are several."""
        named = request.path_params.get("model") or name
        if one and not named and len(service.language_models.all) > 1:
            said = "several models are served: ask at /models/NAME/.. for the tokens of one"
            raise RefusedError("bad", said)
        return service.language_models.named(named)

    async def complete(request: Request) -> Response:
        asked = read(CompletionRequest, await body_of(request))
        served, caller = named(request, asked.model), caller_of(request)
        work = partial(begun, served, asked, caller, service.limits)
        choices, told = await in_thread(work), asked.logprobs is not None
        head = {
            "id": f"cmpl-{time.time_ns():x}", "object": "text_completion",
            "created": int(time.time()), "model": served.name,
        }  # fmt: skip
        if asked.stream:
            with_usage = (asked.stream_options or {}).get("include_usage", False)
            events = streamed(choices, head, told=told, with_usage=with_usage)
            return StreamingResponse(events, media_type=EVENTS)
        return JSONResponse(await in_thread(partial(finished, choices, head, told=told)))

    async def models(_: Request) -> Response:
        data = [as_model(one) for one in service.language_models.all]
        return JSONResponse({"object": "list", "data": data})

    async def model(request: Request) -> Response:
        return JSONResponse(as_model(named(request)))

    async def tokenizer_info(request: Request) -> Response:
        served = named(request, one=True)
        loaded = await anyio.to_thread.run_sync(lambda: served.model)
        special = served.special
        begin, end = loaded.vocabulary.pieces([special.decoder_begin, special.end])
        return JSONResponse(
            {"tokenizer_class": "headway", "bos_token": begin, "eos_token": end,
             "model_max_length": MOST_TOKENS}
        )  # fmt: skip

    async def tokenize(request: Request) -> Response:
        asked = read(TokenizeRequest, await body_of(request))
        served = named(request, asked.model, one=True)
        ids = await anyio.to_thread.run_sync(served.marked_ids, asked.prompt)
        if asked.add_special_tokens and asked.prompt:
            ids = [served.special.decoder_begin, *ids]
        return JSONResponse({"tokens": ids, "count": len(ids), "max_model_len": MOST_TOKENS})

    async def detokenize(request: Request) -> Response:
        asked = read(DetokenizeRequest, await body_of(request))
        served = named(request, asked.model, one=True)
        prompt = await anyio.to_thread.run_sync(served.prompt, asked.tokens)
        return JSONResponse({"prompt": prompt.text})

    def at(path: str, handler: Any, method: str = "POST") -> Route:
        return route(path, handler, refuse=as_openai, methods=(method,))

    of_models = [
        at(f"{place}{path}", handler, method)
        for place in ("", "/models/{model}")
        for path, handler, method in (
            ("/v1/completions", complete, "POST"),
            ("/tokenizer_info", tokenizer_info, "GET"),
            ("/tokenize", tokenize, "POST"),
            ("/detokenize", detokenize, "POST"),
        )
    ]
    return [*of_models, at("/v1/models", models, "GET"), at("/v1/models/{model}", model, "GET")]
