"""Files as LibreTranslate takes them: sent, and fetched at an address that is told."""

from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from headway.languages.codes import suffix_of
from headway.serving.deepl_documents import documents_of
from headway.serving.doors import body_of, route
from headway.serving.file_translation import KINDS
from headway.serving.guard import guard_key
from headway.serving.libretranslate import in_own_words, key_of, pair_of
from headway.serving.own_documents import attachment
from headway.serving.requests import RefusedError
from headway.serving.service import Service


def routes(service: Service) -> list[Route]:
    """`/translate_file`, and `/download_file`, whose address has a document's own key."""

    async def translate(request: Request) -> Response:
        """A file; the answer comes when it is translated."""
        given = await body_of(request)
        caller = await guard_key(request, key_of(given))
        file = given.get("file")
        if not isinstance(file, UploadFile):
            raise RefusedError("bad", "Invalid request: missing file parameter")
        source, target = pair_of(service, given)
        name = file.filename or ""
        if not name:
            raise RefusedError("bad", "Invalid request: empty file")
        if suffix_of(Path(name[-255:])) not in KINDS:
            raise RefusedError("bad", "Invalid request: file format not supported")
        documents = documents_of(request)
        document = await documents.submit(name, await file.read(), source, target, caller=caller)
        await documents.finished(document, caller)
        if document.status == "error":
            raise RefusedError("bad", document.error)
        # the guard has seen to it that the service is known by this name
        host = request.headers["host"]
        place = f"{document.id}.{document.key}{document.kind}"
        url = f"{request.url.scheme}://{host}/download_file/{place}"
        return JSONResponse({"translatedFileUrl": url})

    return [
        route("/translate_file", translate, refuse=in_own_words, key_in_body=True),
        route("/download_file/{place}", download, methods=("GET",), is_open=True),
    ]


async def download(request: Request) -> Response:
    """A file that is finished."""
    document_id, _, rest = str(request.path_params["place"]).partition(".")
    key = rest.partition(".")[0]
    return attachment(await documents_of(request).result(document_id, key))
