"""How a verb takes any setting as a flag: `--section.key VALUE`."""

import inspect
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

Overrides = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="Any setting as a flag: --section.key VALUE, such as --model.heads 4.",
    ),
]
"""For `*overrides: Overrides`: every token that is no option of the verb, in order, unread."""


def option_names(verb: Callable[..., object]) -> list[str]:
    """The verb's own options (`--out`, ..), for a suggestion when one is misspelt."""
    return [
        "--" + parameter.name.replace("_", "-")
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
