"""`headway translate` with more than a model and lines of text: files, memory, terms, a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.commands.arguments import plain, say
from headway.commands.filling import Told, translate_files
from headway.commands.flowing import Place, translate_text
from headway.errors import ConfigError
from headway.text.fillers import FILLERS
from headway.text.lines import shown, suffix_of
from headway.workflow.files import Wishes
from headway.workflow.filling import Direction
from headway.workflow.inputs import NAMED_ONLY
from headway.workflow.steps import Aids, Ready


class Beyond(NamedTuple):
    """Options of `translate` that plain text does without."""

    overwrite: bool
    in_place: bool
    memory: tuple[Path, ...]
    fuzzy_from: int | None
    glossary: tuple[Path, ...]
    report: Path | None
    leave_below: float | None
    no_own_memory: bool
    onto: Path | None = None
    codes: tuple[Path, ...] = ()
    begin_with: str = ""


def read_standard_input(out: Path | None, given: Mapping[str, Sequence[Path]]) -> None:
    """Say what options that take several files may have taken of what was to be translated.

    Raises ConfigError where `out` is a file to be filled in, which lines of text are not.
    """
    taken = {option: files for option, files in given.items() if len(files) > 1}
    for option, files in taken.items():
        say(
            "headway: no FILE is named, so standard input is translated; "
            f"{option} has taken {', '.join(map(shown, files))}. Name a FILE before it."
        )
    kind = suffix_of(out) if out is not None else ""
    kinds = {suffix_of(file) for files in taken.values() for file in files}
    if kind in FILLERS and (kind not in NAMED_ONLY or kind in kinds):
        raise ConfigError(
            f"standard input is lines of text; got --out {out} and no FILE. Name what is to be "
            "filled in right behind the run, or give an --out that ends in .txt."
        )


def translate_beyond(
    run: Path,
    names: Sequence[str],
    out: Path | None,
    asked: Beyond,
    languages: tuple[str | None, str | None],
    told: Told,
    ready: Ready,
) -> None:
    """Translate files, or lines of text with more than a model.

    Raises:
        ConfigError: an option is for files, or for lines, only; or as `fill_files`.
        DataError: as `fill_files`.
        KeyboardInterrupt: what was done is kept, and it is said how to go on.
    """
    if asked.begin_with:
        raise ConfigError(
            "--begin-with is for lines of text that the model alone translates; got "
            f"{asked.begin_with!r} with a file that is filled in, or with --glossary, --memory, "
            "--report or --leave-below. Leave one out."
        )
    given = asked.memory, asked.fuzzy_from, asked.glossary, asked.leave_below
    own = not (asked.no_own_memory or asked.overwrite)
    aids = Aids(*given, own=own, codes=asked.codes)
    direction = Direction(*languages)
    if not plain(names):
        places = (
            out,
            asked.in_place,
            asked.overwrite,
            direction,
            asked.report,
            told.anything,
            asked.onto,
        )
        translate_files(run, names, Wishes(*places), aids, told, ready)
        return
    named = names[0] if names else "standard input"
    if asked.overwrite or asked.in_place or asked.onto or (any(languages) and not asked.memory):
        raise ConfigError(
            "--overwrite, --in-place, --onto, --source-language and --target-language are for "
            f"files that are filled in (.po, .tmx, ..); got {named}. Leave them out."
        )
    text = Path(names[0]) if names else None
    translate_text(run, text, Place(out, asked.report, direction), aids, told, ready)
