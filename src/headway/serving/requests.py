"""What a door asks of the service, what it gets, and how it is refused: no HTTP in here."""

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headway.core.errors import UserError
from headway.serving.xml_outline import NO_TAGS, XmlTags

if TYPE_CHECKING:
    from headway.localization.checks.calibration import Verdict
    from headway.localization.terms.keeping import Terms
    from headway.translation.detailed import Translation

AUTO = "auto"
"""As a source language: each text's own is found."""

Reason = Literal[
    "bad",
    "language",
    "too_long",
    "large",
    "slow",
    "key",
    "rate",
    "quota",
    "absent",
    "busy",
    "late",
    "stopping",
]
"""Why a request is refused; each door has its own words and status for it."""


class RefusedError(UserError):
    """A request that is not done."""

    def __init__(self, reason: Reason, message: str, retry_after_s: float | None = None) -> None:
        """`retry_after_s` tells a client when to come again."""
        super().__init__(message)
        self.reason, self.retry_after_s = reason, retry_after_s


@dataclass
class Caller:
    """On whose behalf work is done: the scheduler is fair among them, and stops for those who left.

    It travels in `CALLER` from the request to the engine.
    """

    client: str = ""
    """A key's name or an address, hashed; never told."""
    deadline: float | None = None
    """By `time.monotonic`; what has not begun by then does not begin."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when nobody is to work for it any more: the client left, or the service ends."""
    charge: Callable[[int], None] = lambda n: None
    """Counts characters of the texts that are asked for; raises RefusedError above a quota. What is
    refused then is given back, as a negative number."""
    is_accepted: bool = False
    """Some of its work was begun: what follows is not refused for want of room."""

    def refuse_over(self, _n_done: int = 0) -> None:
        """Raise RefusedError where nobody waits for an answer any more; asked between batches."""
        if self.gone.is_set():
            raise RefusedError("late", "nobody waits for this any more")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise RefusedError("late", "this was not done in time; ask for less at once", 1.0)


NOBODY = Caller()
CALLER: ContextVar[Caller] = ContextVar("caller", default=NOBODY)


class TranslationRequest(NamedTuple):
    """Texts and how they are to be translated."""

    texts: Sequence[str]
    target: str
    source: str = AUTO
    markup: Literal["text", "html", "xml"] = "text"
    xml_tags: XmlTags = NO_TAGS
    n_best: int = 1
    prefixes: Sequence[str] = ()
    """What each translation begins with; empty: nothing is asked for."""
    terms: "Terms | Literal['none'] | None" = None
    """None: those of the run."""
    use_memory: bool = True
    """Take exact translations of corrections and memories first."""
    details: bool = False
    """Alignments, confidence and flags are wanted."""
    pivot: str = ""
    """A third language to go through where no run knows the pair; "auto" takes any."""
    tag: str | None = None
    decoding: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    """Settings of `SamplingSettings`, such as `beam` and `method`."""


class ServedText(NamedTuple):
    """What became of one text."""

    text: str
    source: str
    """Code of the language that it was in, as given or found."""
    sureness: float | None = None
    """Probability of a language that was found; None for one that was given."""
    alternatives: Sequence[str] = ()
    """The others of the n best."""
    origin: str = "model"
    """`model`, `memory`, `correction`, `pivot:en`, or `none` where the text was left as it was."""
    translation: "Translation | None" = None
    """All that is known of it, where the model made it of the text as a whole."""
    verdict: "Verdict | None" = None
    """Where details were wanted."""
    n_cut: int = 0
    """Sub-words of the text that were too many and were not read."""


class Detection(NamedTuple):
    """A language that a text may be in."""

    language: str
    """Its code, as the runs have it."""
    sureness: float
    """Its probability, 0 to 1."""


class ServedPair(NamedTuple):
    """Two languages that a run translates."""

    source: str
    target: str
