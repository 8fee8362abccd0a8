"""Training on a folder of shards: what it takes the place of in [data] and [text]."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from headway.core.config import Sections
from headway.core.errors import ConfigError, DataError
from headway.core.rows import SIDES, Indices
from headway.core.subwords import Subwords
from headway.corpora.mixing import PLAIN
from headway.corpora.settings import TranslationText
from headway.corpora.sharded import PreparedShards, open_shards, read_known
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.translation.mixture import Share, in_turn
from headway.translation.pairs import Pairs, TranslationData, absolute

_OWN = ("prepared", "workers", "glossary", "old_share", "old_run", "tags")
"""Settings of [data] that are not settled when shards are made."""
_SETTLED = ("max_ratio", "max_characters", "deduplicate", "skip_notes", "max_length")


@dataclass(frozen=True)
class ShardedPairs(Pairs):
    """The pairs of a run that are read from shards."""

    @cached_property
    def known(self) -> Mapping[str, Any]:
        """What prepared.json says."""
        return cast(PreparedShards, self.prepared).known

    @property
    def plain(self) -> bool:
        """No file has a tag or a weight."""
        return True

    def shares(self) -> list[Share]:
        """What each file gives to a pass."""
        n_rows, n_tokens = dict[str, int](), dict[str, int]()
        for shard in self.known["shards"]:
            file, n = shard["file"], shard["n_rows"]
            n_rows[file] = n_rows.get(file, 0) + n
            n_tokens[file] = n_tokens.get(file, 0) + n + shard["n_tokens"]["target"]
        total = max(1, sum(n_tokens.values()))
        return [Share(file, n, PLAIN, n_tokens[file] / total) for file, n in n_rows.items()]

    def record(self) -> dict[str, Any]:
        """As of any pairs, and the checksums of the files that the shards were made of."""
        return {
            "train": self.known["report"],
            "valid": self.known["valid_report"],
            "longest": {side: of.max() for side, of in self.prepared.train.lengths.items()},
            "mixture": [share.as_dict() for share in self.shares()],
            "prepared_from": self.known["sha256"],
        }

    def mixture(self) -> list[str]:
        """A line for each file, in words; none for a single one."""
        shares = self.shares()
        return [str(share) for share in shares] if len(shares) > 1 else []

    def valid_rows(self) -> Indices:
        """As of several files, or of one, which gives the same order."""
        return in_turn(self.prepared.valid.file_numbers)

    @property
    def settled(self) -> Sections:
        """Text, cleaning and languages as they were when the shards were made."""
        data = {name: self.known["data"][name] for name in _SETTLED}
        named = {f"{side}_language": self.known[f"{side}_language"] for side in SIDES}
        return {"text": self.known["text"] | {"codes": self.known["codes"]}, "data": data | named}


def refuse_settled(prepared: Path, known: Mapping[str, Any], settings: Settings) -> None:
    """Raise ConfigError for a setting that is another than when the shards were made."""
    settled = {"data": dict(known["data"]), "text": known["text"] | {"codes": known["codes"]}}
    for side in SIDES:
        settled["data"][f"{side}_language"] = known[f"{side}_language"]
    given = {"data": absolute(settings.data), "text": asdict(settings.text)}
    usual = {"data": absolute(TranslationData()), "text": asdict(TranslationText())}
    for section, values in settled.items():
        for name, value in values.items():
            got = given[section][name]
            if name not in _OWN and _as_json(got) not in map(
                _as_json, (usual[section][name], value)
            ):
                raise ConfigError(
                    f"[{section}] {name} was settled when {prepared} was made: {value!r}; got "
                    f"{got!r}. Leave it out, or prepare the corpus again."
                )
    if settings.training.init_from:
        raise ConfigError(
            f"a run that begins with another's weights has its sub-words; {prepared} was made with "
            "its own. Leave --init-from out, or give the files themselves."
        )


def read_shards(settings: Settings, subwords: Subwords | None, say: Say) -> ShardedPairs:
    """Open the shards, and say what was dropped and why when they were made.

    Raises:
        ConfigError: something is set otherwise than it was then.
        DataError: one is missing or damaged, or was made with other sub-words than the run has.
    """
    data = settings.data
    refuse_settled(data.prepared, read_known(data.prepared), settings)
    prepared = open_shards(data.prepared)
    if subwords and subwords.fingerprint() != prepared.subwords.fingerprint():
        raise DataError(
            f"a run goes on with its own sub-words; {data.prepared} was made with others. Put the "
            "one back that it began with, or start a new run."
        )
    report, shards = prepared.report, len(prepared.known["shards"])
    say(f"{data.prepared}: {shards} shards of {report.kept:,} of {report.read:,} pairs")
    say(f"  dropped: {report.dropped_words()}")
    n_groups = prepared.rounds.n_groups
    if n_groups > 1:
        say(f"  a pass is {n_groups:,} groups of about {report.kept // n_groups:,} pairs each")
    found = ShardedPairs(prepared, glossary=data.glossary)
    say(f"{len(prepared.valid_texts):,} pairs for validation")
    for line in found.mixture():
        say(f"  of what is seen in a pass: {line}")
    return found


def _as_json(value: Any) -> str:
    """Tuples are lists there."""
    return json.dumps(value)
