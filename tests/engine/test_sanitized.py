"""What is compiled reads and writes nothing that is not its own."""

from pathlib import Path

import pytest
from random_models import needs_engine
from sanitizing import refuse_faults, runtime_library


@needs_engine
@pytest.mark.skipif(not runtime_library(), reason="no address sanitizer here")
def test_sanitizers_find_nothing_wrong(tmp_path: Path) -> None:
    """Random models, sources and searches through the engine, pairs through the training step, and
    sizes of every kind through word2vec's kernel, all compiled with both sanitizers."""
    refuse_faults("sanitized.py", tmp_path)
