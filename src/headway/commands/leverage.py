"""`headway prepare FILE.. --memory M..`: words to be translated, by how well they match."""

import json as json_format
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.commands.arguments import say
from headway.commands.stages import Stages
from headway.core.errors import ConfigError


def count_matches(
    tokens: Sequence[str], memory: Sequence[Path], flags: Mapping[str, Any], *, json: bool
) -> None:
    """Print the analysis of files that are to be filled in.

    `tokens` name files, folders or patterns, as for `translate`; of the `flags` of `prepare` only
    languages are of use here.

    Raises:
        ConfigError: no file is named, or something else was asked for besides.
        DataError: a file cannot be read, or is in other languages than the memory.
    """
    from headway.filling.inputs import plan
    from headway.languages.codes import LanguagePair
    from headway.localization.memory.analysis import analysed, opened, table
    from headway.localization.memory.building import cached_memory, own_memory, wanted_languages
    from headway.localization.memory.memory import Memories

    languages = LanguagePair(flags.get("source_language"), flags.get("target_language"))
    others = [name for name, value in flags.items() if value and name not in LanguagePair._fields]
    wrong = [token for token in tokens if token.startswith("-")] + [
        "--" + name.replace("_", "-") for name in others
    ]
    if wrong or not tokens:
        raise ConfigError(
            "with --memory, prepare counts what is to be translated in the files that are named; "
            f"got {wrong[0] if wrong else 'no file'}. Try: headway prepare new.po --memory old.tmx"
        )
    files = [job.file for job in plan(tokens, None, in_place=False)]
    wanted = wanted_languages([*files, *memory], languages)
    documents = opened(files, wanted)
    with Stages() as stages:
        own = own_memory(files, wanted)
        known = cached_memory(memory, wanted, say=say, progress=stages)
        analysis = analysed(documents, Memories([own, known]), stages)
    if json:
        print(json_format.dumps(analysis.as_dict(), ensure_ascii=False))
    else:
        print("\n".join(table(analysis)))
