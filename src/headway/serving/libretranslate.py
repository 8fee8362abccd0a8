"""LibreTranslate's interface, as of version 1.9.6, in its words.

What differs: each text of a list has its own detected language, a list is translated as one, and
texts of a form keep their line breaks.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.apertium import translation as apertium_translation
from headway.serving.doors import STATUS, body_of, route, told
from headway.serving.file_translation import KINDS
from headway.serving.guard import guard_key
from headway.serving.language_codes import (
    english_name,
    same_or_into,
    served_code,
    short,
    sources,
    targets,
)
from headway.serving.requests import AUTO, RefusedError, ServedPair, ServedText, TranslationRequest
from headway.serving.service import Service

MOST_ALTERNATIVES = 10
LEAST_SHARE = 0.01
"""A language that is less probable is not told, but the first."""


def routes(service: Service) -> list[Route]:
    """`/translate`, `/detect`, `/suggest`, `/languages`, `/frontend/settings`."""
    door = LibreTranslateDoor(service)
    return [
        route("/translate", door.translate, refuse=in_own_words, key_in_body=True),
        route("/detect", door.detect, refuse=in_own_words, key_in_body=True),
        route("/suggest", door.suggest, refuse=in_own_words, key_in_body=True, works=False),
        route("/languages", door.languages, methods=("GET",), is_open=True),
        route("/frontend/settings", door.settings, methods=("GET",), is_open=True),
    ]


def in_own_words(error: RefusedError) -> Response:
    """`{"error": ..}` with the statuses that it has."""
    status, message = STATUS[error.reason], str(error)
    if error.reason in ("rate", "quota"):
        status, message = 429, f"Slowdown: {message.removeprefix('slow down: ')}"
    return told(error, {"error": message}, status)


class LibreTranslateDoor:
    """Its requests, one method each."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.apertium = apertium_translation(service)

    async def translate(self, request: Request) -> Response:
        """Texts, or for a `langpair` what Apertium would answer at the same address."""
        if "langpair" in request.query_params:
            return await self.apertium(request)
        given = await fields_of(request)
        if "langpair" in given:
            return await self.apertium(request)
        caller = await guard_key(request, key_of(given))
        texts = texts_of(given)
        self.admit(texts)
        source, target = pair_of(self.service, given)
        n_alternatives = _alternatives(given.get("alternatives"))
        wanted = TranslationRequest(
            texts, target, source, markup=_markup(given), n_best=n_alternatives + 1
        )
        answers = await self.service.translate(wanted, caller)
        rows: dict[str, list[Any]] = {"translatedText": [one.text for one in answers]}
        if source == AUTO:
            rows["detectedLanguage"] = [_detected(one.source, one.sureness) for one in answers]
        if n_alternatives:
            rows["alternatives"] = [_others(one, n_alternatives) for one in answers]
        if isinstance(given["q"], list):
            return JSONResponse(rows)
        return JSONResponse({name: values[0] for name, values in rows.items()})

    def admit(self, texts: Sequence[str]) -> None:
        """Raise RefusedError for more than a request may have."""
        limits = self.service.limits
        for n, most in (
            (len(texts), limits.max_texts), (sum(map(len, texts)), limits.max_characters)
        ):  # fmt: skip
            if 0 < most < n:
                raise RefusedError(
                    "too_long", f"Invalid request: request ({n}) exceeds text limit ({most})"
                )

    async def detect(self, request: Request) -> Response:
        """The languages of a text, or of several as one, the surest first."""
        given = await fields_of(request)
        await guard_key(request, key_of(given))
        texts = texts_of(given)
        self.admit(texts)
        heard = await anyio.to_thread.run_sync(lambda: list(map(self.service.detect, texts)))
        total = sum(map(len, texts)) or 1
        shares: dict[str, float] = {}
        for text, found in zip(texts, heard, strict=True):
            for code, sureness in found:
                shares[code] = shares.get(code, 0.0) + sureness * len(text) / total
        ranked = sorted(shares.items(), key=lambda one: -one[1])
        likely = [one for n, one in enumerate(ranked) if not n or one[1] >= LEAST_SHARE]
        return JSONResponse([_detected(language, share) for language, share in likely])

    async def suggest(self, request: Request) -> Response:
        """Keep a translation as it should have been, among the corrections."""
        given = await fields_of(request)
        await guard_key(request, key_of(given))
        corrections = self.service.known.corrections
        if corrections is None:
            return JSONResponse({"error": "Suggestions are disabled on this server."}, 403)
        text, suggested = (parameter(given, name) for name in ("q", "s"))
        pair = ServedPair(*pair_of(self.service, given))
        if pair not in self.service.runs.pairs:
            raise RefusedError("language", f"{short(given['source'])} is not supported")
        await anyio.to_thread.run_sync(corrections.add, pair, text, suggested)
        return JSONResponse({"success": True})

    async def languages(self, request: Request) -> Response:
        """Every language, and what it is translated into."""
        codes = dict.fromkeys([*sources(self.service), *targets(self.service)])
        return JSONResponse(
            [
                {"code": code, "name": english_name(code), "targets": targets(self.service, code)}
                for code in codes
            ]
        )

    async def settings(self, request: Request) -> Response:
        """What a page in front of the service is to know."""
        target = next(iter(targets(self.service)), "en")
        has_keys = request.scope["headway.guard"].keys is not None
        return JSONResponse(
            {
                "charLimit": self.service.limits.max_characters or -1,
                "frontendTimeout": 500,
                "apiKeys": has_keys,
                "keyRequired": has_keys,
                "suggestions": self.service.known.corrections is not None,
                "filesTranslation": True,
                "supportedFilesFormat": list(KINDS),
                "language": {
                    "source": {"code": AUTO, "name": "Auto Detect"},
                    "target": {"code": target, "name": english_name(target)},
                },
            }
        )


def pair_of(service: Service, given: Mapping[str, Any]) -> tuple[str, str]:
    """The two languages, as runs name them; raises RefusedError for others."""
    source, target = (parameter(given, name) for name in ("source", "target"))
    known = [*sources(service), *targets(service)]
    own_source = AUTO if source.lower() == AUTO else _known(source, known)
    own_target = _known(target, known)
    if own_source == AUTO:
        return AUTO, own_target
    there = same_or_into(service, own_source, target)
    if there is None:
        into, out_of = (f"{english_name(code)} ({code})" for code in (own_target, own_source))
        raise RefusedError(
            "language", f"{into} is not available as a target language from {out_of}"
        )
    return own_source, there


def _known(code: str, known: Sequence[str]) -> str:
    found = served_code(code, known)
    if found is None:
        raise RefusedError("language", f"{short(code)} is not supported")
    return found


async def fields_of(request: Request) -> dict[str, Any]:
    """The fields of a body in JSON; of a form also those of the address, which it overrides."""
    given = await body_of(request)
    if "json" in request.headers.get("content-type", ""):
        return given
    given = {**request.query_params, **given}
    q = given.get("q")
    texts = [_unix_lines(one) for one in q] if isinstance(q, list) else _unix_lines(q)
    return {**given, "q": texts}


def _unix_lines(text: Any) -> Any:
    return text.replace("\r\n", "\n") if isinstance(text, str) else text


def texts_of(given: Mapping[str, Any]) -> list[str]:
    """`q` as a list; raises RefusedError where it is missing or holds something else."""
    q = given.get("q")
    if not q:
        raise RefusedError("bad", "Invalid request: missing q parameter")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise RefusedError("bad", "Invalid request: q parameter is not a string or a list of them")
    return texts


def key_of(given: Mapping[str, Any]) -> str | None:
    """The key that stands in a body."""
    key = given.get("api_key")
    return key if isinstance(key, str) and key else None


def parameter(given: Mapping[str, Any], name: str) -> str:
    """A text that is to be there; raises RefusedError."""
    value = given.get(name)
    if not value or not isinstance(value, str):
        raise RefusedError("bad", f"Invalid request: missing {name} parameter")
    return value


def _markup(given: Mapping[str, Any]) -> Literal["text", "html"]:
    asked = given.get("format") or "text"
    for known in ("text", "html"):
        if asked == known:
            return known
    raise RefusedError("bad", f"{short(asked)} format is not supported")


def _alternatives(given: Any) -> int:
    try:
        n = max(0, int(given or 0))
    except (ValueError, TypeError, OverflowError):
        raise RefusedError(
            "bad", "Invalid request: alternatives parameter is not a number"
        ) from None
    if n > MOST_ALTERNATIVES:
        raise RefusedError(
            "bad", f"Invalid request: alternatives parameter must be <= {MOST_ALTERNATIVES}"
        )
    return n


def _others(answer: ServedText, n: int) -> list[str]:
    """Alternatives that are none twice, nor the translation itself."""
    return [one for one in dict.fromkeys(answer.alternatives) if one not in ("", answer.text)][:n]


def _detected(language: str, sureness: float | None) -> dict[str, Any]:
    return {"confidence": round(100 * (sureness or 0.0), 1), "language": language}
