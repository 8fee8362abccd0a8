"""What people have translated already: memories for each pair of languages, and corrections."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import ConfigError, DataError
from headway.languages.codes import LanguagePair
from headway.localization.formats.file_kinds import reader_of
from headway.localization.formats.units import Unit
from headway.localization.memory.building import cached_memory
from headway.localization.memory.memory import Memories, Memory, MemoryMatch
from headway.localization.placeholders.segments import Segment, as_segment
from headway.serving.corrections import Corrections
from headway.serving.requests import ServedPair


class PairMemories:
    """What files of translations (.tmx, .po, .tsv, ..) have for each pair of a service."""

    def __init__(
        self,
        files: Sequence[Path],
        pairs: Sequence[ServedPair],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Raises DataError: a file cannot be read, or is in none of these pairs; ConfigError: it
        does not say its languages where there are several pairs."""
        found: dict[ServedPair, list[Memory]] = {}
        pairs = list(dict.fromkeys(pairs))
        for file in files:
            if len(pairs) > 1 and reader_of(file).languages(file, LanguagePair()) == (None, None):
                raise ConfigError(
                    f"a memory says its languages where several pairs are served; {file} does not. "
                    "Name them in its first row (en, de), or as the keys of its objects."
                )
            refused: DataError | None = None
            n_read = 0
            for pair in pairs:
                try:
                    memory = cached_memory([file], LanguagePair(*pair), say=say)
                except DataError as error:
                    refused = error
                    continue
                if len(memory):
                    found.setdefault(pair, []).append(memory)
                    n_read += len(memory)
            if refused is not None and not n_read:
                raise refused
            say(f"the memory {file} has {n_read:,} units")
        self._memories = {pair: Memories(some) for pair, some in found.items()}

    def of(self, pair: ServedPair) -> Sequence[Memory]:
        """Those of a pair, the file that was named first before the others."""
        return found.memories if (found := self._memories.get(pair)) else ()

    def best(self, pair: ServedPair, unit: Unit) -> MemoryMatch | None:
        """The best translation of this very text; None where there is none."""
        memories = self._memories.get(pair)
        return memories.best(unit) if memories else None


class KnownTranslation(NamedTuple):
    """A translation that a person made."""

    segment: Segment
    origin: str
    """`correction` or `memory`."""


class KnownTranslations(NamedTuple):
    """What people have translated: what is in context first, corrections before memories."""

    corrections: Corrections | None = None
    memories: PairMemories | None = None

    @property
    def is_any(self) -> bool:
        """There may be some."""
        return self.corrections is not None or self.memories is not None

    def exact(self, pair: ServedPair, unit: Unit, tag: str = "") -> KnownTranslation | None:
        """The translation of this very text, with the codes of its source; None where there is none
        that has them all.

        A correction of the unit's key is the best, then what a memory has in context, then another
        correction. What is asked for by a `tag` is another text than without one: it has
        corrections of its own, and no file of a memory says that it is of a tag. Corrections are of
        no plural form.
        """
        match = self.memories.best(pair, unit) if self.memories and not tag else None
        known = [(match.target if match else None, "memory")]
        if (kept := self.corrections) is not None and not unit.form:
            text, is_in_context = unit.source.text, match is not None and match.in_context
            known.insert(is_in_context, (kept.exact(pair, text, tag), "correction"))
            known.insert(0, (kept.exact(pair, text, tag, unit.key), "correction"))
        for target, origin in known:
            found = None if target is None else as_segment(target, unit.source)
            if found is not None and Counter(found.codes) == Counter(unit.source.codes):
                return KnownTranslation(found, origin)
        return None
