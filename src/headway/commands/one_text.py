"""What the verbs take that read one file or text."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headway.commands.arguments import apart, option_names, parse_overrides, process_settings
from headway.core.errors import ConfigError
from headway.operations.option_errors import settled

if TYPE_CHECKING:
    from headway.core.runtime import RuntimeSettings


def runtime_and_name(
    verb: Callable[..., object], tokens: Sequence[str]
) -> "tuple[RuntimeSettings, str | None]":
    """Section [runtime], and the one file or text, of a verb that takes nothing more.

    Raises ConfigError for settings of other sections, and for more than one.
    """
    named, flags = apart(tokens)
    sections = parse_overrides(flags, options=option_names(verb, ("runtime",)))
    runtime = process_settings(sections)
    if others := sections.keys() - {"runtime"}:
        raise settled(verb.__name__, min(others), ("runtime",))
    if len(named) > 1:
        raise ConfigError(
            f"{verb.__name__} takes one file or text, and several one at a time; got {named[0]!r} "
            f"and {named[1]!r}. A text of several words is put in quotes."
        )
    return runtime, named[0] if named else None
