"""What the verbs of language models share: a run's model, opened."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import process_settings
from headway.config import parse_overrides

if TYPE_CHECKING:
    from headway.language_model import TrainedLanguageModel


def language_model(
    run: Path, flags: Sequence[str] = (), known_flags: Sequence[str] = ()
) -> "TrainedLanguageModel":
    """The run's language model; `flags` may set [runtime]."""
    from headway.language_model import TrainedLanguageModel

    runtime = process_settings(parse_overrides(flags, options=known_flags))
    return TrainedLanguageModel.load(run, device=runtime.device, precision=runtime.precision)
