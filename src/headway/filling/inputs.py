"""Files, folders and patterns that are to be translated, and where each result goes."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.core.errors import ConfigError, DataError, UserError
from headway.localization.formats.file_kinds import FILE_KINDS, suffix_of

NAMED_ONLY = (".tsv", ".csv", ".jsonl", ".json", ".ts", ".xml", ".yml", ".yaml",
              ".md", ".html", ".htm")  # fmt: skip
"""Kinds that much else is too: a folder's are passed over, unless they look like translations."""

_ROOTS = {".ts": b"<TS", ".xml": b"<resources"}
"""By what translations among these begin."""
_SHOWN = 10


@dataclass(frozen=True)
class FileJob:
    """A file that is to be filled in."""

    file: Path
    out: Path | None
    """Where the result goes; None for standard output, or for nowhere."""
    onto: Path | None = None
    """A target file whose texts are kept."""


class RefusedError(UserError):
    """Several files cannot be translated; nothing was."""

    def __init__(self, reasons: Sequence[str], n_files: int, remedy: str = "") -> None:
        more = len(reasons) - _SHOWN
        super().__init__(
            f"nothing was translated, as {len(reasons):,} of {n_files:,} files cannot be:\n  "
            + "\n  ".join(reasons[:_SHOWN])
            + (f"\n  and {more:,} more" if more > 0 else "")
            + (f"\n{remedy}" if remedy and len(reasons) < n_files else "")
        )


def refuse(errors: Sequence[UserError], n_files: int, remedy: str = "") -> None:
    """Raise that of the only file as it is, else one that gives all reasons; nothing for none.

    `remedy` is said where others could have been translated.
    """
    if n_files == 1 and errors:
        raise errors[0]
    if errors:
        raise RefusedError([str(error) for error in errors], n_files, remedy)


def is_several(names: Sequence[str], out: Path | None) -> bool:
    """Whether results go to a folder: of several files, a folder, a pattern, or into a folder."""
    return (
        len(names) != 1
        or Path(names[0]).is_dir()
        or (is_pattern(names[0]) and not Path(names[0]).exists())
        or (out is not None and out.is_dir())
    )


def is_pattern(name: str) -> bool:
    """Whether a name has wild cards (`*`, `?`, `[..]`)."""
    return glob.has_magic(name)


def plan(names: Sequence[str], out: Path | None, *, in_place: bool) -> list[FileJob]:
    """What is to be done for several inputs, each file once, in the order of the names.

    Below a folder, and for a pattern below its folders without wild cards, the tree is mirrored in
    `out`; files that are named are placed relative to the deepest folder that they share.

    Raises:
        ConfigError: a result would replace its input, or two would be the same file.
        DataError: nothing is found for a name.
    """
    placed = dict[Path, FileJob]()
    single = [Path(name) for name in names if not is_several([name], None)]
    shared = _shared_folder(single)
    for name in names:
        for file, below in _found(name, shared, out):
            job = FileJob(file, file if in_place else out and out / below)
            placed.setdefault(Path(os.path.realpath(file)), job)
    jobs = list(placed.values())
    if not in_place and out is not None:
        refuse(list(_clashes(jobs)), len(jobs))
    return jobs


def _found(name: str, shared: Path, out: Path | None) -> Iterator[tuple[Path, Path]]:
    """Each file that a name stands for, and its place in the mirrored tree."""
    path = Path(name)
    root = path if path.is_dir() else _fixed(path)
    out = None if _inside(root, out) else out  # results are no inputs, unless all is inside
    if path.is_dir():
        n_found = 0
        for file in _below(path, out):
            n_found += 1
            yield file, file.relative_to(path)
        if not n_found:
            others = [suffix_of(file) for file in passed_over([name], out)]
            raise DataError(
                f"a folder with translation files is needed; there is none in {path} (of "
                f"{', '.join(kind for kind in FILE_KINDS if kind not in NAMED_ONLY)}). Name other "
                f"files, or give a pattern in quotes: '{path}/**/*{(others or ['.tsv'])[0]}'"
            )
    elif not path.exists() and is_pattern(name):
        found = sorted(Path(one) for one in glob.glob(name, recursive=True))
        found = [one for one in found if one.is_file() and not _inside(one, out)]
        if not found:
            raise DataError(f"no file fits the pattern {name!r}. Try: ls {name}")
        yield from ((file, file.relative_to(root)) for file in found)
    else:
        yield path, Path(os.path.relpath(os.path.abspath(path), shared))


def _below(folder: Path, out: Path | None) -> Iterator[Path]:
    """The translation files in a folder and in those below it; hidden ones are passed over."""
    return _files(folder, out, _is_translation)


def _files(folder: Path, out: Path | None, taken: Callable[[Path], bool]) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not _inside(Path(place, name), out)
        )
        for name in sorted(files):
            file = Path(place, name)
            if not name.startswith(".") and taken(file):
                yield file


def passed_over(names: Sequence[str], out: Path | None) -> list[Path]:
    """Files in folders that were named which may be translations or anything else."""
    found: list[Path] = []
    for folder in (Path(name) for name in names if Path(name).is_dir()):
        beside = None if _inside(folder, out) else out
        found += _files(
            folder, beside, lambda file: suffix_of(file) in FILE_KINDS and not _is_translation(file)
        )
    return found


def _is_translation(file: Path) -> bool:
    kind = suffix_of(file)
    if kind in _ROOTS:
        with file.open("rb") as head:
            return _ROOTS[kind] in head.read(1000)
    return kind in FILE_KINDS and kind not in NAMED_ONLY


def _inside(path: Path, out: Path | None) -> bool:
    """Whether a path lies in the folder that results go to."""
    return out is not None and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(out))


def _fixed(pattern: Path) -> Path:
    """The folders of a pattern that stand before its first wild card."""
    fixed = Path(pattern.anchor)
    for part in pattern.relative_to(pattern.anchor).parts[:-1]:
        if is_pattern(part):
            break
        fixed /= part
    return fixed


def _shared_folder(files: Iterable[Path]) -> Path:
    """The deepest folder that holds all of the files."""
    folders = [os.path.abspath(file.parent) for file in files]
    try:
        return Path(os.path.commonpath(folders)) if folders else Path()
    except ValueError:
        raise ConfigError(
            "files of one call lie on one drive, so that their tree can be mirrored. Call twice."
        ) from None


def _clashes(jobs: Iterable[FileJob]) -> Iterator[ConfigError]:
    """Why a result cannot go where it would."""
    taken = dict[str, Path]()
    for job in jobs:
        if job.out is None:
            continue
        place = os.path.realpath(job.out)
        if place in taken:
            yield ConfigError(
                f"each result needs its own place; {taken[place]} and {job.file} would both be "
                f"{job.out}. Translate them in two calls, or name the folder above both."
            )
        elif place == os.path.realpath(job.file):
            yield replaced(job.file)
        taken.setdefault(place, job.file)


def replaced(file: Path) -> ConfigError:
    """For a result that would replace its input; lines of text know no --in-place."""
    meant = (
        ", or, if that is meant, --in-place instead of it" if suffix_of(file) in FILE_KINDS else ""
    )
    return ConfigError(
        f"what comes out does not replace what went in; --out would write {file} itself. "
        f"Give another --out{meant}."
    )
