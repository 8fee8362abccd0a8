"""From the files that a user names to encoded pairs, with nothing done twice."""

from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path

from headway.data.cleaned import (
    CleanedCorpus,
    Progress,
    Say,
    Split,
    clean_corpus,
    silent,
    unseen,
)
from headway.data.files import cache_root, key_of, read_whole_folder, reopened, whole_folder
from headway.data.store import FORMAT, PairStore, write_store
from headway.errors import ConfigError
from headway.text.cleaning import CleaningSettings, Report
from headway.text.corpora import Corpus
from headway.text.subword_training import VERSION as LEARNING_VERSION
from headway.text.subwords import Subwords, TextSettings, fitted_vocabulary_size


@dataclass(frozen=True)
class DataSettings(CleaningSettings):
    """Section [data]: which pairs are used."""

    max_length: int = 256
    """The longest side allowed, in sub-words without markers; 0 for any."""

    def __post_init__(self) -> None:
        """Raise ConfigError for a value that no pair could satisfy."""
        super().__post_init__()
        if self.max_length < 0:
            raise ConfigError(
                f"data.max_length is 0 (any) or more; got {self.max_length}. Try 256."
            )

    def cleaning(self) -> CleaningSettings:
        """The settings that matter before there are sub-words."""
        names = [field.name for field in fields(CleaningSettings)]
        return CleaningSettings(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class Prepared:
    """Everything that training needs to know of a corpus."""

    train: PairStore
    valid: PairStore
    valid_texts: list[tuple[str, str]]
    """Source and target of pair i of `valid`, as cleaned text."""
    subwords: Subwords
    report: Report
    valid_report: Report
    n_characters: int
    """Of the training pairs, both sides together."""
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""


def prepare_corpus(
    corpus: Corpus,
    data: DataSettings,
    text: TextSettings,
    *,
    subwords: Subwords | None = None,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    root: Path | None = None,
    say: Say = silent,
    progress: Progress = unseen,
) -> Prepared:
    """Read, clean, split and encode a corpus; learn its sub-words unless they are given.

    What was done before with the same files and settings is found in the cache at `root` (None:
    `cache_root`). The other arguments are those of `clean_corpus`; `say` hears what was chosen and
    why.

    Raises:
        ConfigError, DataError: a file or setting cannot be used, or the cache cannot be written.
    """
    root = cache_root() if root is None else root
    cleaned = clean_corpus(
        corpus,
        data.cleaning(),
        root,
        valid=valid,
        hold_out=hold_out,
        seed=seed,
        say=say,
        progress=progress,
    )
    if subwords is None:
        progress("learning sub-words", 0, None)
        subwords = _learned_subwords(cleaned, text, seed, root, say)
    stores, reports = {}, {}
    for split in ("train", "valid"):
        stores[split] = _encoded(cleaned, split, subwords, data.max_length, root, say, progress)
        reports[split] = Report.from_dict(stores[split].content["report"])
        if unknown := stores[split].content["unknown"]:
            n_tokens = sum(stores[split].content[f"{side}_tokens"] for side in ("source", "target"))
            say(f"{unknown:,} of {n_tokens:,} sub-words are unknown ({split})")
    rows = set(stores["valid"].rows.tolist())
    texts = [pair[:2] for row, pair in enumerate(cleaned.pairs("valid")) if row in rows]
    return Prepared(
        train=stores["train"],
        valid=stores["valid"],
        valid_texts=texts,
        subwords=subwords,
        report=reports["train"],
        valid_report=reports["valid"],
        n_characters=cleaned.n_characters,
        checksums=cleaned.checksums,
    )


def _learned_subwords(
    cleaned: CleanedCorpus, text: TextSettings, seed: int, root: Path, say: Say
) -> Subwords:
    size = text.vocabulary_size
    if not size:
        n_pairs = cleaned.reports["train"].kept
        size = fitted_vocabulary_size(n_pairs, cleaned.n_characters)
        say(
            f"vocabulary of {size:,} sub-words, fitted to {cleaned.n_characters:,} characters in "
            f"{n_pairs:,} pairs"
        )
    key = key_of(
        {
            "version": LEARNING_VERSION,
            "tokenizers": version("tokenizers"),
            "cleaned": cleaned.directory.name,
            "settings": asdict(text) | {"vocabulary_size": size},
            "seed": seed,
        }
    )
    directory = root / f"subwords-{key}"
    said: list[str] | None = reopened(directory, lambda: read_whole_folder(directory)["said"], say)
    if said is None:
        said = []
        with whole_folder(directory) as (part, content):
            learned = Subwords.train(
                cleaned.train_lines(),
                vocabulary_size=size,
                algorithm=text.algorithm,
                sample_lines=text.sample_lines,
                seed=seed,
                say=said.append,
            )
            learned.save(part / "tokenizer.json")
            content["said"] = said
    for message in said:
        say(message)
    return Subwords.load(directory)


def _encoded(
    cleaned: CleanedCorpus,
    split: Split,
    subwords: Subwords,
    max_length: int,
    root: Path,
    say: Say,
    progress: Progress,
) -> PairStore:
    """The encoded pairs of one split; its `content["report"]` counts what was dropped here too."""
    key = key_of(
        {
            "format": FORMAT,
            "cleaned": cleaned.directory.name,
            "split": split,
            "fingerprint": subwords.fingerprint(),
            "max_length": max_length,
        }
    )
    directory = root / f"encoded-{key}"
    found = reopened(directory, lambda: PairStore.open(directory), say)
    if found is not None:
        return found
    report = Report.from_dict(cleaned.reports[split].as_dict())
    n_pairs = report.kept
    return write_store(
        cleaned.pairs(split),
        subwords,
        directory,
        files=cleaned.files,
        max_length=max_length,
        on_drop=report.drop_kept,
        on_progress=lambda done: progress("encoding", done, n_pairs),
        known=lambda: {"report": report.as_dict()},
    )
