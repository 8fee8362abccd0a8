"""The run folder: the unit that users keep, copy and publish."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.config import Sections, format_toml, merge, read_toml
from headway.disk import write_text
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
        write_text(self.config, format_toml(sections))

    def write_data(self, record: Mapping[str, Any]) -> None:
        """data.json: what was read, and by which versions."""
        write_text(self.data, json.dumps(record, indent=1, ensure_ascii=False))

    def write_card(self, text: str) -> None:
        """README.md, the model card."""
        write_text(self.card, text)

    @property
    def finished(self) -> bool:
        """Whether training is over and the model is there; the card may have been deleted."""
        run = self.settings().get("run")
        marked = self.card.exists() if run is None else bool(run.get("finished"))
        return marked and self.model.exists()

    def finish(self, sections: Sections) -> None:
        """Write the settings and that the run is finished: the last that is written of it."""
        self.write_settings(merge(sections, {"run": {"finished": True}}))

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

    def first_score(self) -> tuple[str, float]:
        """Name and value of the score that was measured before the first update."""
        *_, (name, value) = self.read_log()[0].items()
        return name, value

    def cut_log(self, step: int) -> None:
        """Forget what was logged after `step`: those steps will be made again."""
        kept = [line for line in self.read_log() if line["step"] <= step]
        write_text(self.metrics, "".join(json.dumps(line) + "\n" for line in kept))
