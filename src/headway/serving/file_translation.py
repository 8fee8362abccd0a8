"""One file that a client sent: opened, translated unit by unit, and written as it was around them.

No client's path is opened: a file lies where the service put it, under a name of the service's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from headway.core.errors import HeadwayError
from headway.core.lines import shown
from headway.filling.filling import AT_ONCE, OtherLanguageError, open_one, unit_of, writable
from headway.filling.flow import Flow, Steps
from headway.filling.inputs import FileJob
from headway.filling.judging import RunChecks
from headway.filling.memories import training_memories
from headway.languages.codes import LanguagePair, suffix_of
from headway.localization.formats.documents import EXACT, Document
from headway.localization.formats.file_kinds import FILE_KINDS
from headway.localization.formats.units import Match, Outcome, Unit
from headway.localization.memory.building import own_memory
from headway.localization.memory.memory import SHOWN_FROM, Memories, Memory
from headway.localization.placeholders.accelerators import sign_of
from headway.localization.terms import NONE
from headway.localization.terms.keeping import Terms
from headway.serving.memories import KnownTranslations
from headway.serving.requests import AUTO, RefusedError, ServedPair, TranslationRequest
from headway.serving.service import Service
from headway.translator import Translator

KINDS = (".txt", *FILE_KINDS)
"""Of files that are taken, by the suffixes of their names."""
LINES = (".txt", ".tsv", ".csv", ".jsonl")
"""Of these, those that have a text on each line."""
MOST_UNITS = 50_000
_HEARD = 4_000
"""Characters of a file by which its language is told."""

WantedTerms = Terms | Literal["none"] | None
Tell = Callable[[int], None]
"""Hears how many units are done; what it raises ends the translation."""


class FileLanguages(NamedTuple):
    """The languages of a file, and how sure it is of the first, where it was found."""

    source: str
    target: str
    sureness: float | None = None


@dataclass
class OpenedUpload:
    """A file that can be translated."""

    place: Path
    languages: FileLanguages
    document: Document
    overwrite: bool

    @property
    def n_characters(self) -> int:
        """Of what is to be translated."""
        return sum(len(gap.source.text) for gap in self.document.gaps)

    def reopened(self) -> "OpenedUpload":
        """The same as it lies on the disk."""
        languages = LanguagePair(*self.languages[:2])
        document = open_one(FileJob(self.place, None), languages, overwrite=self.overwrite)
        return replace(self, document=document)


def kind_of_name(name: str) -> str:
    """The suffix of a file's name, which is all that is used of it.

    Raises RefusedError for a kind that is not translated: it would come back as it was.
    """
    kind = suffix_of(Path(name[-255:]))
    if name.lower().endswith(".gz"):
        raise RefusedError("bad", "a packed file is not taken. Unpack it first.")
    if kind not in KINDS:
        raise RefusedError(
            "bad",
            f"a file that is translated is one of {', '.join(KINDS)}; "
            f"got {kind[:20] or 'a name without a suffix'}. Save it as one of these.",
        )
    return kind


def open_upload(
    service: Service, place: Path, source: str, target: str, *, overwrite: bool = False
) -> OpenedUpload:
    """Read a file; `overwrite`: also what is translated in it already is translated.

    Raises RefusedError: it cannot be read, has nothing to translate, or is in a language that no
    run of the service translates.
    """
    known = LanguagePair(None if source.lower() == AUTO else source, target)
    try:
        document = open_one(FileJob(place, None), known, overwrite=overwrite)
        _refuse_idle(document)
        languages = _languages(service, document, source, target)
        opened = OpenedUpload(place, languages, document, overwrite)
        return opened if known.source_language else opened.reopened()
    except RefusedError:
        raise
    except OtherLanguageError as error:
        if known.source_language:
            service.runs.of(source, target)  # where nobody translates that, this is what is said
        raise RefusedError(
            "bad",
            f"the file says that its {error.side} is {error.found}; {error.expected} was asked "
            "for. Ask for the file's own, or mend what it says.",
        ) from None
    except HeadwayError as error:
        raise RefusedError("bad", without_place(str(error), place)) from None
    except RecursionError:
        raise RefusedError("bad", "the file is nested too deeply") from None


def refuse_many_lines(kind: str, data: bytes) -> None:
    """Refuse a file of one text a line that has too many, before any is read."""
    if kind in LINES and (n_lines := data.count(b"\n")) > MOST_UNITS:
        raise RefusedError(
            "too_long", f"a file has at most {MOST_UNITS:,} lines; this has {n_lines:,}. Split it."
        )


def without_place(message: str, place: Path) -> str:
    """A message that names the file by what the client knows of it."""
    return message.replace(str(place), "the file").replace(place.name, "the file")


def _refuse_idle(document: Document) -> None:
    n_gaps = len(document.gaps)
    if n_gaps > MOST_UNITS:
        raise RefusedError(
            "too_long", f"a file has at most {MOST_UNITS:,} texts; this has {n_gaps:,}. Split it."
        )
    if n_gaps:
        return
    left = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in document.counts.left.items())
    raise RefusedError(
        "bad", f"there is nothing to translate in the file ({left or 'it has no text'})."
    )


def _languages(service: Service, document: Document, source: str, target: str) -> FileLanguages:
    sureness: float | None = None
    if source.lower() == AUTO:
        source = document.source_language or ""
        if not source:
            text = _some_text(document)
            source, sureness = service.language_of(text, TranslationRequest([text], target))
    pair = service.runs.of(source, target).pair
    return FileLanguages(pair.source, pair.target, sureness)


def _some_text(document: Document) -> str:
    found = ""
    for gap in document.gaps:
        found += f"{gap.source.outside_codes}\n"
        if len(found) >= _HEARD:
            break
    return found[:_HEARD]


class FileMemory(NamedTuple):
    """What is known for the units of a file: by people who corrected, by the service's memories, by
    the file's own translations, by what the run was trained on. A `MemoryLookup`."""

    known: KnownTranslations
    pair: ServedPair
    others: Memories
    """The file's own, and the run's."""
    tag: str = ""

    def exact(self, unit: Unit) -> Match | None:
        """What people approved goes first."""
        found = self.known.exact(self.pair, unit, self.tag)
        if found is not None:
            return Match(unit.source, found.segment, EXACT, found.origin)
        return self.others.exact(unit)

    def near(self, unit: Unit) -> Sequence[Match]:
        """Near matches of all memories, the best first."""
        memories = None if self.tag else self.known.memories
        named = memories.of(self.pair) if memories else ()
        return Memories([*named, *self.others.memories], SHOWN_FROM).near(unit)


def translated(
    opened: OpenedUpload,
    translator: Translator,
    known: KnownTranslations,
    terms: WantedTerms = None,
    tell: Tell = lambda _: None,
    tag: str = "",
) -> list[Outcome]:
    """What becomes of each unit: by what is known already, else by the model, with the terms kept
    and every translation judged; `tag` is one of the run's."""
    flow = _flow(opened, translator, known, terms, tag)
    kind = suffix_of(opened.place)
    gaps = opened.document.gaps
    sign = sign_of(kind, [gap.source for gap in gaps])
    units = [unit_of(gap, shown(Path(opened.place.name)), sign) for gap in gaps]
    outcomes = list[Outcome]()
    tell(0)
    for start in range(0, len(units), AT_ONCE):
        some = units[start : start + AT_ONCE]
        for done, total in flow.run(some):
            tell(start + len(some) * done // total)
        made = (flow.outcome(unit) for unit in some)
        outcomes += (writable(opened.document, replace(one, evidence=())) for one in made)
        flow.forget()
        tell(len(outcomes))
    return outcomes


def _flow(
    opened: OpenedUpload,
    translator: Translator,
    known: KnownTranslations,
    terms: WantedTerms,
    tag: str,
) -> Flow:
    target = opened.languages.target
    how = asdict(translator.decoding({}))
    kept = translator.processors.own_terms if terms is None else terms
    kept = None if isinstance(kept, str) else kept
    how["glossary"] = NONE if kept is None else kept
    how["tag"] = tag or None
    pair, memories = ServedPair(*opened.languages[:2]), _memories(opened, translator, tag)
    steps = Steps(
        memory=FileMemory(known, pair, memories, tag),
        glossary=kept,
        checks=RunChecks(translator.checker, target),
    )
    return Flow(
        lambda segments: translator.translate_segments(segments, want_alignment=True, **how),
        steps,
        target,
        translator.processors.portions().of_segment,
    )


def _memories(opened: OpenedUpload, translator: Translator, tag: str) -> Memories:
    wanted = LanguagePair(*opened.languages[:2])
    found: list[Memory] = [own_memory([opened.place], wanted, [])]
    if translator.run is not None:
        found += training_memories(translator.run, wanted, lambda _: None, tag or None)
    return Memories([memory for memory in found if len(memory)], SHOWN_FROM)


def refuse_untouched(outcomes: Sequence[Outcome]) -> None:
    """Raise RefusedError where nothing was translated: the file would come back as it was."""
    if not any(one.segment is not None for one in outcomes):
        raise RefusedError("bad", "nothing in the file could be translated")


def filled(opened: OpenedUpload, outcomes: Sequence[Outcome]) -> bytes:
    """The file with its translations; what was left is as it was."""
    return opened.document.filled(
        [one.segment for one in outcomes], [one.percent for one in outcomes]
    )
