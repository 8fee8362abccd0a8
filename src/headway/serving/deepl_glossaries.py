"""DeepL's glossaries of both kinds: `/v2`, of one pair of languages, and `/v3`, of several."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.languages.codes import base
from headway.serving.deepl import glossaries_of, not_supported, owner_of, route
from headway.serving.doors import body_of
from headway.serving.glossary_store import (
    MOST_DICTIONARIES,
    MOST_NAME_BYTES,
    DictionaryPair,
    Entries,
    StoredGlossary,
    read_entries,
)
from headway.serving.requests import RefusedError
from headway.serving.service import Service

Dictionaries = dict[DictionaryPair, Entries]


def routes(service: Service) -> list[Route]:
    """All that DeepL's clients ask about glossaries."""
    door = GlossaryDoor(service)
    get, delete = ("GET",), ("DELETE",)
    v2, v3 = "/v2/glossaries", "/v3/glossaries"
    return [
        route("/v2/glossary-language-pairs", door.pairs, methods=get),
        route(v2, door.create_of_one_pair, works=False),
        route(v2, list_of_one_pair, methods=get),
        route(f"{v2}/{{id}}", get_of_one_pair, methods=get),
        route(f"{v2}/{{id}}", remove, methods=delete),
        route(f"{v2}/{{id}}/entries", entries_of_one_pair, methods=get),
        route(v3, door.create, works=False),
        route(v3, list_all, methods=get),
        route(f"{v3}/{{id}}", get_one, methods=get),
        route(f"{v3}/{{id}}", remove, methods=delete),
        route(f"{v3}/{{id}}", door.change, methods=("PATCH",)),
        route(f"{v3}/{{id}}/dictionaries", door.replace_dictionary, methods=("PUT",)),
        route(f"{v3}/{{id}}/dictionaries", remove_dictionary, methods=delete),
        route(f"{v3}/{{id}}/entries", entries, methods=get),
    ]


class GlossaryDoor:
    """What needs to know which languages are served."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @property
    def known(self) -> list[DictionaryPair]:
        """The pairs that a dictionary can be for."""
        pairs = self.service.runs.pairs
        return list(dict.fromkeys(DictionaryPair(base(a), base(b)) for a, b in pairs))

    async def pairs(self, request: Request) -> Response:
        """Of which languages there can be glossaries."""
        del request
        rows = [{"source_lang": one.source, "target_lang": one.target} for one in self.known]
        return JSONResponse({"supported_languages": rows})

    async def create_of_one_pair(self, request: Request) -> Response:
        """A glossary of one dictionary."""
        given = await body_of(request)
        name = _name(given)
        made = await self._dictionary(given)
        return JSONResponse(_of_one_pair(await _create(request, name, made)), 201)

    async def create(self, request: Request) -> Response:
        """A glossary of several dictionaries."""
        given = await body_of(request)
        name = _name(given)
        made = await self._dictionaries(given.get("dictionaries"))
        if not made:
            raise RefusedError("bad", "Glossary dictionaries must be provided")
        return JSONResponse(_told(await _create(request, name, made)), 201)

    async def change(self, request: Request) -> Response:
        """Another name; entries that are added to those of their languages, or change them."""
        glossary = _asked(request)
        given = await body_of(request)
        name = _name(given) if "name" in given else None
        added = await self._dictionaries(given.get("dictionaries", []))
        return JSONResponse(_told(await _change(request, glossary, name, added=added)))

    async def replace_dictionary(self, request: Request) -> Response:
        """A dictionary in the place of the one that its languages had."""
        glossary = _asked(request)
        made = await self._dictionary(await body_of(request))
        changed = await _change(request, glossary, made=made)
        (pair,) = made
        return JSONResponse(_dictionary_told(pair, changed.dictionaries[pair]))

    async def _dictionaries(self, given: Any) -> Dictionaries:
        if not isinstance(given, list) or len(given) > MOST_DICTIONARIES:
            raise not_supported("dictionaries")
        found: Dictionaries = {}
        for one in given:
            if not isinstance(one, dict):
                raise not_supported("dictionaries")
            found |= await self._dictionary(one)
        return found

    async def _dictionary(self, given: Mapping[str, Any]) -> Dictionaries:
        pair = _pair(given)
        if pair not in self.known:
            raise RefusedError("bad", "Unsupported glossary source and target language pair")
        text, kind = given.get("entries"), given.get("entries_format") or "tsv"
        if not isinstance(text, str) or not text:
            raise RefusedError("bad", "Missing or invalid argument: entries")
        if kind not in ("tsv", "csv"):
            raise not_supported("entries_format")
        return {pair: await anyio.to_thread.run_sync(read_entries, text, kind)}


async def list_of_one_pair(request: Request) -> Response:
    """The glossaries that have one dictionary."""
    found = [one for one in glossaries_of(request).of(owner_of(request)) if _is_of_one_pair(one)]
    return JSONResponse({"glossaries": [_of_one_pair(one) for one in found]})


async def get_of_one_pair(request: Request) -> Response:
    """One of them."""
    return JSONResponse(_of_one_pair(_asked_of_one_pair(request)))


async def entries_of_one_pair(request: Request) -> Response:
    """As lines of source, tab and target."""
    (entries_of,) = _asked_of_one_pair(request).dictionaries.values()
    kind = "text/tab-separated-values; charset=utf-8"
    return Response(_lines(entries_of), headers={"Content-Type": kind})


async def list_all(request: Request) -> Response:
    """The glossaries of who asks."""
    found = glossaries_of(request).of(owner_of(request))
    return JSONResponse({"glossaries": [_told(one) for one in found]})


async def get_one(request: Request) -> Response:
    """A glossary."""
    return JSONResponse(_told(_asked(request)))


async def remove(request: Request) -> Response:
    """Remove a glossary."""
    await anyio.to_thread.run_sync(glossaries_of(request).remove, _asked(request))
    return Response(status_code=204)


async def entries(request: Request) -> Response:
    """The dictionary of two languages."""
    glossary, pair = _asked(request), _pair(request.query_params)
    row = {"source_lang": pair.source, "target_lang": pair.target, "entries_format": "tsv"}
    found = _lines(_entries_of(glossary, pair))
    return JSONResponse({"dictionaries": [{**row, "entries": found}]})


async def remove_dictionary(request: Request) -> Response:
    """Remove the dictionary of two languages."""
    glossary, pair = _asked(request), _pair(request.query_params)
    _entries_of(glossary, pair)
    await _change(request, glossary, made={pair: None})
    return Response(status_code=204)


async def _create(request: Request, name: str, made: Dictionaries) -> StoredGlossary:
    work = partial(glossaries_of(request).create, owner_of(request), name, made)
    return await anyio.to_thread.run_sync(work)


async def _change(
    request: Request,
    glossary: StoredGlossary,
    name: str | None = None,
    *,
    made: Mapping[DictionaryPair, Entries | None] | None = None,
    added: Dictionaries | None = None,
) -> StoredGlossary:
    work = partial(glossaries_of(request).change, glossary, name, made, added)
    return await anyio.to_thread.run_sync(work)


def _asked(request: Request) -> StoredGlossary:
    return glossaries_of(request).get(request.path_params["id"], owner_of(request))


def _asked_of_one_pair(request: Request) -> StoredGlossary:
    glossary = _asked(request)
    if not _is_of_one_pair(glossary):
        raise RefusedError("bad", "A glossary of several dictionaries is asked for at /v3")
    return glossary


def _is_of_one_pair(glossary: StoredGlossary) -> bool:
    return len(glossary.dictionaries) == 1


def _name(given: Mapping[str, Any]) -> str:
    name = given.get("name")
    if not isinstance(name, str) or not name or len(name.encode()) > MOST_NAME_BYTES:
        raise RefusedError("bad", "Missing or invalid argument: name")
    return name


def _pair(given: Mapping[str, Any]) -> DictionaryPair:
    """The languages of a dictionary, without regions."""
    source, target = given.get("source_lang"), given.get("target_lang")
    for name, code in (("source_lang", source), ("target_lang", target)):
        if not isinstance(code, str) or not code:
            raise RefusedError("bad", f"Missing or invalid argument: {name}")
    return DictionaryPair(base(source), base(target))


def _entries_of(glossary: StoredGlossary, pair: DictionaryPair) -> Entries:
    found = glossary.dictionaries.get(pair)
    if found is None:
        raise RefusedError("absent", "Dictionary not found")
    return found


def _lines(entries_of: Entries) -> str:
    return "\n".join(f"{source}\t{target}" for source, target in entries_of.items())


def _dictionary_told(pair: DictionaryPair, entries_of: Entries) -> dict[str, Any]:
    languages = {"source_lang": pair.source, "target_lang": pair.target}
    return {**languages, "entry_count": len(entries_of)}


def _told(glossary: StoredGlossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "creation_time": glossary.created,
        "dictionaries": [_dictionary_told(*one) for one in glossary.dictionaries.items()],
    }


def _of_one_pair(glossary: StoredGlossary) -> dict[str, Any]:
    told = _told(glossary)
    (dictionary,) = told.pop("dictionaries")
    return {**told, "ready": True, **dictionary}
