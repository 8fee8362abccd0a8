"""`headway memory`: what translation memories know."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import print_json, say
from headway.commands.stages import Stages
from headway.core.errors import ConfigError
from headway.core.lines import printable, read_lines

if TYPE_CHECKING:
    from headway.localization.formats.units import Unit
    from headway.localization.memory.memory import Memories, Memory, MemoryMatch


def memory(
    *file: Path,
    query: list[str] | None = None,
    queries: Path | None = None,
    at_least: int = 70,
    most: int = 5,
    json: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
) -> None:
    """Look texts up in translation memories, exactly and nearly.

    100% is the same text; what is like it has less: edit distance over words, codes, case,
    punctuation and numbers aside (docs/terms-and-memory.md). Numbers and codes that differ are put
    right in the translation where that is plain.

    Parameters
    ----------
    file
        Translation memories: .tmx, .po, .xlf, .xliff, .tsv, .jsonl, ..; the first goes before.
    query
        A text to look up; may be given several times.
    queries
        File of texts to look up, one a line.
    at_least
        Percent that a match has at least, 50 to 100.
    most
        Matches that are shown of each text.
    json
        Print one JSON object on standard output.
    source_language
        Which language of the files is looked up; else what they say themselves.
    target_language
        Which one it is translated into.
    """
    _check(file, at_least, most)
    from headway.languages.codes import LanguagePair
    from headway.localization.formats.units import Unit
    from headway.localization.memory.building import cached_memory
    from headway.localization.memory.memory import Memories
    from headway.localization.placeholders.segments import Segment

    texts = [*(query or []), *([line or "" for line in read_lines(queries)] if queries else [])]
    languages = LanguagePair(source_language, target_language)
    if not texts:
        raise ConfigError(
            'a text is looked up; none was given. Add --query "text", or --queries FILE. '
            "What is in a memory is said by: headway prepare --pairs FILE"
        )
    with Stages() as stages:
        known = cached_memory(file, languages, say=say, progress=stages)
    memories = Memories([known])
    units = [Unit(Segment((text,))) for text in texts]
    found = [_looked_up(memories, known, one, at_least, most) for one in units]
    both = list(zip(texts, found, strict=True))
    if json:
        print_json({"queries": [{"query": a, "matches": _plain(a, some)} for a, some in both]})
        return
    for text, some in filter(lambda one: one[0].strip(), both):
        print(printable("\n".join(_lines(text, some, at_least))))


def _check(files: Sequence[Path], at_least: int, most: int) -> None:
    from headway.localization.memory.index import LEAST

    if not files:
        raise ConfigError(
            "a memory is one or more files with translations; none is named. "
            'Try: headway memory old.tmx --query "text"'
        )
    if not LEAST <= at_least <= 100:
        raise ConfigError(
            f"--at-least is a percentage from {LEAST} to 100; got {at_least}. Try 70."
        )
    if most < 1:
        raise ConfigError(f"--most is at least 1; got {most}. Try 5.")


def _looked_up(
    memories: "Memories", known: "Memory", unit: "Unit", at_least: int, most: int
) -> "list[MemoryMatch]":
    if not unit.source.text.strip():
        return []
    exact = known.exact(unit)
    near = memories.looked_up(unit, at_least, most) if at_least < 100 else []
    return [*([exact] if exact else []), *near][:most]


def _plain(query: str, found: "Sequence[MemoryMatch]") -> list[dict[str, Any]]:
    return [{**one._asdict(), "changes": _changes(query, one)} for one in found]


def _changes(query: str, found: "MemoryMatch") -> str:
    from headway.localization.memory.words import changes, normal

    return changes(found.source, normal(query))


def _lines(query: str, found: "Sequence[MemoryMatch]", at_least: int) -> list[str]:
    lines = [query]
    for one in found:
        lines += [f"  {one.percent:>3}%  {_changes(query, one)}", f"        {one.target}"]
        notes = [one.place, ", ".join(one.differs) and f"differs: {', '.join(one.differs)}"]
        notes += [f"adapted: {', '.join(one.repaired)}" if one.repaired else ""]
        notes += [f"not adapted: {', '.join(one.failed)}" if one.failed else ""]
        notes += [f"{one.n_others} other translations" if one.n_others else ""]
        lines.append(f"        ({'; '.join(filter(None, notes))})")
    return lines if found else [*lines, f"  no match of {at_least}% or more"]
