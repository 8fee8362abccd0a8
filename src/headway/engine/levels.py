"""Levels of processors that libraries in C are compiled for, under the names of compilers: what the
oldest must have (x86-64-v3), and what is there beside it (+avxvnni)."""

import platform
import sys
from collections.abc import Sequence

from headway.core.errors import ConfigError
from headway.core.runtime import processor_line

_SSE = "ssse3 sse41 sse42 popcnt"
_AVX2 = f"{_SSE} avx avx2 bmi bmi2 f16c fma"
_AVX512 = f"{_AVX2} avx512f avx512bw avx512cd avx512dq avx512vl"
LEVELS = {
    "x86_64": {
        "x86-64": "",
        "x86-64-v2": _SSE,
        "x86-64-v3": _AVX2,
        "x86-64-v3+avxvnni": f"{_AVX2} avxvnni",
        "x86-64-v4": _AVX512,
        "x86-64-v4+avx512vnni": f"{_AVX512} avx512vnni",
        "x86-64-v4+avx512vnni+avx512bf16": f"{_AVX512} avx512vnni avx512bf16",
    },
    "aarch64": {
        "armv8-a": "",
        "armv8.2-a+dotprod": "dotprod",
        "armv8.2-a+dotprod+i8mm+bf16": "dotprod i8mm bf16",
    },
}
"""By machine, from the least; and the features that each needs (`processor_features`)."""
_SAME = {"asimddp": "dotprod", "dot": "dotprod", "bmi1": "bmi", "fma3": "fma"}


class LevelError(ConfigError):
    """$HEADWAY_ENGINE_LEVEL names what cannot be."""


def machine() -> str:
    """The family of this processor: x86_64, aarch64, or what the system says."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)


def processor_features() -> frozenset[str]:
    """What this processor can do: names of Linux without underscores, of Arm those of compilers."""
    if sys.platform == "linux":
        names = processor_line("flags", "Features").split()
    else:
        import torch

        # it came after torch 2.11
        found = getattr(torch.cpu, "get_capabilities", dict)()
        names = [name for name, there in found.items() if there is True]
    plain = (name.replace("_", "") for name in names)
    return frozenset(_SAME.get(name, name) for name in plain)


def possible_levels() -> list[str]:
    """Those that this processor can do, from the least."""
    there = processor_features()
    return [name for name, needs in LEVELS.get(machine(), {}).items() if there >= {*needs.split()}]


def level_options(level: str) -> tuple[str, ...]:
    """What gcc and clang are told for a level of $HEADWAY_ENGINE_LEVEL; nothing for `native`.

    Raises:
        LevelError: it is no level, or one that this processor is below.
    """
    if level in ("native", *(possible := possible_levels())):
        return compiler_options(level) if level != "native" else ()
    known = level in LEVELS.get(machine(), {})
    given = f"this processor is below {level}" if known else f"got {level!r}"
    choices = ", ".join(["native", *possible])
    raise LevelError(f"HEADWAY_ENGINE_LEVEL must be one of {choices}; {given}.")


def compiler_options(level: str) -> tuple[str, ...]:
    """The same to gcc and clang."""
    base, *features = level.split("+")
    if base.startswith("arm"):
        return (f"-march={level}",)
    return (f"-march={base}", *(f"-m{feature}" for feature in features))


def zig_options(options: Sequence[str] = ()) -> tuple[str, ...]:
    """What zig is told for those of gcc; without any, the best level that this processor can do,
    as zig's own guess at a processor has features that cannot be together. Nothing for a processor
    of a family without levels."""
    best = possible_levels()[-1:]
    options = options or [option for level in best for option in compiler_options(level)]
    if not options:
        return ()
    base, *features = options[0].removeprefix("-march=").split("+")
    features += [option.removeprefix("-m") for option in options[1:]]
    arm = {"armv8-a": "generic", "armv8.2-a": "generic+v8_2a"}
    return ("-mcpu=" + "+".join([arm.get(base, base.replace("-", "_")), *features]),)
