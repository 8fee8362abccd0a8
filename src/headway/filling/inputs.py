"""Files, folders and patterns that are to be translated, and where each result goes."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path

from headway.core.errors import ConfigError, DataError, UserError
from headway.core.lines import shown
from headway.languages.codes import suffix_of
from headway.languages.path_languages import is_code
from headway.localization.formats.file_kinds import FILE_KINDS

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
    as_text: bool = False
    """It is read line by line, whatever its name says."""
    name: str = ""
    """What it is called, where that is not its own name."""

    @property
    def shown(self) -> str:
        return self.name or shown(self.file)


class FilesRefusedError(UserError):
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
        raise FilesRefusedError([str(error) for error in errors], n_files, remedy)


def is_several(names: Sequence[str], out: Path | None) -> bool:
    """Whether results go to a folder: of several files, a folder, a pattern, or into a folder."""
    if len(names) != 1 or (out is not None and out.is_dir()):
        return True
    return Path(names[0]).is_dir() or (has_magic(names[0]) and not Path(names[0]).exists())


def plan(names: Sequence[str], out: Path | None, *, in_place: bool) -> list[FileJob]:
    """What is to be done for several inputs, each file once, in the order of the names.

    Below a folder, and for a pattern below its folders without wild cards, the tree is mirrored in
    `out`; files that are named are placed relative to the deepest folder that they share.

    Raises:
        ConfigError: a result would replace its input, or two would be the same file.
        DataError: nothing is found for a name.
    """
    jobs = [
        FileJob(file, file if in_place else out and out / below)
        for file, below in placed(names, out)
    ]
    if not in_place and out is not None:
        refuse(list(_clashes(jobs)), len(jobs))
    return jobs


def placed(names: Sequence[str], out: Path | None) -> Iterator[tuple[Path, Path]]:
    """Each file that names stand for, once, in their order, and its place in the mirrored tree.

    Raises DataError: nothing is found for a name.
    """
    single = [Path(name) for name in names if not is_several([name], None)]
    shared, seen = _shared_folder(single), set[str]()
    for file, below in (one for name in names for one in _found(name, shared, out)):
        if (place := os.path.realpath(file)) not in seen:
            seen.add(place)
            yield file, below


def _found(name: str, shared: Path, out: Path | None) -> Iterator[tuple[Path, Path]]:
    """Each file that a name stands for, and its place in the mirrored tree."""
    path = Path(name)
    if path.is_dir():
        found = [file for file in _below(path, out) if _is_translation(file)]
        if not found:
            others = [suffix_of(file) for file in passed_over([name], out)]
            raise DataError(
                f"a folder with translation files is needed; there is none in {path} (of "
                f"{', '.join(kind for kind in FILE_KINDS if kind not in NAMED_ONLY)}). Name other "
                f"files, or give a pattern in quotes: '{path}/**/*{(others or ['.tsv'])[0]}'"
            )
        yield from ((file, file.relative_to(path)) for file in found)
    elif not path.exists() and has_magic(name):
        root = Path(path.anchor, *takewhile(lambda one: not has_magic(one), path.parts[:-1]))
        results = None if _inside(root, out) else out  # are no inputs, unless all is inside
        found = sorted(Path(one) for one in glob(name, recursive=True))
        found = [one for one in found if one.is_file() and not _inside(one, results)]
        if not found:
            raise DataError(f"no file fits the pattern {name!r}. Try: ls {name}")
        yield from ((file, file.relative_to(root)) for file in found)
    else:
        yield path, Path(os.path.relpath(os.path.abspath(path), shared))


def _below(folder: Path, out: Path | None) -> Iterator[Path]:
    """Files of known kinds, and plain text, in a folder and in those below it, but for hidden ones
    and results."""
    out = None if _inside(folder, out) else out
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name[0] != "." and not _inside(Path(place, name), out)
        )
        for file in (Path(place, name) for name in sorted(files) if name[0] != "."):
            if (kind := suffix_of(file)) in FILE_KINDS or kind == ".txt" or is_code(kind[1:]):
                yield file


def passed_over(names: Sequence[str], out: Path | None) -> list[Path]:
    """Files in folders that were named which may be translations, plain text or anything else."""
    folders = [name for name in names if Path(name).is_dir()]
    others = placed([name for name in names if name not in folders], out)
    named = {os.path.realpath(file) for file, _ in others}
    found = (file for one in folders for file in _below(Path(one), out))
    return [
        file for file in found if not _is_translation(file) and os.path.realpath(file) not in named
    ]


def _is_translation(file: Path) -> bool:
    kind = suffix_of(file)
    if kind in _ROOTS:
        with file.open("rb") as head:
            return _ROOTS[kind] in head.read(1000)
    return kind in FILE_KINDS and kind not in NAMED_ONLY


def _inside(path: Path, out: Path | None) -> bool:
    """Whether a path lies in the folder that results go to."""
    return out is not None and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(out))


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
