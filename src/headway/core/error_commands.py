"""Commands that are told where something went wrong, as a shell takes them."""

import shlex


def command(verb: str, *words: object) -> str:
    """`headway VERB ..`, to be pasted: a name with a space in it is one word."""
    return shlex.join(("headway", verb, *map(str, words)))
