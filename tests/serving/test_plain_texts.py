"""The quick way tells what the usual way tells, or leaves a text to it."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from random_models import needs_engine

from headway.serving.plain_texts import MOST_TEXTS, translate_plain
from headway.serving.requests import Caller, RefusedError
from headway.serving.scheduler import SharedEngine, SharedEngines
from headway.translation.detailed import Translation
from headway.translator import Translator

pytestmark = needs_engine

PLAIN = ("The dog runs.", "I see a red car", "Where is my apple?", "cat")
MORE_THAN_PLAIN = (
    "", "...", "Hello. How are you?", "See {name} now.", "line\nline", "the <b>dog</b>", "a" * 3000
)  # fmt: skip


@pytest.fixture
def shared(everyday_run: Path) -> Iterator[Translator]:
    engines, translator = SharedEngines(2), Translator.load(everyday_run)
    engines.prepare(translator)
    translator.translate(["A lane is there once somebody has searched."])
    translator.translate("And one for two.", n_best=2)
    yield translator
    engines.retire(translator)
    engines.close()


def test_plain_texts_get_the_same_translation(shared: Translator, everyday_run: Path) -> None:
    alone = Translator.load(everyday_run)

    async def all_at_once(n_best: int) -> list[list[Translation] | None]:
        one, two = list(PLAIN), [PLAIN[0], PLAIN[3]]
        asked = [*([text] for text in one), one, two]
        return await asyncio.gather(
            *(translate_plain(shared, texts, Caller(), n_best=n_best) for texts in asked)
        )

    for n_best in (1, 2):
        expected = alone.translate_fully(PLAIN, n_best=n_best)
        *single, whole, two = asyncio.run(all_at_once(n_best))
        assert whole == expected
        assert single == [[one] for one in expected]
        assert two == [expected[0], expected[3]]


@pytest.mark.parametrize("text", MORE_THAN_PLAIN)
def test_other_texts_are_left_to_the_usual_way(shared: Translator, text: str) -> None:
    assert asyncio.run(translate_plain(shared, [PLAIN[0], text], Caller())) is None


def test_what_it_cannot_do_is_left_too(
    shared: Translator, everyday_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(translator: Translator, n: int = 1, n_best: int = 1) -> list[Translation] | None:
        return asyncio.run(translate_plain(translator, [PLAIN[0]] * n, Caller(), n_best=n_best))

    assert found(shared, MOST_TEXTS)
    assert found(shared, MOST_TEXTS + 1) is None
    assert found(shared, 0) is None
    assert found(shared, n_best=5) is None  # no lane: nobody has searched so
    assert found(Translator.load(everyday_run)) is None  # no shared engine
    with monkeypatch.context() as patch:
        patch.setattr(shared, "at_once", shared.at_once._replace(subwords=3))
        assert found(shared) is None  # the model was taught with shorter ones, and it is cut
    monkeypatch.setattr(shared.processors, "may_hold_codes", lambda text: not text.isascii())
    assert found(shared) is None  # what was written may hold codes


def test_who_is_cancelled_or_late_frees_the_place(shared: Translator) -> None:
    engine = shared.search.engine
    assert isinstance(engine, SharedEngine)
    [lane, _] = engine._lanes.values()
    entries, lane.job.free = lane.job.free, []  # nothing is begun

    async def run() -> None:
        caller = Caller(deadline=time.monotonic() + 600)
        waits = asyncio.create_task(translate_plain(shared, [PLAIN[0]], caller))
        late = Caller(deadline=time.monotonic() + 0.05)
        with pytest.raises(RefusedError) as refused:
            await translate_plain(shared, [PLAIN[1]], late)
        assert refused.value.reason == "late"
        assert engine.n_waiting == 1
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        assert caller.gone.is_set()
        assert engine.n_waiting == 0

    asyncio.run(run())
    lane.job.free = entries
    assert shared.translate(PLAIN[0])
    assert lane.n_users == 0
