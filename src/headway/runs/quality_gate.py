"""What a quicker way to translate costs a run, and whether it may take the usual one's place."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headway.core.bleu import bleu_statistics
from headway.core.disk import checksum, digest, write_text
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder

MOST_LOST = 0.3
"""BLEU."""
MOST_SHIFT = 0.01
"""Of the ratio of lengths, in tokens of BLEU, to those of the references."""
MEASURED_AS = {"fp32": "fp32", "bf16": "bf16", "int8": "int8, 64 and 126 steps"}
"""What is written of each precision: once one rounds otherwise, an older verdict is none."""


class QualityGate(NamedTuple):
    """What a run's validation pairs say of its usual way and of the quicker one."""

    usual: float
    """BLEU of what the usual way writes."""
    quick: float
    usual_length: float
    """Tokens that it writes for each of the references'."""
    quick_length: float
    n_pairs: int

    @property
    def open(self) -> bool:
        """Nothing is lost that counts."""
        shift = abs(self.quick_length - self.usual_length)
        return self.usual - self.quick <= MOST_LOST and shift <= MOST_SHIFT

    def in_words(self) -> str:
        """Both scores and both lengths."""
        return (
            f"on {self.n_pairs:,} validation pairs BLEU {self.quick:.2f}, without "
            f"{self.usual:.2f}; {self.quick_length:.3f} times the references' length, without "
            f"{self.usual_length:.3f}"
        )

    def refuse_closed(self, what: str, remedy: str) -> None:
        """Raise ConfigError where too much is lost; `what` names the quicker way."""
        if not self.open:
            raise ConfigError(
                f"{what} may cost {MOST_LOST} BLEU and {MOST_SHIFT:.0%} of length at most; "
                f"{self.in_words()}. {remedy}"
            )

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "QualityGate":
        """What `_asdict` gave."""
        return cls(**{name: stored[name] for name in cls._fields})


def measured(
    usual: Sequence[str], quick: Sequence[str], references: Sequence[str], language: str | None
) -> QualityGate:
    """Of what both ways wrote for the same sources; `language` is that of the references."""
    both = [
        bleu_statistics(written, references, target_language=language) for written in (usual, quick)
    ]
    before, after = (float(one.counts[:, 0].sum() / one.counts[:, 1].sum()) for one in both)
    return QualityGate(both[0].score(), both[1].score(), before, after, len(references))


def known(folder: RunFolder) -> dict[str, QualityGate]:
    """By precision, what was measured of the weights that the run has; nothing of other weights, or
    where the file is not as it was written."""
    stored = stored_gates(folder)
    if not stored or stored["weights"] != checksum(folder.model):
        return {}
    gates = stored["gates"]
    return {
        precision: QualityGate.from_dict(gates[name])
        for precision, name in MEASURED_AS.items()
        if name in gates
    }


def keep(folder: RunFolder, precision: str, gate: QualityGate) -> None:
    """Write it beside what is known already of the same weights, under a checksum of its own.

    Raises:
        DiskError: the folder cannot be written to.
    """
    gates = {**known(folder), precision: gate}
    stored: dict[str, Any] = {
        "weights": checksum(folder.model),
        "gates": {MEASURED_AS[name]: one._asdict() for name, one in gates.items()},
    }
    text = json.dumps({**stored, "sha256": digest(stored)}, indent=1)
    write_text(folder.precision, f"{text}\n")


def stored_gates(folder: RunFolder) -> dict[str, Any]:
    """What `keep` wrote; nothing where there is no such file, or it is damaged."""
    try:
        stored: dict[str, Any] = json.loads(folder.precision.read_text(encoding="utf-8"))
        sound = stored.pop("sha256") == digest(stored)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return stored if sound else {}
