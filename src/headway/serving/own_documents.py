"""Files by `/v1`: sent, asked after, fetched; and their units reviewed."""

import json
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.bodies import DocumentForm, GlossaryPair, ReviewBody, read, terms_of
from headway.serving.documents import Documents
from headway.serving.doors import body_of, caller_of, route
from headway.serving.requests import RefusedError
from headway.serving.review import Reviews
from headway.serving.uploaded_documents import DocumentResult, UploadedDocument

KEY = "x-document-key"
"""The header that a document's key comes in; `?document_key=` where a client cannot set one."""


def routes(documents: Documents) -> list[Route]:
    """`/v1/documents` and `/v1/review`."""
    reviews = Reviews(documents.service)

    async def send(request: Request) -> Response:
        """Send a file to be translated."""
        return JSONResponse(told(await _submit(documents, request, reviewed=False)), 202)

    async def send_to_review(request: Request) -> Response:
        """Send a file whose units are to be looked at."""
        return JSONResponse(told(await _submit(documents, request, reviewed=True)), 202)

    async def status(request: Request) -> Response:
        """How far a document is."""
        return JSONResponse(told(documents.status(*_asked(request))))

    async def result(request: Request) -> Response:
        """The translated file."""
        return attachment(await documents.result(*_asked(request)))

    async def forget(request: Request) -> Response:
        """Remove a document now."""
        documents.forget(*_asked(request))
        return Response(status_code=204)

    async def units(request: Request) -> Response:
        """The units of a file, with what was made of them."""
        document = documents.status(*_asked(request))
        if document.status in ("queued", "translating"):
            return JSONResponse(told(document))
        found = await anyio.to_thread.run_sync(reviews.units, document)
        return JSONResponse({**told(document), "units": found})

    async def edit(request: Request) -> Response:
        """Accept units, as they are or with another text."""
        document = documents.status(*_asked(request))
        body = read(ReviewBody, await body_of(request))
        return JSONResponse({"units": await reviews.edit(document, body.units)})

    one, reviewed = "/v1/documents/{id}", "/v1/review/{id}"
    return [
        route("/v1/documents", send),
        route(one, status, methods=("GET",)),
        route(one, forget, methods=("DELETE",)),
        route(f"{one}/result", result, methods=("GET",)),
        route("/v1/review", send_to_review),
        route(reviewed, units, methods=("GET",)),
        route(reviewed, edit),
        route(f"{reviewed}/result", result, methods=("GET",)),
    ]


async def _submit(documents: Documents, request: Request, *, reviewed: bool) -> UploadedDocument:
    given = await body_of(request)
    file = given.pop("file", None)
    if not isinstance(file, UploadFile):
        raise RefusedError("bad", 'a file comes as the field "file" of a form (multipart)')
    form = read(DocumentForm, given)
    data = await file.read()
    return await documents.submit(
        file.filename or "",
        data,
        form.source,
        form.target,
        terms=await anyio.to_thread.run_sync(terms_of, _glossary(form.glossary)),
        caller=caller_of(request),
        overwrite=form.overwrite == "true",
        reviewed=reviewed,
        tag=form.tag,
    )


def _glossary(given: str | None) -> list[GlossaryPair] | None:
    if given is None:
        return None
    try:
        rows = json.loads(given)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise RefusedError("bad", "glossary: a list of terms as JSON")
    return [read(GlossaryPair, row) for row in rows]


def _asked(request: Request) -> tuple[str, str]:
    """Id and key of the document that is asked for."""
    key = request.headers.get(KEY) or request.query_params.get("document_key", "")
    return request.path_params["id"], key


def told(document: UploadedDocument) -> dict[str, Any]:
    """A document as JSON; its key is told to those who have it only."""
    source, target, sureness = document.languages
    return {
        "id": document.id,
        "key": document.key,
        "kind": document.kind,
        "source": source,
        "target": target,
        "sureness": sureness,
        "status": document.status,
        "units": document.n_units,
        "done": document.n_done,
        "error": document.error or None,
    }


def attachment(result: DocumentResult) -> Response:
    """A file to be saved: no browser shows what is in it."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(result.name)}",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(result.data, media_type=result.media_type, headers=headers)
