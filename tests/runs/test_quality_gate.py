"""A quicker way is taken where it loses nothing that counts, and refused with both scores."""

from pathlib import Path

import pytest

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.runs import quality_gate
from headway.runs.quality_gate import QualityGate, keep, known, measured

REFERENCES = ["a man walks his small dog", "two women sit on a green bench"] * 3


def test_the_same_texts_lose_nothing() -> None:
    gate = measured(REFERENCES, REFERENCES, REFERENCES, "en")
    assert gate == QualityGate(pytest.approx(100.0), pytest.approx(100.0), 1.0, 1.0, 6)
    assert gate.open
    gate.refuse_closed("it", "Leave it out.")
    assert QualityGate.from_dict(gate._asdict()) == gate


def test_a_score_that_falls_and_a_length_that_shifts_close_it() -> None:
    worse = [*REFERENCES[:-1], "two women sit on a red bench"]
    gate = measured(REFERENCES, worse, REFERENCES, "en")
    assert gate.usual_length == gate.quick_length
    with pytest.raises(ConfigError, match=r"at most; on 6 .* without 100\.00; .* No"):
        gate.refuse_closed("a list", "No list.")
    assert QualityGate(30.0, 29.71, 1.0, 1.0, 9).open
    assert not QualityGate(30.0, 29.69, 1.0, 1.0, 9).open
    assert not QualityGate(30.0, 31.0, 1.0, 0.98, 9).open


def test_what_was_measured_with_another_rounding_or_other_weights_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, gate = RunFolder(tmp_path), QualityGate(30.0, 29.9, 1.0, 1.0, 9)
    folder.model.write_bytes(b"weights")
    keep(folder, "int8", gate)
    assert known(folder) == {"int8": gate}
    keep(folder, "bf16", gate)
    monkeypatch.setitem(quality_gate.MEASURED_AS, "int8", "int8 in 2 steps")
    assert known(folder) == {"bf16": gate}
    keep(folder, "int8", gate)
    assert known(folder) == {"bf16": gate, "int8": gate}
    folder.model.write_bytes(b"others")
    assert known(folder) == {}
