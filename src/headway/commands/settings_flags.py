"""How a verb takes settings: short flags from the table, any other as `--section.key VALUE`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

from cyclopts import Parameter

from headway.runs.flags import Flag

Unread = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""For `*tokens: Unread`: every token that is no option of the verb, in order, as it is."""

Overrides = Annotated[
    Unread,
    Parameter(help="Any setting as a flag: --section.key VALUE, such as --model.heads 4."),
]
"""For `*overrides: Overrides`: tokens that can only be settings."""

Verb = TypeVar("Verb", bound=Callable[..., object])


def takes(flags: Mapping[str, Flag]) -> Callable[[Verb], Verb]:
    """Give a verb these flags, which it gets by name in its `**flags`."""

    def decorate(verb: Verb) -> Verb:
        own = inspect.signature(verb)
        several = Parameter(consume_multiple=True)
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[list[str] | None, several, Parameter(help=flag.help)]
                if flag.many
                else Annotated[str | None, Parameter(help=flag.help)],
            )
            for name, flag in flags.items()
        ]
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        verb.__signature__ = own.replace(parameters=[*named, *added])  # type: ignore[attr-defined]
        return verb

    return decorate


def option_names(verb: Callable[..., object]) -> list[str]:
    """The verb's own options (`--out`, ..), for a suggestion when one is misspelt."""
    return [
        "--" + parameter.name.replace("_", "-")
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
