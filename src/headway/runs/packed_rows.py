"""On a GPU batches get one shape where they can have one: what learns from them is recorded there
once, and replayed (`headway.operations.captured`)."""

from dataclasses import replace

from headway.operations.time_budget import PlannedTraining
from headway.runs.task_spec import Run


def fit_rows(run: Run, training: PlannedTraining) -> PlannedTraining:
    """Rows of pairs side by side, where the task can and nobody chose; not for a model of which
    parts learn apart, or that was another run's."""
    chosen = "pack_length" in run.given.get("training", {})
    if chosen or training.in_parts or training.init_from or not run.spec.row_length:
        return training
    length = run.spec.row_length(run.settings, run.data)
    if not 0 < length <= training.batch_tokens:
        return training
    run.say(f"pairs stand side by side in rows of {length} tokens: batches of one shape, which a "
            "GPU learns from fastest; --training.pack-length 0 is without")  # fmt: skip
    return replace(training, pack_length=length)  # type: ignore[call-arg]
