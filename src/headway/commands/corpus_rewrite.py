"""`headway prepare --drop SPEC.. --fix SPEC.. --out F`: the corpus written again, cleaned."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from gzip import GzipFile
from pathlib import Path
from typing import IO, cast

from headway.commands.arguments import say
from headway.core.cleaning import Pair
from headway.core.disk import written_aside
from headway.core.errors import ConfigError
from headway.corpora.cleaned import CleanedCorpus
from headway.corpora.corpus import Corpus, CorpusFiles, directions
from headway.corpora.mixing import both_ways
from headway.corpora.reasons import NOTICED, REASONS
from headway.corpora.settings import NotedCleaning
from headway.doctor.corpus_fixes import (
    FIXES,
    Changes,
    CorpusFix,
    output_files,
    pair_key,
    written,
)
from headway.doctor.examination import CHECKS, Examination
from headway.doctor.findings import Symptom
from headway.doctor.languages import OTHER_LANGUAGE
from headway.languages.codes import suffix_of
from headway.localization.places import Places, places_of

_COLUMNS = "what kinds file line source target new_source new_target".split()


class CorpusRewrite:
    """What is to be written, and what is needed for it while the corpus is examined."""

    def __init__(
        self, drop: Sequence[str], fix: Sequence[str], out: Path | None, corpus: Corpus
    ) -> None:
        """Refuse at once what cannot be done.

        Raises:
            ConfigError: an unknown kind, or no `out`, or one that was read.
            DataError: a kind of file that cannot be written again.
        """
        _check("--drop", drop, droppable())
        _check("--fix", fix, FIXES)
        self.drop, self.fix = frozenset(drop), frozenset(fix)
        if out is None:
            raise ConfigError(
                "--drop and --fix write the corpus anew, and never over what was read: they need "
                "--out. Give --out FILE, or --out FOLDER for several files."
            )
        parts = corpus.parts
        if len({files for _, files, _ in parts}) < len(parts):
            raise ConfigError(
                "--drop and --fix write each file once; got one that is named twice. Name it once."
            )
        self._parts = [(part, places_of(part.files)) for part in parts]
        self._corpus = corpus
        self.files = [
            file
            for part, _ in self._parts
            for file in output_files(part, out, alone=len(parts) == 1)
        ]
        if len({*self.files}) < len(self.files):
            raise ConfigError(
                f"files of the same name cannot be written to one folder; got {out}. Clean them "
                "one by one."
            )
        _refuse_other_kind(self._parts, self.files)
        folder = self.files[0] is not out
        self.log = out / "changes.tsv" if folder else out.with_name(f"{out.name}.changes.tsv")
        self._drop_reasons: dict[tuple[str, int, int], set[str]] = {}

    @property
    def all_files(self) -> list[Path]:
        """Everything that will be written."""
        return [*self.files, self.log]

    @property
    def written_corpus(self) -> Corpus:
        """The corpus as it will be read from the files that are written."""
        read = (file for part, _ in self._parts for file in part.files)
        new = dict(zip(read, self.files, strict=True))

        def renamed(files: Sequence[Path]) -> tuple[Path, ...]:
            return tuple(new[file] for file in files)

        old = self._corpus
        return replace(
            old,
            source=renamed(old.source),
            target=renamed(old.target),
            pairs=renamed(old.pairs),
        )

    @property
    def everything(self) -> bool:
        """Whether slow checks must look at every pair."""
        return "other_language" in self.drop

    def hear(self, symptom: Symptom, pair: Pair, _detail: str) -> None:
        """Take down a pair that is to be left out."""
        if symptom.name in self.drop:
            self._drop_reasons.setdefault(pair_key(pair), set()).add(symptom.name)

    def write(
        self, cleaned: CleanedCorpus, examination: Examination, settings: NotedCleaning
    ) -> Changes:
        """Write every file anew, complete or not at all, and the table of changes."""
        changes = Changes(
            self.drop,
            self.fix,
            {key: frozenset(kinds) for key, kinds in self._drop_reasons.items()},
            examination.shifts if "misaligned" in self.drop else (),
        )
        reasons = _reasons_of_rows(cleaned, both=both_ways(directions(self._corpus).values()))
        with ExitStack() as opened:
            log = opened.enter_context(written_aside(self.log))
            table = opened.enter_context(log.open("w", encoding="utf-8", newline="\n"))
            table.write("\t".join(_COLUMNS) + "\n")
            files = iter(self.files)
            for part, places in self._parts:
                mine = [next(files) for _ in part.files]
                alone = self._corpus.alone(part)
                pieces = written(part, alone, settings, places, changes, reasons, _noting(table))
                _write(mine, part, places, pieces)
        self._say(changes)
        return changes

    def _say(self, changes: Changes) -> None:
        for what, counts in (("dropped", changes.n_dropped), ("fixed", changes.n_fixed)):
            told = ", ".join(f"{n:,} {kind}" for kind, n in counts.most_common()) or "nothing"
            say(f"{what}: {told}")
        if changes.n_multilingual:
            say(f"  {changes.n_multilingual:,} of the dropped had other languages, which went too")
        others = ", ".join(f"{n:,} {kind}" for kind, n in changes.n_left.most_common())
        others = f", {changes.n_left.total():,} of them not for training: {others}" * bool(others)
        say(f"cleaned: {', '.join(map(str, self.files))} ({changes.n_kept:,} units{others})")
        say(f"every change: {self.log}")


def _check(flag: str, given: Sequence[str], known: dict[str, str]) -> None:
    for kind in given:
        if kind not in known:
            close = difflib.get_close_matches(kind, known, n=1)
            hint = f"Did you mean {close[0]}?\n" if close else ""
            listed = "\n".join(f"  {name:<22} {words}" for name, words in known.items())
            raise ConfigError(f"{flag} knows no kind {kind!r}. {hint}Kinds:\n{listed}")


def _refuse_other_kind(parts: Sequence[tuple[CorpusFiles, Places]], files: Sequence[Path]) -> None:
    """A file that is written is of the kind of the one that was read."""
    read = [file for part, _ in parts for file in part.files]
    for old, new in zip(read, files, strict=True):
        kinds = [suffix_of(path) for path in (old, new)]
        if len(files) == 1 and kinds[0] != kinds[1]:
            raise ConfigError(
                f"--out is of the same kind as what was read, {kinds[0]}; got {new}. Name it so."
            )
        if new.exists() and new.samefile(old):
            raise ConfigError(f"--out must not overwrite what was read; got {new}. Name another.")


def _reasons_of_rows(cleaned: CleanedCorpus, *, both: bool) -> Iterator[str]:
    """Of each clean pair, in order, why it is none of the corpus: a repeat or a leak.

    With `both` a text leaks that is on any side of a validation pair, as in
    `headway.core.dedup_split`.
    """
    held = list(cleaned.pairs("valid"))
    sources, targets = {pair.source for pair in held}, {pair.target for pair in held}
    if both:
        sources = targets = sources | targets
    for piece in cleaned.pieces["train"]:
        kept = piece.rows()["kept"]
        left_out = iter(piece.pairs(~kept))
        for one in kept.tolist():
            if one:
                yield ""
                continue
            pair = next(left_out)
            leaks = pair.source in sources or pair.target in targets
            yield "leakage" if leaks else "duplicate"


_IN_A_CELL = str.maketrans({"\t": "\\t", "\r": "\\r", "\n": "\\n"})


def _noting(table: IO[str]) -> Callable[[CorpusFix], None]:
    def note(change: CorpusFix) -> None:
        cells = [change.what, change.kinds, change.file, str(change.line)]
        cells += [*change.before, *change.after]
        table.write("\t".join(cell.translate(_IN_A_CELL) for cell in cells) + "\n")

    return note


def _write(
    files: Sequence[Path], part: CorpusFiles, places: Places, pieces: Iterator[tuple[bytes, ...]]
) -> None:
    with ExitStack() as opened:
        streams: list[IO[bytes]] = []
        for file in files:
            aside = opened.enter_context(written_aside(file))
            stream: IO[bytes] = opened.enter_context(aside.open("wb"))
            if file.suffix.lower() == ".gz":
                packed = GzipFile("", "wb", fileobj=stream, mtime=0)
                stream = cast("IO[bytes]", opened.enter_context(packed))
            streams.append(stream)
        if places.restored:
            streams[0].write(places.restored(part.files[0], b"".join(one for (one,) in pieces)))
            return
        for piece in pieces:
            for stream, one in zip(streams, piece, strict=True):
                stream.write(one)


_NOT_OF_FILES = frozenset(("held_out", "no_tokens", "too_many_tokens", "header"))


def droppable() -> dict[str, str]:
    """Findings and reasons, by name: what each means in words."""
    symptoms = [*(symptom for check in CHECKS for symptom in check.symptoms), OTHER_LANGUAGE]
    found = {symptom.name: symptom.title for symptom in symptoms}
    found["misaligned"] = "stretches in which the sides are shifted"
    found["doubtful_note"] = NOTICED["doubtful_note"]
    return found | {name: words for name, words in REASONS.items() if name not in _NOT_OF_FILES}
