"""Every test: shapes checked, warnings are errors, one seed, few threads, a cache of its own."""

import gc
import getpass
import itertools
import os
import sys
import tempfile
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import jaxtyping
import pytest
import shape_checks
from hypothesis import HealthCheck, settings

# Before anything imports headway: annotations such as Float[Tensor, "batch length"] are checked.
# Of files that have none mypy's checks must do: others cost the suite half of its time.
jaxtyping.jaxtyped = shape_checks.checked
jaxtyping.install_import_hook([f"headway.{name}" for name in shape_checks.SHAPED], None)

if sys.version_info >= (3, 12):  # whose isinstance does not find what torch keeps: parameters
    typing._lazy_load_getattr_static = lambda: getattr  # as before

NUMBERS = itertools.count()
# Where several processes share the tests, each has one thread, whatever the one that launched them
# was given: two of two threads each on two cores wait for each other, and take ten times as long.
THREADS = 1 if "PYTEST_XDIST_WORKER" in os.environ else int(os.environ.get("OMP_NUM_THREADS", "2"))
os.environ["OMP_NUM_THREADS"] = str(THREADS)
# The engine is compiled once for all tests, not in the cache of each.
os.environ.setdefault(
    "HEADWAY_ENGINE_CACHE", str(Path(tempfile.gettempdir(), f"headway-engine-{getpass.getuser()}"))
)

# Nobody pulls the plug: a disk that is waited for tells a test nothing. Wrong handles still fail.
os.fsync = os.fstat  # type: ignore[assignment]

import torch  # noqa: E402

# The same examples every time, and no time limit: a busy machine must not fail a test.
settings.register_profile(
    "headway",
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("headway")

torch.set_num_threads(min(THREADS, torch.get_num_threads()))


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    # torch.manual_seed writes down who called it, once for each kind of device that is not there:
    # several milliseconds.
    torch.default_generator.manual_seed(1)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(1)


def pytest_collection_finish() -> None:
    """What was imported is never garbage: a service, which looks for garbage whenever it unloads a
    run, would look through all of it, a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("caches")


@pytest.fixture(autouse=True)
def own_cache(caches: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Encoded corpora never reach the user's cache."""
    cache = caches / str(next(NUMBERS))  # pytest's own way reads the names of all before it
    cache.mkdir(mode=0o700)
    monkeypatch.setenv("HEADWAY_CACHE", str(cache))
    return cache


@contextmanager
def torch_settings() -> Iterator[None]:
    """Whatever happens inside, torch is set up as before behind it."""
    threads = torch.get_num_threads()
    precision = torch.get_float32_matmul_precision()
    deterministic = torch.are_deterministic_algorithms_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)
        if torch.are_deterministic_algorithms_enabled() != deterministic:  # loads torch's compiler
            torch.use_deterministic_algorithms(deterministic)
        torch.utils.deterministic.fill_uninitialized_memory = fill
        torch.set_flush_denormal(False)


@pytest.fixture
def torch_settings_restored() -> Iterator[None]:
    """For tests that call `runtime.start`, which sets torch up for the whole process."""
    with torch_settings():
        yield


@contextmanager
def hidden_gpus() -> Iterator[None]:
    """For what a GPU rounds otherwise (TF32), and for processes: of forked ones none can use what
    this one has used, and one GPU is not for two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        patch.setattr(torch.cuda, "is_available", lambda: False)
        yield


@pytest.fixture
def without_a_gpu() -> Iterator[None]:
    with hidden_gpus():
        yield


@pytest.fixture(scope="module")
def module_without_a_gpu() -> Iterator[None]:
    with hidden_gpus():
        yield


@pytest.fixture(scope="session")
def everyday_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """300 generated pairs as train.en and train.zh; not to be changed."""
    from everyday_run import write_corpus

    return write_corpus(tmp_path_factory.mktemp("everyday"))


@pytest.fixture(scope="session")
def everyday_run(
    everyday_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A finished run on them, small and quick; what it said lies in `said.txt` beside it."""
    from everyday_run import train

    run = tmp_path_factory.mktemp("runs") / "everyday"
    with pytest.MonkeyPatch.context() as patch, torch_settings():
        patch.setenv("HEADWAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        finished = train(everyday_files, run)
    assert finished.status == 0, finished.err
    (run.parent / "said.txt").write_text(finished.err, encoding="utf-8")
    return run


@pytest.fixture(scope="session")
def toy() -> SimpleNamespace:
    """The toy decoder's class, its ids, and a padded batch of sources."""
    import toy_decoder  # after the hook above

    return toy_decoder.toy()
