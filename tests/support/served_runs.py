"""Run folders without a model, and what translates in their place: for laws of a service that are
none of a translator."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from torch import nn

from headway.core.errors import RunError
from headway.localization.placeholders.segments import Segment
from headway.translation.coded import SegmentTranslation
from headway.translation.decoding import SamplingSettings
from headway.translation.detailed import Alternative, Translation


def run_folder(place: Path, source: str, target: str, n_bytes: int = 1000) -> Path:
    """Just enough of a run to be named; its weights are `n_bytes` zeros."""
    place.mkdir(parents=True, exist_ok=True)
    languages = f'source_language = "{source}"\ntarget_language = "{target}"\n'
    (place / "config.toml").write_text(f"[model]\n[data]\n{languages}", "utf-8")
    (place / "model.safetensors").write_bytes(bytes(n_bytes))
    return place


class Stamping:
    """Writes its weights, as text, before each text; there is none whose weights are `broken`."""

    def __init__(self, path: Path) -> None:
        weights = (path / "model.safetensors").read_bytes()
        if weights.startswith(b"broken"):
            raise RunError("it is broken")
        self.stamp = weights[:8].strip(b"\0").decode() or path.name
        self.model = nn.Linear(len(weights) // 4, 1, bias=False)
        data = SimpleNamespace(tags=())
        self.settings = SimpleNamespace(data=data, decoding=SamplingSettings(beam=2))
        self.asked: list[dict[str, Any]] = []
        self.say: Callable[[str], list[str]] = lambda text: [f"{self.stamp}:{text.strip()}"]
        """Its hypotheses for a text, best first."""

    def translate(self, texts: list[str], tag: str | None = None) -> list[str]:
        return [self.say(text)[0] for text in texts]

    def translate_fully(
        self, texts: list[str], *, done: Callable[[int], None], n_best: int = 1, **how: Any
    ) -> list[Translation]:
        """As many hypotheses as are asked for; it has read all but one sub-word."""
        self.asked.append({"texts": texts, "n_best": n_best, **how})
        done(len(texts))
        return [
            Translation(text, [], [_alternative(one) for one in self.say(text)[:n_best]], 1)
            for text in texts
        ]

    def translate_segments(
        self, segments: Sequence[Segment], *, done: Callable[[int], None], **how: Any
    ) -> list[SegmentTranslation]:
        """A stamp before each."""
        self.asked.append({"segments": segments, **how})
        done(len(segments))
        return [
            SegmentTranslation(Segment.of([f"{self.stamp}:", *one.parts]), True, 1)
            for one in segments
        ]


def _alternative(text: str) -> Alternative:
    return Alternative(text, 0.0, [], [], [], [], text)


class Loader:
    """Counts what it loads."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.made: dict[str, Any] = {}
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def __call__(self, path: Path) -> Any:
        self.loaded.append(path.name)
        assert self.may_go_on.wait(10)
        self.made[path.name] = Stamping(path)
        return self.made[path.name]
