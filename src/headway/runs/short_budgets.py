"""A budget of minutes: where a translator that makes few updates begins, and how large they are.

Measured in docs/lab-notes.md; longer trainings are as they were.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from headway.core.errors import ConfigError
from headway.core.optimizer import load_weights
from headway.operations.time_budget import PlannedTraining
from headway.runs.settings import presets_of_type
from headway.runs.task_spec import Run, Sizes

PAIRS = "pairs"
"""What `init_embedding` says in place of a file of vectors."""
SMALLER = 2
"""By this a preset's batches are divided."""
GOOD_PASSES, GOOD_SEEN = 10, 10_000_000
"""What is recommended instead of a budget that teaches nothing."""
LEAST_BEGUN = 200_000
"""Units after which a model that begins at the pairs is of use."""


def fit_short(run: Run, training: PlannedTraining) -> PlannedTraining:
    """Smaller batches, and more of them; embeddings begin at the training pairs.

    Nothing that was set is changed.
    """
    given = run.given.get("training", {})
    if not made_for(run):
        return training
    if "batch_tokens" not in given:
        every = training.checkpoint_every * (1 if "checkpoint_every" in given else SMALLER)
        size, steps = training.batch_tokens // SMALLER, training.max_steps * SMALLER
        training = replace(training, batch_tokens=size, max_steps=steps, checkpoint_every=every)
        run.say(f"so few updates are made smaller: {steps:,} with batches of {size:,} tokens")
    if "init_embedding" not in given:
        training = replace(training, init_embedding=PAIRS)
        fit(run)
    return training


def made_for(run: Run) -> bool:
    """Neither for a model of which parts learn apart nor for another type than the usual one, of
    which none of this was measured."""
    if not run.spec.begun_at_pairs or run.settings.training.in_parts:
        return False
    return run.preset in presets_of_type(run.spec, run.spec.default_model)


def fit(run: Run) -> None:
    """Note for data.json that the model begins at what the training pairs tell.

    Raises ConfigError: this task has no pairs.
    """
    if not run.spec.begun_at_pairs:
        raise ConfigError(
            f"--init-embedding {PAIRS} is for translators, whose pairs tell which tokens translate "
            f"which; this is the task {run.spec.name}. Give a file of word vectors."
        )
    run.noted["init_embedding"] = {"place": PAIRS}
    run.say("embedding: begins at what stands beside what in the training pairs")


def begin_with(run: Run) -> None:
    """Before the first update."""
    assert run.spec.begun_at_pairs, "seen to when the run was fitted"
    trainer = run.trainer
    trainer.optimizer.take(
        {**trainer.optimizer.weights(), **run.spec.begun_at_pairs(run.data, trainer.model)}
    )
    # A training whose loss runs away begins again there.
    load_weights(trainer.eval_model, trainer.optimizer.weights())


def hopeless(
    run: Run, sizes: Sizes, seen: float, unit: str, speed: float, smaller: Sequence[str]
) -> list[str]:
    """What to say of a budget in which next to nothing can be learned, if it is one; `speed` is in
    units a second."""
    begins = run.given.get("training", {}).get("init_embedding", PAIRS) == PAIRS
    if seen >= LEAST_BEGUN and begins and made_for(run):
        return []
    enough = min(GOOD_PASSES * sizes.per_pass, GOOD_SEEN)
    share = seen / GOOD_PASSES / sizes.per_pass
    minutes = math.ceil(enough / speed * 1.2 / 60)  # preparation and validation take their share
    budget = f"{minutes}m" if minutes < 120 else f"{math.ceil(minutes / 60)}h"
    preset = f"; --preset {smaller[-1]} is faster" if smaller else ""
    return [
        f"WARNING: {seen / sizes.per_pass:.1f} times through the corpus will not make a model of "
        "use. Stop now (Ctrl-C), unless you only want to see it run.",
        f"  enough would be: --budget {budget} for {enough:,.0f} {unit}{preset}"
        f"; or about {share:.0%} of the corpus in the same time",
    ]
