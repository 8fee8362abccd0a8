"""Texts and segments through one run's translator, as a request asks for it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.localization.checks.calibration import Verdict
from headway.localization.checks.output_checks import evidence_of, words_of
from headway.localization.formats.units import Flag
from headway.localization.placeholders.segments import Segment
from headway.localization.terms import NONE
from headway.serving.looping import LEFT_WORDS, is_doubtful, is_odd, looked_at
from headway.serving.plain_texts import translate_plain
from headway.serving.requests import CALLER, Caller, ServedText, TranslationRequest
from headway.translation.detailed import Translation

if TYPE_CHECKING:
    from headway.translator import Translator

_LEFT = Verdict((Flag("loop", 1.0, "the model only repeated itself; the text was left"),), 0.0)


def how_asked(translator: "Translator", request: TranslationRequest) -> dict[str, Any]:
    """What `translate_fully` and `translate_segments` are given for a request."""
    how: dict[str, Any] = {**request.decoding, "done": CALLER.get().refuse_over}
    if request.n_best > 1:
        how["n_best"] = request.n_best
        if how.setdefault("method", "beam") == "beam":
            beam = how.get("beam", translator.settings.decoding.beam)
            how["beam"] = max(beam, request.n_best)
    if request.terms is not None:
        how["glossary"] = request.terms
    if request.tag is not None:
        how["tag"] = request.tag
    if request.details:
        how["want_alignment"] = True
    return how


def translate_texts(
    translator: "Translator", texts: list[str], source: str, request: TranslationRequest
) -> list[ServedText]:
    """Answers for texts of one language, none of them blank."""
    how = how_asked(translator, request)
    begun = {"prefixes": request.prefixes} if request.prefixes else {}
    found = translator.translate_fully(texts, want_scores=request.details, **begun, **how)
    is_looked_at = not begun and how.get("method") != "sampling"
    if is_looked_at:
        found = looked_at(translator, texts, found, request.n_best, how)
    answers = []
    for text, one in zip(texts, found, strict=True):
        hopeless = is_looked_at and len(words_of(text)) <= LEFT_WORDS and is_odd(text, one.target)
        origin = "none" if hopeless else "model"
        answer = answer_of(text, source, one)
        if origin == "none":
            answer = answer._replace(text=text, origin=origin, translation=None)
        if request.details:
            terms = NONE if begun else request.terms
            verdict = _LEFT if origin == "none" else translator.judged(one, terms)
            answer = answer._replace(verdict=verdict)
        answers.append(answer)
    return answers


def answer_of(text: str, source: str, one: Translation) -> ServedText:
    """What a model made of a text in the language `source`."""
    return ServedText(
        text=framed(text, one.target),
        source=source,
        alternatives=[framed(text, other.target) for other in one.n_best[1:]],
        translation=one,
        n_cut=one.n_cut,
    )


async def answer_plainly(
    translator: "Translator",
    texts: list[str],
    source: str,
    request: TranslationRequest,
    caller: Caller,
) -> list[ServedText] | None:
    """What `translate_texts` gives for plain texts, without a thread; None where one is more than
    that, or its translation is to be looked at."""
    found = await translate_plain(translator, texts, caller, n_best=request.n_best)
    if found is None or any(map(is_doubtful, texts, (one.target for one in found))):
        return None
    return [answer_of(text, source, one) for text, one in zip(texts, found, strict=True)]


def asks_for_more(request: TranslationRequest) -> bool:
    """Whether a request wants something of a text's translation that takes the usual way."""
    return bool(
        request.markup != "text" or request.prefixes or request.decoding or request.details
        or request.terms is not None or request.tag is not None
    )  # fmt: skip


def framed(text: str, target: str) -> str:
    """A translation with the white space that stands around its source."""
    if not (text[:1].isspace() or text[-1:].isspace()):
        return target
    inner = text.strip()
    start = text.index(inner)
    return text[:start] + target.strip() + text[start + len(inner) :]


class MadeSegment(NamedTuple):
    """What became of one text between tags."""

    segment: Segment
    origin: str
    n_cut: int = 0
    verdict: Verdict | None = None
    alternatives: Sequence[str] = ()


def translate_coded(
    translator: "Translator", segments: Sequence[Segment], request: TranslationRequest
) -> list[MadeSegment]:
    """The same of segments with tags in them; only the best translation of each."""
    how = how_asked(translator, request._replace(n_best=1))
    made = []
    for source, one in zip(segments, translator.translate_segments(segments, **how), strict=True):
        if is_odd(source.text, one.segment.text) and len(words_of(source.text)) <= LEFT_WORDS:
            made.append(MadeSegment(source, "none", verdict=_LEFT if request.details else None))
            continue
        verdict = None
        if request.details:
            readings = evidence_of(one.parts)
            both = source.text, one.segment.text
            verdict = translator.checker.look(*both, readings)
            if terms := translator.processors.terms(request.terms):
                verdict = terms.judged([both], verdict)
        made.append(MadeSegment(one.segment, "model", one.n_cut, verdict))
    return made
