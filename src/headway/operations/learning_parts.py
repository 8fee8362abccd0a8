"""Which parts of a model learn, and how fast: settings of [training] that most leave out."""

from dataclasses import dataclass

from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.training_settings import TrainingSettings


@dataclass(frozen=True)
class LearningParts(TrainingSettings):
    """Where a training begins, what of it learns, and whether that is compiled."""

    init_from: str = ""
    """A finished run, of any task, whose weights this one begins with."""
    init_embedding: str = ""
    """A file of word vectors, or a run that has some, which the token embeddings begin with; or
    `pairs`, for what the training pairs tell; fitted where a budget has few updates."""
    freeze: tuple[str, ...] = ()
    """Parts whose weights stay as they are: `embedding`, `encoder`, `encoder.0-3`."""
    unfreeze_at: float = 0.0
    """The share of the updates after which these learn, too; 0: never."""
    reinit: tuple[str, ...] = ()
    """Parts that are drawn anew although `init_from` has them."""
    layer_decay: float = 1.0
    """The learning rate is multiplied by this for each layer further from the head."""
    lora_rank: int = 0
    """After init_from: of the trunk only adapters of this rank learn (LoRA); 0: all of it."""
    weight_decay: float = 0.0
    """Of each matrix this much, times the learning rate, is taken away in an update (decoupled
    weight decay, Loshchilov and Hutter 2019)."""
    compile: bool = False
    """Have torch compile the Transformer's layers, in a minute; for a GPU (docs/scale.md)."""


def refuse_unsound(training: LearningParts) -> None:
    """Raise ConfigError for what cannot be meant, of settings of how parts learn."""
    if training.reinit and not training.init_from:
        raise ConfigError(
            "--reinit names parts of the run that --init-from names; there is none. "
            "Leave --reinit out: every weight is drawn anew."
        )
    if not 0 < training.layer_decay <= 1:
        raise ConfigError(
            f"layer_decay is above 0 and at most 1; got {training.layer_decay:g}. Try 0.9."
        )
    if not 0 <= training.unfreeze_at < 1:
        raise ConfigError(
            "unfreeze_at is a share of the updates, from 0 to below 1; got "
            f"{training.unfreeze_at:g}. Try 0.3."
        )
    if training.unfreeze_at and not training.freeze:
        raise ConfigError(
            "unfreeze_at says when frozen parts begin to learn; none is frozen. Add --freeze "
            "encoder, or leave --training.unfreeze-at out."
        )
    if training.lora_rank and not training.init_from:
        raise ConfigError(
            "adapters (LoRA) of a rank of 1 or more are laid on the weights that --init-from has; "
            f"got a rank of {training.lora_rank}, and no run to begin with. Leave "
            "--training.lora-rank out."
        )
    refuse_below(training, {"weight_decay": 0})
    refuse_beyond(training, {"weight_decay": 100})
    in_parts = training.freeze or training.layer_decay < 1 or training.lora_rank
    if in_parts and training.weight_decay:
        raise ConfigError(
            "weight_decay is for trainings in which all weights learn alike; got freeze, "
            "layer_decay or lora_rank beside it. Leave one side out."
        )
    if training.lora_rank and training.unfreeze_at:
        raise ConfigError(
            "below adapters the trunk stays to the end; got lora_rank and unfreeze_at. Leave one "
            "of them out."
        )
