"""The units of translation files, with what stands around them: what a memory is made of."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.corpora.pieces import add_report
from headway.languages.codes import Languages
from headway.localization.formats.file_kinds import reader_of
from headway.localization.formats.keyed import read_keyed, texts_of
from headway.localization.formats.po import (
    MessageForm,
    learned,
    message_forms,
    named_header,
    read_po,
)
from headway.localization.formats.po_entries import read_entries
from headway.localization.formats.tmx import TmxUnits, read_tmx
from headway.localization.formats.xliff import read_xliff
from headway.localization.formats.xliff_units import XliffUnits
from headway.localization.formats.xml_encoding import utf8_chunks

_NOT_TRANSLATED = frozenset("fuzzy untranslated do_not_translate one_column".split())
"""Reasons for which a reader drops a unit that has a source text."""
_NO_UNIT = frozenset("header line_too_long not_json".split())


class Label(NamedTuple):
    key: str = ""
    """`msgctxt`, `tuid`, `resname` or else `id`, the key in a file of one language; empty where it
    has none."""
    date: int = 0
    """When it was changed last, as YYYYMMDDhhmmss; 0 where that is unknown."""
    parts: tuple["TranslatableText", ...] = ()
    """Plural forms but its own."""
    form: str = ""
    """Which plural form its translation is (`PluralForm.key`); empty where nobody knows."""


class TranslatableText(NamedTuple):
    """A text in a unit that is translated by itself."""

    source: str
    target: str
    key: str
    form: str = ""


NO_LABEL = Label()


class MemoryUnit(NamedTuple):
    source: str
    target: str | None
    """None where there is no translation to be relied on."""
    line: int
    label: Label
    before: str
    """Source text of the unit in front of it; empty for the first one."""
    after: str
    """Source text of the unit behind it; empty for the last one."""


class _ReadUnit(NamedTuple):
    """A unit as a reader told of it."""

    number: int
    source: str
    target: str | None
    line: int
    is_text: bool = True
    """There is something to be translated."""


_END = _ReadUnit(0, "", None, 0)


@dataclass
class _DropListener(Report):
    """Hears of every unit that a reader drops."""

    heard: list[_ReadUnit] = field(default_factory=list)

    def drop(self, reason: str, file: str, line: int, text: str) -> None:
        super().drop(reason, file, line, text)
        text = "" if reason in _NO_UNIT else text
        self.heard.append(_ReadUnit(self.read, text, None, line, reason in _NOT_TRANSLATED))


def read_units(
    path: Path, languages: Languages, report: Report | None = None
) -> Iterator[MemoryUnit]:
    """Every unit that has a source text, in the order of the file.

    What the reader of this kind of file drops has no target here; `report` counts it.

    Raises DataError: as the reader.
    """
    read, listener = reader_of(path).pairs, _DropListener()
    labels = _LABELS[read](path) if read in _LABELS else ()
    yield from _labelled(read(path, languages, listener), labels, listener)
    if report is not None:
        add_report(report, listener)


def read_keyed_units(source: Path, target: Path, report: Report) -> Iterator[MemoryUnit]:
    """The same of two files of one language each; a copy of the source is no translation.

    Raises DataError: as `read_keyed`.
    """
    listener = _DropListener()
    labels = (Label(key) for key, *_ in texts_of(source))
    for unit in _labelled(read_keyed(source, target, listener), labels, listener):
        copied = unit.source == unit.target  # such files are often begun as copies
        yield unit._replace(target=None) if copied else unit
    add_report(report, listener)


def _labelled(
    pairs: Iterable[Pair], labels: Iterable[Label], listener: _DropListener
) -> Iterator[MemoryUnit]:
    """Units from what a reader gives and drops, the labels being those of all that it reads."""
    numbered = enumerate(chain(labels, repeat(NO_LABEL)), start=1)
    number, label, before = 0, NO_LABEL, ""
    for unit, following in pairwise(chain(_heard(pairs, listener), (_END,))):
        while number < unit.number:
            number, label = next(numbered)
        if unit.is_text:
            around = before, following.source
            whole = MemoryUnit(unit.source, unit.target, unit.line, label, *around)
            yield whole
            for part in label.parts if unit.target is not None else ():
                own = Label(part.key, label.date, form=part.form)
                yield whole._replace(source=part.source, target=part.target, label=own)
        before = unit.source


def _heard(pairs: Iterable[Pair], listener: _DropListener) -> Iterator[_ReadUnit]:
    for pair in pairs:
        yield from listener.heard
        listener.heard.clear()
        yield _ReadUnit(listener.read, pair.source, pair.target, pair.line)
    yield from listener.heard


def _po_labels(path: Path) -> Iterator[Label]:
    header = named_header(path)
    for entry in read_entries(path, header.encoding):
        if entry.obsolete or entry.header:
            continue
        key = entry.text("msgctxt", header.encoding)
        forms = message_forms(entry, header)
        own = learned(forms)
        parts = tuple(
            TranslatableText(one.source, one.target, key, _form(one))
            for one in forms
            if one.target is not None and one is not own
        )
        yield Label(key, parts=parts, form=_form(own))


def _form(one: MessageForm) -> str:
    return one.plural.key if one.plural else ""


def _xliff_labels(path: Path) -> Iterator[Label]:
    for unit in XliffUnits(path).read(utf8_chunks(path)):
        yield Label(unit.key)


def _tmx_labels(path: Path) -> Iterator[Label]:
    for unit in TmxUnits(path).read(utf8_chunks(path)):
        yield Label(unit.key, max(map(_as_number, unit.dates), default=0))


def _as_number(date: str) -> int:
    """`20240131T235959Z` as one number; 0 for what is no such date."""
    digits = date.replace("T", "").removesuffix("Z")
    return int(digits) if len(digits) == 14 and digits.isascii() and digits.isdecimal() else 0


_LABELS: dict[Callable[..., object], Callable[[Path], Iterator[Label]]] = {
    read_po: _po_labels,
    read_tmx: _tmx_labels,
    read_xliff: _xliff_labels,
}
