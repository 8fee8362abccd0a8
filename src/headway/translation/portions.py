"""Texts of more than a model takes at once: cut, translated, put together; validation sources,
too."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from headway.core.hypothesis import SearchRequest, penalty
from headway.core.rows import Indices
from headway.corpora.corpus import languages
from headway.corpora.mixing import tagged
from headway.corpora.prepared import Prepared
from headway.languages.sentences import (
    CODE,
    LINE_SPACE,
    AtOnce,
    cut,
    portion_ends,
    space_between,
)
from headway.localization.checks.training_stats import SAMPLE, measured
from headway.localization.formats.splitting import (
    covered,
    joined_translations,
    lines_of,
    pieces_at,
    with_codes_of_source,
    with_line_breaks,
)
from headway.localization.placeholders.codes import mask, mask_pair, parsed_text, unmask
from headway.localization.placeholders.may_hold import may_hold_sentences
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import hidden
from headway.localization.placeholders.segments import Segment
from headway.operations.argument_types import ArgumentTypeError
from headway.translation.coded import SegmentTranslation
from headway.translation.detailed import Alternative, Translate, Translation

_LINE_END = re.compile(rf"((?<!\s)\s*[{LINE_SPACE}]\s*)")


class Portions(NamedTuple):
    """Cuts texts into what a model takes at once."""

    at_once: AtOnce
    n_subwords: Callable[[str], int]
    language: str | None
    """Of the texts."""
    own: Sequence[OwnPattern] = ()
    """A user's codes, which are not cut either."""

    def of_text(self, text: str) -> list[str]:
        """Portions, and the white space between some of them; joined they are the text."""
        pieces: list[str] = []
        for line in _LINE_END.split(text):
            pieces += cut(line, self._ends(hidden(line, CODE, self.own)))
        return [piece for piece in pieces if piece]

    def of_segment(self, segment: Segment) -> list[Segment]:
        """The same of a segment; a piece that is `blank` is not for translation."""
        pieces: list[Segment] = []
        for line in lines_of(with_line_breaks(segment, self.own)):
            pieces += [line] if line.blank else pieces_at(line, self._ends(covered(line, self.own)))
        return pieces

    def __call__(
        self,
        texts: Sequence[str],
        request: SearchRequest,
        translate: Translate,
        may_be_cut: Callable[[str], bool] = lambda _: True,
    ) -> list[Translation]:
        """Translations of texts, each put together from those of its portions, as `combined` says;
        a `Processor`. One that `may_be_cut` denies is translated as a whole, as it is alone."""
        settings = request.settings
        cut_texts = [self.of_text(one.strip()) if may_be_cut(one) else [one] for one in texts]
        worded = [piece for pieces in cut_texts for piece in pieces if not piece.isspace()]
        found = iter(translate(worded, request))
        translations = []
        for text, pieces in zip(texts, cut_texts, strict=True):
            parts = [piece if piece.isspace() else next(found) for piece in pieces]
            [*some] = [part for part in parts if isinstance(part, Translation)]
            if len(some) == 1:
                translations.append(some[0]._replace(source=text))
            else:
                alpha, n_best = settings.length_penalty, settings.n_best
                translations.append(combined(text, parts, alpha=alpha, n_best=n_best))
        return translations

    def _ends(self, text: str) -> list[int]:
        return portion_ends(text, self.at_once, self.n_subwords, self.language)


def combined(
    source: str, parts: Sequence[str | Translation], *, alpha: float, n_best: int
) -> Translation:
    """One translation of several, and the white space between them.

    Sub-words and alignments follow each other; the log-probabilities of all end markers are added
    up in the last one, so that they are still one more than the sub-words. The score is the sum of
    log-probabilities divided by the length penalty (exponent `alpha`) of the whole. The best is
    made of each part's best, the others are those whose parts' scores have the highest sums; a
    translation whose codes are complete comes before any other.
    """
    translations = [part for part in parts if isinstance(part, Translation)]
    picks: list[tuple[Alternative, ...]] = [()]
    for translation in translations:
        if translation.n_best:
            longer = [(*pick, one) for pick in picks for one in translation.n_best]
            # a part's best may have a lower score than others: it has terms, or most is like it
            picks = sorted(longer, key=partial(_rank, best=longer[0]))[:n_best]
    worded = [part for part in parts if isinstance(part, str) or part.n_best]
    starts = [0]
    for translation in translations:
        if translation.n_best:
            starts.append(starts[-1] + len(translation.source_tokens))
    return Translation(
        source=source,
        source_tokens=[token for one in translations for token in one.source_tokens],
        n_best=[_joined(worded, pick, starts, alpha) for pick in picks if pick],
        n_cut=sum(translation.n_cut for translation in translations),
        parts=tuple(translations),
    )


def _rank(pick: Sequence[Alternative], best: object) -> tuple[int, bool, float]:
    incomplete = sum(not one.codes_complete for one in pick)
    return incomplete, pick is not best, -sum(one.score for one in pick)


def _joined(
    parts: Sequence[str | Translation],
    pick: Sequence[Alternative],
    starts: Sequence[int],
    alpha: float,
) -> Alternative:
    """One alternative for each translation of `parts`; each source token's number is its own plus
    its translation's of `starts`."""
    ids: list[int] = []
    tokens: list[str] = []
    alignment: list[tuple[int, int]] = []
    log_probs: list[float] = []
    attended: list[float] = []
    ends = 0.0
    for start, one in zip(starts, pick, strict=False):
        alignment += [(start + source, len(ids) + target) for source, target in one.alignment]
        ids += one.ids
        tokens += one.tokens
        attended += one.attended
        if one.token_log_probs:
            log_probs += one.token_log_probs[:-1]
            ends += one.token_log_probs[-1]
    if log_probs or ends:
        log_probs.append(ends)
    total = sum(
        # of one with terms the score is that of what was there before, which had other sub-words
        sum(one.token_log_probs) or one.score * float(penalty(len(one.ids) + 1, alpha))
        for one in pick
    )
    return Alternative(
        target=with_spaces(parts, [one.target for one in pick]),
        score=total / float(penalty(len(ids) + len(pick), alpha)),
        ids=ids,
        tokens=tokens,
        token_log_probs=log_probs,
        alignment=alignment,
        written=with_spaces(parts, [one.written for one in pick]),
        codes_complete=all(one.codes_complete for one in pick),
        attended=attended,
    )


def with_spaces(parts: Sequence[object], targets: Sequence[str]) -> str:
    """Translations with the white space of their sources between them, as the target writes it."""
    left = iter(targets)
    text, space, before = "", "", ""
    for part in parts:
        if isinstance(part, str):
            space += part
            continue
        target = next(left)
        text += (space_between(space, before, target) if text else "") + target
        space, before = "", target or before
    return text


def translate_segments(
    segments: Sequence[Segment],
    portions: Portions,
    find: Callable[[list[Segment]], Sequence[SegmentTranslation]],
) -> list[SegmentTranslation]:
    """Translations of segments, each put together from those of its portions.

    Raises:
        ArgumentTypeError: something else is given, such as texts.
    """
    if not all(isinstance(one, Segment) for one in segments):
        raise ArgumentTypeError(
            "segments must be a list of Segment, the units of a file (docs/terms-and-memory.md); "
            "got something else. Texts are for Translator.translate."
        )
    cut_segments = [portions.of_segment(segment) for segment in segments]
    found = iter(find([piece for piece in _flattened(cut_segments) if not piece.blank]))
    translations = []
    for source, pieces in zip(segments, cut_segments, strict=True):
        made = [SegmentTranslation(p, True, 0) if p.blank else next(found) for p in pieces]
        whole = joined_translations([(p, one.segment) for p, one in zip(pieces, made, strict=True)])
        translations.append(
            SegmentTranslation(
                with_codes_of_source(source, whole),
                all(one.complete for one in made),
                sum(one.n_cut for one in made),
                tuple(part for one in made for part in one.parts),
            )
        )
    return translations


def _flattened(lists: Iterable[list[Segment]]) -> list[Segment]:
    return [piece for pieces in lists for piece in pieces]


# -- validation sources, masked and cut as `translate` does -----------------------------------


One = TypeVar("One")


class Portion(NamedTuple):
    """What the model reads at once."""

    ids: np.ndarray[Any, np.dtype[Any]]
    codes: Mapping[str, Any]
    """What its placeholders stand for."""


class ValidationPortions:
    """Each validation source in portions, with the white space between them."""

    def __init__(self, rows: Sequence[Sequence[Portion | str]]) -> None:
        self.rows = rows
        self.portions = [one for row in rows for one in row if isinstance(one, Portion)]

    @property
    def ids(self) -> list[np.ndarray[Any, np.dtype[Any]]]:
        """Of every portion, in order."""
        return [portion.ids for portion in self.portions]

    def of_rows(self, each: Sequence[One]) -> list[list[One]]:
        """What belongs to the portions, by source."""
        left = iter(each)
        return [[next(left) for one in row if isinstance(one, Portion)] for row in self.rows]

    def joined(self, written: Sequence[str]) -> list[str]:
        """The translations of the sources, given what was written for each portion."""
        both = zip(written, self.portions, strict=True)
        texts = [unmask(text, one.codes).text if one.codes else text for text, one in both]
        return [
            with_spaces(row, of_row) if len(row) > 1 else of_row[0]
            for row, of_row in zip(self.rows, self.of_rows(texts), strict=True)
        ]


def uncut(prepared: Prepared, valid_rows: Indices) -> ValidationPortions | None:
    """Every source whole, with its codes; None where there are no placeholders for any."""
    if prepared.codes != "mask":
        return None
    return ValidationPortions([[_whole(prepared, int(row))] for row in valid_rows])


def cut_sources(prepared: Prepared, valid_rows: Indices) -> ValidationPortions | None:
    """The sources as `translate` will cut them; `uncut` where it cuts none."""
    own, masks, encode = prepared.own_codes, prepared.codes == "mask", prepared.subwords.encode
    both, n = languages(prepared.corpus), len(prepared.train)
    sample = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(int))  # as `measure` takes it
    ids = [prepared.train["source"][int(i)].tolist() for i in sample]
    texts = prepared.subwords.decode_batch(ids)
    held = measured([(text, text) for text in texts], list(map(len, ids)), both)
    portions = Portions(held.at_once, lambda text: len(encode(text)), both[0], own)

    def part(text: str, tag: str) -> Portion:
        shown, codes = mask(parsed_text(text, own)) if masks else (text, {})
        return Portion(np.array(encode(tagged(shown, tag))), codes)

    rows: list[list[Portion | str]] = []
    for row in map(int, valid_rows):
        source, tag = prepared.valid_texts[row][0], prepared.valid_uses[row].tag
        parts = portions.of_text(source.strip()) if may_hold_sentences(source) else [source]
        if len(parts) == 1:
            rows.append([_whole(prepared, row)])
        else:
            rows.append([one if one.isspace() else part(one, tag) for one in parts])
    return (
        ValidationPortions(rows)
        if any(len(row) > 1 for row in rows)
        else uncut(prepared, valid_rows)
    )


def _whole(prepared: Prepared, row: int) -> Portion:
    codes: Mapping[str, Any] = {}
    if prepared.codes == "mask":
        codes = mask_pair(*prepared.valid_texts[row], prepared.own_codes).codes
    return Portion(prepared.valid["source"][row], codes)
