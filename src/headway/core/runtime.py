"""What a run computes on: device, precision, threads, seed. Importing this loads no torch."""

import ctypes
import math
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from headway.core.errors import ConfigError, refuse_below, refuse_beyond

if TYPE_CHECKING:
    import torch


Device = Literal["auto", "cpu", "cuda"]
EngineName = Literal["auto", "torch", "native", "ctranslate2"]
ProductPrecision = Literal["fp32", "bf16", "int8"]
"""What matrix products may be computed in."""
Precision = Literal["auto", "fp32", "bf16", "int8"]


@dataclass(frozen=True)
class RuntimeSettings:
    """The [runtime] section. `auto` takes the best that this machine has."""

    device: Device = "auto"
    """What computes: `cuda` is an NVIDIA GPU; `auto` takes one where it is quicker."""
    precision: Precision = "auto"
    """Of matrix products; weights and the optimizer's state stay in fp32. int8 translates only."""
    threads: int = 0
    """CPU threads; 0 takes every physical core that this process may use."""
    engine: EngineName = "auto"
    """What computes on a CPU: torch, what is compiled for it, or CTranslate2 (docs/speed.md)."""
    seed: int = 1
    """Of weights, dropout, held-out pairs and the order of data."""

    def __post_init__(self) -> None:
        refuse_below(self, {"threads": 0, "seed": 0}, above="runtime.")
        refuse_beyond(self, {"threads": 1 << 10, "seed": 2**63 - 1}, above="runtime.")


@dataclass(frozen=True)
class Runtime:
    """What was chosen. `dtype` is that of matrix products: float32 or bfloat16."""

    device: "torch.device"
    dtype: "torch.dtype"
    threads: int
    described: str
    """One line for people: device, precision (what multiplies bf16 matrices), threads."""


def start(settings: RuntimeSettings) -> Runtime:
    """Choose device and precision, and set this process up for training with them.

    On CPU the same seed and thread count give the same bits. On CUDA, fp32 products may use TF32.
    Raises `ConfigError` for what only translates, and for CUDA, or bf16 on it, that is absent.
    """
    import torch

    device = chosen_device(settings)
    on_cuda = device.type == "cuda"
    unit = "" if on_cuda else _bf16_unit()
    fast_bf16 = torch.cuda.is_bf16_supported(including_emulation=False) if on_cuda else bool(unit)
    bf16 = settings.precision == "bf16" or (settings.precision == "auto" and fast_bf16)
    if settings.precision == "int8" or settings.engine == "ctranslate2":
        raise ConfigError(
            "training computes in fp32 or bf16, without ctranslate2; got runtime.precision "
            f"{settings.precision} and runtime.engine {settings.engine}, which `headway translate` "
            "takes. Leave them out."
        )
    if bf16 and on_cuda and not fast_bf16:
        raise ConfigError(
            f"bf16 needs a GPU that computes in it; {torch.cuda.get_device_name()} does not. "
            "Use --runtime.precision fp32"
        )

    threads = set_threads(settings.threads)
    torch.manual_seed(settings.seed)  # every device
    allow_tf32(on_cuda)
    # As torch.use_deterministic_algorithms does, which loads torch's compiler, for a second.
    torch.set_deterministic_debug_mode("default" if on_cuda else "error")
    # Deterministic mode would otherwise fill every new tensor; no code here reads unset memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]

    name = f"GPU {torch.cuda.get_device_name()}" if on_cuda else f"CPU {cpu_name()}"
    how = unit if unit or on_cuda else "without AMX or AVX512_BF16: fp32 is faster on x86-64"
    precision = (f"bf16 ({how})" if how else "bf16") if bf16 else "fp32"
    described = f"{name}, {precision}, {threads} CPU thread{'s'[: threads > 1]}"
    dtype = torch.bfloat16 if bf16 else torch.float32
    return Runtime(device, dtype, threads, described)


def set_threads(threads: int) -> int:
    """Give this process so many CPU threads (0: every core that it may use); returns how many.

    A command does this once; a model that is loaded changes nothing of its process.
    """
    import torch

    threads = threads or available_cores()
    _keep_freed_memory()
    torch.set_num_threads(threads)
    return threads


def allow_tf32(on_cuda: bool) -> None:
    """Let float32 products of this process use TF32 on a GPU: as fast as validation had them."""
    import torch

    torch.set_float32_matmul_precision("high" if on_cuda else "highest")


def chosen_device(settings: RuntimeSettings) -> "torch.device":
    """The device that is meant; raises `ConfigError` if CUDA is asked for and absent."""
    import torch

    there = settings.device != "cpu" and torch.cuda.is_available()
    if settings.device == "cuda" and not there:
        raise ConfigError(
            f"[runtime] device 'cuda' needs a GPU; torch {torch.__version__} finds none, "
            "or was built without CUDA. Use --runtime.device cpu."
        )
    return torch.device("cuda" if there else "cpu")


def _keep_freed_memory() -> None:
    """Have glibc keep large freed blocks, up to 1 GiB, for the tensors of the next update.

    By default it gives them back to the system, which zeroes every page again before the next use:
    on a CPU that is a fifth of a small model's training. Other C libraries are left as they are.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    trim_threshold, mmap_threshold = -1, -3  # names of mallopt(3)
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(mmap_threshold, 32 * 2**20)  # the most it takes
    mallopt(trim_threshold, 2**30)


def _bf16_unit() -> str:
    """What the processor multiplies bf16 matrices with; torch's own query came after 2.11."""
    import torch

    if hasattr(torch.cpu, "get_capabilities"):
        found = torch.cpu.get_capabilities()
    else:
        found = dict.fromkeys(_read("/proc/cpuinfo").split(), True)
    units = {"amx_bf16": "AMX", "avx512_bf16": "AVX-512"}
    return next((name for flag, name in units.items() if found.get(flag)), "")


def available_cores() -> int:
    """Physical cores that this process may use: by affinity, cgroup quota and OMP_NUM_THREADS."""
    usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    logical = sorted(usable(0))
    siblings = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    physical = {_read(siblings.format(number)).strip() or str(number) for number in logical}
    limits = [len(physical), _cgroup_cores(), _number(os.environ.get("OMP_NUM_THREADS", ""))]
    return max(1, math.floor(min(limits)))


def _cgroup_cores() -> float:
    """Cores' worth of time that the control group (a container's limit) grants; inf if no limit."""
    quota, _, period = _read("/sys/fs/cgroup/cpu.max").partition(" ")  # "max" is no limit
    if not quota:  # version 1, where -1 is none
        names = ("quota", "period")
        quota, period = (_read(f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us") for name in names)
    return _number(quota) / _number(period) if math.isfinite(_number(quota)) else math.inf


def _number(text: str) -> float:
    """A positive number out of text; inf where there is none."""
    return float(text) if text.strip().isdecimal() and int(text) > 0 else math.inf


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cpu_name() -> str:
    """The processor's name for people."""
    return processor_line("model name") or platform.processor() or platform.machine()


def processor_line(*names: str) -> str:
    """What Linux says of the processor under one of these names; nothing on other systems."""
    lines = (line for line in _read("/proc/cpuinfo").splitlines() if line.startswith(names))
    return next(lines, "").partition(":")[2].strip()
