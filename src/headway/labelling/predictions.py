"""What a run that labels is asked, and answers: of a text, of the lines of a file, of a picture."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from jaxtyping import Float

from headway.core.runtime import Device
from headway.operations.option_errors import other_than_fp32
from headway.runs.loading import LoadedRun, open_run
from headway.runs.task_spec import TaskSpec


class Asked(NamedTuple):
    """What `headway predict` is asked."""

    given: str | None
    """A text, or the name of a file; None: each line of standard input."""
    top: int
    """How many of the likeliest labels are told; 0 for all."""
    colored: bool
    """Whether it is read in a terminal."""

    @property
    def file(self) -> Path | None:
        """The file, where one of that name is there."""
        with suppress(OSError, ValueError):  # a text may be no name: too long, or with a zero
            return Path(self.given) if self.given and Path(self.given).exists() else None
        return None


class Answer(NamedTuple):
    """What is said of one text, or of one picture."""

    shown: str
    """As it is printed: one line or several."""
    told: dict[str, Any]
    """The same for `--json`."""


@runtime_checkable
class Predictor(Protocol):
    """What a task brings to "predict lines"."""

    @classmethod
    def load(cls, run: Path, *, device: Device, precision: str) -> Self: ...

    def answers(self, asked: Asked, lines: Iterator[str]) -> Iterator[Answer]:
        """One for each text; `lines` are those of the file, or the one text, or some of standard
        input: all that are there by now. What is no text (a folder of pictures) is read from
        `asked.file`."""
        ...


class OpenedLabeller:
    """What every `Predictor` of a run that labels has: the run."""

    spec: ClassVar[TaskSpec]

    def __init__(self, opened: LoadedRun) -> None:
        self.opened = opened

    @classmethod
    def load(cls, run: Path, *, device: Device = "auto", precision: str = "auto") -> Self:
        """Open a run. Raises ConfigError for another precision than float32."""
        if precision not in ("auto", "fp32"):
            raise other_than_fp32(precision)
        return cls(open_run(cls.spec, run, device=device, training=False))

    def likeliest(self, probs: Float[np.ndarray, " labels"], top: int) -> list[dict[str, Any]]:
        """The labels that are held for likeliest, as JSON has them; 0 for all."""
        ranked = np.argsort(-probs, kind="stable")[: top or None]
        return [
            {"label": self.opened.vocabulary.labels[i], "prob": float(probs[i])} for i in ranked
        ]


class InspectionRequest(NamedTuple):
    """What `headway inspect` is asked of a run that writes nothing."""

    run: Path
    given: str | None
    """A text, or the name of a file; None: some of its own."""
    off: Sequence[str] = ()
    """Parts of the model that are switched off."""


class InspectionPage(NamedTuple):
    """What a task's "inspect page", a function of an `InspectionRequest`, gives."""

    html: str
    told: dict[str, Any]
    """The same for `--json`."""
    picture: bytes = b""
    """The same as one PNG, where there is one."""
