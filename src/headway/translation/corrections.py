"""What a reviewer changed: two versions of a translation file, compared unit by unit."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Report, clean
from headway.core.errors import DataError
from headway.languages.codes import Languages, same_language, suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS, reader_of
from headway.localization.formats.po import message_forms, named_header
from headway.localization.formats.po_entries import read_entries
from headway.localization.formats.qt import qt_messages
from headway.localization.formats.tmx import tmx_units
from headway.localization.formats.xliff_units import XliffUnits
from headway.localization.formats.xml_encoding import utf8_chunks
from headway.translation.replacements import Correction


class Version(NamedTuple):
    """A unit as one file has it."""

    key: str
    """What the file calls it: an id, or message and context; empty where it has no name."""
    source: str
    target: str
    trusted: bool = True
    """Nothing says that nobody has gone over it yet."""

    @property
    def done(self) -> bool:
        """Whether there is a translation that counts."""
        return bool(self.target) and self.trusted


@dataclass
class Review:
    """What became of the units."""

    corrections: list[Correction] = field(default_factory=list)
    """Each once, in the order of the new file."""
    counts: Counter[str] = field(default_factory=Counter)
    """Units by what became of them: the keys of `UNIT_STATES`."""


UNIT_STATES = {
    "corrected": "corrected",
    "unchanged": "as they were",
    "new": "new, or translated for the first time",
    "waiting": "not gone over yet (untranslated, fuzzy, needs review)",
    "removed": "no longer there",
}


def review(old: Path, new: Path, languages: Languages) -> Review:
    """Compare two versions of a file, of one kind or of two.

    Units are the same that have the same name (id; context and message) and source, else the same
    source; of several with one source those with equal targets, else one after the other.

    Raises:
        DataError: a file cannot be read, the two are in other languages, or have nothing in common.
    """
    refuse_other_languages(old, new, languages)
    before, after = (list(versions(path, languages)) for path in (old, new))
    found = Review()
    both = dict(matched(before, after))
    if before and after and not both:
        raise DataError(
            f"two versions of a file have sources in common; {old} and {new} have none. Name the "
            "file as it was translated first, then as it was reviewed."
        )
    seen: set[tuple[str, str]] = set()
    for place, unit in enumerate(after):
        earlier = before[both[place]].target if place in both else ""
        state = _state(unit, earlier)
        found.counts[state] += 1
        if state == "corrected" and (unit.source, unit.target) not in seen:
            seen.add((unit.source, unit.target))
            found.corrections.append(Correction(unit.source, unit.target, earlier))
    found.counts["removed"] = len(before) - len(both)
    return found


def together(reviews: Iterable[Review]) -> Review:
    """What became of the units of several files; of equal corrections the first."""
    found, seen = Review(), dict[tuple[str, str], Correction]()
    for one in reviews:
        found.counts.update(one.counts)
        for correction in one.corrections:
            seen.setdefault(correction[:2], correction)
    found.corrections = list(seen.values())
    return found


def _state(unit: Version, earlier: str) -> str:
    if not unit.done:
        return "waiting"
    if not earlier:
        return "new"
    return "unchanged" if unit.target == earlier else "corrected"


def refuse_other_languages(old: Path, new: Path, languages: Languages) -> None:
    """Raise DataError where the two files say that they translate into other languages, or one
    holds no sources."""
    for path in (old, new):
        if (kind := FILE_KINDS.get(suffix_of(path))) and kind.keyed:
            raise DataError(
                f"corrections are read from files that have sources beside translations; {path} "
                "has texts of one language. Put both into a table (.tsv: source, translation)."
            )
    first, second = (reader_of(path).languages(path, languages) for path in (old, new))
    for one, other in zip(first, second, strict=True):
        if one and other and not same_language(one, other):
            raise DataError(
                f"two versions of a file have the same languages; {old} has {_way(first)}, {new} "
                f"has {_way(second)}. Name two versions of one file."
            )


def _way(codes: tuple[str | None, str | None]) -> str:
    return " -> ".join(code or "?" for code in codes)


def matched(before: list[Version], after: list[Version]) -> Iterator[tuple[int, int]]:
    """Places of the same unit in both: the one after, the one before; each place once."""
    earlier, later = list(range(len(before))), list(range(len(after)))
    for same in _SAME:
        waiting: dict[object, list[int]] = defaultdict(list)
        for place in earlier:
            waiting[same(before[place])].append(place)
        left = []
        for place in later:
            what = same(after[place])
            if what is not None and waiting.get(what):
                yield place, waiting[what].pop(0)
            else:
                left.append(place)
        earlier = sorted(place for places in waiting.values() for place in places)
        later = left


_SAME: tuple[Callable[[Version], object], ...] = (
    lambda unit: (unit.key, unit.source, unit.target) if unit.key else None,
    lambda unit: (unit.key, unit.source) if unit.key else None,
    lambda unit: (unit.source, unit.target),
    lambda unit: unit.source,
)
"""What makes two units the same, the surest first; None: not by this."""


# -- units with their names -------------------------------------------------------------------


def versions(path: Path, languages: Languages) -> Iterator[Version]:
    """Every unit of a file that has a source, also those that nobody has gone over yet."""
    read = _READ.get(suffix_of(path), _pairs)
    for unit in read(path, languages):
        source, target = clean(unit.source), clean(unit.target)
        if source:
            yield unit._replace(source=source, target=target)


def _po(path: Path, _languages: Languages) -> Iterator[Version]:
    header = named_header(path)
    for entry in read_entries(path, header.encoding):
        if entry.obsolete or entry.header:
            continue
        names = [name for name in ("msgctxt", "msgid") if name in entry.texts]
        named = [entry.text(name, header.encoding) for name in names]
        for one in message_forms(entry, header):
            if one.target is not None:
                key = "\4".join([*named, str(one.form)])
                yield Version(key, one.source, one.target, not entry.fuzzy)


def _xliff(path: Path, _languages: Languages) -> Iterator[Version]:
    for unit in XliffUnits(path).read(utf8_chunks(path)):
        if unit.source is not None and unit.translate:
            done = unit.translated and not unit.half_done
            target = unit.target.text if unit.target and done else ""
            yield Version(unit.key, unit.source.text, target, unit.trusted)


def _qt(path: Path, languages: Languages) -> Iterator[Version]:
    for message, forms in qt_messages(path, languages):
        name = message.key or message.context
        for form, target in enumerate([text.text for text in message.texts] or [""]):
            yield Version(f"{name}\4{form}", forms[form].source.text, target, not message.kind)


def _tmx(path: Path, languages: Languages) -> Iterator[Version]:
    for key, source, target in tmx_units(path, languages):
        if source is not None:
            text = target.seg.text if target else ""
            yield Version(key, source.seg.text, text, not (target and target.machine_made))


def _pairs(path: Path, languages: Languages) -> Iterator[Version]:
    for pair in reader_of(path).pairs(path, languages, Report()):
        yield Version("", pair.source, pair.target)


_READ = {".po": _po, ".tmx": _tmx, ".ts": _qt, ".xlf": _xliff, ".xliff": _xliff}
