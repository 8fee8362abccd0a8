"""`headway settings`: what every key of a config.toml means."""

import json as json_format
import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from headway.operations.option_errors import no_setting

if TYPE_CHECKING:
    from headway.tasks.described import Setting


def settings(name: str = "", /, *, json: bool = False) -> None:
    """What every setting means, with its type, default and range.

    A flag --training.learning-rate is the key learning_rate below [training] in a TOML file.

    Parameters
    ----------
    name
        A section (text, data, model, training, decoding, runtime), a setting (learning-rate), or
        a type of model (recurrent); everything if left out.
    json
        Print one JSON object.
    """
    from headway.tasks.described import settings as described

    every = described()
    found = asked_for(name, every)
    if json:
        rows = [{**one._asdict(), "flag": one.flag} for one in found]
        print(json_format.dumps({"settings": rows}, ensure_ascii=False, default=str))
        return
    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    section = ""
    for one in found:
        if one.section != section:
            section = one.section
            print(f"[{section}]")
        print("\n".join(lines_of(one, width)))


def asked_for(name: str, every: Sequence["Setting"]) -> list["Setting"]:
    """The settings that a name is of; raises ConfigError where there are none."""
    name = name.strip("-[]").replace("-", "_")
    section, _, key = name.partition(".")
    found = [
        one
        for one in every
        if not name
        or name in (one.section, one.key)
        or (section, key) == (one.section, one.key)
        or any(name == of.rpartition("/")[2].replace("-", "_") for of in one.of)
    ]
    if not found:
        raise no_setting(name, [one.flag for one in every])
    return found


def lines_of(one: "Setting", width: int) -> list[str]:
    """One setting, on a few lines."""
    default = one.default
    if default in ("", (), None):
        default = "none"
    shown = f"{default:g}" if type(default) is float else str(default)
    shown = shown.lower() if isinstance(default, bool) else shown
    facts = [one.type + (f", {one.range}" if one.range else ""), f"default {shown}"]
    if one.section == "model" or len(one.of) == 1:
        facts.append(f"for {', '.join(one.of)}")
    told = [f"  {one.flag}"]
    for text in (one.description, "; ".join(facts), one.defined_in):
        lines = textwrap.wrap(text, width - 6, break_on_hyphens=False)
        told += [f"      {line}" for line in lines]
    return told
