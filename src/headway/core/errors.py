"""The errors that a user may see. Each message says the rule, what was given, and the remedy."""

import shlex
from collections.abc import Mapping

CONTROLS = {i: f"\\x{i:02x}" for i in (*range(9), *range(11, 32), *range(127, 160))} | {
    i: f"\\u{i:04x}" for i in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""How what steers a terminal, or turns the direction of a text, is shown in what is said."""


class HeadwayError(Exception):
    """Something went wrong inside headway; the command ends with exit status 1."""

    exit_status = 1


class UserError(HeadwayError):
    """The user can put it right; the command ends with exit status 2."""

    exit_status = 2


class ConfigError(UserError):
    """A setting is unknown, of the wrong type, or does not fit the others."""


class DataError(UserError):
    """A file of text is missing, damaged, misaligned, or too small for what is asked."""


class RunError(UserError):
    """A run folder is missing, damaged, already taken, or belongs to something else."""


class OutOfReachError(RunError):
    """A file of a run may be whole, but cannot be read just now."""


class StoppedError(HeadwayError):
    """The command was asked to stop; of a training what can be gone on from is saved."""

    exit_status = 130


def refuse_below(settings: object, limits: Mapping[str, int | float], *, above: str = "") -> None:
    """Raise ConfigError for a number below its limit; `above` is as in `refuse_beyond`."""
    for name, least in limits.items():
        if (value := getattr(settings, name)) < least:
            raise ConfigError(f"{above}{name} must be at least {least}; got {value}. Try {least}.")


def refuse_beyond(settings: object, limits: Mapping[str, int | float], *, above: str = "") -> None:
    """Raise ConfigError for a number that is larger than anybody can mean.

    What comes from outside could otherwise ask for all memory there is, or for ever; `above` is
    what stands before a name, such as `decoding.`.
    """
    for name, most in limits.items():
        value = getattr(settings, name)
        if not value <= most:
            raise ConfigError(
                f"{above}{name} must be at most {most:,}; got {value}. Give a smaller number."
            )


def command(verb: str, *words: object) -> str:
    """`headway VERB ..`, to be pasted: a name with a space in it is one word."""
    return shlex.join(("headway", verb, *map(str, words)))
