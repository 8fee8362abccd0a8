"""What a run is translated with, where that is not headway's usual way: engine and precision."""

from dataclasses import asdict
from typing import Literal, cast

from headway.core.disk import checksum
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.core.transformer import Transformer
from headway.core.translate import TextTranslator
from headway.corpora.cache import cache_root, key_of, made_once, read_sealed, sealed_folder
from headway.engine.engine import EngineChoice
from headway.engine.packing import Precision
from headway.exchange import ctranslate2
from headway.exchange.ctranslate2_search import CTranslate2Search
from headway.runs.loading import Opened
from headway.runs.task_spec import Say
from headway.translation.decoding import EngineSearch
from headway.translation.exporting import token_strings, write_checked, writes_ctranslate2
from headway.translation.precision import settled

_FORMAT = 1


def settle(
    folder: RunFolder,
    opened: Opened,
    plain: TextTranslator,
    search: EngineSearch,
    precision: Literal["auto", Precision],
    say: Say,
) -> None:
    """Have an opened run searched with the engine that is chosen, and in this precision.

    Raises:
        ConfigError: they are not for this run, or not installed.
    """
    engine = search.choice.name
    found = settled(folder, plain, engine, opened.settings, precision, say)
    search.choice = EngineChoice(engine, found, say)
    if engine == "ctranslate2":
        search.prepared = (in_ctranslate2(folder, opened, say),)


def in_ctranslate2(folder: RunFolder, opened: Opened, say: Say) -> CTranslate2Search:
    """The run's model in CTranslate2: exported and checked once, and found in the cache.

    Raises:
        ConfigError: CTranslate2 is not installed, or cannot hold the model.
        HeadwayError: what was exported does not compute the same. Nothing is left.
    """
    ctranslate2.require()
    refuse_unheld(opened)
    model, vocabulary = cast(Transformer, opened.model), opened.vocabulary
    n_positions = ctranslate2.n_positions_for(opened.settings.data.max_length)
    key = {
        "format": _FORMAT,
        "weights": checksum(folder.model),
        "model": asdict(opened.settings.model),
        "vocabulary": vocabulary.fingerprint(),
        "positions": n_positions,
        "ctranslate2": ctranslate2.version(),
    }
    place = cache_root() / f"ctranslate2-{key_of(key)}"

    def make(_: object) -> None:
        say("headway: the run's weights are written for CTranslate2 and checked, once")
        with sealed_folder(place) as (part, _):
            say(f"headway: {write_checked(opened, part, writes_ctranslate2(opened), say)}")

    def open_it() -> CTranslate2Search:
        read_sealed(place)
        tokens = token_strings(place, len(vocabulary))
        return CTranslate2Search(model, vocabulary.special, place, tokens, n_positions)

    return made_once(place, open_it, make, say)


def refuse_unheld(opened: Opened) -> None:
    """Raise ConfigError for a model that CTranslate2 does not have, or not where it is."""
    reason, kind = "", opened.settings.model_type
    if kind != "transformer":
        reason = f"it holds models of the type transformer, and this one is of the type {kind}."
    elif opened.device.type != "cpu":
        reason = f"it translates on a CPU here, and the model is on {opened.device.type}."
    else:
        try:
            ctranslate2.refuse_unheld(cast(Transformer, opened.model).config)
        except ConfigError as error:
            reason = str(error)
    if reason:
        raise ConfigError(
            f"runtime.engine ctranslate2 is for what it can do; {reason} Use --runtime.engine auto."
        )
