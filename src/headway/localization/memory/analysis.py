"""How much of what is to be translated a memory knows: what translators are paid by."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.lines import shown
from headway.languages.codes import Languages
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.units import Unit
from headway.localization.memory.index import LEAST
from headway.localization.memory.memory import Memories
from headway.localization.memory.words import normal, words_of

CONTEXT, EXACT, REPEATED, NOTHING = "context", "exact", "repeated", "none"
_NEAR = (("95-99", 95), ("85-94", 85), ("75-84", 75), (f"{LEAST}-74", LEAST))
BANDS = {
    CONTEXT: "in context (101%)",
    EXACT: "exact (100%)",
    REPEATED: "repetitions",
    **{name: f"{name}%" for name, _ in _NEAR},
    NOTHING: "no match",
}
"""The bands, the best first, and what they are called."""


class Count(NamedTuple):
    units: int
    words: int


@dataclass
class Analysis:
    counted: list[tuple[str, str, int]] = field(default_factory=list)
    """File, band and number of words of each unit."""
    left: Counter[str] = field(default_factory=Counter)
    """Units that need no translation, or a review only, by reason: `translated`, `fuzzy`, .."""
    files: list[str] = field(default_factory=list)

    def bands(self, *files: str) -> dict[str, Count]:
        """By name, of some files, or of all; every unit is in one band."""
        found: dict[str, list[int]] = {band: [] for band in BANDS}
        for file, band, n_words in self.counted:
            if not files or file in files:
                found[band].append(n_words)
        return {band: Count(len(words), sum(words)) for band, words in found.items()}

    @property
    def total(self) -> Count:
        return Count(len(self.counted), sum(n_words for *_, n_words in self.counted))

    def as_dict(self) -> dict[str, Any]:
        def plain(*files: str) -> dict[str, dict[str, int]]:
            return {band: count._asdict() for band, count in self.bands(*files).items()}

        files = {name: plain(name) for name in self.files}
        total, left = self.total._asdict(), dict(self.left)
        return {"bands": plain(), "total": total, "left": left, "files": files}


def opened(paths: Iterable[Path], languages: Languages) -> list[tuple[Path, Document]]:
    """Files that are to be translated.

    Raises:
        DataError: a file cannot be read, or is of a kind that is not filled in.
    """
    wanted = languages.source_language, languages.target_language
    return [(path, opener_of(path)(path, *wanted, False)) for path in paths]


def analysed(
    documents: Sequence[tuple[Path, Document]],
    memories: Memories,
    progress: Callable[[str, int, int | None], None],
) -> Analysis:
    """Look up every unit that has no translation yet.

    A text that stands there a second time is a repetition, unless it is an exact match.
    """
    analysis, known = Analysis(), dict[str, str]()
    n_gaps = sum(len(document.gaps) for _, document in documents)
    for path, document in documents:
        analysis.files.append(name := shown(path))
        analysis.left += Counter(document.counts.left)
        for gap in document.gaps:
            unit = replace(gap, file=name)
            text = normal(gap.source.text)
            analysis.counted.append((name, _band(unit, text, memories, known), len(words_of(text))))
            progress("looking up", len(analysis.counted), n_gaps)
    return analysis


def _band(unit: Unit, text: str, memories: Memories, known: dict[str, str]) -> str:
    exact = memories.exact(unit)
    if exact is not None:
        return CONTEXT if exact.in_context else EXACT
    if text in known:
        return REPEATED
    best = next(iter(memories.looked_up(unit, LEAST, 1)), None)
    percent = best.percent if best else 0
    known[text] = next((name for name, least in _NEAR if percent >= least), NOTHING)
    return known[text]


def table(analysis: Analysis) -> list[str]:
    total = analysis.total
    rows = [*((BANDS[band], count) for band, count in analysis.bands().items()), ("total", total)]
    lines = [f"{'match':<18} {'units':>9} {'words':>10} {'% of words':>11}"]
    for band, count in rows:
        share = 100 * count.words / total.words if total.words else 0.0
        lines.append(f"{band:<18} {count.units:>9,} {count.words:>10,} {share:>10.1f}%")
    if analysis.left:
        left = ", ".join(f"{n:,} {reason}" for reason, n in sorted(analysis.left.items()))
        lines.append(f"not counted: {left.replace('_', ' ')}")
    return lines
