"""Texts in, answers out: what every door asks, on whichever run has the pair."""

from collections.abc import Sequence
from functools import partial

import anyio.to_thread

from headway.languages.detection import detect
from headway.serving.language_models import LanguageModels
from headway.serving.limits import Limits
from headway.serving.requests import AUTO, CALLER, Answer, Caller, RefusedError, TranslationRequest
from headway.serving.runs import ServedRuns

AT_ONCE = 64
"""Requests that are worked on; each has a thread, which mostly waits for the engine."""


class Service:
    """What doors call; safe to be called by many at once."""

    def __init__(self, runs: ServedRuns, limits: Limits = Limits()) -> None:  # noqa: B008 (frozen)
        self.runs, self.limits = runs, limits
        self.language_models = LanguageModels()
        """Served beside them."""
        self._threads: anyio.CapacityLimiter | None = None

    async def translate(self, request: TranslationRequest, caller: Caller) -> list[Answer]:
        """The answer for each text, in order.

        Raises:
            RefusedError: it is not done, and why.
        """
        n_characters = self.limits.admit(request.texts)
        caller.charge(n_characters)
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(AT_ONCE)
        work = partial(self.translate_now, request, caller)
        return await anyio.to_thread.run_sync(work, limiter=self._threads)

    def translate_now(self, request: TranslationRequest, caller: Caller) -> list[Answer]:
        """The same, in the thread of who calls."""
        CALLER.set(caller)
        found = [self.language_of(text, request) for text in request.texts]
        answers: list[Answer | None] = [None] * len(found)
        for source in dict.fromkeys(language for language, _ in found):
            rows = [i for i, (language, _) in enumerate(found) if language == source]
            texts = [request.texts[i] for i in rows]
            for i, answer in zip(rows, self.of_pair(texts, source, request), strict=True):
                answers[i] = answer._replace(sureness=found[i][1])
        return [answer for answer in answers if answer is not None]

    def language_of(self, text: str, request: TranslationRequest) -> tuple[str, float | None]:
        """The source language of a text, and how sure that is if it was found."""
        if request.source.lower() != AUTO:
            return request.source, None
        known = {pair.source for pair in self.runs.pairs}
        heard, sureness = detect(text)
        if heard not in known:
            raise RefusedError("language", f"{heard} is not translated here")
        return heard, sureness

    def of_pair(
        self, texts: Sequence[str], source: str, request: TranslationRequest
    ) -> list[Answer]:
        """Answers for texts of one language."""
        translator = self.runs.of(source, request.target).translator
        found = translator.translate_fully(
            list(texts), want_alignment=request.details, n_best=request.n_best,
            **{"beam": max(request.n_best, translator.settings.decoding.beam), **request.decoding},
        )  # fmt: skip
        return [
            Answer(
                text=one.target,
                source=source,
                alternatives=[other.target for other in one.n_best[1:]],
                translation=one,
                verdict=translator.judged(one) if request.details else None,
            )
            for one in found
        ]
