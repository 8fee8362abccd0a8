"""A memory made of files: translation files of any kind, read in one direction."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from headway.core.cleaning import VERSION as READING
from headway.core.cleaning import Pair, Report
from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.core.lines import check_file, shown
from headway.corpora.cache import Say, made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import cache_root, key_of, silent
from headway.corpora.pieces import Progress, unseen
from headway.languages.codes import LanguagePair, Languages, same_language, suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS, keyed, paired, reader_of
from headway.localization.memory import store, words
from headway.localization.memory.memory import Memory
from headway.localization.memory.store import StoreBuilder
from headway.localization.memory.units import (
    NO_LABEL,
    MemoryUnit,
    read_keyed_units,
    read_units,
)
from headway.localization.placeholders.codes import VERSION as CODES

_EVERY = 2_000


def memory_of(
    paths: Sequence[Path],
    languages: Languages,
    report: Report | None = None,
    progress: Progress = unseen,
) -> Memory:
    """All units of these files that have a translation to be relied on, the first file first.

    Where a language is not given, the first file that says it decides for all. `report` counts what
    was read and dropped.

    Raises DataError: a file cannot be read, is of another kind, or is in other languages.
    """
    builder, report = StoreBuilder(), Report() if report is None else report
    languages = wanted_languages(paths, languages)
    groups = grouped(paths)
    for number, (path, *target) in enumerate(groups):
        if target:
            _add(builder, read_keyed_units(path, target[0], report), number, report, progress)
            continue
        before = report.read, report.dropped["missing_language"]
        _add(builder, read_units(path, languages, report), number, report, progress)
        n_units = report.read - before[0]
        if n_units and report.dropped["missing_language"] - before[1] == n_units:
            raise DataError(
                f"a memory is in the languages that are looked up, {languages.source_language} -> "
                f"{languages.target_language}; none of the {n_units:,} units of {path} is. "
                "Leave that file out, or give --source-language and --target-language."
            )
    return Memory(builder.built(), [shown(path) for path, *_ in groups])


def grouped(paths: Sequence[Path]) -> list[tuple[Path, ...]]:
    """Each file by itself; one of one language (.json, ..) with its translation, named behind it.

    Raises DataError: a file of one language has no other behind it.
    """
    groups: list[tuple[Path, ...]] = []
    left = list(paths)
    while left:
        path = left.pop(0)
        if suffix_of(path) not in keyed():
            groups.append((path,))
        elif left and suffix_of(left[0]) == suffix_of(path):
            groups.append((path, left.pop(0)))
        else:
            raise DataError(
                "a memory of files of one language names two of a kind, the source and behind it "
                f"its translation; {path} stands alone. Try: --memory en.json de.json"
            )
    return groups


def own_memory(
    paths: Sequence[Path], languages: Languages, pairs: Sequence[tuple[Path, Path]] = ()
) -> Memory:
    """What is translated already in files that are to be filled in; it may be nothing.

    `pairs` are files of one language, each with its translation.

    Raises DataError: a file cannot be read.
    """
    both = [path for path in paths if suffix_of(path) in paired()]
    builder, report = StoreBuilder(), Report()
    for number, path in enumerate(both):
        _add(builder, read_units(path, languages), number, report)
    for number, (source, target) in enumerate(pairs, len(both)):
        _add(builder, read_keyed_units(source, target, report), number, report)
    return Memory(builder.built(), [shown(path) for path in (*both, *(one for one, _ in pairs))])


def _add(
    builder: StoreBuilder,
    units: Iterable[MemoryUnit],
    number: int,
    report: Report,
    progress: Progress = unseen,
) -> None:
    """Take in what has a translation; `number` is that of the file."""
    for unit in units:
        if unit.target is not None and unit.target.strip() and unit.source.strip():
            builder.add(unit, number)
            report.kept += 1
            if report.kept % _EVERY == 0:
                progress("reading the memory", report.kept, None)


def memory_of_pairs(pairs: Iterable[Pair]) -> Memory:
    """The same of pairs that were read already: nothing is known of what stood around them."""
    builder, numbers, report = StoreBuilder(), dict[str, int](), Report()
    for pair in pairs:
        unit = MemoryUnit(pair.source, pair.target, pair.line, NO_LABEL, "", "")
        _add(builder, [unit], numbers.setdefault(pair.file, len(numbers)), report)
    return Memory(builder.built(), list(numbers))


def wanted_languages(paths: Sequence[Path], languages: Languages) -> LanguagePair:
    """The languages that all files are read in; what holds no translations says nothing of them.

    Raises DataError: two files do not go together, or one is not in the languages that were
    given.
    """
    wanted = LanguagePair(languages.source_language, languages.target_language)
    sayer: Path | None = None
    for path in paths:
        if suffix_of(path) not in paired() and suffix_of(path) in FILE_KINDS:
            continue
        found = reader_of(path).languages(path, wanted)
        for side, code, expected in zip(("source", "target"), found, wanted, strict=True):
            if code and expected and not same_language(code, expected):
                told = f"{sayer} says {expected}" if sayer else f"{expected} is wanted"
                raise DataError(
                    f"a memory has one language on each side; the {side} of {path} is {code}, and "
                    f"{told}. Leave that file out, or look it up by itself."
                )
        if not all(wanted) and any(found):
            sayer = path
            wanted = LanguagePair(wanted[0] or found[0], wanted[1] or found[1])
    return wanted


SMALL_BYTES = 300_000
"""What is not larger is read anew each time, which takes a second at most."""


def cached_memory(
    paths: Sequence[Path],
    languages: Languages,
    *,
    root: Path | None = None,
    say: Say = silent,
    progress: Progress = unseen,
) -> Memory:
    """`memory_of` these files, from the cache where they are large.

    Raises DataError: as `memory_of`, or the disk is full or the cache cannot be written.
    """
    for path in paths:
        check_file(path)
    if sum(path.stat().st_size for path in paths) <= SMALL_BYTES:
        return memory_of(paths, languages, progress=progress)
    wanted = wanted_languages(paths, languages)
    files = [[str(path), checksum(path)] for path in paths]
    depends_on = {"files": files, "languages": list(wanted)}
    return _cached(depends_on, lambda: memory_of(paths, languages, progress=progress), root, say)


def cached_memory_of_pairs(
    pairs: Callable[[], Iterable[Pair]],
    depends_on: dict[str, Any],
    *,
    root: Path | None = None,
    say: Say = silent,
) -> Memory:
    """`memory_of_pairs` of what `depends_on` describes, made once; raises as `cached_memory`."""
    return _cached(depends_on, lambda: memory_of_pairs(pairs()), root, say)


def _cached(
    depends_on: dict[str, Any], make: Callable[[], Memory], root: Path | None, say: Say
) -> Memory:
    key = {"versions": [store.VERSION, words.VERSION, CODES, READING], **depends_on}
    directory = (cache_root() if root is None else root) / f"memory-{key_of(key)}"

    def write(_work: Path) -> None:
        with sealed_folder(directory) as (folder, content):
            memory = make()
            memory.store.save(folder)
            content["files"] = list(memory.files)

    def opened() -> Memory:
        files = read_sealed(directory)["files"]
        return Memory(store.MemoryStore.load(directory), files)

    return made_once(directory, opened, write, say)
