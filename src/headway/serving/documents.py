"""Files that clients send: kept in a private folder for a while, translated one after another."""

import hmac
import logging
import queue
import secrets
import shutil
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from headway.core.disk import write_bytes
from headway.core.errors import HeadwayError
from headway.corpora.mixing import chosen_tag
from headway.serving.file_translation import (
    OpenedUpload,
    WantedTerms,
    filled,
    kind_of_name,
    open_upload,
    refuse_many_lines,
    refuse_untouched,
    translated,
    without_place,
)
from headway.serving.requests import CALLER, NOBODY, Caller, RefusedError
from headway.serving.service import Service
from headway.serving.uploaded_documents import (
    MEDIA_TYPES,
    DocumentResult,
    ReviewState,
    UploadedDocument,
)

GONE = (
    "there is no such document, or the key is another's; documents are kept for a while only, and "
    "not over a restart. Send it again."
)
STOPPED = "the service was stopped before this document was finished. Send it again."
READ_AT_ONCE = 2
"""Files that are read to see whether they can be translated: requests for texts go on beside it."""
_POLL_S = 0.05
_SWEPT_S = 30.0
_UNIT_BYTES = 2_000
"""About what the outcome of a unit takes in memory."""
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class DocumentLimits:
    """What is kept, and for how long."""

    all_bytes: int = 256 << 20
    """Of all that are kept, results included."""
    kept_s: float = 3600.0
    """From when it was sent."""
    waiting: int = 64
    """Documents that are not finished, of all clients."""
    waiting_each: int = 8
    """The same of one client."""


class _StoppedError(Exception):
    """Nobody waits for it any longer."""


class Documents:
    """The documents of a service."""

    def __init__(
        self,
        service: Service,
        folder: Path | None = None,
        limits: DocumentLimits = DocumentLimits(),
    ) -> None:
        """With the first document a folder that only this process's user can read is made in
        `folder`, by default in that for temporary files; it goes with `close`."""
        self.service, self.limits = service, limits
        self._parent, self._made = folder, ""
        self._readers: anyio.CapacityLimiter | None = None
        self._known: dict[str, UploadedDocument] = {}
        self._lock = threading.Lock()
        self._jobs: queue.Queue[tuple[UploadedDocument, WantedTerms] | None] = queue.Queue()
        self._worker = threading.Thread(target=self._work, name="documents", daemon=True)
        self._closed = False

    async def submit(
        self,
        name: str,
        data: bytes,
        source: str,
        target: str,
        *,
        terms: WantedTerms = None,
        caller: Caller,
        overwrite: bool = False,
        reviewed: bool = False,
        tag: str = "",
    ) -> UploadedDocument:
        """Take a file in; of its name only the suffix is used.

        `overwrite`: what is translated in it already is translated, too; `reviewed`: its units
        can be looked at; `tag`: one of the run's.

        Raises RefusedError: its kind is unknown, it cannot be read or has nothing to translate,
        nobody translates its language, it is too large, or too many are waiting; ConfigError: the
        run has no such tag, or it must be told which.
        """
        work = partial(
            self._take, name, data, source, target, terms, caller, overwrite, reviewed, tag
        )
        if self._readers is None:
            self._readers = anyio.CapacityLimiter(READ_AT_ONCE)
        return await anyio.to_thread.run_sync(work, limiter=self._readers)

    def status(self, document_id: str, key: str) -> UploadedDocument:
        """The document; raises RefusedError where there is none with this id and key."""
        self._sweep()
        with self._lock:
            found = self._known.get(document_id)
        right = found.key if found else secrets.token_urlsafe(24)
        if not hmac.compare_digest(right.encode(), key.encode("utf-8", "replace")) or not found:
            raise RefusedError("absent", GONE)
        return found

    async def result(self, document_id: str, key: str) -> DocumentResult:
        """The translated file; raises RefusedError where there is none, or none yet."""
        found = self.status(document_id, key)
        if found.status == "error":
            raise RefusedError("bad", found.error)
        if not found.finished:
            raise RefusedError("late", "the document is not finished yet", retry_after_s=1)
        try:
            data = await anyio.to_thread.run_sync(self._result, found)
        except FileNotFoundError:
            raise RefusedError("absent", GONE) from None
        name = f"translated.{found.languages.target}{found.kind}"
        return DocumentResult(data, name, MEDIA_TYPES.get(found.kind, "application/octet-stream"))

    async def finished(
        self, document: UploadedDocument, caller: Caller = NOBODY
    ) -> UploadedDocument:
        """The document once it is finished, whatever became of it; if its caller leaves before, it
        is removed, and a RefusedError raised."""
        while not document.finished:
            if caller.gone.is_set():
                self._drop(document)
                caller.refuse_over()
            await anyio.sleep(_POLL_S)
        return document

    def forget(self, document_id: str, key: str) -> None:
        """Remove a document now, done or not; raises RefusedError where there is none."""
        self._drop(self.status(document_id, key))

    def close(self) -> None:
        """Stop: what is not finished says so, and nothing stays on the disk."""
        with self._lock:
            self._closed = True
            known = list(self._known.values())
        for one in known:
            one.gone.set()
        if self._worker.is_alive():
            self._jobs.put(None)
            self._worker.join(timeout=10)
        for one in known:
            if not one.finished:
                one.error, one.status = STOPPED, "error"
        if self._made:
            shutil.rmtree(self._made, ignore_errors=True)

    def _take(
        self,
        name: str,
        data: bytes,
        source: str,
        target: str,
        terms: WantedTerms,
        caller: Caller,
        overwrite: bool,
        reviewed: bool,
        tag: str,
    ) -> UploadedDocument:
        kind, limits = kind_of_name(name), self.limits
        most = self.service.limits.max_file_mb << 20
        if 0 < most < len(data):
            raise RefusedError(
                "large", f"a file has at most {most:,} bytes; this has {len(data):,}. Split it."
            )
        refuse_many_lines(kind, data)
        self._sweep()
        self._refuse_crowd(caller.client, len(data))
        folder = self._new_folder()
        place = folder / f"document{kind}"
        try:
            place.write_bytes(data)
            opened = open_upload(self.service, place, source, target, overwrite=overwrite)
            chosen_tag(tag or None, self.service.runs.of(*opened.languages[:2]).tags)
            caller.charge(opened.n_characters)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise RefusedError("busy", "there is no room for documents", 60) from None
            raise
        document = UploadedDocument(
            id=secrets.token_urlsafe(18),
            key=secrets.token_urlsafe(24),
            kind=kind,
            languages=opened.languages,
            n_units=len(opened.document.gaps),
            n_characters=opened.n_characters,
            client=caller.client,
            expires=time.monotonic() + limits.kept_s,
            folder=folder,
            n_bytes=2 * len(data) + _UNIT_BYTES * len(opened.document.gaps) * reviewed,
            reviewed=reviewed,
            overwrite=overwrite,
            tag=tag,
        )
        with self._lock:
            if self._closed:
                shutil.rmtree(folder, ignore_errors=True)
                raise RefusedError("stopping", STOPPED)
            self._known[document.id] = document
            if self._worker.ident is None:
                self._worker.start()
        self._jobs.put((document, terms))
        return document

    def _new_folder(self) -> Path:
        try:
            with self._lock:
                if not self._made:
                    made = tempfile.mkdtemp(prefix="headway-documents-", dir=self._parent)
                    weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
                    self._made = made
            return Path(tempfile.mkdtemp(dir=self._made))
        except OSError:
            raise RefusedError("busy", "there is no room for documents", 60) from None

    def _refuse_crowd(self, client: str, n_bytes: int) -> None:
        with self._lock:
            known = list(self._known.values())
            if self._closed:
                raise RefusedError("stopping", STOPPED)
        waiting = [one for one in known if not one.finished]
        mine = sum(one.client == client for one in waiting)
        if len(waiting) >= self.limits.waiting or mine >= self.limits.waiting_each:
            raise RefusedError(
                "busy", f"{len(waiting)} documents are waiting already", retry_after_s=10
            )
        if sum(one.n_bytes for one in known) + 2 * n_bytes > self.limits.all_bytes:
            soonest = min(one.expires for one in known) - time.monotonic() if known else 60
            raise RefusedError("busy", "there is no room for more documents", max(1, soonest))

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=_SWEPT_S)
            except queue.Empty:
                self._sweep()
                continue
            if job is None:
                return
            document, terms = job
            try:
                self._translate(document, terms)
            except _StoppedError:
                document.error, document.status = STOPPED, "error"
            except HeadwayError as error:
                document.error = without_place(str(error), document.place)
                document.status = "error"
            except Exception as error:  # one document must not end the work on all others
                _LOG.error("a document failed: %s", type(error).__name__)
                document.error = "something went wrong with this document on our side"
                document.status = "error"
            self._sweep()

    def opened(self, document: UploadedDocument) -> OpenedUpload:
        """The file as it was sent, opened anew; raises RefusedError as `open_upload`."""
        source, target, _ = document.languages
        return open_upload(
            self.service, document.place, source, target, overwrite=document.overwrite
        )

    def _translate(self, document: UploadedDocument, terms: WantedTerms) -> None:
        CALLER.set(Caller(document.client, None, document.gone))

        def tell(n_done: int) -> None:
            document.n_done = n_done
            if document.gone.is_set():
                raise _StoppedError

        tell(0)
        document.status = "translating"
        run = self.service.runs.of(*document.languages[:2])
        opened = self.opened(document)
        with self.service.runs.using(run) as translator:
            known = self.service.known
            outcomes = translated(opened, translator, known, terms, tell, document.tag)
        if document.reviewed:
            can_hold = opened.document.can_hold
            document.review = ReviewState(outcomes, translator.longest, can_hold)
        else:
            refuse_untouched(outcomes)
        document.result.write_bytes(filled(opened, outcomes))
        document.status = "done"

    def _result(self, document: UploadedDocument) -> bytes:
        """The bytes of a finished one, written anew if a person said something since."""
        state = document.review
        if state is None:
            return document.result.read_bytes()
        with state.lock:
            if not state.is_written:
                data = filled(self.opened(document), state.approved())
                write_bytes(document.result, data)
                state.is_written = True
            return document.result.read_bytes()

    def _sweep(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [one for one in self._known.values() if one.expires <= now]
        for one in late:
            self._drop(one)

    def _drop(self, document: UploadedDocument) -> None:
        document.gone.set()
        with self._lock:
            self._known.pop(document.id, None)
        shutil.rmtree(document.folder, ignore_errors=True)
