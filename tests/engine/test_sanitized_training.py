"""The compiled training step reads and writes nothing that is not its own."""

from pathlib import Path

import pytest
from random_models import needs_engine
from sanitizing import refuse_faults, runtime_library


@needs_engine
@pytest.mark.skipif(not runtime_library(), reason="no address sanitizer here")
def test_sanitizers_find_nothing_wrong_in_a_step(tmp_path: Path) -> None:
    """Random models and pairs through the step compiled with both sanitizers."""
    refuse_faults("sanitized_training.py", tmp_path / "training.so")
