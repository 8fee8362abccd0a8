"""What the verbs of language models share: a run's model, opened, and what it is given."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import apart, option_names, parse_overrides, process_settings
from headway.core.errors import ConfigError
from headway.operations.option_errors import settled

if TYPE_CHECKING:
    from headway.language_models.trained import TrainedLanguageModel


def model_and_given(
    run: Path, verb: Callable[..., object], given: Sequence[str]
) -> "tuple[TrainedLanguageModel, str | None]":
    """The run's language model, and the one file or text that `verb` was given, if any; settings
    of [runtime] may stand around it. Raises ConfigError for others, and for more than one."""
    from headway.tasks import brought_by_run

    named, flags = apart(given)
    sections = parse_overrides(flags, options=option_names(verb, ("runtime",)))
    runtime = process_settings(sections)
    if others := sections.keys() - {"runtime"}:
        raise settled(verb.__name__, min(others), ("runtime",))
    if len(named) > 1:
        raise ConfigError(
            f"{verb.__name__} takes one at a time; got {named[0]!r} and {named[1]!r}. "
            "A text of several words is put in quotes."
        )
    opened = brought_by_run(run, verb.__name__)
    model = opened.load(run, device=runtime.device, precision=runtime.precision)
    return model, named[0] if named else None
