"""Languages are never mixed without being asked: what is refused of files that name theirs."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import ConfigError, DataError
from headway.core.lines import shown
from headway.core.rows import SIDES
from headway.corpora.corpus import Corpus, directions
from headway.corpora.mixing import USE_KEYS
from headway.languages.codes import same_language, suffix_of
from headway.localization.formats.file_kinds import reader_of
from headway.localization.formats.tmx import unit_languages
from headway.localization.formats.xliff_units import XliffUnits
from headway.localization.formats.xml_encoding import utf8_chunks

_XLIFF = (".xlf", ".xliff")
_PASSED_OVER = (".tmx", ".po", *_XLIFF)
"""Kinds whose reader leaves out, and counts, the units that are in another language."""


class _Named(NamedTuple):
    """What one part of a corpus says of one side."""

    name: str
    tag: str
    code: str
    asked: bool
    """The user gave it for this file."""
    direction: str


def refuse_mixed(*corpora: Corpus | None) -> None:
    """Refuse files in several languages of one side, and languages that no file has.

    Two languages may stand beside each other where tags tell the files apart, or where the
    user gave them for each file (`source=`, `target=`). Regions do not matter.

    Raises:
        ConfigError: two files have other languages, and nobody asked for both.
        DataError: a language is given that is in none of the files.
    """
    known = [corpus for corpus in corpora if corpus is not None]
    for number, side in enumerate(SIDES):
        named = [one for corpus in known for one in _named(corpus, number)]
        distinct = {(one.code, one.tag, one.asked): one for one in reversed(named)}
        for one, other in combinations(reversed(distinct.values()), 2):
            told_apart = one.tag != other.tag
            if not (
                same_language(one.code, other.code) or told_apart or (one.asked and other.asked)
            ):
                raise _mixed(side, one, other)
    for corpus in known:
        _refuse_absent(corpus)


def _named(corpus: Corpus, number: int) -> Iterator[_Named]:
    """What each part says of one side (0 or 1), as far as it says it."""
    given = corpus.source_language, corpus.target_language
    found = directions(corpus)
    for part in corpus.parts:
        code, own = found[part.name][number], (part.use.source_language, part.use.target_language)
        weak = len(part.files) == 2 and not re.match("[A-Za-z]{2}([-_]|$)", code or "")
        if code and not weak and not (given[number] and not own[number]):
            direction = " -> ".join(one or "?" for one in found[part.name])
            yield _Named(part.name, part.use.tag, code, bool(own[number]), direction)


def _mixed(side: str, one: _Named, other: _Named) -> ConfigError:
    ways = f"--pairs {one.name}:tag={one.code} {other.name}:tag={other.code}"
    return ConfigError(
        f"a model has one {side} language, unless tags tell it which; {one.name} is "
        f"{one.direction}, {other.name} is {other.direction}. Take the units of one language "
        f"(--{side}-language {one.code}), leave a file out, or train on both with tags: {ways}"
    )


def _refuse_absent(corpus: Corpus) -> None:
    """Raise DataError where a wanted language is in no file, or not in one that it is given for."""
    parts = [part for part in corpus.parts if len(part.files) == 1]
    lacking: set[str] = set()
    refusals: list[tuple[bool, DataError]] = []
    for part in parts:
        alone, [path, *_] = corpus.alone(part), part.files
        for side, wanted in zip(SIDES, (alone.source_language, alone.target_language), strict=True):
            counts = others_in(path, side, wanted) if wanted else None
            if not counts:
                continue
            asked = bool(getattr(part.use, USE_KEYS[side]))
            option = f"{part.name}:{side}={wanted}" if asked else f"--{side}-language {wanted}"
            lacking.add(part.name)
            error = DataError(
                f"a wanted language must be in the file; {shown(path)} has {in_words(counts)}, got "
                f"{option}. Name one that it has, or another file."
            )
            refusals.append((asked or suffix_of(path) not in _PASSED_OVER, error))
    for alone_matters, error in refusals:
        if alone_matters or len(lacking) == len(parts):
            raise error


def others_in(path: Path, side: str, wanted: str) -> Counter[str]:
    """The languages of a file that has not the `wanted` one, as it writes them, with its units.

    Nothing where it has that, or does not say which it has.
    """
    suffix, counts = suffix_of(path), Counter[str]()
    if suffix == ".tmx":
        units = unit_languages(path)
    elif suffix in _XLIFF:
        of_units = (unit.languages for unit in XliffUnits(path).read(utf8_chunks(path)))
        units = ({*both} if all(both) else {wanted} for both in of_units)
    else:
        named = reader_of(path).languages(path, Corpus())
        code = named[SIDES.index(side)]
        units = iter(
            [{code}]
            if code and suffix in (".po", ".ts")
            else [set(filter(None, named))]
            if all(named)
            else []
        )
    for codes in units:
        if any(same_language(code, wanted) for code in codes):
            return Counter()
        counts.update(codes)
    return counts if suffix in (".tmx", *_XLIFF) else Counter(dict.fromkeys(counts, 0))


def in_words(counts: Counter[str]) -> str:
    """Such as `en-US 60, de-AT 10`: the most frequent first, equals by their letters."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{code} {n:,}" if n else code for code, n in ranked[:20])
