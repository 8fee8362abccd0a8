"""The run folder: the unit that users keep, copy and publish."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from headway.core.config import Sections, format_toml, merge, parse_toml
from headway.core.disk import (
    checksum,
    clear_asides,
    disk_errors,
    refuse_large,
    sync,
    whole_text,
    write_text,
)
from headway.core.errors import RunError, command

CONFIG, TOKENIZER, MODEL = "config.toml", "tokenizer.json", "model.safetensors"
TRANSLATION = "translation"
"""The task of a run that does not say: there was no other once."""
CHECKS, LABELS, LANGUAGES = "checks.json", "labels.json", "languages.json"
GLOSSARY = "glossary.tsv"
CONSTANT: tuple[str, ...] = ("data.json", GLOSSARY, LABELS, LANGUAGES, TOKENIZER, "vocab.json")
CONSTANT += ("source.spm", "target.spm")
"""Written before config.toml and never again: data, terms, and the vocabulary, Marian's too."""

_MAX_BYTES = 1 << 28
"""No run has more but in its weights; what is larger is not read."""

SEAL = "# What the files of this run are (sha256); `headway check` compares."
_SEALED = re.compile(r"^# ([\w.-]+) ([0-9a-f]{64})$", re.MULTILINE)


class RunFolder:
    """Where everything about one training lies; see "A run folder" in docs/architecture.md."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / CONFIG
        self.tokenizer = path / TOKENIZER
        self.model = path / MODEL
        self.checkpoints = path / "checkpoints"
        self.metrics = path / "metrics.jsonl"
        self.card = path / "README.md"
        self.data = path / "data.json"
        self.checks = path / CHECKS
        self.glossary = path / GLOSSARY
        self.precision = path / "precision.json"

    def refuse_taken(self) -> None:
        """Raise RunError where a run is already, or somebody else's file that one would replace."""
        if self.config.exists():
            raise RunError(
                f"{self.path} already holds a run. Go on with it by --resume, "
                "or give another folder to --out."
            )
        theirs = [self.card, self.checks, self.metrics, self.model, self.checkpoints]
        try:  # a start that was killed has left its data.json, the first that is written
            begun = "headway" in self.table(self.data)["versions"]
        except (RunError, LookupError, TypeError):
            begun = False
        if not begun:
            theirs += self.constant_files()
        found = ", ".join(file.name for file in theirs if file.exists())
        if found:
            raise RunError(
                f"a run would write over what lies in its folder; {self.path} has {found} and no "
                f"run. Give another folder to --out, or take {CONFIG} from a copy."
            )

    def write_settings(
        self, sections: Mapping[str, Mapping[str, Any]], also: Iterable[Path] = ()
    ) -> None:
        """config.toml, written last and in one instant: where it is, there is a run.

        Its last lines are checksums: of the files that were there at first, of `also`, and its own.
        """
        if self.config.exists():
            sums = self.sealed() | {file.name: checksum(file) for file in also}
        else:
            sums = {file.name: checksum(file) for file in self.constant_files()}
        self.write_sealed(format_toml(sections), sums)

    def constant_files(self) -> list[Path]:
        """What is written before config.toml and never again; no files of somebody else's."""
        return [self.path / name for name in CONSTANT if (self.path / name).is_file()]

    def write_sealed(self, settings: str, sums: Mapping[str, str]) -> None:
        """config.toml with its seal: the checksums of other files and its own."""
        others = "".join(f"# {name} {sum_}\n" for name, sum_ in sums.items() if name != CONFIG)
        text = f"{settings}\n{SEAL}\n{others}"
        own = hashlib.sha256(text.encode("utf-8")).hexdigest()
        write_text(self.config, f"{text}# {CONFIG} {own}\n")

    def sealed(self) -> dict[str, str]:
        """The checksums that config.toml has; none where an earlier version wrote it."""
        return dict(_SEALED.findall(self._settings_text()))

    def refuse_damaged(self) -> None:
        """Raise RunError when a file that a model needs is not as it was when the run began."""
        for name, sum_ in self.sealed().items():
            file = self.path / name
            if name not in (CONFIG, self.data.name) and file.exists():
                self._refuse_large(file)
                if checksum(file) != sum_:
                    raise _changed(file)

    def _settings_text(self) -> str:
        text = self.text(self.config).removeprefix("\ufeff").replace("\r\n", "\n")
        above, line, own = text.rpartition(f"# {CONFIG} ")
        if line and hashlib.sha256(above.encode("utf-8")).hexdigest() != own.strip():
            raise _changed(self.config)
        return text

    def text(self, file: Path) -> str:
        """Of one of its files. Raises RunError where it cannot be read or is too large."""
        self._refuse_large(file)
        try:
            return file.read_text("utf-8")
        except UnicodeDecodeError:
            raise _changed(file) from None

    def _refuse_large(self, file: Path) -> None:
        try:
            refuse_large(file, _MAX_BYTES)
            file.open("rb").close()
        except OSError as error:
            raise RunError(f"cannot read {file}: {error.strerror}. Take it from a copy.") from None

    def table(self, file: Path) -> dict[str, Any]:
        """What one of its files of JSON has. Raises RunError where it is damaged."""
        try:
            found = json.loads(self.text(file))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise _changed(file)
        return found

    def write_data(self, record: Mapping[str, Any]) -> None:
        """data.json: what was read, and by which versions."""
        write_json(self.data, record)

    def write_card(self, text: str) -> None:
        """README.md, the model card."""
        write_text(self.card, text)

    @property
    def finished(self) -> bool:
        """Whether training is over and the model is there; the card may have been deleted."""
        run = self.settings().get("run")
        marked = self.card.exists() if run is None else bool(run.get("finished"))
        return marked and self.model.exists()

    def finish(self, sections: Sections, below_use: str = "") -> None:
        """Write the settings and that the run is finished: the last that is written of it.

        `below_use` is why its model is good for nothing, if so.
        """
        marks = {"finished": True, "below_use": below_use or None}
        clear_asides(self.path)
        self.write_settings(merge(sections, {"run": marks}), filter(Path.exists, [self.checks]))

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """An existing run; raises RunError when there is none."""
        folder = cls(path := Path(path))
        if not folder.config.exists():
            found = "holds no config.toml" if path.exists() else "does not exist"
            raise RunError(
                f"A run folder is what `headway train` or `import` writes; {path} {found}."
            )
        return folder

    def settings(self) -> Sections:
        """The sections of config.toml."""
        sections = parse_toml(self._settings_text(), self.config)
        if "model" not in sections:
            raise _changed(self.config)
        return sections

    def record(self) -> dict[str, Any]:
        """What data.json has. Raises RunError where it is missing or damaged."""
        found, sum_ = self.table(self.data), checksum(self.data)
        sealed = self.sealed().get(self.data.name, sum_)
        if sealed != sum_ or not isinstance(found.get("sha256"), dict):
            raise _changed(self.data)
        return found

    def log(self, line: Mapping[str, Any]) -> None:
        """Add one line to metrics.jsonl."""
        rest = json.dumps(line).encode() + b"\n"
        # Without a buffer: one that could not be written is written again when it is closed.
        with disk_errors(self.metrics), self.metrics.open("ab", buffering=0) as file:
            while rest:
                rest = rest[file.write(rest) :]

    def read_log(self) -> list[dict[str, Any]]:
        """All lines of metrics.jsonl; what a lost power supply left is no line."""
        found: list[dict[str, Any]] = []
        if not self.metrics.exists():
            return found
        self._refuse_large(self.metrics)
        for raw in self.metrics.read_bytes().splitlines():
            with suppress(ValueError, RecursionError):
                line = json.loads(raw)
                if isinstance(line, dict) and isinstance(line.get("step"), int):
                    found.append(line)
        return found

    def cut_log(self, step: int) -> None:
        """Forget what was logged after `step`: those steps will be made again."""
        with whole_text(self.metrics) as file:
            for line in self.read_log():
                if line["step"] <= step:
                    file.write(json.dumps(line) + "\n")

    def keep_log(self) -> None:
        """Have the disk keep what was logged."""
        if self.metrics.exists():
            with disk_errors(self.metrics):
                sync(self.metrics)


def write_json(file: Path, record: Mapping[str, Any]) -> None:
    """Write a file of JSON in one instant."""
    write_text(file, json.dumps(record, indent=1, ensure_ascii=False))


def _changed(file: Path) -> RunError:
    return RunError(
        f"{file} is not as headway wrote it. Put it back from a copy; if it was changed on "
        f"purpose: {command('check', file.parent, '--accept')}"
    )
