"""Two files of one language each: pairs of the texts that have the same key."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.core.cleaning import Pair, Report
from headway.core.errors import ConfigError, DataError
from headway.core.lines import shown
from headway.localization.formats import subtitles
from headway.localization.formats.file_kinds import keyed, opener_of, suffix_of
from headway.localization.formats.spans import Keyed, SpanDocument
from headway.localization.placeholders.segments import Counts, Document, Gap, Segment


def read_keyed(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    """Each text of the source with the one of the same key, in the order of the source.

    Of subtitles the key is the time. A key that stands several times is paired in order.

    Raises:
        DataError: the target is of another kind, or as its reader.
    """
    of_target: dict[str, list[str]] = {}
    for key, text, *_ in texts_of(target):
        of_target.setdefault(key, []).append(text)
    file = shown(source)
    for key, text, line, remarks in texts_of(source):
        report.read += 1
        found = of_target.get(key)
        translation = found.pop(0) if found else None
        if translation is None or not translation.strip():
            reason = "missing_language" if translation is None else "untranslated"
            report.drop(reason if text.strip() else "blank_side", file, line, text)
        else:
            yield Pair(text, translation, file, line, remarks)


def language_of(path: Path) -> str | None:
    """The language that a file says it is in, else what its name says."""
    return _opened(path).source_language


def texts_of(path: Path) -> Sequence[Keyed]:
    """Every text of a file of one language; raises DataError for a kind that is none."""
    return _opened(path).texts


def _opened(path: Path) -> SpanDocument:
    if suffix_of(path) not in keyed():
        raise DataError(
            f"a file of one language goes with another of such a kind "
            f"({', '.join(keyed())}); got {path}. Give both in the same format."
        )
    opened: SpanDocument = opener_of(path)(path, None, None, False)
    return opened


def completed(document: Document, file: Path, onto: Path) -> "CompletedDocument":
    """The source file `file`, opened as `document`, with the texts of `onto` by their keys.

    A text that is the source's own is not known: files are often begun as copies.

    Raises:
        ConfigError: `file` is not of one language, or `onto` is of another kind.
        DataError: `onto` cannot be read.
    """
    kinds = [suffix_of(path) for path in (file, onto)]
    if kinds[0] not in keyed() or kinds[0] != kinds[1]:
        raise ConfigError(
            f"--onto completes the target file of a source file of the same kind "
            f"({', '.join(keyed())}); got {file} and {onto}. Other kinds hold both sides, "
            "and what is empty in them is filled in without it."
        )
    own = {key: text for key, text, *_ in texts_of(file)}
    of_onto = {key: text for key, text, *_ in texts_of(onto)}
    known = {key: text for key, text in of_onto.items() if text.strip() and text != own.get(key)}
    if kinds[0] in (".srt", ".vtt"):  # sentences go over cues, of which some are known
        document = subtitles.open_document(file, None, document.target_language, False, known)
    return CompletedDocument(document, known)


class CompletedDocument:
    """A file of one language to be filled in, but for the texts that are known; see `Document`."""

    def __init__(self, document: Document, known: dict[str, str]) -> None:
        self.source_language = document.source_language
        self.target_language = document.target_language
        self._document = document
        self._known = [
            Segment((text,))
            if (text := known.get(gap.key, "")) and text != gap.source.text
            else None
            for gap in document.gaps
        ]
        keys = {gap.key for gap in document.gaps}
        only = len(known.keys() - keys)
        self.gaps: Sequence[Gap] = [
            gap for gap, text in zip(document.gaps, self._known, strict=True) if text is None
        ]
        n_known = len(document.gaps) - len(self.gaps)
        left = {**document.counts.left, "translated": n_known, "only_in_target": only}
        self.counts = Counts(document.counts.units, {reason: n for reason, n in left.items() if n})

    def can_hold(self, translation: Segment) -> bool:
        return self._document.can_hold(translation)

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        given, matches = iter(translations), iter(percents)
        texts = [next(given) if text is None else text for text in self._known]
        if not percents:
            return self._document.filled(texts)
        return self._document.filled(
            texts, [next(matches) if text is None else 100 for text in self._known]
        )
