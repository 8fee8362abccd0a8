"""How much of what is to be translated a memory knows: what translators are paid by."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.core.cleaning import Report
from headway.core.lines import shown
from headway.corpora.corpus import Corpus, read_pairs
from headway.languages.codes import Languages
from headway.localization.formats.documents import Document
from headway.localization.formats.file_kinds import opener_of
from headway.localization.formats.units import Unit
from headway.localization.memory.index import LEAST
from headway.localization.memory.memory import Memories
from headway.localization.memory.words import normal, words_of

CONTEXT, EXACT, REPEATED, NOTHING, FUZZY = "context", "exact", "repeated", "none", "fuzzy"
_NEAR = (("95-99", 95), ("85-94", 85), ("75-84", 75), (f"{LEAST}-74", LEAST))
BANDS = {
    CONTEXT: "in context (101%)",
    EXACT: "exact (100%)",
    REPEATED: "repetitions",
    **{name: f"{name}%" for name, _ in _NEAR},
    NOTHING: "no match",
    FUZZY: "fuzzy: to review",
}
"""The bands, the best first, and what they are called."""


@dataclass
class Count:
    units: int = 0
    words: int = 0

    def add(self, words: int, units: int = 1) -> None:
        self.units += units
        self.words += words


def _no_counts() -> dict[str, Count]:
    return {band: Count() for band in BANDS}


@dataclass
class Analysis:
    bands: dict[str, Count] = field(default_factory=_no_counts)
    """By name; every unit is in one band."""
    left: dict[str, int] = field(default_factory=dict)
    """Units that need no translation, by reason: `translated`, `blank_side`, .."""
    files: dict[str, dict[str, Count]] = field(default_factory=dict)
    """The bands of each file."""

    @property
    def total(self) -> Count:
        counts = self.bands.values()
        return Count(sum(one.units for one in counts), sum(one.words for one in counts))

    def as_dict(self) -> dict[str, Any]:
        def plain(bands: dict[str, Count]) -> dict[str, dict[str, int]]:
            return {band: vars(count) for band, count in bands.items()}

        files = {name: plain(bands) for name, bands in self.files.items()}
        total = vars(self.total)
        return {"bands": plain(self.bands), "total": total, "left": self.left, "files": files}


class _FuzzyTexts(Report):
    """Hears of the units of a file whose translations nobody has gone over yet."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        """Line and source text of each."""

    def drop(self, reason: str, file: str, line: int, text: str) -> None:
        if reason == FUZZY:
            self.texts.append((line, text))


def _fuzzy_texts(path: Path, document: Document) -> list[str]:
    """Source texts of a file's fuzzy units that are no gaps."""
    if FUZZY not in document.counts.left:
        return []
    heard, gaps = _FuzzyTexts(), {gap.line for gap in document.gaps}
    languages = document.source_language, document.target_language
    for _ in read_pairs(Corpus((), (), (path,), *languages), heard):
        pass
    return [text for line, text in heard.texts if line not in gaps]


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
    """Look up every unit that has no translation yet, and count those that are to be reviewed.

    A text that stands there a second time is a repetition, unless it is an exact match.
    """
    analysis = Analysis()
    n_gaps, done = sum(len(document.gaps) for _, document in documents), 0
    known: dict[str, str] = {}
    for path, document in documents:
        name = shown(path)
        bands = analysis.files.setdefault(name, _no_counts())
        for reason, n in document.counts.left.items():
            if reason != FUZZY:
                analysis.left[reason] = analysis.left.get(reason, 0) + n
        for text in _fuzzy_texts(path, document):
            for count in (bands[FUZZY], analysis.bands[FUZZY]):
                count.add(len(words_of(normal(text))))
        for gap in document.gaps:
            around = gap.before, gap.after
            unit = Unit(gap.source, name, gap.line, gap.key, *around, form=gap.form)
            text = normal(gap.source.text)
            n_words = len(words_of(text))
            band = _band(unit, text, memories, known)
            for count in (bands[band], analysis.bands[band]):
                count.add(n_words)
            done += 1
            progress("looking up", done, n_gaps)
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
    rows = [(BANDS[band], count) for band, count in analysis.bands.items()] + [("total", total)]
    lines = [f"{'match':<18} {'units':>9} {'words':>10} {'% of words':>11}"]
    for band, count in rows:
        share = 100 * count.words / total.words if total.words else 0.0
        lines.append(f"{band:<18} {count.units:>9,} {count.words:>10,} {share:>10.1f}%")
    if analysis.left:
        left = ", ".join(f"{n:,} {reason}" for reason, n in sorted(analysis.left.items()))
        lines.append(f"not counted, as nothing is to be translated: {left.replace('_', ' ')}")
    return lines
