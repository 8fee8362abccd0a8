"""`headway corrections`: what a reviewer changed, as pairs to go on learning from."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from headway.commands.arguments import say
from headway.core.disk import whole_text
from headway.core.errors import ConfigError, DataError, command
from headway.core.lines import check_file, shown
from headway.languages.codes import LanguagePair
from headway.operations.locks import only_writer_of_file

if TYPE_CHECKING:
    from headway.translation.corrections import Review
    from headway.translation.replacements import Correction


def corrections(
    old: Path,
    new: Path,
    /,
    *,
    out: Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> None:
    """Find the units whose translation a reviewer changed, and write them as pairs.

    Two versions of a file, of any kind that `train --pairs` reads; the kinds may differ. Or two
    folders, in which files of the same place and name are compared. A unit is known by its id or
    context and its source, else by its source alone. What comes out is a table with a header:
    source, corrected translation, and what stood there before. It goes to `headway train
    --init-from RUN --pairs`, which reads the first two columns.

    Parameters
    ----------
    old
        The file, or folder, as it was translated, by a machine or a person.
    new
        The same as it was reviewed. What is still fuzzy or untranslated in it is left out.
    out
        A .tsv file; standard output if left out.
    source_language
        Which language of the files is translated; otherwise as they say.
    target_language
        Which one it is translated into.
    """
    from headway.translation.corrections import review, together

    versions = _versions(old, new)
    for pair in versions:
        _check(*pair, out)
    languages = LanguagePair(source_language, target_language)
    with ExitStack() as opened:
        opened.enter_context(only_writer_of_file(out, say))
        found = together([review(*pair, languages) for pair in versions])
        file = sys.stdout if out is None else opened.enter_context(whole_text(out))
        _write(found.corrections, file.write)
    for line in _summary(found, old, new, out):
        say(line)


def _versions(old: Path, new: Path) -> list[tuple[Path, Path]]:
    """The two files, or those of the same place in two folders; what has no other version is said.

    Raises:
        ConfigError: only one of the two is a folder.
        DataError: no file is in both.
    """
    if not (old.is_dir() or new.is_dir()):
        return [(old, new)]
    if not (old.is_dir() and new.is_dir()):
        raise ConfigError(
            f"two files are compared, or two folders; got {old} and {new}. Name two of a kind."
        )
    from headway.filling.inputs import passed_over, plan

    try:
        files = [job.file for job in plan([str(new)], None, in_place=False)]
    except DataError:  # which advises a pattern
        raise DataError(
            f"of two folders the files are compared that are translations by their kind (.po, "
            f".xlf, ..); {new} has none. Name two files, one of each folder; further ones apart."
        ) from None
    both = [(old / file.relative_to(new), file) for file in files]
    alone = [file for earlier, file in both if not earlier.exists()]
    if len(alone) == len(both):
        raise DataError(
            f"two versions of a folder have files in common; {old} has none of those in {new}, "
            f"such as {alone[0].relative_to(new)}. Name the one that was translated first."
        )
    _tell(f"not in {shown(old)}", alone)
    _tell("of kinds that are compared only by name", passed_over([str(new)], None))
    return [pair for pair in both if pair[0].exists()]


def _tell(why: str, files: list[Path]) -> None:
    """Say which files of a folder are not compared."""
    if files:
        some = ", ".join(map(shown, files[:3])) + (", .." if len(files) > 3 else "")
        say(f"headway: {why}, and passed over: {len(files):,} ({some})")


def _check(old: Path, new: Path, out: Path | None) -> None:
    for path in (old, new):
        check_file(path)
        if out is not None and out.exists() and out.samefile(path):
            raise ConfigError(f"--out may not replace a file that is compared; got {out}.")
    if out is not None and out.suffix.lower() != ".tsv":
        raise ConfigError(f"corrections are written as a .tsv; got --out {out}. Name it so.")


def _write(found: "list[Correction]", write: Callable[[str], object]) -> None:
    """A header that `train` passes over, then a row for each."""
    write("source\ttarget\tbefore\n")
    for correction in found:
        write("\t".join(correction) + "\n")


def _summary(found: "Review", old: Path, new: Path, out: Path | None) -> list[str]:
    """Counts in words, and what is next."""
    from headway.translation.corrections import UNIT_STATES

    counts = ", ".join(f"{found.counts[state]:,} {words}" for state, words in UNIT_STATES.items())
    lines = [f"headway: {shown(old)} -> {shown(new)}: units {counts}"]
    if repeated := found.counts["corrected"] - len(found.corrections):
        lines.append(f"headway: {repeated:,} of the corrected ones say the same as another")
    if found.corrections and out is not None:
        again = command("train", "--init-from", "RUN", "--pairs", shown(out), "--out", "NEW_RUN")
        lines.append(f"next: {again}")
    return lines
