"""Products of fewer bits than float32, where a run's own validation pairs allow them.

What they cost is measured when they are first asked for by name, and stays in the run folder, bound
to its weights. `auto` measures nothing: it takes the quickest of what was found to cost nothing.
"""

from collections.abc import Sequence
from typing import Any, Literal

from headway.core.disk import DiskError
from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, Hypothesis
from headway.core.run_folder import RunFolder
from headway.core.runtime import EngineName
from headway.core.settings import Settings
from headway.core.translate import TextTranslator
from headway.engine.building import NoEngineError, engine_library
from headway.engine.engine import beyond, prepare, unsupported
from headway.engine.packing import Precision
from headway.runs.quality_gate import Gate, keep, known, measured
from headway.runs.task_spec import Say
from headway.translation import tuning_data
from headway.translation.corpus_task import CorpusTask
from headway.translation.validation_portions import uncut

QUICKEST_FIRST: tuple[Precision, ...] = ("int8", "bf16")


def settled(
    folder: RunFolder,
    plain: TextTranslator,
    engine: EngineName,
    settings: Settings,
    asked: Literal["auto", Precision],
    say: Say,
) -> Precision:
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
    if not has_instructions(asked):
        say(f"headway: this processor has no instructions for {asked}: fp32 may be faster")
    gate = known(folder).get(asked) or measured_now(folder, plain, settings, asked, say)
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


def has_instructions(precision: Precision) -> bool:
    """Whether this processor multiplies so, and it need not be done in plain C."""
    return bool(
        {"bf16": engine_library().has_bfloat16, "int8": engine_library().has_int8}[precision]
    )


def quickest(folder: RunFolder, say: Say) -> Precision:
    """Of what was measured before and costs nothing that counts."""
    gates = known(folder)
    for one in QUICKEST_FIRST:
        if one in gates and gates[one].open and has_instructions(one):
            say(f"headway: {one} products: {gates[one].in_words()} (--precision fp32 for those)")
            return one
    return "fp32"


def measured_now(
    folder: RunFolder, plain: TextTranslator, settings: Settings, precision: Precision, say: Say
) -> Gate | None:
    """Translate the run's validation pairs both ways, and keep what came of it; None, with a
    warning, where they are not at hand, or the engine does not translate them."""
    unknown = f"headway: WARNING: what {precision} products cost this run was not measured: "
    if why := tuning_data.missing(folder):
        say(f"{unknown}its validation pairs are not at hand ({why})")
        return None
    if why := beyond(settings.decoding):
        say(f"{unknown}the compiled engine does not search as it does ({why})")
        return None
    pairs = tuning_data.pairs_of(folder.path, plain.subwords)
    rows, valid = tuning_data.scored_rows(pairs, settings), pairs.prepared.valid
    say(
        f"headway: translating {len(rows):,} validation sentences in fp32 and in {precision}, "
        f"once, to see what {precision} products cost"
    )
    sources = [valid["source"][int(row)] for row in rows]
    in_fp32 = by_engine(plain, sources, settings.decoding, "fp32")
    in_fewer_bits = by_engine(plain, sources, settings.decoding, precision)
    done = [i for i in range(len(rows)) if in_fp32[i] and in_fewer_bits[i]]
    if not done:
        say(f"{unknown}its validation pairs are longer than the compiled engine reads or writes")
        return None
    task = CorpusTask(
        pairs.prepared,
        settings.training,
        valid_rows=rows[done],
        seed=settings.runtime.seed,
        device=plain.device,
    )
    task.portions = uncut(pairs.prepared, task.valid_rows)
    usual, quick = (task.written([found[i] for i in done]) for found in (in_fp32, in_fewer_bits))
    gate = measured(usual, quick, task.valid_texts, settings.data.target_language)
    try:
        keep(folder, precision, gate)
    except DiskError as error:
        say(f"headway: that is not kept: {error}")
    return gate


def by_engine(
    plain: TextTranslator, sources: Sequence[Any], settings: DecodingSettings, precision: Precision
) -> list[list[Hypothesis]]:
    """What the compiled engine finds by this search; nothing for those that it leaves to torch,
    which would be the same in any precision."""
    found = prepare(plain.model, plain.device, precision)
    assert not isinstance(found, str)  # `without_engine` has been asked
    request = plain.request(settings)._replace(want_scores=False)
    return found.search(plain.model, sources, request)
