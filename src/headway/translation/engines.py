"""What a run is translated with, where that is not headway's usual way: engine, and precision,
whose cost is measured on the run's own validation pairs."""

from dataclasses import asdict
from typing import Literal, cast

from headway.core.disk import DiskError, checksum
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.core.runtime import EngineName, ProductPrecision
from headway.core.transformer import Transformer
from headway.core.translate import TextTranslator
from headway.corpora.cache import made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import cache_root, key_of
from headway.engine.building import engine_library
from headway.engine.compiling import NoEngineError
from headway.engine.engine import beyond, unsupported
from headway.engine.measuring import product_seconds
from headway.exchange import ctranslate2
from headway.exchange.ctranslate2_search import CTranslate2Search
from headway.operations.shipped import refuse_shipped
from headway.runs.loading import LoadedRun
from headway.runs.quality_gate import QualityGate, keep, known
from headway.runs.task_spec import Say
from headway.translation import run_data
from headway.translation.decoding import EngineChoice, EngineSearch
from headway.translation.exporting import token_strings, write_checked, writes_ctranslate2

_FORMAT = 1


def settle(
    folder: RunFolder,
    opened: LoadedRun,
    plain: TextTranslator,
    search: EngineSearch,
    precision: Literal["auto", ProductPrecision],
    say: Say,
) -> None:
    """Have an opened run searched with the engine that is chosen, and in this precision.

    Raises:
        ConfigError: they are not for this run, or not installed.
    """
    engine = search.choice.name
    found = settled(folder, plain, engine, precision, say)
    search.choice = EngineChoice(engine, found, say)
    if engine == "ctranslate2":
        search.use(in_ctranslate2(folder, opened, say))


def in_ctranslate2(folder: RunFolder, opened: LoadedRun, say: Say) -> CTranslate2Search:
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


def refuse_unheld(opened: LoadedRun) -> None:
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


# -- precision --------------------------------------------------------------------------------
# What it costs is measured when it is first asked for by name, and stays in the run folder, bound
# to its weights. `auto` takes, of what was found to cost nothing, what multiplies fastest here.


FEWER_BITS: tuple[ProductPrecision, ...] = ("int8", "bf16")
WORTH = 0.95
"""Fewer bits are taken where a product has at most this share of the time that fp32's has."""


def settled(
    folder: RunFolder,
    plain: TextTranslator,
    engine: EngineName,
    asked: Literal["auto", ProductPrecision],
    say: Say,
) -> ProductPrecision:
    """The precision to translate with, said in a line unless it is fp32.

    Raises:
        ConfigError: one is named that the compiled engine cannot have here, or that costs too much
            on the run's validation pairs.
    """
    if asked == "fp32":
        return asked
    why_not = without_engine(plain, engine)
    if asked == "auto":
        return "fp32" if why_not else quickest(folder, say)
    if why_not:
        raise ConfigError(
            f"{asked} products are the compiled engine's; {why_not}. Leave --precision out."
        )
    seconds = product_seconds(engine_library())
    if seconds[asked] > WORTH * seconds["fp32"]:
        times = f"{seconds[asked] / seconds['fp32']:.1f} times as long as in fp32"
        say(f"headway: on this processor products take {times} in {asked}")
    gate = known(folder).get(asked) or measured_now(folder, plain, asked, say)
    if gate is not None:
        gate.refuse_closed(f"{asked} products", "Use --precision fp32.")
        say(f"headway: {asked} products: {gate.in_words()}")
    return asked


def without_engine(plain: TextTranslator, engine: EngineName) -> str:
    """Why the compiled engine does not translate here; nothing if it does."""
    if engine in ("torch", "ctranslate2"):
        return f"the engine is {engine}"
    try:
        engine_library()
    except NoEngineError as error:
        return str(error)
    return unsupported(plain.model, plain.device)


def quickest(folder: RunFolder, say: Say) -> ProductPrecision:
    """Of what was measured before and costs nothing that counts the quickest here, or fp32."""
    gates = known(folder)
    if not (able := [one for one in FEWER_BITS if one in gates and gates[one].open]):
        return "fp32"
    seconds = product_seconds(engine_library())
    one = min(able, key=lambda precision: seconds[precision])
    if seconds[one] > WORTH * seconds["fp32"]:
        return "fp32"
    say(f"headway: {one} products: {gates[one].in_words()} (--precision fp32 for those)")
    return one


def measured_now(
    folder: RunFolder, plain: TextTranslator, precision: ProductPrecision, say: Say
) -> QualityGate | None:
    """Translate the run's validation pairs both ways, and keep what came of it; None, with a
    warning, where they are not at hand, or the engine does not search as the run does."""
    unknown = f"headway: WARNING: what {precision} products cost this run was not measured: "
    if why := run_data.missing(folder):
        say(f"{unknown}its validation pairs are not at hand ({why})")
        return None
    settings = run_data.settings_of(folder)
    if why := beyond(settings.decoding):
        say(f"{unknown}the compiled engine does not search as it does ({why})")
        return None
    pairs = run_data.pairs_of(folder.path, plain.subwords)
    say(
        f"headway: translating {len(run_data.scored_rows(pairs, settings)):,} validation "
        f"sentences in fp32 and in {precision}, once, to see what {precision} products cost"
    )
    ways = [(plain.model, EngineSearch(EngineChoice("auto", one))) for one in ("fp32", precision)]
    gate = run_data.gate_of(pairs, settings, plain.device, ways)
    try:
        refuse_shipped(folder.path)
        keep(folder, precision, gate)
    except (DiskError, RunError) as error:
        say(f"headway: that is not kept: {error}")
    return gate
