"""The usable pairs of a corpus as clean text on disk, and what became of all the others."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.files import checksum, key_of, read_whole_folder, reopened, whole_folder
from headway.data.pair_files import PairWriter, read_hashes, read_pair_file, remove_pair_file
from headway.data.repeats import find_repeats, pair_hashes, text_hash
from headway.text import cleaning
from headway.text.alignment import ShiftDetector
from headway.text.cleaning import CleaningSettings, Pair, Report, clean_pairs
from headway.text.corpora import Corpus, read_pairs

Say = Callable[[str], None]
Progress = Callable[[str, int, int | None], None]
"""Hears what is being done, how many pairs are done, and of how many, if that is known."""
Split = Literal["train", "valid"]

_TELL_EVERY = 5_000  # pairs


def silent(_message: str) -> None:
    """Say nothing."""


def unseen(_stage: str, _done: int, _total: int | None) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class CleanedCorpus:
    """Clean pairs in a folder of the cache, split into training and validation."""

    directory: Path
    reports: dict[Split, Report]
    """For validation pairs that were set aside here, `read` counts those pairs."""
    files: list[str]
    n_characters: int
    """Of the training pairs, both sides together."""
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""

    def pairs(self, split: Split) -> Iterator[Pair]:
        """The clean pairs, in the order of the files."""
        return read_pair_file(self.directory, split, self.files)

    def train_lines(self) -> Iterator[str]:
        """Every side of every training pair, to learn sub-words from."""
        for source, target, *_ in self.pairs("train"):
            yield source
            yield target


def held_out_size(n_pairs: int) -> int:
    """How many pairs to set aside for validation: a twentieth, 20 to 1,000, never over a half."""
    return min(max(20, min(n_pairs // 20, 1_000)), n_pairs // 2)


def clean_corpus(
    corpus: Corpus,
    settings: CleaningSettings,
    root: Path,
    *,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    say: Say = silent,
    progress: Progress = unseen,
) -> CleanedCorpus:
    """Read, clean and split a corpus into the cache at `root`, or find it done there.

    Without `valid`, `hold_out` pairs (None: `held_out_size`) are set aside, drawn with `seed` from
    those whose sides occur once, as far as there are such. A training pair that shares its source
    or its target with a validation pair is dropped. Memory does not grow with the corpus.

    Raises:
        ConfigError, DataError: a file cannot be used (see `read_pairs`), or the cache cannot be
            written.
    """
    corpus.check()
    if valid is not None:
        valid.check()
    files = [*corpus.files, *(valid.files if valid else ())]
    checksums = {str(path): checksum(path) for path in dict.fromkeys(files)}
    key = key_of(
        {
            "version": cleaning.VERSION,
            "settings": asdict(settings),
            "corpora": [repr(corpus), repr(valid)],
            "checksums": checksums,
            "hold_out": hold_out if valid is None else 0,
            "seed": seed,
        }
    )
    directory = root / f"cleaned-{key}"
    found = reopened(directory, lambda: _opened(directory, checksums), say)
    if found is not None:
        return found
    with whole_folder(directory) as (part, content):
        content.update(_Cleaning(part, settings, seed, progress).run(corpus, valid, hold_out))
    return _opened(directory, checksums)


def _opened(directory: Path, checksums: dict[str, str]) -> CleanedCorpus:
    content = read_whole_folder(directory)
    reports = {split: Report.from_dict(plain) for split, plain in content["reports"].items()}
    return CleanedCorpus(directory, reports, content["files"], content["n_characters"], checksums)


class _Verdict(NamedTuple):
    """What the whole corpus says of each pair that was clean by itself: [pairs]."""

    duplicate: NDArray[np.bool_]
    held_out: NDArray[np.bool_]


class _Seen(NamedTuple):
    """The texts of the validation set."""

    sources: set[str]
    targets: set[str]

    def add(self, pair: Pair) -> None:
        self.sources.add(pair.source)
        self.targets.add(pair.target)

    def leaks(self, pair: Pair) -> bool:
        return pair.source in self.sources or pair.target in self.targets


class _Cleaning:
    """Two passes: pairs one by one, then what only the whole corpus can tell."""

    def __init__(
        self, part: Path, settings: CleaningSettings, seed: int, progress: Progress
    ) -> None:
        self.part = part
        self.settings = settings
        self.seed = seed
        self.progress = progress
        self.report = Report()
        self.valid_report = Report()
        self.files: list[str] = []
        self.seen = _Seen(set(), set())
        self.n_characters = 0

    def run(self, corpus: Corpus, valid: Corpus | None, hold_out: int | None) -> dict[str, Any]:
        """Write the pair files `train` and `valid`, and say what is in them."""
        with PairWriter(self.part, "valid", self.files) as writer:
            if valid is not None:
                self._read_valid(valid, writer)
            self._read_train(corpus)
            n_clean = self.report.kept
            wanted = held_out_size(n_clean) if hold_out is None else hold_out
            verdict = self._judge(n_clean, 0 if valid else wanted)
            self._split(verdict, writer)
        remove_pair_file(self.part, "clean")
        for side in ("source", "target"):
            (self.part / f"{side}.hashes").unlink()
        return {
            "reports": {"train": self.report.as_dict(), "valid": self.valid_report.as_dict()},
            "files": self.files,
            "n_characters": self.n_characters,
        }

    def _read_valid(self, valid: Corpus, writer: PairWriter) -> None:
        for pair in clean_pairs(
            read_pairs(valid, self.valid_report), self.settings, self.valid_report
        ):
            writer.write(pair)
            self.seen.add(pair)

    def _read_train(self, corpus: Corpus) -> None:
        """Clean each pair, drop leaks, and note the hashes of both sides."""
        report = self.report
        shifts = ShiftDetector()
        with (
            PairWriter(self.part, "clean", self.files) as writer,
            (self.part / "source.hashes").open("wb") as source_hashes,
            (self.part / "target.hashes").open("wb") as target_hashes,
        ):
            for pair in clean_pairs(read_pairs(corpus, report), self.settings, report):
                shifts.add(pair)
                if self.seen.leaks(pair):
                    report.drop_kept("leakage", pair)
                    continue
                writer.write(pair)
                source_hashes.write(text_hash(pair.source))
                target_hashes.write(text_hash(pair.target))
                if writer.n_written % _TELL_EVERY == 0:
                    self.progress("reading", report.read, None)
        report.suspicions += shifts.suspicions()

    def _judge(self, n_clean: int, wanted: int) -> _Verdict:
        source = read_hashes(self.part / "source.hashes")
        target = read_hashes(self.part / "target.hashes")
        duplicate = np.zeros(n_clean, np.bool_)
        if self.settings.deduplicate:
            duplicate = find_repeats(pair_hashes(source, target)).later
        held_out = np.zeros(n_clean, np.bool_)
        if wanted:
            once = ~(find_repeats(source).shared | find_repeats(target).shared)
            candidates = np.flatnonzero(once)
            if len(candidates) < 2 * wanted:
                candidates = np.flatnonzero(~duplicate)
            random = np.random.Generator(np.random.PCG64(self.seed))
            chosen = random.permutation(len(candidates))[: min(wanted, len(candidates) // 2)]
            held_out[candidates[chosen]] = True
        return _Verdict(duplicate, held_out)

    def _split(self, verdict: _Verdict, valid: PairWriter) -> None:
        """Write the training pairs, and those that are set aside, to their files."""
        if verdict.held_out.any():
            for pair, held_out in zip(self._clean_pairs(), verdict.held_out, strict=True):
                if held_out:
                    self.seen.add(pair)
        with PairWriter(self.part, "train", self.files) as train:
            for row, pair in enumerate(self._clean_pairs()):
                if row % _TELL_EVERY == 0:
                    self.progress("comparing", row, len(verdict.duplicate))
                if verdict.held_out[row]:
                    self.report.drop_kept("held_out", pair)
                    self.valid_report.read += 1
                    self.valid_report.keep(pair)
                    valid.write(pair)
                elif verdict.duplicate[row]:
                    self.report.drop_kept("duplicate", pair)
                elif self.seen.leaks(pair):
                    self.report.drop_kept("leakage", pair)
                else:
                    self.n_characters += len(pair.source) + len(pair.target)
                    train.write(pair)

    def _clean_pairs(self) -> Iterator[Pair]:
        return read_pair_file(self.part, "clean", self.files)
