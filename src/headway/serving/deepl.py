"""DeepL's interface, in its words: texts, languages, usage; glossaries are beside it.

What differs: formality, context and how sentences are split are accepted and change nothing, as a
run has one way to translate; texts and files are bounded as the service says.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.languages.codes import base
from headway.localization.terms.keeping import Terms
from headway.serving.doors import (
    STATUS,
    Handler,
    body_of,
    caller_of,
    methods_at,
    not_allowed,
    told,
)
from headway.serving.doors import route as plain_route
from headway.serving.glossary_store import (
    DictionaryPair,
    EntriesRefusedError,
    GlossaryStore,
    terms_of,
)
from headway.serving.guard import key_in
from headway.serving.language_codes import english_name, same_or_into, served_code, sources, targets
from headway.serving.requests import AUTO, RefusedError, TranslationRequest
from headway.serving.service import Service
from headway.serving.xml_outline import XmlTags

EVERY = ("GET", "POST", "PUT", "PATCH", "DELETE")
NO_LIMIT = 1_000_000_000_000
"""Characters that a key without limit has, as DeepL tells it."""
MOST_GLOSSARIES_AT_ONCE = 5
_ALLOWED: Mapping[str, Sequence[object]] = {
    "split_sentences": ("0", "1", "nonewlines", 0, 1),
    "preserve_formatting": ("0", "1", "true", "false", True, False),
    "outline_detection": ("0", "1", "true", "false", True, False),
    "formality": ("default", "more", "less", "prefer_more", "prefer_less"),
    "tag_handling": ("xml", "html"),
    "tag_handling_version": ("v1", "v2"),
    "model_type": ("quality_optimized", "prefer_quality_optimized", "latency_optimized"),
}
_NOT_HERE = ("style_id", "translation_memory_id", "custom_instructions")
"""Settings that would change a translation, and that nothing here does."""
_VARIANTS = {
    "en": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "pt": {"PT-BR": "Portuguese (Brazilian)", "PT-PT": "Portuguese (European)"},
    "zh": {"ZH": "Chinese (simplified)", "ZH-HANS": "Chinese (simplified)"},
}
"""As which the client for Python, which takes no plain EN or PT, asks for a target."""
_MESSAGES = {
    "quota": "Quota for this billing period has been exceeded.",
    "rate": "Too many requests.",
    "key": "Authorization failed.",
    "busy": "Service unavailable.",
    "late": "Service unavailable.",
    "stopping": "Service unavailable.",
}


def routes(service: Service) -> list[Route]:
    """`/v2/translate`, `/v2/languages`, `/v3/languages`, `/v2/usage`, `/v2/write`.

    They come last of DeepL's: what else is asked for at `/v2` and `/v3` is refused in its words.
    """
    door = DeepLDoor(service)
    both = ("GET", "POST")
    return [
        route("/v2/translate", door.translate),
        route("/v2/languages", door.languages, methods=both, works=False),
        route("/v3/languages", door.languages_of_resource, methods=("GET",)),
        route("/v2/usage", usage, methods=both, works=False),
        route("/v2/write/{which}", rephrase, works=False),
        *(
            route(f"/{version}/{{rest:path}}", unknown, methods=EVERY, works=False)
            for version in ("v2", "v3")
        ),
    ]


def route(
    path: str, handler: Handler, *, methods: tuple[str, ...] = ("POST",), works: bool | None = None
) -> Route:
    """A route that refuses in DeepL's words."""
    return plain_route(path, handler, refuse=in_own_words, methods=methods, works=works)


def in_own_words(error: RefusedError) -> Response:
    """`message`, and `detail` where there is more to say."""
    message = _MESSAGES.get(error.reason)
    content = {"message": message or str(error)}
    if message:
        content["detail"] = str(error)
    elif isinstance(error, EntriesRefusedError):
        content["detail"] = error.detail
    return told(error, content, STATUS[error.reason])


def not_supported(name: str) -> RefusedError:
    """What is said of a value that is none of those that a field may have."""
    return RefusedError("bad", f"Value for '{name}' not supported.")


def owner_of(request: Request) -> str:
    """Whose glossaries are asked for: a key's; where nobody needs one, that which was sent."""
    caller = caller_of(request)
    if request.scope["headway.guard"].keys is not None:
        return caller.client
    key = key_in(request.scope, dict(request.scope["headers"])) or ""
    return blake2b(key.encode("utf-8", "replace"), digest_size=16).hexdigest()


def glossaries_of(request: Request) -> GlossaryStore:
    """Those of the application."""
    found = request.app.state.glossaries
    assert isinstance(found, GlossaryStore)
    return found


class DeepLDoor:
    """What is asked about texts and languages."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def translate(self, request: Request) -> Response:
        """Texts of one request."""
        given = await body_of(request)
        texts = given.get("text")
        texts = [texts] if isinstance(texts, str) else texts
        if not texts:
            raise RefusedError("bad", "Parameter 'text' not specified.")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise not_supported("text")
        source, target = pair_of(self.service, given)
        refuse_values(given)
        markup = given.get("tag_handling")
        wanted = TranslationRequest(
            texts, target, source,
            markup="xml" if markup == "xml" else "html" if markup == "html" else "text",
            xml_tags=XmlTags(
                names_of(given, "ignore_tags"),
                names_of(given, "splitting_tags"),
                names_of(given, "non_splitting_tags"),
                outline=given.get("outline_detection") not in ("0", "false", False),
            ),
            terms=await wanted_terms(request, given, source, target),
        )  # fmt: skip
        answers = await self.service.translate(wanted, caller_of(request))
        rows: list[dict[str, Any]] = [
            {
                "detected_source_language": base(answer.source).upper(),
                "text": answer.text,
                "billed_characters": len(text),
            }
            for text, answer in zip(texts, answers, strict=True)
        ]
        if given.get("model_type"):
            for row in rows:
                row["model_type_used"] = str(given["model_type"]).removeprefix("prefer_")
        return JSONResponse({"translations": rows})

    async def languages(self, request: Request) -> Response:
        """`type` is `source` or `target`, in the address or a body."""
        given = {**request.query_params, **await body_of(request)}
        kind = given.get("type") or "source"
        if kind == "source":
            codes = dict.fromkeys(base(code) for code in sources(self.service))
            rows = [{"language": code.upper(), "name": english_name(code)} for code in codes]
        elif kind == "target":
            rows = [
                dict[str, Any](language=code, name=name, supports_formality=False)
                for code, name in self._target_names().items()
            ]
        else:
            raise RefusedError(
                "bad", "Parameter 'type' is invalid. 'source' and 'target' are valid values."
            )
        return JSONResponse(rows)

    def _target_names(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for code in targets(self.service):
            found |= _VARIANTS.get(code.lower(), {code.upper(): english_name(code)})
        return found

    async def languages_of_resource(self, request: Request) -> Response:
        """What can be done with each language."""
        resource = request.query_params.get("resource")
        resources = ("translate_text", "translate_document", "glossary", "write", "voice",
                     "style_rules", "translation_memory")  # fmt: skip
        if resource not in resources:
            raise RefusedError("bad", f"'resource' must be one of {', '.join(resources)}")
        if resource not in resources[:3]:
            return JSONResponse([])
        into = [_as_bcp47(code) for code in self._target_names()]
        into += [base(code) for code in targets(self.service)]
        out_of = [base(code) for code in sources(self.service)]
        if resource == "glossary":
            into = [base(code) for code in into]
        features = {} if resource == "glossary" else {"glossary": {"status": "stable"}}
        if resource == "translate_text":
            features["tag_handling"] = {"status": "stable"}
        return JSONResponse(
            [
                {
                    "lang": code, "name": english_name(code), "status": "stable",
                    "usable_as_source": code in out_of, "usable_as_target": code in into,
                    "features": features,
                }
                for code in dict.fromkeys([*out_of, *into])
            ]
        )  # fmt: skip


async def usage(request: Request) -> Response:
    """Characters of this month, and how many there may be."""
    caller_of(request)
    account = request.scope["headway.account"]
    account.turn()
    limit = account.monthly_characters or NO_LIMIT
    return JSONResponse({"character_count": account.used, "character_limit": limit})


async def rephrase(request: Request) -> Response:
    """DeepL Write: there is no such thing here."""
    del request
    raise RefusedError("bad", "Texts are translated here, and not rephrased or corrected.")


async def unknown(request: Request) -> Response:
    """What else DeepL may have, or another method of what there is."""
    if methods_at(request):
        return not_allowed(request)
    raise RefusedError("absent", "There is no such thing here.")


def pair_of(service: Service, given: Mapping[str, Any]) -> tuple[str, str]:
    """The languages, as runs name them; raises RefusedError for others."""
    source, target = given.get("source_lang"), given.get("target_lang")
    own_source: str | None = AUTO
    if source:
        own_source = served_code(source, sources(service)) if isinstance(source, str) else None
    if own_source is None:
        raise not_supported("source_lang")
    own_target = same_or_into(service, own_source, target) if isinstance(target, str) else None
    if own_target is None:
        raise not_supported("target_lang")
    return own_source, own_target


def refuse_values(given: Mapping[str, Any]) -> None:
    """Raise RefusedError for a value that DeepL does not take, or that would do nothing here."""
    for name, allowed in _ALLOWED.items():
        value = given.get(name)
        if value is not None and (isinstance(value, list | dict) or value not in allowed):
            raise not_supported(name)
    if given.get("formality") in ("more", "less"):
        raise RefusedError("bad", "'formality' is not supported for given 'target_lang'.")
    for name in _NOT_HERE:
        if given.get(name):
            raise RefusedError("bad", f"'{name}' is not supported by this service.")


def names_of(given: Mapping[str, Any], field: str) -> list[str]:
    """Names in a list or parted by commas; raises RefusedError for anything else."""
    names = given.get(field) or []
    several = names if isinstance(names, list) else [names]
    if not all(isinstance(one, str) for one in several):
        raise not_supported(field)
    return [name.strip() for one in several for name in one.split(",") if name.strip()]


async def wanted_terms(
    request: Request, given: Mapping[str, Any], source: str, target: str
) -> "Terms | Literal['none'] | None":
    """The terms of the glossaries that are asked for; None: those of the run."""
    field = "glossary_ids" if given.get("glossary_ids") else "glossary_id"
    if not given.get(field):
        return None
    names = names_of(given, field)
    if source == AUTO:
        raise RefusedError(
            "bad", "Use of a glossary requires the source_lang parameter to be specified"
        )
    if len(names) > MOST_GLOSSARIES_AT_ONCE:
        raise not_supported("glossary_ids")
    owner, known = owner_of(request), glossaries_of(request)
    found = [known.get(name, owner) for name in names]
    pair = DictionaryPair(base(source), base(target))
    return await anyio.to_thread.run_sync(terms_of, found, pair)  # a large one takes seconds


def _as_bcp47(code: str) -> str:
    """`en-GB` of `EN-GB`, `zh-Hans` of `ZH-HANS`."""
    language, *parts = code.split("-")
    return "-".join([language.lower(), *(p.title() if len(p) == 4 else p.upper() for p in parts)])
