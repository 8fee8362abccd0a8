"""From the files that a user names to pairs of ids, saying what was read, kept and dropped."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headway.config import Sections
from headway.data.batching import Indices
from headway.data.prepared import Prepared, prepare_corpus
from headway.errors import DataError
from headway.runs.kind import Say, Sizes
from headway.runs.settings import Settings
from headway.tasks.translation.settings import TranslationData
from headway.text.cleaning import refuse_unusable
from headway.text.corpora import languages
from headway.text.subwords import Subwords
from headway.training.run_folder import RunFolder

LEAST_PAIRS = 20
"""Fewer than this teach nothing and leave nothing to validate on."""


@dataclass(frozen=True)
class Pairs:
    """Encoded pairs to learn from and to validate on: a `headway.runs.kind.Data`."""

    prepared: Prepared

    @property
    def vocabulary(self) -> Subwords:
        """The sub-words of both sides."""
        return self.prepared.subwords

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file that was read."""
        return self.prepared.checksums

    @property
    def plain(self) -> bool:
        """One file, or two that go together, each pair seen once a pass and without a tag."""
        return len(self.prepared.corpus.parts) == 1 and not self.prepared.corpus.uses

    def record(self) -> dict[str, Any]:
        """What data.json says: counts, dropped pairs by reason, what each file gives."""
        [first, *_] = self.prepared.corpus.parts
        whole = {"file": first.name, "pairs": len(self.prepared.train), "weight": 1.0, "tag": ""}
        shares: list[dict[str, Any]] = [{**whole, "share": 1.0}]
        if not self.plain:
            from headway.tasks.translation import mixture

            shares = [share.as_dict() for share in mixture.shares(self.prepared)]
        return {
            "train": self.prepared.report.as_dict(),
            "valid": self.prepared.valid_report.as_dict(),
            "mixture": shares,
        }

    def mixture(self) -> list[str]:
        """A line for each file, in words; none for a plain corpus."""
        if self.plain:
            return []
        from headway.tasks.translation.mixture import mixture

        return mixture(self.prepared)

    def valid_files(self) -> str:
        """`, from a, b`: the files that validation pairs are from; nothing for a plain corpus."""
        if not self.mixture():
            return ""
        from headway.tasks.translation.mixture import valid_files

        return f", from {', '.join(valid_files(self.prepared))}"

    def valid_rows(self) -> Indices:
        """Validation pairs, in an order whose beginning holds of each file what is its share."""
        if self.plain:
            return np.arange(len(self.prepared.valid))
        from headway.tasks.translation.mixture import in_turn

        return in_turn(self.prepared.valid.file_numbers)

    def tags_read(self, before: Sequence[str]) -> tuple[str, ...]:
        """Every tag that the model reads, after those that it knew before."""
        if self.plain and not before:
            return ()
        from headway.tasks.translation.mixture import tags_seen

        return tags_seen(self.prepared, before)

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json."""
        self.vocabulary.save(folder.tokenizer)


def read(settings: Settings, subwords: Subwords | None, say: Say) -> Pairs:
    """Read, clean and encode the corpus, and say what was dropped and why.

    Raises:
        ConfigError, DataError: a file cannot be used, or too little is left.
    """
    data = settings.data
    prepared = prepare_corpus(
        data.corpus(),
        data,
        settings.text,
        subwords=subwords,
        valid=data.validation(),
        hold_out=data.valid_size or None,
        seed=settings.runtime.seed,
        say=say,
    )
    report = prepared.report
    say(f"read {report.read:,} pairs, kept {report.kept:,} for training")
    for reason, n in report.dropped.most_common():
        say(f"  dropped {n:,}: {reason.replace('_', ' ')}")
    refuse_unusable(report, least=LEAST_PAIRS)
    if not prepared.valid_texts:
        raise DataError(
            "validation needs at least one usable pair; none was left. "
            "Give --valid-source and --valid-target, or more text."
        )
    pairs = Pairs(prepared)
    say(f"{len(prepared.valid_texts):,} pairs for validation{pairs.valid_files()}")
    for line in pairs.mixture():
        say(f"  of what is seen in a pass: {line}")
    return pairs


def open_vocabulary(run: Path) -> Subwords:
    """The sub-words of a run."""
    return Subwords.load(RunFolder(run).tokenizer)


def sizes(data: Pairs) -> Sizes:
    """Target tokens, end markers included."""
    lengths, weights = data.prepared.train.lengths["target"] + 1, data.prepared.weights
    seen = lengths.sum() if weights is None else lengths @ weights
    return Sizes(distinct=int(lengths.sum()), per_pass=round(float(seen)))


def complete(given: Sections, settings: Settings, data: Pairs) -> Sections:
    """What is stored as it was found; see `headway.runs.kind.Kind.complete`."""
    prepared, own = data.prepared, settings.data
    source, target = languages(own.corpus(), own.source_language, own.target_language)
    known = {"source_language": source, "target_language": target, "tags": data.tags_read(own.tags)}
    found: Sections = {
        "text": {"vocabulary_size": len(prepared.subwords), "codes": prepared.codes},
        "data": absolute(own) | known,
    }
    if "length_penalty" in given.get("decoding", {}):
        found["training"] = {"tune_length_penalty": False}
    return found


def absolute(data: TranslationData) -> dict[str, Any]:
    """The data settings, with files that are found from any folder."""
    stored = asdict(data)
    for key in ("source", "target", "valid_source", "valid_target"):
        stored[key] = [Path(path).absolute() for path in stored[key]]
    if data.pairs or data.valid_pairs:
        from headway.text.mixing import absolute_pairs_files

        stored["pairs"] = absolute_pairs_files(data.pairs)
        stored["valid_pairs"] = absolute_pairs_files(data.valid_pairs)
    return stored
