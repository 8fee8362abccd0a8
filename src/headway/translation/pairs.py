"""Section [data], and what is read by it: from the files that a user names to pairs of ids."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.cleaning import LEAST_PAIRS, refuse_unusable, refuse_unvalidated
from headway.core.config import Sections, build, merge
from headway.core.errors import ConfigError, refuse_below
from headway.core.rows import Indices
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.corpora.corpus import Corpus, directions, languages
from headway.corpora.mixing import absolute_pairs_files, parse_pairs_file, refuse_weights
from headway.corpora.prepared import Prepared, prepare_corpus
from headway.corpora.settings import DataSettings
from headway.languages.detection import heard_otherwise
from headway.localization.terms import NONE
from headway.operations.shipped import refuse_undecodable
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import Say, Sizes
from headway.translation import mixture


@dataclass(frozen=True)
class TranslationData(DataSettings):
    """Section [data]: which files, and which of their pairs."""

    source: tuple[Path, ...] = ()
    """Files of texts to learn from, one sentence a line."""
    target: tuple[Path, ...] = ()
    """Their translations, in the same order."""
    pairs: tuple[str, ...] = ()
    """Files of pairs to learn from, each `PATH[@WEIGHT][:key=value ...]`: see
    `headway.corpora.mixing`."""
    valid_source: tuple[Path, ...] = ()
    """Files of texts to validate on."""
    valid_target: tuple[Path, ...] = ()
    """Their translations."""
    valid_pairs: tuple[str, ...] = ()
    """Files of pairs to validate on, as in pairs, without weights."""
    valid_size: int = 0
    """Pairs held out for validation when no files are given for it; 0 fits it to the corpus."""
    prepared: Path | None = None
    """A folder that `headway prepare --shards` left, in place of all files."""
    source_language: str | None = None
    """Code of the source's language; otherwise taken from names or headers."""
    target_language: str | None = None
    """Code of the target's language; otherwise the same."""
    glossary: tuple[Path, ...] = ()
    """Terms that translations hold; a copy is in the run."""
    old_share: float | None = None
    """Of what a run sees that goes on from another's weights, the share that is to be that one's
    own data; less where that has too little. 0.75 if left out."""
    old_run: str = ""
    """The run whose data these are. Filled in."""
    tags: tuple[str, ...] = ()
    """Every tag that the model has read, its parent's too; empty text stands for none. Filled in,
    where there are any."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.glossary == (Path(NONE),):
            object.__setattr__(self, "glossary", ())
        if self.one_language and self.max_ratio == DataSettings.max_ratio:
            object.__setattr__(self, "max_ratio", 0.0)  # an answer is as long as it likes
        refuse_below(self, {"valid_size": 0}, above="data.")
        if not 0 <= (self.old_share or 0) < 1:
            raise ConfigError(
                f"data.old_share is a share of what is seen, from 0 to below 1; got "
                f"{self.old_share:g}. Try 0.5, or 0 for none."
            )

    @property
    def one_language(self) -> bool:
        """Whether both sides are said to be of one language: dialogue, summaries; of any length."""
        return bool(self.source_language) and self.source_language == self.target_language

    def corpus(self) -> Corpus:
        """The files to train on; raises ConfigError where it is not clear which."""
        return self._corpus(self.source, self.target, self.pairs)

    def validation(self) -> Corpus | None:
        """The files to validate on, if any are named.

        Raises ConfigError where it is not clear which, or one of them has a weight.
        """
        if not (self.valid_source or self.valid_target or self.valid_pairs):
            return None
        corpus = self._corpus(self.valid_source, self.valid_target, self.valid_pairs)
        refuse_weights(self.valid_pairs, corpus.uses)
        return corpus

    def _corpus(
        self, source: tuple[Path, ...], target: tuple[Path, ...], pairs: tuple[str, ...]
    ) -> Corpus:
        parsed = [parse_pairs_file(text) for text in pairs]
        paths, uses = tuple(path for path, _ in parsed), tuple(use for _, use in parsed)
        return Corpus(source, target, paths, self.source_language, self.target_language, uses)


@dataclass(frozen=True)
class Pairs:
    """Encoded pairs to learn from and to validate on: a `headway.runs.task_spec.Data`."""

    prepared: Prepared
    glossary: tuple[Path, ...] = field(default=(), kw_only=True)
    """Files of terms that are kept with the vocabulary."""
    unlearned = slice(None)
    """Which of the validation pairs no run has learned from."""

    @property
    def vocabulary(self) -> Subwords:
        """The sub-words of both sides."""
        return self.prepared.subwords

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file that was read."""
        return self.prepared.checksums

    @property
    def settled(self) -> Sections:
        """Settings that were settled before this run."""
        return {}

    @property
    def plain(self) -> bool:
        """One file, or two that go together, each pair seen once a pass and without a tag."""
        return len(self.prepared.corpus.parts) == 1 and not self.prepared.corpus.uses

    def record(self) -> dict[str, Any]:
        """What data.json says: counts, dropped by reason, longest sides, what each file gives."""
        prepared, [first, *_] = self.prepared, self.prepared.corpus.parts
        alone = {"file": first.name, "pairs": len(prepared.train), "weight": 1.0, "tag": ""}
        shares = [] if self.plain else mixture.shares(prepared)
        return {
            "train": prepared.report.as_dict(),
            "valid": prepared.valid_report.as_dict(),
            "longest": {side: int(n.max()) for side, n in prepared.train.lengths.items()},
            "mixture": [share.as_dict() for share in shares] or [{**alone, "share": 1.0}],
        }

    def mixture(self) -> list[str]:
        """A line for each file, in words; none for a plain corpus."""
        return [] if self.plain else mixture.mixture(self.prepared)

    def valid_rows(self) -> Indices:
        """Validation pairs, in an order whose beginning holds of each file what is its share."""
        valid = self.prepared.valid
        return np.arange(len(valid)) if self.plain else mixture.in_turn(valid.file_numbers)

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json, and glossary.tsv where there are terms."""
        self.vocabulary.save(folder.tokenizer)
        if self.glossary:
            from headway.localization.terms.glossary_files import read_terms, write_tsv

            write_tsv(folder.glossary, read_terms(self.prepared.corpus, self.glossary))


def refuse_unreadable(sections: Sections) -> None:
    """Raise ConfigError or DataError for a file of [data] that cannot be read, before all else."""
    if "corpus" in sections.get("data", {}):
        raise ConfigError(
            "--corpus is text for a language model; translators learn from pairs. Add --task "
            "language-model, or give --source F --target F."
        )
    data = build(TranslationData, sections.get("data", {}), section="data")
    if data.prepared:
        from headway.corpora.sharded import read_known  # a side room

        read_known(data.prepared)
        return
    corpora = data.corpus(), data.validation()
    for corpus in corpora:
        if corpus is not None:
            corpus.check()
            refuse_undecodable(*(path.absolute() for path in corpus.files))
    if data.glossary:
        from headway.localization.terms.glossary_files import read_terms

        read_terms(corpora[0], data.glossary)
    if data.pairs or len(data.source) > 1:
        from headway.corpora.mixed_languages import refuse_mixed

        refuse_mixed(*corpora)


def read(settings: Settings, subwords: Subwords | None, say: Say, *, few: bool = False) -> Pairs:
    """Read, clean and encode the corpus, and say what was dropped; of `few` none is set aside.
    Raises ConfigError or DataError where a file cannot be used or too little is left."""
    data = settings.data
    prepared = prepare_corpus(
        data.corpus(),
        data,
        settings.text,
        subwords=subwords,
        valid=data.validation(),
        hold_out=0 if few else data.valid_size or None,
        seed=settings.runtime.seed,
        say=say,
    )
    report = prepared.report
    way = languages(prepared.corpus)
    named = f" ({way[0]} into {way[1]})" if all(way) else ""
    say(f"read {report.read:,} pairs{named}, kept {report.kept:,} for training")
    say(f"  dropped: {report.dropped_words()}")
    for suspicion in () if data.one_language else report.suspicions:
        say(f"WARNING: {suspicion}")
    for sentence in _in_other_languages(prepared, data):
        say(f"WARNING: {sentence}. Were the two sides exchanged?")
    refuse_unusable(report, least=1 if few else LEAST_PAIRS)
    if not few:
        refuse_unvalidated(prepared.valid_report, len(prepared.valid_texts))
    pairs = Pairs(prepared, glossary=data.glossary)
    if data.glossary:
        names = ", ".join(map(str, data.glossary))
        say(f"the terms of {names} are kept in the run: translate uses them (--glossary none)")
    shares = pairs.mixture()
    files = f", from {', '.join(mixture.valid_files(prepared))}" if shares else ""
    if prepared.valid_texts:
        say(f"{len(prepared.valid_texts):,} pairs for validation{files}")
    for line in shares:
        say(f"  of what is seen in a pass: {line}")
    return pairs


def _in_other_languages(prepared: Prepared, data: TranslationData) -> Iterator[str]:
    """What is told where a side is in another language than the files say, or in two."""
    if len({*directions(prepared.corpus).values()}) > 1:
        return
    wanted = languages(prepared.corpus, data.source_language, data.target_language)
    rows = range(0, len(prepared.train), 1 + len(prepared.train) // 500)
    for n, (side, language) in enumerate(zip(("source", "target"), wanted, strict=True)):
        learned = prepared.subwords.decode_batch(prepared.train[side][row] for row in rows)
        held_out = [pair[n] for pair in prepared.valid_texts]
        told = heard_otherwise(f"{side}s", learned, language)
        if told := told or heard_otherwise(f"validation {side}s", held_out, language):
            yield told


def sizes(data: Pairs) -> Sizes:
    """Target tokens, end markers included."""
    lengths, weights = data.prepared.train.lengths["target"], data.prepared.weights
    distinct = int(lengths.sum()) + len(lengths)
    seen = distinct if weights is None else (lengths + 1) @ weights
    return Sizes(distinct=distinct, per_pass=round(float(seen)))


def absolute(data: TranslationData) -> dict[str, Any]:
    """`TaskSpec.absolute`, files of pairs with what stands behind them."""
    stored = absolute_files(data)
    for key in ("pairs", "valid_pairs"):
        stored[key] = absolute_pairs_files(stored[key]) if stored[key] else []
    return stored


def complete(given: Sections, settings: Settings, data: Pairs) -> Sections:
    """What the data told: `TaskSpec.complete`."""
    prepared, own = data.prepared, settings.data
    source, target = languages(own.corpus(), own.source_language, own.target_language)
    stored = absolute(own) | {"source_language": source, "target_language": target}
    if own.tags or not data.plain:
        stored["tags"] = mixture.tags_seen(prepared, own.tags)
    text = {"vocabulary_size": len(prepared.subwords), "codes": prepared.codes}
    found: Sections = merge({"text": text, "data": stored}, data.settled)
    if "length_penalty" in given.get("decoding", {}):
        found["training"] = {"tune_length_penalty": False}
    return found
