"""Products are measured once for a library and a processor."""

import math
from pathlib import Path

import pytest
from random_models import needs_engine

from headway.engine import measuring
from headway.engine.building import engine_library

pytestmark = needs_engine


def test_products_are_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    found = measuring.product_seconds(engine_library())
    assert set(found) == {"fp32", "bf16", "int8"}
    assert all(0 <= seconds < math.inf for seconds in found.values())
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "measured_products", lambda _engine: pytest.fail("once more"))
        assert measuring.product_seconds(engine_library()) == found
    (file,) = tmp_path.glob("products-*/meta.json")
    file.write_text(file.read_text(encoding="utf-8")[:-9], encoding="utf-8")  # damaged: anew
    assert set(measuring.product_seconds(engine_library())) == set(found)


def test_where_nothing_can_be_kept_it_is_measured_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "file" / "below"))
    assert set(measuring.product_seconds(engine_library())) == {"fp32", "bf16", "int8"}
