"""Pairs of a text and its translation, from whatever files the user has."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report, read_parallel
from headway.core.dedup_split import Draw
from headway.core.errors import ConfigError
from headway.core.lines import check_file, shown
from headway.corpora.mixing import PLAIN, Use
from headway.corpora.mixing import both_ways as goes_both_ways
from headway.corpora.shifts import unequal
from headway.languages.codes import folded, is_language, suffix_of
from headway.localization.formats.file_kinds import FILE_KINDS, NO_TEXT, reader_of


@dataclass(frozen=True)
class Corpus:
    """The files that were named: `source[i]` goes with `target[i]`, line by line."""

    source: tuple[Path, ...] = ()
    target: tuple[Path, ...] = ()
    pairs: tuple[Path, ...] = ()
    """Files that hold both sides: see `headway.localization.formats.file_kinds.FILE_KINDS`."""
    source_language: str | None = None
    target_language: str | None = None
    """As the user gave them; they choose among the keys of a JSONL file."""
    uses: tuple[Use, ...] = ()
    """How `pairs[i]` is used; empty where nothing was said of any."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file, in the order in which they are read."""
        return tuple(chain.from_iterable(part.files for part in self.parts))

    @property
    def parts(self) -> tuple["CorpusFiles", ...]:
        """What is read one after the other: the heaviest first, else as they were named.

        So of a pair that stands in several files the copy with the highest weight is the first.
        """
        named, parts = Counter((*self.source, *self.pairs)), []
        for source, target in zip(self.source, self.target, strict=False):
            other = f":{shown(target)}" if named[source] > 1 else ""
            parts.append(CorpusFiles(shown(source) + other, (source, target), PLAIN))
        uses = self.uses or (PLAIN,) * len(self.pairs)
        for path, use in zip(self.pairs, uses, strict=True):
            keys = use.keys if named[path] > 1 else ""
            parts.append(CorpusFiles(shown(path) + keys, (path,), use))
        return tuple(sorted(parts, key=lambda part: -part.use.weight))

    def alone(self, part: "CorpusFiles") -> "Corpus":
        """One of `parts` as a corpus of its own, with the languages that it is read in."""
        two = len(part.files) == 2
        return Corpus(
            source=part.files[:1] if two else (),
            target=part.files[1:],
            pairs=() if two else part.files,
            source_language=part.use.source_language or self.source_language,
            target_language=part.use.target_language or self.target_language,
        )

    def check(self) -> None:
        """Refuse what cannot be read, before anything is.

        Raises:
            ConfigError: nothing is named, or one side has more files than the other.
            DataError: a file is missing, empty, a directory, or of an unknown kind.
        """
        if not self.source and not self.target and not self.pairs:
            raise ConfigError(
                "pairs of texts are needed. Give --source F --target F, or --pairs F."
            )
        if len(self.source) != len(self.target):
            raise ConfigError(
                f"each --source file needs its --target file; got {len(self.source)} and "
                f"{len(self.target)}. Name them in the same order."
            )
        for path in self.files:
            check_file(path)
            kind = FILE_KINDS.get(suffix := suffix_of(path))
            if path in self.pairs or (kind and kind.pairs) or suffix in NO_TEXT:
                reader_of(path, side=path not in self.pairs)

    def draw(self, n_pairs: Mapping[str, int], wanted: int | None, seed: int) -> Draw:
        """How many pairs are set aside for validation: of the heaviest files, which come first.

        `n_pairs` says by name what each file has.
        """
        weights = {part.name: part.use.weight for part in self.parts}
        n_drawn_from = sum(n_pairs.values())
        if len(set(weights.values())) > 1:
            from headway.corpora.weighted import LEAST_DRAWN_FROM, rows_of_heaviest

            least = max(LEAST_DRAWN_FROM, 2 * (wanted or 0))
            n_drawn_from = rows_of_heaviest(n_pairs, weights, least)
        return Draw(wanted, n_drawn_from, seed)

    @property
    def both_ways(self) -> bool:
        """Whether a text of one side may stand on the other side too."""
        return len(self.parts) > 1 and goes_both_ways(directions(self).values())


class CorpusFiles(NamedTuple):
    """One file that holds pairs, or two that do so together."""

    name: str
    """What `Pair.file` is: the (source) file's, and its target or use where it is named twice."""
    files: tuple[Path, ...]
    use: Use


Direction = tuple[str | None, str | None]
"""From which language into which, where that is known."""


def read_pairs(corpus: Corpus, report: Report) -> Iterator[Pair]:
    """Every pair of the corpus as it stands in the files, uncleaned, in the order of its parts.

    `report.read` counts units (lines) before any choice; what cannot be a pair is counted as
    dropped. Nothing is ever held but the line at hand.

    Raises:
        ConfigError, DataError: as `Corpus.check` and `read_lines`, or two files are not parallel.
    """
    corpus.check()
    for part in corpus.parts:
        path, *other = part.files
        one_file = None if other else reader_of(path).pairs(path, corpus.alone(part), report)
        for pair in one_file or _read_parallel(path, other[0], report):
            yield pair if pair.file == part.name else pair._replace(file=part.name)


def _read_parallel(source: Path, target: Path, report: Report) -> Iterator[Pair]:
    kind = FILE_KINDS.get(suffix_of(source))
    if kind and kind.keyed:
        from headway.localization.formats.keyed import read_keyed

        return read_keyed(source, target, report)
    return read_parallel(source, target, report, unequal)


def languages(
    corpus: Corpus, source_language: str | None = None, target_language: str | None = None
) -> Direction:
    """What is translated into what: as given, else as the files say, else None.

    Two text files say it by suffix (`a.en`, `train.de.gz`), a TSV and a PO by their header, a JSONL
    by its keys, TMX and XLIFF by their attributes. Where files differ it is None. `en-GB` is `en`
    (`headway.languages.codes.folded`), unless it is given.
    """
    given = replace(
        corpus,
        source_language=source_language or corpus.source_language,
        target_language=target_language or corpus.target_language,
    )
    told = directions(given).values() or [(given.source_language, given.target_language)]
    sides = [set(codes) - {None} for codes in zip(*told, strict=True)]
    source, target = (codes.pop() if len(codes) == 1 else None for codes in sides)
    return source, target


def directions(corpus: Corpus) -> dict[str, Direction]:
    """What each of `parts` translates into what, by name; regions where asked for or needed."""
    found = {}
    for part in corpus.parts:
        alone = corpus.alone(part)
        if alone.source:
            named = _language_of(alone.source[0]), _language_of(alone.target[0])
        else:
            named = reader_of(alone.pairs[0]).languages(alone.pairs[0], alone)
        source, target = (folded(code) if code else None for code in named)
        if source is not None and source == target:
            source, target = named  # from one variant of a language into another
        found[part.name] = alone.source_language or source, alone.target_language or target
    return found


def _language_of(path: Path) -> str | None:
    """The language that a file of one side says it is in: `a.en`, `train.de.gz`, `de.json`."""
    kind = FILE_KINDS.get(suffix_of(path))
    if kind and kind.keyed:
        from headway.localization.formats.keyed import language_of

        return language_of(path)
    unpacked = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return unpacked.suffix[1:] if is_language(unpacked.suffix[1:]) else None
