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
from headway.localization.memory.memory import Memories, Memory
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

    def exact(self, pair: ServedPair, source: Segment) -> Segment | None:
        """The best translation of this very text; None where there is none."""
        memories = self._memories.get(pair)
        found = memories.exact(Unit(source)) if memories else None
        return found.target if found else None


class KnownTranslation(NamedTuple):
    """A translation that a person made."""

    segment: Segment
    origin: str
    """`correction` or `memory`."""


class KnownTranslations(NamedTuple):
    """What people have translated: corrections first, then memories."""

    corrections: Corrections | None = None
    memories: PairMemories | None = None

    @property
    def is_any(self) -> bool:
        """There may be some."""
        return self.corrections is not None or self.memories is not None

    def exact(self, pair: ServedPair, source: Segment, tag: str = "") -> KnownTranslation | None:
        """The translation of this very text, with the codes of `source`; None where there is none
        that has them all. What is asked for by a `tag` is another text than without one: it has
        corrections of its own, and no file of a memory says that it is of a tag."""
        kept = self.corrections.exact(pair, source.text, tag) if self.corrections else None
        if kept is not None:
            found = as_segment(kept, source)
            if Counter(found.codes) == Counter(source.codes):
                return KnownTranslation(found, "correction")
        segment = self.memories.exact(pair, source) if self.memories and not tag else None
        if segment is not None and Counter(segment.codes) == Counter(source.codes):
            return KnownTranslation(segment, "memory")
        return None
