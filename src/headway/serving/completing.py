"""What a language model writes behind a prompt, piece by piece, with what is told of each token."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.serving.language_models import PromptText, ServedLanguageModel, TokenPlace
from headway.serving.requests import Caller

COLDEST = 0.001
"""Below this temperature the likeliest token is taken, as at 0."""


class WritingSettings(NamedTuple):
    """How one text is gone on with."""

    max_tokens: int
    temperature: float
    top_p: float
    top_k: int
    seed: int
    stop: Sequence[str] = ()
    """Texts that end it; they are not part of it."""
    n_top: int | None = None
    """So many likely tokens are told of each place; None: nothing is told of tokens."""


class ToldToken(NamedTuple):
    """A token with what is known of it; None where nothing stands before."""

    token: str
    log_prob: float | None
    top: dict[str, float] | None
    offset: int
    """Where in the text it begins."""


class CompletionChunk(NamedTuple):
    """What a text goes on with."""

    text: str
    tokens: Sequence[ToldToken] = ()
    finish: str | None = None
    """`stop` or `length` with the last one."""
    n_written: int = 0
    """Tokens."""


def echo_of(served: ServedLanguageModel, prompt: PromptText, n_top: int | None) -> CompletionChunk:
    """The prompt itself. Its first token has no log-probability, as in OpenAI's answers."""
    if n_top is None:
        return CompletionChunk(prompt.text)
    end, before = served.special.end, served.special.end
    told = []
    if prompt.begins:
        told.append(ToldToken(served.labels[0][served.special.decoder_begin], None, None, 0))
    places = served.places(prompt.ids, n_top)
    for place, offset in zip(places, prompt.offsets, strict=True):
        told.append(told_token(served, place, offset, first=before == end))
        before = place.id
    if told:
        told[0] = told[0]._replace(log_prob=None, top=None)
    return CompletionChunk(prompt.text, told)


def told_token(
    served: ServedLanguageModel, place: TokenPlace, offset: int, *, first: bool
) -> ToldToken:
    """With the names of tokens; `first` in its line."""
    called = served.labels[0 if first else 1]
    top: dict[str, float] = {}
    for one, log_prob in (*place.top, (place.id, place.log_prob)):
        top.setdefault(called[one], log_prob)
    return ToldToken(called[place.id], place.log_prob, top, offset)


def written(
    served: ServedLanguageModel, prompt: PromptText, settings: WritingSettings, caller: Caller
) -> Iterator[CompletionChunk]:
    """Behind a prompt; a piece may hold nothing while it could be the beginning of a stop text."""
    end, offset, held = served.special.end, len(prompt.text), ""
    first = not prompt.ids or prompt.ids[-1] == end
    greedy = settings.temperature < COLDEST
    drawn = served.model.write_tokens(
        prompt.ids,
        max_tokens=settings.max_tokens,
        temperature=1.0 if greedy else settings.temperature,
        top_k=1 if greedy else settings.top_k,
        top_p=settings.top_p,
        seed=settings.seed,
    )
    finish = "stop" if settings.max_tokens else "length"
    for n_written, token in enumerate(drawn if settings.max_tokens else (), start=1):
        caller.refuse_over()
        told = []
        if settings.n_top is not None:
            [place] = served.known(token.logits, [token.id], settings.n_top)
            told = [told_token(served, place, offset, first=first)]
        first, offset, held = token.id == end, offset + len(token.text), held + token.text
        stops = [held.index(stop) for stop in settings.stop if stop in held]
        if stops:
            yield CompletionChunk(held[: min(stops)], told, "stop", 1)
            return
        sure = len(held) - longest_begun(held, settings.stop)
        yield CompletionChunk(held[:sure], told, None, 1)
        held = held[sure:]
        ended = token.id == end and not token.text
        finish = "length" if n_written == settings.max_tokens and not ended else "stop"
    yield CompletionChunk(held, (), finish)


def longest_begun(text: str, stops: Sequence[str]) -> int:
    """Characters at the end of a text that may be the beginning of one of `stops`."""
    return max(
        (n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0
    )


def joined(pieces: Iterator[CompletionChunk]) -> CompletionChunk:
    """All as one."""
    found = [*pieces]
    return CompletionChunk(
        "".join(one.text for one in found),
        [token for one in found for token in one.tokens],
        found[-1].finish,
        sum(one.n_written for one in found),
    )
