"""Every test: shapes checked, warnings are errors, one seed, few threads, a cache of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Before anything imports headway: annotations such as Float[Tensor, "batch length"] are checked.
install_import_hook("headway", "shape_checks.checked")

os.environ.setdefault("OMP_NUM_THREADS", "2")

import torch  # noqa: E402

# The same examples every time, and no time limit: a busy machine must not fail a test.
settings.register_profile(
    "headway", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("headway")

torch.set_num_threads(min(2, torch.get_num_threads()))


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Encoded corpora never reach the user's cache."""
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("HEADWAY_CACHE", str(cache))
    return cache


@pytest.fixture
def torch_settings_restored() -> Iterator[None]:
    """For tests that call `runtime.start`, which sets torch up for the whole process."""
    threads = torch.get_num_threads()
    precision = torch.get_float32_matmul_precision()
    deterministic = torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = fill
