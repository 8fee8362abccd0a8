"""How a verb takes any setting as a flag: `--section.key VALUE`."""

import inspect
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

Unread = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""For `*tokens: Unread`: every token that is no option of the verb, in order, as it is."""

Overrides = Annotated[
    Unread,
    Parameter(help="Any setting as a flag: --section.key VALUE, such as --model.heads 4."),
]
"""For `*overrides: Overrides`: tokens that can only be settings."""


def option_names(verb: Callable[..., object]) -> list[str]:
    """The verb's own options (`--out`, ..), for a suggestion when one is misspelt."""
    return [
        "--" + parameter.name.replace("_", "-")
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
