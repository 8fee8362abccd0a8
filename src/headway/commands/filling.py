"""`headway translate RUN FILE` for files that hold both sides: what is empty is filled in."""

import gzip
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.commands.arguments import kind_of, say
from headway.commands.stages import Stages
from headway.disk import write_bytes
from headway.errors import ConfigError, DataError
from headway.locks import only_writer_of_file
from headway.text.languages import same_language
from headway.text.lines import check_file, shown
from headway.text.memories import po, tables, tmx, xliff
from headway.text.memories.piecewise import (
    CHOICE,
    CUT,
    MISSING,
    SILENT,
    Piecewise,
    Translated,
    Whole,
)
from headway.text.memories.segments import Document, Gap, Segment
from headway.training.run_folder import RunFolder

if TYPE_CHECKING:
    from headway.translator import Translator

Opener = Callable[[Path, str | None, str | None, bool], Document]
Translate = Callable[[list[Segment]], Sequence[Translated]]

KINDS: dict[str, Opener] = {
    ".po": po.open_document,
    ".tmx": tmx.open_document,
    ".xlf": xliff.open_document,
    ".xliff": xliff.open_document,
    ".tsv": tables.open_tsv,
    ".jsonl": tables.open_jsonl,
}
"""How each kind of file is opened, by suffix; each may also end in `.gz`."""

UNWRITABLE = "unwritable"
WHY_NOT = {
    CUT: "longer than the {limit} sub-words that the model was trained to read, even in sentences",
    SILENT: "the model had nothing to say",
    MISSING: "not reached",
    CHOICE: "a choice of texts, as in {{n, plural, ..}}: translate each branch by hand",
    UNWRITABLE: "the file's encoding lacks characters of the translation: "
    "make it UTF-8 (msgconv -t UTF-8 -o NEW.po OLD.po)",
}
"""Why a gap is left, in words."""


class Direction(NamedTuple):
    """What is translated into what, as far as it is known."""

    source_language: str | None
    target_language: str | None


class Filler(NamedTuple):
    """What a run does for a file."""

    translate: Translate
    longest: int | None
    """Sub-words that it reads at once."""


class Filled(NamedTuple):
    """A gap and what became of it."""

    gap: Gap
    translation: Segment | None
    complete: bool
    why_not: str


def translate_file(
    run: Path,
    file: Path,
    out: Path | None,
    ready: "Callable[[], tuple[Translator, dict[str, Any]]]",
    direction: Direction,
    refused: Sequence[str],
    *,
    overwrite: bool,
) -> None:
    """Fill in `file` with the run's translator; `direction` goes before the run's own.

    `refused` are options that were given, and that are for text only.

    Raises:
        ConfigError: an option is for text only, or as `check_place`.
        DataError: the file is a template, or as its opener and `check_languages`.
    """
    if kind_of(file) == ".pot":
        raise DataError(
            f"a template is not filled in, as it belongs to no language; got {file}. "
            "Make a PO file of it: msginit -l LANGUAGE -i F.pot -o F.po"
        )
    if refused:
        raise ConfigError(
            f"--{refused[0]} is for text that is translated line by line; {file} is filled in. "
            f"Leave out --{refused[0]}."
        )
    check_file(file)
    check_place(file, out, overwrite=overwrite)
    data = RunFolder.open(run).settings().get("data", {})
    wanted = Direction(
        direction.source_language or data.get("source_language"),
        direction.target_language or data.get("target_language"),
    )

    def load() -> Filler:
        translator, how = ready()
        return Filler(
            lambda segments: translator.translate_segments(segments, **how), translator.longest
        )

    with only_writer_of_file(out, say):
        fill_file(file, out, wanted, load, overwrite=overwrite)


def check_place(file: Path, out: Path | None, *, overwrite: bool) -> None:
    """Refuse a place that the result cannot go to.

    Raises:
        ConfigError: `out` is of another kind, or is the file itself and would lose translations.
    """
    if out is None:
        return
    if KINDS.get(kind_of(out), KINDS[kind_of(file)]) is not KINDS[kind_of(file)]:
        raise ConfigError(
            f"what comes out is of the same kind as what goes in; got {file} and --out {out}. "
            f"Name it with {kind_of(file)}."
        )
    if overwrite and out.exists() and out.samefile(file):
        raise ConfigError(
            f"--overwrite may not replace the only copy of translations; --out is {file} itself. "
            "Give another --out."
        )


def check_languages(document: Document, wanted: Direction, file: Path) -> None:
    """Refuse to write one language where the file says another.

    Raises:
        DataError: the file's source or target is not the run's.
    """
    for side in ("source_language", "target_language"):
        found, expected = getattr(document, side), getattr(wanted, side)
        if found and expected and not same_language(found, expected):
            option = "--" + side.replace("_", "-")
            raise DataError(
                f"a file is filled in by a run of its own languages; the run translates "
                f"{wanted.source_language or 'an unknown language'} into "
                f"{wanted.target_language or 'an unknown one'}, and {file} says that its "
                f"{side.replace('_', ' ')} is {found}. Take another run, mend the file, or, if "
                f"that is the same language, give {option} {found}."
            )


def fill(
    document: Document,
    translate: Translate,
    progress: Callable[[str, int, int | None], None],
) -> tuple[list[Filled], bool]:
    """What goes into each gap, and whether all were reached before an interrupt."""
    sources = [gap.source for gap in document.gaps]
    piecewise = Piecewise(translate)
    whole = True
    try:
        for done, total in piecewise.run(sources):
            progress("translating", done, total)
    except KeyboardInterrupt:
        whole = False
    return [_filled(document, gap, piecewise.whole(gap.source)) for gap in document.gaps], whole


def _filled(document: Document, gap: Gap, whole: Whole) -> Filled:
    translation, complete, why_not = whole
    if translation is not None and not document.can_hold(translation):
        translation, why_not = None, UNWRITABLE
    return Filled(gap, translation, complete, why_not)


def fill_file(
    file: Path,
    out: Path | None,
    wanted: Direction,
    load: Callable[[], Filler],
    *,
    overwrite: bool,
) -> None:
    """Write `file` with translations in its gaps to `out`, or standard output; report on stderr.

    `load` is asked for the translator once the file has been read: one that cannot be is refused
    before that.
    Interrupted, it writes what it has beside `out` (`a.po` becomes `a.part.po`) and raises
    KeyboardInterrupt again.
    """
    document = KINDS[kind_of(file)](file, *wanted, overwrite)
    check_languages(document, wanted, file)
    filler = load()
    with Stages() as stages:
        filled, whole = fill(document, filler.translate, stages)
    data = document.filled([one.translation for one in filled])
    if whole:
        write_whole(data, out)
    _report(file, document, filled, filler.longest)
    if not whole:
        if out is not None and any(one.translation for one in filled):
            part = out.with_name(f"{out.name.partition('.')[0]}.part{''.join(out.suffixes)}")
            write_whole(data, part)
            print(
                f"headway: interrupted; what was done is in {part}. "
                f"Go on with: headway translate RUN {part} --out {out}",
                file=sys.stderr,
            )
        raise KeyboardInterrupt


def write_whole(data: bytes, out: Path | None) -> None:
    """Write a file in one instant, packed if it ends in `.gz`; None is standard output.

    Raises:
        OSError: it cannot be written; what was there before is as it was.
    """
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    write_bytes(out, gzip.compress(data, mtime=0) if out.suffix.lower() == ".gz" else data)


def _report(file: Path, document: Document, filled: Sequence[Filled], limit: int | None) -> None:
    """What was filled in, what was left and why, and where to look, on stderr."""
    n_filled = sum(one.translation is not None for one in filled)
    left = ", ".join(
        f"{n:,} {reason.replace('_', ' ')}" for reason, n in sorted(document.counts.left.items())
    )
    print(
        f"headway: {shown(file)}: {document.counts.units:,} units; {n_filled:,} of "
        f"{len(filled):,} gaps filled in; left as they were: {left or 'none'}",
        file=sys.stderr,
    )
    for why_not, n in Counter(one.why_not for one in filled if one.why_not).items():
        print(f"headway: {n:,} left: {WHY_NOT[why_not].format(limit=limit)}", file=sys.stderr)
    n_mended = sum(one.translation is not None and not one.complete for one in filled)
    if n_mended:
        print(f"headway: {n_mended:,} filled in with codes at the end; look at", file=sys.stderr)
    for one in filled:
        place = f"{shown(file)}:{one.gap.line}"
        if one.why_not not in ("", MISSING):
            print(f"{place}: left as it was ({one.why_not})", file=sys.stderr)
        elif one.translation is not None and not one.complete:
            print(f"{place}: codes at the end", file=sys.stderr)
