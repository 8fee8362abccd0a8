"""Looking up: exact matches, in context where there are several, and near ones, put right."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from headway.localization.formats.units import Match, Unit
from headway.localization.memory.index import LEAST
from headway.localization.memory.repair import repaired
from headway.localization.memory.store import MemoryEntry, MemoryStore, context_digests
from headway.localization.memory.words import AnalyzedText, light, normal, percent, read
from headway.localization.placeholders.segments import Segment, as_segment

SHOWN_FROM = 70
"""Percent: what is less alike is of little help to anybody."""

MOST = 5
"""Near matches that are given."""

_ALIKE = 100
"""Entries of the same words that are compared with a text; of more, those read last."""


class MemoryMatch(NamedTuple):
    source: str
    """As it stands in the memory."""
    target: str
    """Its translation, with `repaired` put right."""
    percent: int
    """0 to 100; 100 for the same text."""
    in_context: bool
    place: str
    """`file:line`."""
    differs: tuple[str, ...] = ()
    """Kinds of differences: `words`, those of `words.light`, `white space`, and
    `plural form` where the text is the same."""
    repaired: tuple[str, ...] = ()
    """Numbers and codes that were put right: `2 -> 3`."""
    failed: tuple[str, ...] = ()
    """Numbers and codes that differ, and that nobody can put right but a person."""
    n_others: int = 0
    """Other translations of the same source text in the memory."""


class Memory:
    """The texts of some files with their translations.

    Of several translations of one text the best is the one in context (the same key, or the same
    texts before and behind it; both are better than one); then the one of the file that was named
    first; then the newest by the file's own dates; then one that is not of another key; then the
    last one in the file.
    """

    def __init__(self, store: MemoryStore, files: Sequence[str]) -> None:
        """`files` are the names of what was read, by number."""
        self.store, self.files = store, tuple(files)

    def __len__(self) -> int:
        return len(self.store.entries)

    def exact(self, unit: Unit) -> MemoryMatch | None:
        """The best translation of the very same text; None if there is none.

        Of a text that stands for several plural forms it is one of the unit's form.
        """
        source, entries = normal(unit.source.text), self.store.entries
        numbers = entries.same_source(source) if source else np.zeros(0, np.uint32)
        if unit.form:
            numbers = entries.of_form(numbers, unit.form)
        if not len(numbers):
            return None
        order, in_context = self._best_first(numbers, unit)
        best = entries.entry(int(order[0]))
        others = {entries.entry(int(n)).target for n in order[1:_ALIKE]} - {best.target}
        return MemoryMatch(
            best.source, best.target, 100, in_context, self._place(best), n_others=len(others)
        )

    def near(self, unit: Unit, at_least: int = SHOWN_FROM, most: int = MOST) -> list[MemoryMatch]:
        """Translations of other texts that are alike to `at_least` percent, best first.

        Where the unit is a plural form, that of another form of its text is a near one, too.
        `at_least` is `LEAST` to 99. Numbers and codes that differ are put right where that is
        plain; where it is not, each counts as one more word that differs.
        """
        query = read(unit.source.text)
        of_other_forms = bool(unit.form) and self.exact(unit) is None
        found: list[MemoryMatch] = []
        for near in self.store.index.near(query.words, max(LEAST, at_least)):
            bound = percent(near.n_words, near.n_edits)
            worst = found[most - 1].percent if len(found) >= most else at_least - 1
            if bound <= worst and len(found) >= most:
                break
            for entry in self._of_key(near.key, unit):
                if entry.source != query.text or of_other_forms:
                    one = self._compared(query, entry, near.n_words, near.n_edits)
                    found += [one] * (one.percent >= at_least)
            found.sort(key=lambda one: -one.percent)
        return found[:most]

    def _of_key(self, key: int, unit: Unit) -> Iterator[MemoryEntry]:
        """Entries with these words, each different text once, with its best translation."""
        numbers = self.store.entries.of_key(key)[-_ALIKE:]
        seen = set()
        for number in self._best_first(np.asarray(numbers), unit)[0]:
            entry = self.store.entries.entry(int(number))
            if entry.source not in seen:
                seen.add(entry.source)
                yield entry

    def _compared(
        self, query: AnalyzedText, entry: MemoryEntry, n_words: int, n_edits: int
    ) -> MemoryMatch:
        source = read(entry.source)
        right = repaired(query.text, source.text, entry.target)
        kinds = light(query, source)
        score = percent(n_words, n_edits + len(right.failed), len(kinds))
        unseen = "plural form" if entry.source == query.text else "white space"
        differs = tuple(["words", *kinds] if n_edits else kinds or [unseen])
        found = MemoryMatch(entry.source, right.target, score, False, self._place(entry))
        return found._replace(differs=differs, repaired=right.done, failed=right.failed)

    def _best_first(self, numbers: np.ndarray, unit: Unit) -> tuple[np.ndarray, bool]:
        """Entries in the order of preference, and whether the first is in context."""
        rows = self.store.entries.rows[numbers]
        key, before, after = context_digests(unit.key, unit.before, unit.after)
        same_key = (rows["key"] == key) & (key != 0)
        same_sides = (rows["before"] == before) & (rows["after"] == after) & (before + after != 0)
        fitting = same_key.astype(int) + same_sides
        of_another_key = (rows["key"] != key) & (rows["key"] != 0)
        last_first = -numbers.astype(np.int64)
        order = np.lexsort((last_first, of_another_key, -rows["date"], rows["file"], -fitting))
        return numbers[order], bool(len(order) and fitting[order[0]])

    def _place(self, entry: MemoryEntry) -> str:
        return f"{self.files[entry.file]}:{entry.line}"


class Memories:
    """Several memories as one: what the first ones have goes before what the later ones have."""

    def __init__(self, memories: Iterable[Memory], shown_from: int = SHOWN_FROM) -> None:
        self.memories = tuple(memories)
        self.shown_from = shown_from

    def exact(self, unit: Unit) -> Match | None:
        """See `headway.filling.judging.MemoryLookup`."""
        best = self.best(unit)
        return as_match(best, unit) if best else None

    def best(self, unit: Unit) -> MemoryMatch | None:
        """The same, with whether it is in context."""
        found = [one for memory in self.memories if (one := memory.exact(unit))]
        return next((one for one in found if one.in_context), found[0] if found else None)

    def near(self, unit: Unit) -> list[Match]:
        """See `headway.filling.judging.MemoryLookup`."""
        return [as_match(one, unit) for one in self.looked_up(unit, self.shown_from)]

    def looked_up(
        self, unit: Unit, at_least: int = SHOWN_FROM, most: int = MOST
    ) -> list[MemoryMatch]:
        """Near matches of all memories, the best first; each source text once."""
        found: dict[str, MemoryMatch] = {}
        for memory in self.memories:
            for one in memory.near(unit, at_least, most):
                if one.source not in found or found[one.source].percent < one.percent:
                    found[one.source] = one
        return sorted(found.values(), key=lambda one: -one.percent)[:most]


def as_match(found: MemoryMatch, unit: Unit) -> Match:
    """A match as a flow takes it, with the codes of the unit."""
    return Match(
        Segment((found.source,)),
        as_segment(found.target, unit.source),
        found.percent,
        found.place,
        ", ".join(found.differs),
        ", ".join(found.repaired),
        ", ".join(found.failed),
    )
