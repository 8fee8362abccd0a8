"""DeepL's documents: sent, asked after with their key, and fetched."""

from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.serving.deepl import pair_of, refuse_values, route, wanted_terms
from headway.serving.documents import Documents
from headway.serving.doors import body_of, caller_of
from headway.serving.own_documents import attachment
from headway.serving.requests import RefusedError
from headway.serving.service import Service
from headway.serving.uploaded_documents import UploadedDocument


def routes(service: Service) -> list[Route]:
    """`/v2/document`: sending one is work; asking after it is not."""

    async def send(request: Request) -> Response:
        """Take a file in; its id and key are told."""
        given = await body_of(request)
        file = given.get("file")
        if not isinstance(file, UploadFile):
            raise RefusedError("bad", "Invalid file data.")
        source, target = pair_of(service, given)
        refuse_values(given)
        name = given.get("filename") or file.filename or ""
        if not isinstance(name, str):
            raise RefusedError("bad", "Invalid file data.")
        _refuse_conversion(name, given.get("output_format"))
        document = await documents_of(request).submit(
            name,
            await file.read(),
            source,
            target,
            terms=await wanted_terms(request, given, source, target),
            caller=caller_of(request),
        )
        return JSONResponse({"document_id": document.id, "document_key": document.key})

    both = ("GET", "POST")
    return [
        route("/v2/document", send),
        route("/v2/document/{id}", status, methods=both, works=False),
        route("/v2/document/{id}/result", result, methods=both, works=False),
    ]


def documents_of(request: Request) -> Documents:
    """Those of the application."""
    found = request.app.state.documents
    assert isinstance(found, Documents)
    return found


async def status(request: Request) -> Response:
    """How far a document is."""
    found = await _asked(request)
    content: dict[str, Any] = {"document_id": found.id, "status": found.status}
    if found.status == "done":
        content["billed_characters"] = found.n_characters
    elif found.status == "error":
        content["error_message"] = content["message"] = found.error
    return JSONResponse(content)


async def result(request: Request) -> Response:
    """The translated file."""
    found = await _asked(request)
    return attachment(await documents_of(request).result(found.id, found.key))


async def _asked(request: Request) -> UploadedDocument:
    """The document of an address, for who has its key; raises RefusedError for others."""
    given = {**request.query_params, **await body_of(request)}
    caller_of(request)
    key = given.get("document_key")
    return documents_of(request).status(
        request.path_params["id"], key if isinstance(key, str) else ""
    )


def _refuse_conversion(name: str, output_format: Any) -> None:
    """A file comes back as what it was."""
    wanted = str(output_format or "").lower().lstrip(".")
    if wanted and not name.lower().endswith(f".{wanted}"):
        raise RefusedError("bad", "A file is not converted: 'output_format' is that of the file.")
