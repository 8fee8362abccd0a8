"""From the files that a user names to encoded pairs: in memory, or through a cache."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headway.core.batching import Rounds
from headway.core.cleaning import Report
from headway.core.subword_training import fitted_vocabulary_size
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus, Direction, directions, languages
from headway.corpora.in_memory import PairRows, PairsInMemory, Split
from headway.corpora.mixing import PLAIN, Use
from headway.corpora.settings import DataSettings, TranslationText
from headway.corpora.weighted import RowWeights, WeightedRounds
from headway.localization.placeholders.own_codes import CodeHandling, Patterns
from headway.operations.locks import Say
from headway.tokenizers.fair_sample import UNSPACED_BUDGET, sample
from headway.tokenizers.learners import LEARNERS, around

if TYPE_CHECKING:
    from headway.corpora.cleaned import CleanedCorpus
    from headway.corpora.coded import ShownPairs

IN_MEMORY = 1 << 23
"""Bytes of text that are prepared anew each time, in some five seconds; more are cached."""
_UNPACKED = {".gz": 4}
"""Bytes of text for one of a packed file."""


@dataclass(frozen=True)
class Prepared:
    """Everything that training needs to know of a corpus."""

    corpus: Corpus
    """What was read, under the names that its files had then."""
    train: PairRows
    valid: PairRows
    valid_texts: list[tuple[str, str]]
    """Source and target of pair i of `valid`, as cleaned text."""
    valid_uses: list[Use]
    """How the file of pair i of `valid` is used, with its languages where they are known."""
    subwords: Subwords
    report: Report
    valid_report: Report
    checksums: dict[str, str]
    """SHA-256 of each file that was read."""
    weights: RowWeights | None
    """How often each training pair is seen in a pass, if not all are once: [pairs]."""
    codes: CodeHandling
    """What was done with tags, placeholders and other codes."""
    own_codes: Patterns = ()
    """What is a code besides, by the user's own patterns."""

    @property
    def rounds(self) -> Rounds | None:
        return None if self.weights is None else WeightedRounds(self.weights)


def prepare_corpus(
    corpus: Corpus,
    data: DataSettings,
    text: TranslationText,
    *,
    subwords: Subwords | None = None,
    valid: Corpus | None = None,
    hold_out: int | None = None,
    seed: int = 1,
    root: Path | None = None,
    say: Say = lambda _message: None,
) -> Prepared:
    """Read, clean, split and encode a corpus; learn its sub-words unless they are given.

    Without `valid`, `hold_out` pairs (None: `held_out_size`) are set aside. Of more than
    `IN_MEMORY` bytes, what was done before with the same files and settings is found in the cache
    at `root` (None: `headway.corpora.cache_place.cache_root`). `say` hears what was chosen and why.

    Raises:
        ConfigError, DataError: a file or setting cannot be used, or the cache cannot be written.
    """
    cleaned = _cleaned(corpus, data, valid, hold_out, seed, root, say)
    codes: CodeHandling = "keep"
    own = text.patterns()
    known = subwords is not None or bool(own)
    if text.codes == "mask" or (text.codes == "auto" and (known or cleaned.may_hold_codes)):
        from headway.corpora.coded import handling_of_codes

        weights = {part.name: part.use.weight for part in corpus.parts}
        pairs = partial(cleaned.pairs, "train")
        codes = handling_of_codes(pairs, text.codes, subwords, say, weights, own)
    corpora: dict[Split, Corpus] = {"train": corpus, "valid": valid or corpus}
    shown = {split: shown_pairs(codes, one, own) for split, one in corpora.items()}
    if subwords is None:
        text = replace(text, codes=codes)
        subwords = learned_subwords(cleaned, text, shown["train"], seed, say)
    found = {}
    for split in corpora:
        found[split] = cleaned.encoded(split, subwords, shown[split], data, say)
        if unknown := found[split].n_unknown:
            n_tokens = sum(int(n.sum()) for n in found[split].rows.lengths.values())
            say(f"{unknown:,} of {n_tokens:,} sub-words are unknown ({split})")
    train, held = found["train"], found["valid"]
    places = {*held.places}
    return Prepared(
        corpus=corpus,
        train=train.rows,
        valid=held.rows,
        valid_texts=[pair[:2] for n, pair in enumerate(cleaned.pairs("valid")) if n in places],
        valid_uses=_uses(held.rows, corpora["valid"], languages(corpus)),
        subwords=subwords,
        report=train.report,
        valid_report=held.report,
        checksums=cleaned.checksums,
        weights=_weights(train.rows, corpus),
        codes=codes,
        own_codes=own,
    )


def _cleaned(
    corpus: Corpus,
    data: DataSettings,
    valid: Corpus | None,
    hold_out: int | None,
    seed: int,
    root: Path | None,
    say: Say,
) -> "PairsInMemory | CleanedCorpus":
    """Clean pairs, in memory if they are few."""
    corpus.check()
    if valid:
        valid.check()
    files = [*corpus.files, *(valid.files if valid else ())]
    sizes = (path.stat().st_size * _UNPACKED.get(path.suffix.lower(), 1) for path in files)
    if sum(sizes) < IN_MEMORY:
        return PairsInMemory(corpus, data, valid=valid, hold_out=hold_out, seed=seed)
    from headway.corpora.cache_place import cache_root
    from headway.corpora.cleaned import clean_corpus

    root = cache_root() if root is None else root
    return clean_corpus(
        corpus, data.cleaning(), root, valid=valid, hold_out=hold_out, seed=seed,
        workers=data.workers, say=say,
    )  # fmt: skip


def _weights(rows: PairRows, corpus: Corpus) -> RowWeights | None:
    weight = {part.name: part.use.weight for part in corpus.parts}
    of_file = np.array([weight.get(file, 1.0) for file in rows.files], np.float64)
    return None if (of_file == 1).all() else of_file[rows.file_numbers]


def _uses(rows: PairRows, corpus: Corpus, trained: Direction) -> list[Use]:
    """How each row is used; its languages are those of training where its file says none."""
    told = directions(corpus)
    of_part: dict[str, Use] = {}
    for one in corpus.parts:
        source, target = told[one.name]
        known = source or trained[0], target or trained[1]
        of_part[one.name] = Use(one.use.weight, one.use.tag, *known)
    of_file = [of_part.get(file, PLAIN) for file in rows.files]
    return [of_file[number] for number in rows.file_numbers]


def shown_pairs(codes: CodeHandling, corpus: Corpus, own: Patterns) -> "ShownPairs | None":
    """How pairs are shown to the model; None: as they are written."""
    if codes == "keep" and not any(part.use.tag for part in corpus.parts):
        return None
    from headway.corpora.coded import ShownPairs

    return ShownPairs.of(codes, corpus, own)


def learned_subwords(
    cleaned: "PairsInMemory | CleanedCorpus",
    text: TranslationText,
    shown: "ShownPairs | None",
    seed: int,
    say: Say,
) -> Subwords:
    """Of the size that was asked for, or that suits the corpus."""
    n_pairs, n_characters = cleaned.reports["train"].kept, cleaned.n_characters
    if not text.vocabulary_size:
        text = replace(text, vocabulary_size=fitted_vocabulary_size(n_pairs, n_characters))
        say(
            f"vocabulary of {text.vocabulary_size:,} sub-words, fitted to {n_characters:,} "
            f"characters in {n_pairs:,} pairs"
        )

    def learned(say: Say) -> Subwords:
        lines = shown.lines(cleaned.pairs("train")) if shown else cleaned.train_lines()
        learn = LEARNERS[text.algorithm]
        if shown and shown.placeholders:
            learn = around(shown.placeholders, learn)
        if n_characters > UNSPACED_BUDGET or 2 * n_pairs > text.sample_lines:
            lines = iter(sample(lines, text.sample_lines, seed, say))
        return Subwords.train(lines, vocabulary_size=text.vocabulary_size, learn=learn)

    settings = asdict(text)
    del settings["own_codes"]  # what is a code is told by what they are learned from
    depends_on = {"settings": settings, "shown": shown and shown.key(), "seed": seed}
    return cleaned.learned(learned, depends_on, say)
