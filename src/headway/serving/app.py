"""The application: every door of the service, behind one guard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from headway.core.errors import DataError
from headway.serving import (
    apertium,
    browser_readers,
    completions,
    deepl,
    deepl_documents,
    deepl_glossaries,
    libretranslate,
    libretranslate_files,
    openapi,
    own,
    own_documents,
    page_routes,
)
from headway.serving.described import descriptions
from headway.serving.documents import Documents
from headway.serving.doors import not_allowed, not_found, route
from headway.serving.glossary_store import GlossaryStore
from headway.serving.guard import Guard
from headway.serving.keys import ApiKeys
from headway.serving.metrics import Metrics, resident_bytes
from headway.serving.requests import ServedPair
from headway.serving.runs import RunState
from headway.serving.service import Service

DOORS: tuple[Callable[[Service], Sequence[Route]], ...] = (
    libretranslate.routes, libretranslate_files.routes, deepl_documents.routes,
    deepl_glossaries.routes, deepl.routes, apertium.routes, browser_readers.routes,
    completions.routes, page_routes.routes, own.routes,
)  # fmt: skip
"""Each gives its routes for a service."""


def _told(run: RunState) -> dict[str, Any]:
    """What anybody may know of a run: nothing of its place."""
    state = "ready" if run.is_loaded else "not loaded"
    if run.trouble:
        state = "outdated" if run.is_loaded else "broken"
    return {**run.pair._asdict(), "state": state}


@dataclass
class Served:
    """An application and what a server has to know of it."""

    app: Guard
    service: Service
    metrics: Metrics
    documents: Documents

    def reload(self) -> None:
        """Take up runs and keys as they are now; what cannot be read stays as it was."""
        self.service.runs.reload_soon()
        if self.app.keys is not None:
            try:
                self.app.keys.read()
            except DataError as error:
                self.service.runs.say(f"the keys stay as they were: {error}")


def application(
    service: Service,
    keys: ApiKeys | None = None,
    *,
    names: Sequence[str] = (),
    origins: Sequence[str] = (),
    state: Path | None = None,
) -> Served:
    """What a server runs; see `Guard` for what the arguments mean.

    `state` is a folder in which it keeps what clients made; else they are lost with it. Raises
    DataError where something in there cannot be read.
    """
    metrics, documents = Metrics(), Documents(service)
    glossaries = GlossaryStore(state / "glossaries" if state else None)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        stopping = guard.stopping
        told = {
            "status": "stopping" if stopping else "ok",
            "runs": list(map(_told, service.runs.states())),
        }
        return JSONResponse(told, 503 if stopping else 200)

    async def measured(_: Request) -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    routes = [
        route("/health", health, methods=("GET",), is_open=True),
        route("/ready", ready, methods=("GET",), is_open=True),
        route("/metrics", measured, methods=("GET",)),
        *(one for door in DOORS for one in door(service)),
        *own_documents.routes(documents),
    ]
    pairs = service.runs.pairs or [ServedPair("en", "de")]
    described = descriptions(pairs[0])
    routes += openapi.routes(routes, described, with_keys=keys is not None)
    app = Starlette(routes=routes, exception_handlers={404: not_found, 405: not_allowed})
    app.state.glossaries, app.state.documents = glossaries, documents
    guard = Guard(app, service.limits, metrics, keys, names=names, origins=origins)
    metrics.gauges["requests_in_work"] = lambda: guard.working
    metrics.gauges["resident_bytes"] = resident_bytes
    metrics.gauges["runs_loaded"] = lambda: sum(one.is_loaded for one in service.runs.states())
    return Served(guard, service, metrics, documents)
