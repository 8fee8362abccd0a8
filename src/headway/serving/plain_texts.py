"""The quick way of plain texts: no thread, no processor, the same translation.

Most requests are a sentence or two without codes, names of files or tags. Their texts are encoded
in the event loop, wait there for the shared engine, and are told as `Translator.translate_fully`
does. Whatever may need more takes the usual way.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.core.translate import Searched
from headway.serving.requests import Caller
from headway.serving.scheduler import SharedEngine
from headway.translation.detailed import Translation

if TYPE_CHECKING:
    from headway.translator import Translator

MOST_TEXTS = 8
MOST_CHARACTERS = 2_000
"""More would keep others waiting while they are encoded."""


async def translate_plain(
    translator: "Translator", texts: Sequence[str], caller: Caller, *, n_best: int = 1
) -> list[Translation] | None:
    """What `translate_fully(texts, want_scores=False)` gives, with the run's settings and `n_best`;
    None for texts that are more than plain, or where no shared engine is ready.

    Raises RefusedError as `SharedEngine.search` does.
    """
    engine, around, plain = translator.search.engine, translator.processors, translator.plain
    if not isinstance(engine, SharedEngine) or translator.settings.data.tags:
        return None
    if not 0 < len(texts) <= MOST_TEXTS or sum(map(len, texts)) > MOST_CHARACTERS:
        return None
    cleaned = [text for text in map(around.untouched, texts) if text is not None]
    if len(cleaned) < len(texts):
        return None
    settings = translator.settings.decoding
    if n_best > 1:
        beam = {"method": "beam", "beam": max(n_best, settings.beam)}
        settings = translator.decoding({**beam, "n_best": n_best})
    encoded = plain.subwords.encode_batch(cleaned)
    at_once = translator.at_once.subwords
    if at_once is not None and max(map(len, encoded)) > at_once:
        return None  # it is cut
    read = [ids[: plain.longest] for ids in encoded]
    request = plain.request(settings)._replace(want_scores=False)
    found = await engine.search_soon(translator.model, read, request, caller)
    if found is None:
        return None
    translations = []
    for text, whole, ids, hypotheses in zip(texts, encoded, read, found, strict=True):
        one = plain.told(text, Searched(ids, len(whole) - len(ids), hypotheses))
        if any(around.may_hold_codes(other.written) for other in one.n_best):
            return None
        translations.append(one)
    return translations
