"""The run folder: the unit that users keep, copy and publish."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Sections, read_toml, write_toml
from headway.errors import RunError

CONFIG, TOKENIZER, MODEL = "config.toml", "tokenizer.json", "model.safetensors"


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

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """A folder for a new run; raises RunError when one is there already."""
        cls.refuse_taken(path)
        path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @classmethod
    def refuse_taken(cls, path: Path) -> None:
        """Raise RunError when a new run cannot be put here."""
        if cls(path).config.exists():
            raise RunError(
                f"{path} already holds a run. Go on with it by --resume, "
                "or give another folder to --out."
            )
        if path.exists() and not path.is_dir():
            raise RunError(f"--out must name a folder; {path} is a file. Give another name.")

    def write_settings(self, sections: Mapping[str, Mapping[str, Any]]) -> None:
        """config.toml, written last and in one instant: where it is, there is a run."""
        aside = self.config.with_suffix(".tmp")
        write_toml(aside, sections)
        os.replace(aside, self.config)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """An existing run; raises RunError when there is none."""
        folder = cls(path)
        if not folder.config.exists():
            held = "nothing" if not path.exists() else "no config.toml"
            raise RunError(
                f"A run folder is what `headway train --out` writes; {path} holds {held}."
            )
        return folder

    def settings(self) -> Sections:
        """The sections of config.toml."""
        return read_toml(self.config)

    def log(self, line: Mapping[str, Any]) -> None:
        """Add one line to metrics.jsonl."""
        with self.metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def read_log(self) -> list[dict[str, Any]]:
        """All whole lines of metrics.jsonl."""
        if not self.metrics.exists():
            return []
        with self.metrics.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def cut_log(self, step: int) -> None:
        """Forget what was logged after `step`: those steps will be made again."""
        kept = [line for line in self.read_log() if line["step"] <= step]
        aside = self.metrics.with_suffix(".tmp")
        aside.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        os.replace(aside, self.metrics)
