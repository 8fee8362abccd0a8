"""What a run computes on. Set-up is chosen here, never measured."""

import math
import os
import platform

import pytest
import torch

from headway.core import runtime
from headway.core.errors import ConfigError
from headway.core.runtime import RuntimeSettings, available_cores, start
from headway.runs.train import machine

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_the_cpu_can_always_be_asked_for() -> None:
    chosen = start(RuntimeSettings(device="cpu", precision="fp32", threads=1, seed=7))
    assert chosen.device == torch.device("cpu")
    assert chosen.dtype == torch.float32
    assert torch.get_num_threads() == chosen.threads == 1
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_float32_matmul_precision() == "highest"
    assert chosen.described.startswith("CPU ")
    assert chosen.described.endswith(", fp32, 1 CPU thread")


def test_the_same_seed_gives_the_same_numbers() -> None:
    def draw(seed: int) -> torch.Tensor:
        start(RuntimeSettings(device="cpu", threads=1, seed=seed))
        return torch.rand(4)

    assert torch.equal(draw(3), draw(3))
    assert not torch.equal(draw(3), draw(4))


@pytest.mark.parametrize("unit", ["AMX", "AVX-512", ""])
def test_bf16_is_chosen_on_a_cpu_only_where_it_is_fast(
    monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    monkeypatch.setattr(runtime, "_bf16_unit", lambda: unit)
    chosen = start(RuntimeSettings(device="cpu", threads=1))
    assert chosen.dtype == (torch.bfloat16 if unit else torch.float32)
    assert (f"bf16 ({unit})" in chosen.described) is bool(unit)
    forced = start(RuntimeSettings(device="cpu", threads=1, precision="bf16"))
    assert forced.dtype == torch.bfloat16
    assert ("fp32 is faster" in forced.described) is not bool(unit)


def test_without_a_gpu_auto_takes_the_cpu_and_cuda_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert start(RuntimeSettings(threads=1)).device.type == "cpu"
    with pytest.raises(ConfigError, match=r"device 'cuda' needs a GPU; .*--runtime.device cpu"):
        start(RuntimeSettings(device="cuda"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_is_chosen_where_there_is_one() -> None:
    chosen = start(RuntimeSettings(threads=1))
    assert chosen.device.type == "cuda"
    assert chosen.described.startswith(f"GPU {torch.cuda.get_device_name()}, ")
    assert start(RuntimeSettings(device="cpu", threads=1)).device.type == "cpu"


@pytest.mark.parametrize("wrong", [{"threads": -1}, {"seed": -1}, {"seed": 2**63}])
def test_impossible_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"runtime\.(threads|seed) must be at .*; got"):
        RuntimeSettings(**wrong)  # type: ignore[arg-type]


def fake_files(monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    monkeypatch.setattr(runtime, "_read", lambda path: files.get(path, ""))


def test_two_hyperthreads_of_one_core_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    folder = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    siblings = {folder.format(n): f"{n % 2},{n % 2 + 2}\n" for n in range(4)}
    fake_files(monkeypatch, siblings)
    assert available_cores() == 2
    fake_files(monkeypatch, {})
    assert available_cores() == 4


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"/sys/fs/cgroup/cpu.max": "max 100000\n"}, math.inf),
        ({"/sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}, math.inf),
        (
            {
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        ({}, math.inf),
    ],
)
def test_a_containers_limit_is_read(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cores: float
) -> None:
    fake_files(monkeypatch, files)
    assert runtime._cgroup_cores() == cores


@pytest.mark.parametrize(("limit", "cores"), [("1", 1), ("3", 3), ("99", 4), ("", 4), ("x", 4)])
def test_the_users_thread_limit_is_kept(
    monkeypatch: pytest.MonkeyPatch, limit: str, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3}, raising=False)
    fake_files(monkeypatch, {})
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert available_cores() == cores


def test_a_model_card_can_describe_this_machine() -> None:
    described = machine()
    assert described["torch"] == torch.__version__
    assert described["cores"] >= 1  # type: ignore[operator]
    assert described["cpu"]
    assert set(described) >= {"cpu", "cores", "memory_bytes", "gpu", "system", "python", "torch"}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep their ways")
def test_what_an_update_frees_is_there_for_the_next_one() -> None:
    import resource

    start(RuntimeSettings(device="cpu"))

    def pages_taken() -> int:
        for _ in range(5):
            _ = [torch.ones(2**20) for _ in range(16)]  # 16 blocks of 1024 pages each
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    before = pages_taken()
    assert pages_taken() - before < 16 * 1024  # not even once anew in five times
