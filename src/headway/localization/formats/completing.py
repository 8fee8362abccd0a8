"""A target file of one language that is there already, completed: what it holds is kept."""

from collections.abc import Sequence
from pathlib import Path

from headway.core.errors import ConfigError
from headway.localization.formats import subtitles
from headway.localization.formats.file_kinds import KEYED, suffix_of
from headway.localization.formats.keyed import KINDS, texts_of
from headway.localization.placeholders.segments import Counts, Document, Gap, Segment


def completed(document: Document, file: Path, onto: Path) -> "CompletedDocument":
    """The source file `file`, opened as `document`, with the texts of `onto` by their keys.

    A text that is the source's own is not known: files are often begun as copies.

    Raises:
        ConfigError: `file` is not of one language, or `onto` is of another kind.
        DataError: `onto` cannot be read.
    """
    kinds = [suffix_of(path) for path in (file, onto)]
    if kinds[0] not in KINDS or kinds[0] != kinds[1]:
        raise ConfigError(
            f"--onto completes the target file of a source file of the same kind "
            f"({', '.join(KEYED)}); got {file} and {onto}. Other kinds hold both sides, "
            "and what is empty in them is filled in without it."
        )
    own = {key: text for key, text, *_ in texts_of(file)}
    of_onto = {key: text for key, text, *_ in texts_of(onto)}
    known = {key: text for key, text in of_onto.items() if text.strip() and text != own.get(key)}
    if (
        KINDS[kinds[0]] is subtitles.open_document
    ):  # sentences go over cues, of which some are known
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
