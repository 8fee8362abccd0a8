"""Wheels bring the libraries for every processor: here they are used, of other systems they are
what they should be."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from headway.core.disk import checksum
from headway.engine import building, levels, packaged
from headway.engine.packaged import LIBRARIES

ROOT = Path(__file__).parent.parent.parent
QUICK = ("-std=gnu11", "-O1", "-fPIC", "-shared")
EXPORTED = {
    "engine": {"workspace", "prepare", "feed", "translate", "product"},
    "nearest": {"candidates"},
    "word2vec": {"word2vec", "noise"},
}
OF_SYSTEM = {
    "manylinux_2_17_x86_64": ("ELF", "X86_64", {"libc.so.6", "libm.so.6", "libpthread.so.0"}),
    "manylinux_2_17_aarch64": ("ELF", "AARCH64", {"libc.so.6", "libm.so.6", "libpthread.so.0"}),
    "macosx_11_0_arm64": ("MACHO", "ARM64", {"/usr/lib/libSystem.B.dylib"}),
    "win_amd64": ("PE", "AMD64", {"KERNEL32.dll"}),
    "win_arm64": ("PE", "ARM64", {"KERNEL32.dll"}),
}
"""Format, machine, and what may be needed; of Windows also the parts of its C library."""


@pytest.fixture(scope="module")
def wheels() -> ModuleType:
    """The script."""
    pytest.importorskip("ziglang")
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "deploy" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
