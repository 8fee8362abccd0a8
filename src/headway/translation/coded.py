"""Translation of texts with codes in them, every one of which arrives."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from headway.core.hypothesis import SearchRequest
from headway.core.subwords import Subwords
from headway.corpora.mixing import tagged
from headway.localization.checks.output_checks import NOT_WRITTEN
from headway.localization.formats import splitting
from headway.localization.placeholders.codes import (
    Codes,
    check,
    mask,
    parsed,
    repaired,
    unmask,
)
from headway.localization.placeholders.may_hold import no_text
from headway.localization.placeholders.names import OwnCodes, is_own, located
from headway.localization.placeholders.projection import (
    CodeProjection,
    Plain,
    TokenSpans,
    without_codes,
)
from headway.localization.placeholders.segments import Segment
from headway.localization.placeholders.word_boundaries import at_boundaries
from headway.translation.capitals import InCapitals
from headway.translation.detailed import Alternative, Translate, Translation
from headway.translation.unread_characters import UnreadCharacters


class CodedText(NamedTuple):
    """A clean text, what the model reads of it, and the codes that must arrive."""

    segment: Segment
    """With its codes found."""
    text: str
    codes: Codes
    """What the placeholders of `text` stand for."""
    refuses_loops: bool
    """A loop is no translation of it; of a text without codes it is what the model says."""

    @classmethod
    def of(cls, segment: Segment, own: OwnCodes, *, masked: bool) -> "CodedText":
        """A segment with placeholders for its codes, or as plain text."""
        whole = own.parsed(segment)
        text, codes = mask(whole) if masked else (segment.text, {})
        return cls(whole, text, codes, refuses_loops=bool(whole.codes))


class Candidate(NamedTuple):
    """An alternative, read with its codes."""

    alternative: Alternative
    segment: Segment
    """What the model wrote, with its codes found and put back, not mended."""
    complete: bool
    """All codes of the source are there, and no others."""
    loops: bool
    """It says something again and again, which the source does not, and is refused for it."""

    @classmethod
    def of(cls, alternative: Alternative, source: CodedText) -> "Candidate":
        """Look for the codes of `source` in what the model wrote."""
        segment = located(unmask(alternative.written, source.codes), source.segment)
        segment = at_boundaries(source.segment, segment)
        odd = no_text(alternative.written) if source.refuses_loops else ""
        loops = odd not in source.text
        return cls(alternative, segment, check(source.segment, segment).complete, loops)

    def mended(self, source: CodedText) -> Alternative:
        """With just the codes of the source."""
        return self.alternative._replace(
            target=repaired(source.segment, self.segment).text,
            tokens=shown(self.alternative.tokens, source.codes),
            written=self.segment.text,
            codes_complete=self.complete,
        )


class SearchedCoded(NamedTuple):
    """What the model made of one source."""

    translation: Translation
    candidates: list[Candidate]
    """Of its `n_best`: those with complete codes first, then by score; none for a blank text."""

    @property
    def ranked(self) -> Translation:
        """The translation with its alternatives in the order of the candidates."""
        return self.translation._replace(n_best=[one.alternative for one in self.candidates])

    @property
    def segment(self) -> Segment:
        """What the best candidate is, not mended."""
        return self.candidates[0].segment

    @property
    def poor(self) -> bool:
        """Not even the best candidate has all codes, or it is in a loop."""
        return any(one.loops or not one.complete for one in self.candidates[:1])

    @classmethod
    def copied(cls, source: CodedText, read: Translation | None = None) -> "SearchedCoded":
        """The source as it is, which a text without words is in any language.

        `read`: what the model has read of it, where that led to nothing.
        """
        text = source.text
        log_probs = [*(NOT_WRITTEN if read else ())]
        copy = Alternative(
            text, sum(log_probs), ids=[], tokens=[], token_log_probs=log_probs, alignment=[],
            written=text,
        )  # fmt: skip
        some = [copy] if text.strip() else []
        # of a text with codes that it had to spell, it may make something without them
        settled = not (read and source.segment.codes) or bool(source.codes)
        some = [one._replace(codes_complete=settled) for one in some]
        translation = (read or Translation(text, [], [], 0))._replace(n_best=some)
        candidates = [Candidate.of(one, source)._replace(complete=settled) for one in some]
        return cls(translation, candidates)


class SegmentTranslation(NamedTuple):
    """A segment of a translation file, translated."""

    segment: Segment
    """With every code of the source once, each as the file writes it (`Code.raw`)."""
    complete: bool
    """The model put all codes where they are. False: what it lost stands at the end."""
    n_cut: int
    """Sub-words at the end of the source that were too many and were left out."""
    parts: tuple[Translation, ...] = ()
    """What the model read and wrote of each part that was translated alone."""


class CodeProcessor:
    """What texts with codes need around a translator of plain text; a `Processor`."""

    def __init__(
        self, subwords: Subwords, own: OwnCodes, tag: str, unread: UnreadCharacters, *, masks: bool
    ) -> None:
        """`masks`: the model has learned with placeholders for codes; `own`: what is a code here
        besides those of every text; `tag`: what the model reads before every text; `unread`: how
        it reads characters that it does not know."""
        self.subwords, self.own, self.tag, self.masks = subwords, own, tag, masks
        self.unread = unread

    def __call__(
        self,
        texts: Sequence[str],
        request: SearchRequest,
        translate: Translate,
        found: Sequence[Translation] | None = None,
    ) -> list[Translation]:
        """Translations of clean texts, mended where need be.

        `found` is what the model wrote for them, where that is known already. A model that has
        lost codes it had to spell, or that would spell names, has them carried over.
        """
        request = request._replace(want_scores=True)
        sources = [CodedText.of(Segment((text,)), self.own, masked=self.masks) for text in texts]
        searched = self._search(sources, request, translate, found)
        translations = [
            translation._replace(
                source_tokens=shown(translation.source_tokens, source.codes),
                n_best=[candidate.mended(source) for candidate in candidates],
            )
            for source, (translation, candidates) in zip(sources, searched, strict=True)
        ]
        if self.masks:
            return translations
        worded = [(i, one.segment) for i, one in enumerate(sources) if not one.segment.wordless]
        quiet = request._replace(done=lambda n: None)
        named = [i for i, segment in worded if any(map(is_own, segment.codes))]
        alone = [self.own.alone(sources[i].segment) for i in named]
        carried = self._carried([sources[i] for i in named], alone, quiet, translate)
        for i, one in zip(named, carried, strict=True):
            translations[i] = one
        poor = [(i, translations[i]) for i, one in worded if one.codes]
        lost = [i for i, one in poor if not one.codes_complete and not one.n_cut]
        wholes = [sources[i].segment for i in lost]
        carried = self._carried([sources[i] for i in lost], wholes, quiet, translate)
        for i, one in zip(lost, carried, strict=True):
            translations[i] = one
        return translations

    def _carried(
        self,
        sources: Sequence[CodedText],
        segments: Sequence[Segment],
        request: SearchRequest,
        translate: Translate,
    ) -> list[Translation]:
        """Translations of texts without the codes of their segments, which are put back."""
        request = request._replace(want_attention=True)
        translations = []
        found = self._by_projection(segments, request, translate)
        for source, answer in zip(sources, found, strict=True):
            alternatives = [
                one.alternative._replace(
                    target=repaired(source.segment, one.segment).text,
                    written=one.segment.text,
                    codes_complete=check(source.segment, one.segment).complete,
                )
                for one in answer.candidates
            ]
            alternatives.sort(key=lambda one: not one.codes_complete)  # stable
            translations.append(answer.translation._replace(n_best=alternatives))
        return translations

    def _search(
        self,
        sources: Sequence[CodedText],
        request: SearchRequest,
        translate: Translate,
        found: Sequence[Translation] | None = None,
    ) -> list[SearchedCoded]:
        """Where the best candidate is poor, a beam search gives all hypotheses of its beam, and the
        complete ones come first. A text without words is copied; so is one that refuses loops,
        where the model only writes these, which its reader then sees."""

        settings = request.settings
        searched = [SearchedCoded.copied(source) for source in sources]
        worded = [i for i, source in enumerate(sources) if not source.segment.wordless]
        if found:
            first: Sequence[Translation] = [found[i] for i in worded]
        else:
            request.done(len(sources) - len(worded))
            first = translate([sources[i].text for i in worded], request)
        for i, translation in zip(worded, first, strict=True):
            searched[i] = _read(sources[i], translation, settings.n_best)
        if settings.method == "beam" and settings.beam > settings.n_best:
            poor = [i for i, one in enumerate(searched) if one.poor]
            wider = replace(settings, n_best=settings.beam)
            again = translate(
                [sources[i].text for i in poor],
                request._replace(settings=wider, done=lambda n: None),
            )
            for i, translation in zip(poor, again, strict=True):
                searched[i] = _read(sources[i], translation, settings.n_best)
        return [
            SearchedCoded.copied(source, one.translation)
            if any(c.loops for c in one.candidates[:1]) and not one.translation.n_cut
            else one
            for source, one in zip(sources, searched, strict=True)
        ]

    def segments(
        self, segments: Sequence[Segment], request: SearchRequest, translate: Translate
    ) -> list[SegmentTranslation]:
        """Translations of segments with inline codes, which all arrive, in pairs that nest.

        A model that knows masks puts the codes where they belong. For any other one tags are taken
        out of the source, and put back beside the words that look at the words beside them; where
        it then loses a placeholder that it was to spell, so are the placeholders. White space
        around a segment stays, and so do line ends in it; one without words is copied.
        """
        trimmed = [splitting.trimmed(segment) for segment in segments]
        wholes = [self.own.parsed(one.segment) for one in trimmed]
        worded = [i for i, whole in enumerate(wholes) if not whole.wordless]
        request.done(len(segments) - len(worded))
        found: dict[int, SearchedCoded] = {}
        if self.masks:
            sources = [CodedText.of(wholes[i], self.own, masked=True) for i in worded]
            found |= zip(worded, self._search(sources, request, translate), strict=True)
        else:
            tagless = [self.own.alone(trimmed[i].segment) for i in worded]
            found |= zip(worded, self._by_projection(tagless, request, translate), strict=True)
            lost = [
                i
                for i in worded
                if not check(wholes[i], found[i].segment).complete
                or not found[i].candidates[0].alternative.codes_complete
            ]
            quiet = request._replace(done=lambda n: None)
            again = self._by_projection([wholes[i] for i in lost], quiet, translate)
            found |= zip(lost, again, strict=True)
        translations = [SegmentTranslation(segment, True, 0) for segment in segments]
        for i, answer in found.items():
            mended = repaired(wholes[i], answer.segment)
            translations[i] = SegmentTranslation(
                splitting.restored(segments[i], trimmed[i], mended),
                check(wholes[i], answer.segment).complete,
                answer.translation.n_cut,
                (answer.ranked,),
            )
        return translations

    def _by_projection(
        self,
        segments: Sequence[Segment],
        request: SearchRequest,
        translate: Translate,
    ) -> list[SearchedCoded]:
        """Translations of segments without their codes, which are then put back."""
        plain = [self._read(without_codes(segment)) for segment in segments]
        sources = [
            CodedText.of(Segment((one.text.rstrip(),)), self.own, masked=False)._replace(
                refuses_loops=bool(segment.codes)
            )
            for segment, one in zip(segments, plain, strict=True)
        ]
        looks = request.want_attention or any(one.places for one in plain)
        answers = self._search(sources, request._replace(want_attention=looks), translate)
        return [
            answer._replace(
                candidates=[
                    self._put_back(segment, one, answer.translation, candidate)
                    for candidate in answer.candidates
                ]
            )
            if one.places
            else answer
            for segment, one, answer in zip(segments, plain, answers, strict=True)
        ]

    def _read(self, plain: Plain) -> Plain:
        """With the characters that the model reads, and the codes where they were."""
        from_where = self.unread.places(plain.text)[:-1]
        moved = [one._replace(at=bisect_left(from_where, one.at)) for one in plain.places]
        return Plain(self.unread.usual(plain.text), moved)

    def _put_back(
        self, segment: Segment, plain: Plain, translation: Translation, candidate: Candidate
    ) -> Candidate:
        """A translation of a text that the codes of a segment were taken out of, with the codes."""
        alternative = candidate.alternative
        if alternative.written == plain.text.rstrip():
            return candidate._replace(segment=self.own.parsed(segment))
        in_front = len(tagged(plain.text, self.tag)) - len(plain.text)
        n_read = len(translation.source_tokens)
        read = InCapitals(self.subwords).usual(plain.text.rstrip())
        spans = self.subwords.source_spans(tagged(read, self.tag))
        projected = CodeProjection(
            segment.codes,
            plain,
            [(start - in_front, end - in_front) for start, end in spans[:n_read]],
            TokenSpans(alternative.written, spans_written(self.subwords, alternative.ids)),
            alternative.alignment,
        ).segment()
        return candidate._replace(segment=parsed(projected))


def _read(source: CodedText, translation: Translation, n_best: int) -> SearchedCoded:
    candidates = [Candidate.of(alternative, source) for alternative in translation.n_best]
    candidates.sort(key=lambda one: (one.loops, not one.complete))  # stable
    return SearchedCoded(translation, candidates[:n_best])


def spans_written(subwords: Subwords, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Which characters (start, end) of `subwords.decode(ids)`, stripped, each id has written.

    Where several ids share one character, it belongs to the last of them.
    """
    beginnings = subwords.decode_batch([ids[:n] for n in range(len(ids) + 1)])
    ends = [len(text.lstrip().rstrip("\ufffd")) for text in beginnings]
    ends = [min(max(ends[: n + 1]), len(beginnings[-1].strip())) for n in range(len(ends))]
    return list(pairwise(ends))


def shown(tokens: Iterable[str], codes: Codes) -> list[str]:
    """Sub-words as a reader would write them, codes in the place of placeholders."""
    return [codes[token].text if token in codes else token for token in tokens]
