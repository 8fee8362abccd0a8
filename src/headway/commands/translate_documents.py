"""`headway translate` with more than a model and lines of text: files, memory, terms, reports."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from glob import has_magic
from json import dump
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from headway.commands.arguments import given, plain, say
from headway.commands.stages import Stages
from headway.commands.translate_options import NOT_WITH_SHARDS, OF_SHARDS, PARTIAL, TranslateOptions
from headway.core.errors import ConfigError, StoppedError
from headway.core.lines import shown
from headway.core.run_folder import RunFolder
from headway.filling.calls import called
from headway.filling.files import FillOptions
from headway.filling.inputs import NAMED_ONLY
from headway.filling.report import (
    FileReport,
    badness,
    rows,
    said_of,
    summary,
    table,
    total,
)
from headway.filling.steps import OFF, FlowOptions, Ready
from headway.languages.codes import LanguagePair, suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS
from headway.operations.shipped import DEMO

if TYPE_CHECKING:
    from headway.localization.checks.calibration import Verdict
    from headway.localization.terms.keeping import Terms
    from headway.translation.detailed import Translation
    from headway.translator import Translator

_WORST = 5
_PACKED = frozenset(
    ".7z .doc .docm .docx .epub .idml .odp .ods .odt .pdf .ppt .pptx .xls .xlsx .zip".split()
)
"""Kinds of files in which no lines of text lie as they are."""
_EACH = 5
"""So many files have a line each; more are told in one."""


def check_lines(run: Path | None, names: Sequence[str], told: TranslateOptions) -> None:
    """Say what options that take several files may have taken of what was to be translated.

    Raises ConfigError where --out is a document, which lines of text are not.
    """
    if not plain(names) or told.shards or _is_memory_alone(run, names, told.memory):
        return
    several = {"--memory": told.memory, "--glossary": told.glossary, "--codes": told.codes}
    taken = {option: files for option, files in several.items() if len(files) > 1 and not names}
    for option, files in taken.items():
        say(
            "headway: no FILE is named, so standard input is translated; "
            f"{option} has taken {', '.join(map(shown, files))}. Name a FILE before it."
        )
    kind = suffix_of(told.out) if told.out is not None else ""
    kinds = {suffix_of(file) for files in taken.values() for file in files}
    if kind in {*FILE_KINDS, *_PACKED} and (kind not in NAMED_ONLY or kind in kinds):
        read = f"{names[0]} is" if names else "standard input is"
        raise ConfigError(
            f"{read} lines of text; got --out {told.out}{' and no FILE' * (not names)}. Name what "
            "is to be filled in right behind the run, or give an --out that ends in .txt."
        )


def _is_memory_alone(run: Path | None, names: Sequence[str], memory: Sequence[Path]) -> bool:
    """Whether a memory is to fill in files without a run: `run` is left out, or is a file."""
    if not memory or run is None:
        return bool(memory)
    if run.is_file() or names or run == DEMO:
        return run.is_file()
    return has_magic(str(run)) or (run.is_dir() and not RunFolder(run).config.exists())


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
    run: Path | None, names: Sequence[str], told: TranslateOptions, ready: Ready
) -> int:
    """Translate files, or lines of text with more than a model; returns the exit status.

    Raises:
        ConfigError: an option is for files, or for lines, only; or as `fill_files`.
        DataError: as `fill_files`.
        KeyboardInterrupt: what was done is kept, and it is said how to go on.
    """
    if given(told, *OF_SHARDS):
        from headway.commands.translate_shards import translate_shards

        return translate_shards(run, names, told, ready)
    alone = {
        "--begin-with": told.begin_with,
        "--alignment": told.alignment,
        "--n-best": told.n_best,
    }
    if option := next((option for option, given in alone.items() if given), ""):
        raise ConfigError(
            f"{option} is for lines of text that the model alone translates; got it with a file "
            "that is filled in, or with --glossary, --memory, --report or --leave-below. "
            f"Leave out {option}."
        )
    memory, lines = told.memory, plain(names) or bool(told.as_)
    if _is_memory_alone(run, names, memory):
        names, memory = _without_run(run, names, memory)
        run, lines = None, False
    elif run is None:
        raise ConfigError(
            "a RUN translates, or a --memory alone; got neither. Try: headway translate --help"
        )
    own = not (told.no_own_memory or told.overwrite or lines)
    if told.fuzzy_from is not None and not (memory or own):
        raise ConfigError(
            f"--fuzzy-from takes near matches of a memory; got {told.fuzzy_from:g} and no "
            "--memory. Name one, or leave --fuzzy-from out."
        )
    aids = FlowOptions(
        memory, told.fuzzy_from, told.glossary, told.leave_below, own, told.codes, told.tag
    )
    direction = LanguagePair(told.source_language, told.target_language)
    if not lines or run is None:
        return translate_files(run, names, told, aids, ready)
    for_files = told.overwrite, told.in_place, told.onto, told.keep_going
    if any(for_files) or (any(direction) and not memory):
        raise ConfigError(
            "--overwrite, --in-place, --onto, --keep-going, --source-language and "
            "--target-language are for files that are filled in (.po, .tmx, ..); got "
            f"{names[0] if names else 'standard input'}. Leave them out."
        )
    if len(names) > 1:
        raise ConfigError(f"--as text reads one file at a time; got {', '.join(names)}.")
    if names:
        return translate_files(run, names, told, aids, ready)
    with TemporaryDirectory() as folder:
        place = Path(folder, "text")
        place.write_bytes(sys.stdin.buffer.read())
        return translate_files(run, [str(place)], told, aids, ready, name="standard input")


def translate_files(
    run: Path | None,
    names: Sequence[str],
    told: TranslateOptions,
    aids: FlowOptions,
    ready: Ready,
    *,
    name: str = "",
) -> int:
    """Fill in the files with the run's translator, or without one from a memory alone.

    The exit status is `PARTIAL` where files were left out.
    """
    direction = LanguagePair(told.source_language, told.target_language)
    units_shown = told.json or told.scores
    options = FillOptions(
        told.out, told.in_place, told.overwrite, direction, told.report, units_shown, told.onto,
        told.keep_going, bool(told.as_), name,
    )  # fmt: skip
    named = [RunFolder(Path(word)) for word in sys.argv[1:]]  # an ensemble has several runs
    stored = [os.stat(f) for one in named for f in (one.config, one.model) if os.path.isfile(f)]
    of_runs = [(of.st_size, of.st_mtime_ns) for of in stored]
    known = [[told.json, told.scores], sys.argv[1:], of_runs]
    with Stages() as stages:
        done = called(run, names, options, aids, ready, known, say, stages)
    tell(done.files, listed=told.report is not None)
    if units_shown:
        print_units(done.files, told)
    if not done.whole:
        if done.go_on:
            say(f"headway: interrupted; {done.go_on}")
        raise KeyboardInterrupt
    return PARTIAL if any(one.refused for one in done.files) else 0


def tell(files: Sequence[FileReport], *, listed: bool) -> None:
    """A line for each file, or for all of many, and the units that need a look most, on stderr."""
    done, refused = [one for one in files if not one.refused], [one for one in files if one.refused]
    for one in done if len(done) <= _EACH else [total(done)]:
        say(f"headway: {summary(one, '' if one in done else 'units')}")
    if refused:
        say(f"headway: {len(refused):,} of {len(files):,} files could not be translated:")
        for one in refused:
            say(f"  {one.file}: {one.refused}")
    doubtful = [row for row in rows(files) if row["reasons"]]
    if listed or not doubtful:
        return
    for row in sorted(doubtful, key=badness, reverse=True)[:_WORST]:
        say(said_of(row))
    if len(doubtful) > _WORST:
        say(f"and {len(doubtful) - _WORST:,} more: --report F.html lists them all")


def print_units(files: Sequence[FileReport], told: TranslateOptions) -> None:
    """Every unit on standard output: one JSON object, or a table with a line for each."""
    if told.json:
        dump({"translations": list(rows(files))}, sys.stdout, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    for line in table(rows(files)):
        sys.stdout.write(f"{line}\n")


def as_cells(
    translator: "Translator", told: TranslateOptions
) -> "Callable[[Translation, int], str]":
    """What writes scores and alignments beside translations, a line each; of a blank text as many
    blank lines as were asked for. Raises ConfigError where nothing tells an alignment."""
    if told.alignment:
        from headway.translation.attention import refuse_unaligned

        refuse_unaligned(translator.plain)

    def written(translation: "Translation", n_best: int) -> str:
        lines = []
        for one in translation.n_best:
            cells = [f"{one.score:.4f}"] * told.scores + [one.target.replace("\n", " ")]
            pairs = " ".join(f"{source}-{target}" for source, target in one.alignment)
            lines.append("\t".join([*cells, *[pairs] * told.alignment]))
        return "".join(f"{line}\n" for line in lines or [""] * n_best)

    return written


def as_json(translation: "Translation", verdict: "Verdict") -> dict[str, Any]:
    """As in the README: the best translation, what is doubtful about it, then all of them."""
    n_best = [
        {
            "target": alternative.target,
            "score": alternative.score,
            "tokens": alternative.tokens,
            "token_log_probs": alternative.token_log_probs,
            "alignment": [list(pair) for pair in alternative.alignment],
        }
        for alternative in translation.n_best
    ]
    best = n_best[0] if n_best else {"target": "", "score": 0.0, "tokens": [], "alignment": []}
    return {
        "source": translation.source,
        "source_tokens": translation.source_tokens,
        "target": best["target"],
        "score": best["score"],
        "tokens": best["tokens"],
        "alignment": best["alignment"],
        "n_best": n_best,
        "cut": translation.n_cut,
        "codes_complete": translation.codes_complete,
        "confidence": verdict.confidence,
        "flags": [flag._asdict() for flag in verdict.flags],
    }


def tell_terms(terms: "Terms") -> None:
    """Say which terms of the run hold."""
    say(f"headway: glossary of the run{OFF}: {terms.glossary.in_words()}")


def interrupted(told: TranslateOptions) -> StoppedError:
    """What an interruption leaves of a file of lines."""
    if told.out is None:
        return StoppedError("interrupted")
    left = f"interrupted: nothing of {told.out} is written, which comes whole or not at all."
    if given(told, *NOT_WITH_SHARDS):
        return StoppedError(left)
    return StoppedError(
        f"{left} With --out FOLDER --shards what is done is kept, and the same command goes on."
    )


def tell_lines(
    translator: "Translator", n_lines: int, doubtful: Mapping[int, str], n_cut: int, n_mended: int
) -> None:
    """Say how many lines, if any, are doubtful, were too long, or had lost or invented codes.

    `doubtful` says why by the number of the line."""
    if doubtful:
        some = ", ".join(map(str, [*doubtful][:5])) + ", .." * (len(doubtful) > 5)
        [(why, n_alike)] = Counter(doubtful.values()).most_common(1)
        most = f"of {n_alike:,} {why}; " if 2 * n_alike > len(doubtful) else ""
        say(f"{len(doubtful)} of {n_lines} lines look doubtful ({some}): {most}--json says why")
    if n_cut:
        verb = "was" if n_cut == 1 else "were"
        say(
            f"{n_cut} of the lines {verb} longer than the {translator.longest} sub-words that the "
            "model was trained to read at most, and were cut at the end"
        )
    if n_mended:
        say(
            f"codes (tags, placeholders, ...) of {n_mended} of the lines were corrected: what the "
            "model left out stands at the end, what the text does not have is removed"
        )
