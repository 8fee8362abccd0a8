"""`headway translate` with more than a model and lines of text: files, memory, terms, a report."""

from collections.abc import Sequence
from pathlib import Path

from headway.commands.arguments import plain, say
from headway.commands.filling import Told, translate_files
from headway.commands.translate_lines import TextOutput, translate_text
from headway.commands.translate_options import TranslateOptions
from headway.core.errors import ConfigError
from headway.core.lines import shown
from headway.core.run_folder import RunFolder
from headway.filling.files import FillOptions
from headway.filling.inputs import NAMED_ONLY, is_pattern
from headway.filling.steps import Aids, Ready
from headway.languages.codes import LanguagePair
from headway.localization.formats.file_kinds import FILE_KINDS, suffix_of
from headway.operations.shipped import DEMO


def read_standard_input(run: Path | None, asked: TranslateOptions) -> None:
    """Say what options that take several files may have taken of what was to be translated.

    Raises ConfigError where --out is a file to be filled in, which lines of text are not.
    """
    out = asked.out
    if _is_memory_alone(run, (), asked.memory):
        return
    given = {"--memory": asked.memory, "--glossary": asked.glossary, "--codes": asked.codes}
    taken = {option: files for option, files in given.items() if len(files) > 1}
    for option, files in taken.items():
        say(
            "headway: no FILE is named, so standard input is translated; "
            f"{option} has taken {', '.join(map(shown, files))}. Name a FILE before it."
        )
    kind = suffix_of(out) if out is not None else ""
    kinds = {suffix_of(file) for files in taken.values() for file in files}
    if kind in FILE_KINDS and (kind not in NAMED_ONLY or kind in kinds):
        raise ConfigError(
            f"standard input is lines of text; got --out {out} and no FILE. Name what is to be "
            "filled in right behind the run, or give an --out that ends in .txt."
        )


def _is_memory_alone(run: Path | None, names: Sequence[str], memory: Sequence[Path]) -> bool:
    """Whether a memory is to fill in files without a run: `run` is left out, or is a file."""
    if not memory or run is None:
        return bool(memory)
    if run.is_file() or names or run == DEMO:
        return run.is_file()
    return is_pattern(str(run)) or (run.is_dir() and not RunFolder(run).config.exists())


def _without_run(
    run: Path | None, names: Sequence[str], memory: Sequence[Path]
) -> tuple[list[str], tuple[Path, ...]]:
    """The files to be filled in, and the memory, of a call that names no run."""
    files = [*([] if run is None else [str(run)]), *names]
    if not files and len(memory) > 1:  # `--memory M FILE`: the option took both
        *memory, last = memory
        files = [str(last)]
    if not files or plain(files):
        raise ConfigError(
            "a memory alone fills in files (.po, .json, ..); lines of text need a RUN as well; "
            f"got {files[0] if files else 'no FILE'}. Name files: headway translate FILE --memory M"
        )
    say(f"headway: no RUN is named: {', '.join(files)} filled in from the memory alone")
    return files, tuple(memory)


def translate_beyond_lines(
    run: Path | None, names: Sequence[str], asked: TranslateOptions, ready: Ready
) -> int | None:
    """Translate files, or lines of text with more than a model; returns the exit status.

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
    told = Told(asked.json, asked.scores, asked.n_best is not None, asked.alignment)
    out, memory, lines = asked.out, asked.memory, plain(names) or bool(asked.as_)
    if _is_memory_alone(run, names, memory):
        names, memory = _without_run(run, names, memory)
        run, lines = None, False
    elif run is None:
        raise ConfigError(
            "a RUN translates, or a --memory alone; got neither. Try: headway translate --help"
        )
    given = memory, asked.fuzzy_from, asked.glossary, asked.leave_below
    own = not (asked.no_own_memory or asked.overwrite)
    aids = Aids(*given, own=own, codes=asked.codes)
    direction = LanguagePair(asked.source_language, asked.target_language)
    if not lines:
        places = (
            out,
            asked.in_place,
            asked.overwrite,
            direction,
            asked.report,
            told.anything,
            asked.onto,
            asked.keep_going,
        )
        return translate_files(run, names, FillOptions(*places), aids, told, ready)
    assert run is not None, "a memory alone fills in files"
    named = names[0] if names else "standard input"
    for_files = asked.overwrite, asked.in_place, asked.onto, asked.keep_going
    if any(for_files) or (any(direction) and not memory):
        raise ConfigError(
            "--overwrite, --in-place, --onto, --keep-going, --source-language and "
            f"--target-language are for files that are filled in (.po, .tmx, ..); got {named}. "
            "Leave them out."
        )
    if len(names) > 1:
        raise ConfigError(f"--as text reads one file at a time; got {', '.join(names)}.")
    text = Path(names[0]) if names else None
    translate_text(run, text, TextOutput(out, asked.report, direction), aids, told, ready)
    return None
