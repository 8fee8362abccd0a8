"""A service put together from what its operator says: runs, what goes before them, keys, state."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from headway.core.disk import disk_errors
from headway.core.runtime import Precision, available_cores
from headway.operations.shipped import open_folder
from headway.runs.settings import task_of
from headway.serving.app import Served, application
from headway.serving.corrections import Corrections
from headway.serving.keys import ApiKeys
from headway.serving.language_models import LanguageModels
from headway.serving.limits import Limits
from headway.serving.memories import KnownTranslations, PairMemories
from headway.serving.runs import ServedRuns
from headway.serving.scheduler import SharedEngines
from headway.serving.service import Service
from headway.tasks import verbs
from headway.translator import Translator


@contextmanager
def assembled(
    paths: Sequence[Path],
    limits: Limits,
    *,
    api_keys: Path | None = None,
    state: Path | None = None,
    memory: Sequence[Path] = (),
    precision: Precision = "auto",
    memory_limit: int = 0,
    load: bool = False,
    names: Sequence[str] = (),
    origins: Sequence[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Served]:
    """A service of the runs in some folders, while the block lasts.

    `state` is a folder for what is to outlast it: corrections, glossaries, what keys used.
    `memory_limit` is in MiB. Raises UserError for what its operator can put right.
    """
    tasks = {path: task_of(open_folder(path).settings()) for path in paths}
    language_models = [path for path in paths if "score" in verbs(tasks[path])]
    translators = [path for path in paths if path not in language_models]
    with ExitStack() as held:
        engines = SharedEngines(available_cores())
        held.callback(engines.close)
        runs = ServedRuns(
            translators, partial(Translator.load, precision=precision, say=say),
            prepare=engines.prepare, retire=engines.retire, set_aside=engines.set_aside,
            memory_limit=memory_limit << 20 or None, say=say,
        )  # fmt: skip
        keys = kept = None
        if state is not None:
            with disk_errors(state):
                state.mkdir(mode=0o700, parents=True, exist_ok=True)
            kept = Corrections(state / "corrections", say)
            held.callback(kept.close)
        if api_keys is not None:
            keys = ApiKeys(api_keys, state / "usage.json" if state else None)
            held.callback(keys.save)
        memories = PairMemories(memory, runs.pairs, say) if memory else None
        service = Service(runs, limits, KnownTranslations(kept, memories))
        service.language_models = LanguageModels(language_models)
        served = application(service, keys, names=names, origins=origins, state=state)
        engines.tell(served.metrics)
        held.callback(served.documents.close)
        if load:
            runs.load_all()
            service.detect("What languages are told by is loaded, too.")
            service.language_models.load_all()
        yield served
