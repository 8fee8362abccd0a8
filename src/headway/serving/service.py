"""Texts in, answers out: what every door asks, on whichever run has the pair."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import anyio.to_thread

from headway.languages.codes import same_language
from headway.languages.detection import other_language
from headway.localization.checks.calibration import Verdict
from headway.localization.formats.units import Unit
from headway.localization.placeholders.segments import Segment
from headway.serving.detecting import ranked, source_of
from headway.serving.language_models import LanguageModels
from headway.serving.limits import Limits
from headway.serving.markup import MarkupText
from headway.serving.memories import KnownTranslations
from headway.serving.pivoting import Route, route, sources_into
from headway.serving.plain_texts import MOST_TEXTS
from headway.serving.requests import (
    AUTO,
    CALLER,
    Caller,
    Detection,
    RefusedError,
    ServedText,
    TranslationRequest,
)
from headway.serving.runs import ServedRuns
from headway.serving.with_run import (
    MadeSegment,
    answer_plainly,
    asks_for_more,
    framed,
    translate_coded,
    translate_texts,
)

AT_ONCE = 64
"""Requests that are worked on; each has a thread, which mostly waits for the engine."""

_UNSOUND = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f\ud800-\udfff]")


class Service:
    """What doors call; safe to be called by many at once."""

    def __init__(
        self,
        runs: ServedRuns,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        known: KnownTranslations = KnownTranslations(),  # noqa: B008 (a tuple)
    ) -> None:
        """`known` is what people have translated: it goes before what a model writes."""
        self.runs, self.limits, self.known = runs, limits, known
        self.language_models = LanguageModels()
        """Served beside them."""
        self._threads: anyio.CapacityLimiter | None = None

    async def translate(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        """The answer for each text, in order.

        Raises:
            RefusedError: it is not done, and why.
        """
        n_characters = self.limits.admit(request.texts)
        caller.charge(n_characters)
        try:
            if (answers := await self._plainly(request, caller)) is not None:
                return answers
            work = partial(self.translate_now, request, caller)
            return await anyio.to_thread.run_sync(work, limiter=self._limiter())
        except RefusedError:
            caller.charge(-n_characters)
            raise

    async def _plainly(
        self, request: TranslationRequest, caller: Caller
    ) -> list[ServedText] | None:
        """The same of plain texts by a run that is loaded, without a thread; None where there is
        more to do."""
        source = request.source
        if source.lower() == AUTO or asks_for_more(request):
            return None
        run = self.runs.known(source, request.target)
        if run is None or run.loaded is None or len(request.texts) > MOST_TEXTS:
            return None
        if self.known.is_any and request.use_memory:
            texts = [Unit(Segment((text.strip(),))) for text in request.texts]
            if any(self.known.exact(run.pair, text) for text in texts):
                return None
        with self.runs.using_loaded(run) as translator:
            if translator is None:  # others have just taken its memory
                return None
            whole = [sound(text) for text in request.texts]
            return await answer_plainly(translator, whole, source, request, caller)

    def detect(self, text: str) -> list[Detection]:
        """The languages of the service by how likely the text is in each, the likeliest first."""
        sides = [pair.source for pair in self.runs.pairs] + [p.target for p in self.runs.pairs]
        return ranked(text, list(dict.fromkeys(sides)))

    def translate_now(self, request: TranslationRequest, caller: Caller) -> list[ServedText]:
        """As `translate`, in the thread of who calls."""
        CALLER.set(caller)
        caller.refuse_over()
        texts = [sound(text) for text in request.texts]
        if request.prefixes and (len(request.prefixes) != len(texts) or request.markup != "text"):
            raise RefusedError("bad", "there is one prefix for each text, without markup")
        if request.markup != "text":
            return self._with_markup(texts, request)

        def made(source: str, rows: Sequence[int]) -> list[ServedText]:
            prefixes = [request.prefixes[i] for i in rows] if request.prefixes else ()
            some = [texts[i] for i in rows]
            return self._of_source(some, source, request._replace(prefixes=prefixes))

        return self._by_source(texts, texts, request, made)

    def language_of(self, text: str, request: TranslationRequest) -> tuple[str, float | None]:
        """The source language of a whole file, and how sure that is if it was found.

        Raises RefusedError where nothing is translated into the target from it.
        """
        if request.source.lower() != AUTO:
            return request.source, None
        sources = sources_into(self.runs, request.target, request.pivot)
        found = ranked(text, sources)[0]
        if other := other_language(text, found.language):
            raise RefusedError("language", self.runs.missing(other[0], request.target))
        return found.language, found.sureness

    def refuse_left(self, text: str, request: TranslationRequest) -> None:
        """Raise RefusedError for a text that would be left as it is: see `source_of`."""
        if request.source.lower() != AUTO:
            return
        sources = sources_into(self.runs, request.target, request.pivot)
        target = self.runs.into(request.target)[0].pair.target
        if source_of(text, sources, target).language == target:
            raise RefusedError(
                "language",
                f"the text is in {target} already, or in none of {', '.join(sources)}: it is left "
                "as it is",
            )

    # -- languages ----------------------------------------------------------------------------

    def _by_source(
        self,
        texts: Sequence[str],
        heard: Sequence[str],
        request: TranslationRequest,
        make: Callable[[str, Sequence[int]], Iterable[ServedText]],
    ) -> list[ServedText]:
        """The answers for texts, those of one language together: `make` is given the language and
        the places of its texts. It is told by what is `heard` of each, where nobody said it; what
        is in the target language stays as it is.

        Raises RefusedError where nothing is translated into the target.
        """
        target: str | None = None
        languages: Sequence[tuple[str, float | None]] = [(request.source, None)] * len(texts)
        if request.source.lower() == AUTO:
            sources = sources_into(self.runs, request.target, request.pivot)
            target = self.runs.into(request.target)[0].pair.target
            languages = [source_of(text, sources, target) for text in heard]
        answers: dict[int, ServedText] = {}
        for source in dict.fromkeys(code for code, _ in languages):
            rows = [i for i, (code, _) in enumerate(languages) if code == source]
            if source == target or self._is_same(source, request):
                answers |= {i: ServedText(texts[i], source, origin="none") for i in rows}
            else:
                answers |= zip(rows, make(source, rows), strict=True)
        return [answers[i]._replace(sureness=sure) for i, (_, sure) in enumerate(languages)]

    def _is_same(self, source: str, request: TranslationRequest) -> bool:
        """Whether texts are asked for in the language that they are in."""
        target = request.target
        return same_language(source, target) and not self.runs.known(source, target)

    # -- texts --------------------------------------------------------------------------------

    def _of_source(
        self, texts: Sequence[str], source: str, request: TranslationRequest
    ) -> list[ServedText]:
        """Answers for texts of one language: known ones first."""
        way = route(self.runs, source, request.target, request.pivot)
        answers: dict[int, ServedText] = {}
        for i, text in enumerate(texts):
            if not text or text.isspace():
                answers[i] = ServedText(text, source, origin="none")
            elif self.known.is_any and request.use_memory and not request.prefixes:
                known = self.known.exact(
                    way.pair, Unit(Segment((text.strip(),))), request.tag or ""
                )
                if known is not None:
                    target = framed(text, known.segment.text)
                    answers[i] = ServedText(target, source, origin=known.origin)
        rows = [i for i in range(len(texts)) if i not in answers]
        if rows:
            prefixes = [request.prefixes[i] for i in rows] if request.prefixes else ()
            some = [texts[i] for i in rows]
            made = self._by_model(some, source, request._replace(prefixes=prefixes), way)
            answers |= zip(rows, made, strict=True)
        return [answers[i] for i in range(len(texts))]

    def _by_model(
        self, texts: list[str], source: str, request: TranslationRequest, way: Route
    ) -> list[ServedText]:
        if len(way.runs) == 1:
            with self.runs.using(way.runs[0]) as translator:
                return translate_texts(translator, texts, source, request)
        with self.runs.using(way.runs[0]) as translator:
            first = translate_texts(translator, texts, source, _first_leg(request))
        between_them = [one.text for one in first]
        with self.runs.using(way.runs[1]) as translator:
            # what is known of its translations is about a text that nobody gave
            last = request._replace(details=False)
            second = translate_texts(translator, between_them, source, last)
        return [
            two._replace(origin=way.origin, translation=None, n_cut=one.n_cut + two.n_cut)
            for one, two in zip(first, second, strict=True)
        ]

    # -- markup -------------------------------------------------------------------------------

    def _with_markup(self, texts: Sequence[str], request: TranslationRequest) -> list[ServedText]:
        assert request.markup != "text", "its caller looked"
        pieces = [MarkupText(text, request.markup, request.xml_tags) for text in texts]

        def made(source: str, rows: Sequence[int]) -> Iterator[ServedText]:
            way = route(self.runs, source, request.target, request.pivot)
            every = [one for i in rows for one in pieces[i].segments]
            left = iter(self._segments(every, source, request, way))
            for i in rows:
                some = [next(left) for _ in pieces[i].segments]
                yield _put_together(pieces[i], some, source, way)

        return self._by_source(texts, [one.bare for one in pieces], request, made)

    def _segments(
        self, segments: Sequence[Segment], source: str, request: TranslationRequest, way: Route
    ) -> list[MadeSegment]:
        """What becomes of texts between tags: those without tags in them go as texts."""
        made: dict[int, MadeSegment] = {}
        plain = [i for i, one in enumerate(segments) if not one.codes]
        answers = self._of_source([segments[i].text for i in plain], source, request)
        for i, of_text in zip(plain, answers, strict=True):
            made[i] = _between_tags(of_text)
        if self.known.is_any and request.use_memory:
            for i, segment in enumerate(segments):
                known = self.known.exact(way.pair, Unit(segment), request.tag or "")
                if i not in made and known is not None:
                    made[i] = MadeSegment(known.segment, known.origin)
        coded = [i for i in range(len(segments)) if i not in made]
        some, n_cut = [segments[i] for i in coded], [0] * len(coded)
        for number, run in enumerate(way.runs if coded else ()):
            leg = request._replace(details=request.details and len(way.runs) == 1)
            leg = leg if number == len(way.runs) - 1 else _first_leg(request)
            with self.runs.using(run) as translator:
                found = translate_coded(translator, some, leg)
            some = [one.segment for one in found]
            n_cut = [before + one.n_cut for before, one in zip(n_cut, found, strict=True)]
            if number:
                found = [one._replace(origin=way.origin) for one in found]
            for i, one, n in zip(coded, found, n_cut, strict=True):
                made[i] = one._replace(n_cut=n)
        return [made[i] for i in range(len(segments))]

    def _limiter(self) -> anyio.CapacityLimiter:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(AT_ONCE)
        return self._threads


def _first_leg(request: TranslationRequest) -> TranslationRequest:
    """What the first of two runs is asked for; raises RefusedError where terms are to hold."""
    if request.terms not in (None, "none"):
        raise RefusedError("bad", "terms hold from one language to the other, not through a third")
    return request._replace(n_best=1, prefixes=(), details=False, tag=None)


def _between_tags(answer: ServedText) -> MadeSegment:
    segment = Segment((answer.text,)) if answer.text else Segment()
    origin, n_cut = answer.origin, answer.n_cut
    return MadeSegment(segment, origin, n_cut, answer.verdict, answer.alternatives)


def _put_together(
    piece: MarkupText, made: Sequence[MadeSegment], source: str, way: Route
) -> ServedText:
    """The answer for a text with markup."""
    target = way.pair.target
    origins = {one.origin for one in made} - {"none"}
    verdicts = [one.verdict for one in made if one.verdict is not None]
    verdict = None
    if verdicts:
        known = [one.confidence for one in verdicts if one.confidence is not None]
        flags = tuple(flag for one in verdicts for flag in one.flags)
        verdict = Verdict(flags, min(known, default=None))
    alone = made[0].alternatives if len(made) == 1 else ()
    return ServedText(
        piece.written([one.segment for one in made], source, target),
        source,
        alternatives=[piece.written([Segment((one,))], source, target) for one in alone],
        origin=min(origins) if len(origins) == 1 else way.origin if origins else "none",
        verdict=verdict,
        n_cut=sum(one.n_cut for one in made),
    )


def sound(text: str) -> str:
    """A text without what no text has: halves of surrogate pairs, which JSON can bring and nothing
    can send, and control characters, which would stand between two sentences unseen."""
    if not _UNSOUND.search(text):
        return text
    return _UNSOUND.sub(lambda found: "" if found[0].isascii() else "\ufffd", text)
