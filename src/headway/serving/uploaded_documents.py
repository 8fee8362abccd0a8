"""A document of a client: what is known of it, and of its review."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from headway.localization.formats.documents import EXACT
from headway.localization.formats.units import Flag, Outcome
from headway.localization.placeholders.segments import Segment
from headway.serving.file_translation import FileLanguages

DocumentStatus = Literal["queued", "translating", "done", "error"]

MEDIA_TYPES = {
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html",
    ".htm": "text/html",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""Of results; of the others `application/octet-stream`. All are sent to be saved, not shown."""


@dataclass
class UploadedDocument:
    """A file that a client sent, and what became of it so far."""

    id: str
    key: str
    """Without it nobody gets the document."""
    kind: str
    """The suffix of its name; no more of the name is kept."""
    languages: FileLanguages
    n_units: int
    n_characters: int
    """Of what is to be translated."""
    client: str
    expires: float
    """By `time.monotonic`."""
    folder: Path
    n_bytes: int
    status: DocumentStatus = "queued"
    n_done: int = 0
    """Units that are translated."""
    error: str = ""
    """Why there is no result, in words."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when nobody wants it any longer."""
    reviewed: bool = False
    review: "ReviewState | None" = None
    """Of a finished one that is to be reviewed."""
    overwrite: bool = False
    """Also what was translated in it already is translated."""
    tag: str = ""
    """The run's, that it is asked for by."""

    @property
    def finished(self) -> bool:
        return self.status in ("done", "error")

    @property
    def place(self) -> Path:
        """The file as it was sent."""
        return self.folder / f"document{self.kind}"

    @property
    def result(self) -> Path:
        return self.folder / f"result{self.kind}"


@dataclass
class ReviewState:
    """The units of a document, and what a person said of them."""

    outcomes: list[Outcome]
    longest: int | None
    """Sub-words that the model reads at once."""
    can_hold: Callable[[Segment], bool]
    """Whether the file's encoding has all characters of a text."""
    said: dict[int, Segment | None] = field(default_factory=dict)
    """What units are to have, by their numbers, where a person said it; None: they are left."""
    flags: dict[int, tuple[Flag, ...]] = field(default_factory=dict)
    """Of what a person wrote, and of what was accepted though its codes are odd."""
    is_written: bool = True
    """The result has all of it."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held by who reads it twice or changes it."""

    def approved(self) -> list[Outcome]:
        """The outcomes, with what a person approved as translations that are known."""
        return [
            replace(one, segment=self.said[n], percent=EXACT, why_not="", rejected=None)
            if n in self.said
            else one
            for n, one in enumerate(self.outcomes)
        ]


class DocumentResult(NamedTuple):
    """A finished file."""

    data: bytes
    name: str
    media_type: str
