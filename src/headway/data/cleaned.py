"""The usable pairs of a corpus as clean text on disk, and what became of all the others."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headway.data.clean_pieces import PIECE_CHARACTERS, PIECE_PAIRS, Piece, PieceCleaner, blocks
from headway.data.files import checksum, key_of, read_whole_folder, whole_folder
from headway.data.joined import Splitter, Texts, fates, rows_of_heaviest, spans
from headway.data.once import made_once
from headway.data.pair_files import PairWriter, Stretch, read_pair_file, read_sides
from headway.data.workers import in_order
from headway.runtime import available_cores
from headway.text.cleaning import EXAMPLES, CleaningSettings, Pair, Report, clean_pairs
from headway.text.cleaning import VERSION as CLEANING_VERSION
from headway.text.corpora import Corpus, read_pairs

Say = Callable[[str], None]
Progress = Callable[[str, int, int | None], None]
"""Hears what is being done, how many pairs are done, and of how many, if that is known."""
Split = Literal["train", "valid"]

PIECES_ALONE = 4
"""Pieces that one process does sooner than it starts others: a corpus of 200,000 pairs."""

LEAST_DRAWN_FROM = 400
"""A twentieth of so many is the least that says anything about a model."""

_FORMAT = 3
"""Raised whenever the same pairs give another folder."""


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
    stretches: dict[Split, list[Stretch]]
    """Where the pairs can be read from, so that several processes share the work."""

    def pairs(self, split: Split, stretch: Stretch | None = None) -> Iterator[Pair]:
        """The clean pairs, or some of them, in the order of the files."""
        return read_pair_file(self.directory, split, self.files, stretch)

    def train_lines(self) -> Iterator[str]:
        """Every side of every training pair, to learn sub-words from."""
        return read_sides(self.directory, "train")


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
    workers: int = 0,
    say: Say = silent,
    progress: Progress = unseen,
) -> CleanedCorpus:
    """Read, clean and split a corpus into the cache at `root`, or find it done there.

    Without `valid`, `hold_out` pairs (None: `held_out_size`) are set aside, drawn with `seed` from
    those whose sides occur once, as far as there are such, in the files with the highest weight: it
    says which text the model is for. Lighter files join them where they have under
    `LEAST_DRAWN_FROM` pairs. A training pair that shares its source
    or its target with a validation pair is dropped. Memory does not grow with the corpus, but for
    some bytes a pair.

    A large corpus is cleaned by `workers` processes (0: one for each core) with the same result.
    What was done when the process was ended is not done again by the next one.

    Raises:
        ConfigError, DataError: a file cannot be used (see `read_pairs`), or the cache cannot be
            written.
        WorkerError: the processes that share the work do not live.
    """
    corpus.check()
    if valid is not None:
        valid.check()
    files = [*corpus.files, *(valid.files if valid else ())]
    checksums = {str(path): checksum(path) for path in dict.fromkeys(files)}
    key = key_of(
        {
            "version": CLEANING_VERSION,
            "format": _FORMAT,
            "pieces": [PIECE_PAIRS, PIECE_CHARACTERS],
            "settings": asdict(settings),
            "corpora": [repr(corpus), repr(valid)],
            "checksums": checksums,
            "hold_out": hold_out if valid is None else 0,
            "seed": seed,
        }
    )
    directory = root / f"cleaned-{key}"

    def make(work: Path) -> None:
        steps = _Cleaning(work, settings, seed, workers or available_cores(), progress)
        with whole_folder(directory) as (part, content):
            content.update(steps.run(part, corpus, valid, hold_out))

    return made_once(directory, lambda: _opened(directory, checksums), make, say)


def _opened(directory: Path, checksums: dict[str, str]) -> CleanedCorpus:
    content = read_whole_folder(directory)
    return CleanedCorpus(
        directory,
        {split: Report.from_dict(plain) for split, plain in content["reports"].items()},
        content["files"],
        content["n_characters"],
        checksums,
        {split: [Stretch(*of) for of in plain] for split, plain in content["stretches"].items()},
    )


@dataclass(frozen=True)
class _Cleaning:
    """Two steps: pairs by themselves, piece by piece in `work`; then all of them together."""

    work: Path
    settings: CleaningSettings
    seed: int
    n_workers: int
    progress: Progress

    def run(
        self, part: Path, corpus: Corpus, valid: Corpus | None, hold_out: int | None
    ) -> dict[str, Any]:
        """Write the pair files `train` and `valid`, and say what is in them."""
        files: list[str] = []
        reading, valid_report = Report(), Report()
        with PairWriter(part, "valid", files) as valid_writer:
            texts = self._read_valid(valid, valid_report, valid_writer) if valid else None
            pieces = list(self._pieces(corpus, reading))
            n_clean = sum(piece.n_rows for piece in pieces)
            weights = {part.name: part.use.weight for part in corpus.parts}
            least = max(LEAST_DRAWN_FROM, 2 * (hold_out or 0))
            n_drawn_from = rows_of_heaviest(pieces, weights, least)
            fate = fates(
                pieces,
                deduplicate=self.settings.deduplicate,
                valid=texts,
                n_held_out=held_out_size(n_drawn_from) if hold_out is None else hold_out,
                n_drawn_from=n_drawn_from,
                both_ways=any(
                    part.use.source_language or part.use.target_language for part in corpus.parts
                ),
                seed=self.seed,
            )
            with PairWriter(part, "train", files) as train_writer:
                splitter = Splitter(train_writer, valid_writer)
                for piece, span in spans(pieces):
                    self.progress("comparing", span.start, n_clean)
                    splitter.write(piece, fate[span])
        valid_report.add(splitter.valid_report)
        return {
            "reports": {
                "train": _together(reading, splitter.finished_report(), corpus).as_dict(),
                "valid": valid_report.as_dict(),
            },
            "files": files,
            "n_characters": splitter.n_characters,
            "stretches": {"train": train_writer.stretches, "valid": valid_writer.stretches},
        }

    def _read_valid(self, valid: Corpus, report: Report, writer: PairWriter) -> Texts:
        texts = [Texts.of([])]
        for block in blocks(clean_pairs(read_pairs(valid, report), self.settings, report)):
            pairs = block.pairs()
            writer.write(pairs)
            texts.append(Texts.of(pairs))
        return Texts(*map(np.concatenate, zip(*texts, strict=True)))

    def _pieces(self, corpus: Corpus, reading: Report) -> Iterator[Piece]:
        """Clean the blocks that are read, or find them done by a process that was ended."""
        clean = PieceCleaner(self.work, self.settings)
        to_do = blocks(read_pairs(corpus, reading))
        done = in_order(clean, to_do, n_workers=self.n_workers, n_alone=PIECES_ALONE)
        with closing(done):
            for piece in done:
                self.progress("reading", reading.read, None)
                yield piece


def _together(reading: Report, cleaning: Report, corpus: Corpus) -> Report:
    """What was found while reading and after it; examples in the order of files and lines."""
    order = {part.name: number for number, part in enumerate(corpus.parts)}
    both = Report()
    both.add(reading)
    both.add(cleaning)
    for reason in reading.examples.keys() & cleaning.examples.keys():
        examples = reading.examples[reason] + cleaning.examples[reason]
        examples.sort(key=lambda example: (order.get(example.file, len(order)), example.line))
        both.examples[reason] = examples[:EXAMPLES]
    return both
