"""Glossaries that clients make: kept for the key that made them, in a folder or in memory."""

import csv
import io
import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from headway.core.disk import write_text
from headway.core.errors import DataError
from headway.localization.terms.glossary import Glossary, GlossaryRow
from headway.localization.terms.keeping import Terms
from headway.serving.requests import RefusedError

MOST_GLOSSARIES = 1_000
"""Of one owner."""
MOST_DICTIONARIES = 100
"""Of a glossary."""
MOST_NAME_BYTES = 1_024
MOST_ENTRIES_BYTES = 10 << 20
"""Of a dictionary, as DeepL has it."""
MOST_STORED_BYTES = 256 << 20
"""Of all glossaries of a service."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

Entries = Mapping[str, str]


class EntriesRefusedError(RefusedError):
    """Entries that are none, and which."""

    def __init__(self, detail: str) -> None:
        """`detail` says where and why."""
        super().__init__("bad", "Invalid glossary entries provided")
        self.detail = detail


class DictionaryPair(NamedTuple):
    """The languages of a dictionary, in lower case and without regions."""

    source: str
    target: str


class StoredGlossary(NamedTuple):
    """A glossary; a change makes another."""

    id: str
    owner: str
    name: str
    created: str
    dictionaries: Mapping[DictionaryPair, Entries]

    @property
    def n_bytes(self) -> int:
        """Of its entries."""
        every = self.dictionaries.values()
        return sum(len(a.encode()) + len(b.encode()) + 2 for one in every for a, b in one.items())


class GlossaryStore:
    """All of a service; safe to be called by many threads."""

    def __init__(self, folder: Path | None = None) -> None:
        """Those that `folder` has are there again.

        Raises DataError for a file in it that is no glossary.
        """
        self.folder = folder
        self._lock = threading.RLock()
        """Held by who changes something, also on the disk; nobody who reads waits for that."""
        self._by_id: dict[str, StoredGlossary] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(PermissionError):  # another user's
                folder.chmod(0o700)  # what clients wrote is for the service alone
            for file in sorted(folder.glob("*.json")):
                one = _read(file)
                self._by_id[one.id] = one
        self._n_bytes = sum(one.n_bytes for one in self._by_id.values())

    def of(self, owner: str) -> list[StoredGlossary]:
        """An owner's, the eldest first."""
        found = [one for one in list(self._by_id.values()) if one.owner == owner]
        return sorted(found, key=lambda one: one.created)

    def get(self, glossary_id: str, owner: str) -> StoredGlossary:
        """One of an owner's; raises RefusedError where there is none."""
        found = self._by_id.get(glossary_id)
        if found is None or found.owner != owner:
            raise RefusedError("absent", "Glossary not found")
        return found

    def create(
        self, owner: str, name: str, dictionaries: Mapping[DictionaryPair, Entries]
    ) -> StoredGlossary:
        """A new one; raises RefusedError where an owner, or a service, has too many."""
        if len(self.of(owner)) >= MOST_GLOSSARIES:
            raise RefusedError("bad", f"there are at most {MOST_GLOSSARIES:,} glossaries")
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return self._keep(StoredGlossary(str(uuid.uuid4()), owner, name, created, dictionaries))

    def change(
        self,
        glossary: StoredGlossary,
        name: str | None = None,
        dictionaries: Mapping[DictionaryPair, Entries | None] | None = None,
        added: Mapping[DictionaryPair, Entries] | None = None,
    ) -> StoredGlossary:
        """Another name, dictionaries in the place of those of their languages (None: without), and
        entries `added` to what is there by now, or in the place of those of the same terms.

        Raises RefusedError where it is gone, or there is no room.
        """
        with self._lock:
            before = self.get(glossary.id, glossary.owner)
            every = {**before.dictionaries, **(dictionaries or {})}
            for pair, entries in (added or {}).items():
                every[pair] = {**(every.get(pair) or {}), **entries}
            kept = {pair: entries for pair, entries in every.items() if entries is not None}
            return self._keep(before._replace(name=name or before.name, dictionaries=kept))

    def remove(self, glossary: StoredGlossary) -> None:
        """It is gone, from the disk as well."""
        with self._lock:
            if self._by_id.pop(glossary.id, None) is None:
                return
            self._n_bytes -= glossary.n_bytes
            if self.folder is not None:
                self._file(glossary).unlink(missing_ok=True)

    def _keep(self, glossary: StoredGlossary) -> StoredGlossary:
        if len(glossary.dictionaries) > MOST_DICTIONARIES:
            raise RefusedError("bad", f"a glossary has at most {MOST_DICTIONARIES} dictionaries")
        with self._lock:
            before = self._by_id.get(glossary.id)
            more = glossary.n_bytes - (before.n_bytes if before else 0)
            if more > 0 and self._n_bytes + more > MOST_STORED_BYTES:
                raise RefusedError("bad", "there is no room for more glossaries. Remove some.")
            if self.folder is not None:
                write_text(self._file(glossary), _written(glossary))
            self._by_id[glossary.id] = glossary
            self._n_bytes += more
        return glossary

    def _file(self, glossary: StoredGlossary) -> Path:
        assert self.folder is not None, "its caller looked"
        return self.folder / f"{glossary.id}.json"


def _written(glossary: StoredGlossary) -> str:
    rows = [
        {"source": pair.source, "target": pair.target, "entries": dict(entries)}
        for pair, entries in glossary.dictionaries.items()
    ]
    content = {**glossary._asdict(), "dictionaries": rows}
    return json.dumps(content, ensure_ascii=False) + "\n"


def _read(file: Path) -> StoredGlossary:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        every = {
            DictionaryPair(str(one["source"]), str(one["target"])): dict(one["entries"])
            for one in content.pop("dictionaries")
        }
        found = StoredGlossary(**content, dictionaries=every)
        if found.id != file.stem or not all(isinstance(field, str) for field in found[:4]):
            raise ValueError("it is another's")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            f"{file} holds a glossary that a client made; it cannot be read ({error}). Remove it, "
            "or take it from a backup."
        ) from None
    return found


def read_entries(text: str, kind: str) -> dict[str, str]:
    """Entries as a client sends them, in lines of `tsv` or `csv`.

    Raises EntriesRefusedError for what is no entry, or would not be taken for a term, and
    RefusedError for too many.
    """
    if len(text.encode()) > MOST_ENTRIES_BYTES:
        raise RefusedError("bad", f"a dictionary has at most {MOST_ENTRIES_BYTES:,} bytes")
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    for number, cells in _rows(text, kind):
        source, target = (cell.strip() for cell in cells)
        if not source or not target:
            raise EntriesRefusedError(f"Entry {number} has an empty term")
        if _CONTROL.search(source + target):
            raise EntriesRefusedError(f"Entry {number} has a character that cannot be in a term")
        if source in found:
            raise EntriesRefusedError(
                f"Entry {number} duplicates the source of entry {places[source]}"
            )
        found[source], places[source] = target, number
    if not found:
        raise EntriesRefusedError("There is no entry")
    _refuse_no_terms(found)
    return found


def _rows(text: str, kind: str) -> Iterator[tuple[int, tuple[str, str]]]:
    if kind == "csv":
        try:
            for number, row in enumerate(csv.reader(io.StringIO(text, newline="")), 1):
                if not row:
                    continue
                if len(row) not in (2, 4):
                    raise EntriesRefusedError(f"Entry {number} has {len(row)} cells instead of 2")
                yield number, (row[0], row[1])
        except csv.Error as error:
            raise EntriesRefusedError(f"The CSV cannot be read: {error}") from None
        return
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if not line.strip():
            continue
        cells = line.strip("\r\n ").split("\t")
        if len(cells) != 2:
            why = "misses tab separator" if len(cells) < 2 else "has more than one tab separator"
            raise EntriesRefusedError(f"Entry {number} {why}")
        yield number, (cells[0], cells[1])


def _refuse_no_terms(entries: Entries) -> None:
    try:
        left_out = _glossary(entries).left_out_in_words()
    except DataError as error:
        raise EntriesRefusedError(str(error)) from None
    if left_out:
        raise EntriesRefusedError(f"These are no terms: {left_out}")


def _glossary(entries: Entries) -> Glossary:
    rows = (
        GlossaryRow(source, target.replace("|", r"\|"), "", "", f"entry {number}")
        for number, (source, target) in enumerate(entries.items(), 1)
    )
    return Glossary.of(rows, "the glossary")


def terms_of(glossaries: list[StoredGlossary], pair: DictionaryPair) -> Terms:
    """The terms of one or more glossaries for two languages; what the first says holds.

    Raises RefusedError where none has a dictionary for them.
    """
    dictionaries = [one.dictionaries[pair] for one in glossaries if pair in one.dictionaries]
    if not dictionaries:
        raise RefusedError(
            "bad", f"No dictionary found for language pair {pair.source} to {pair.target}"
        )
    return _terms(tuple(tuple(one.items()) for one in dictionaries))


@lru_cache(maxsize=16)
def _terms(dictionaries: tuple[tuple[tuple[str, str], ...], ...]) -> Terms:
    """Put together once for many requests."""
    entries: dict[str, str] = {}
    for one in dictionaries:
        for source, target in one:
            entries.setdefault(source, target)
    return Terms(_glossary(entries))
