"""A quicker way is taken where it loses nothing that counts, and refused with both scores."""

import pytest

from headway.core.errors import ConfigError
from headway.runs.quality_gate import QualityGate, measured

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
