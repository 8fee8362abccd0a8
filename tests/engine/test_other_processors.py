"""Products on processors that this machine is not: compiled by zig, run by qemu where both are."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from headway.engine.packaged import PACKAGE

ENGINE = PACKAGE / "engine"
EMULATOR = shutil.which("qemu-aarch64")
TARGET = ("-target", "aarch64-linux-none", "-ffreestanding", "-nostdlib", "-static")
QUICK = ("-O0", "-fno-sanitize=undefined", "-fno-stack-protector")
FLAGS = (*TARGET, "-fno-builtin", "-std=gnu11", *QUICK)
HEADERS = {
    "math.h": "#define INFINITY __builtin_inff()\n",
    "string.h": "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t);\n"
    "void *memset(void *, int, size_t);\n",
}
"""All that the engine's headers ask of a C library there."""
INSTRUCTIONS = {"sdot": 0x4E809400, "smmla": 0x4E80A400, "bfdot": 0x6E40FC00}

pytestmark = [
    pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang is not installed"),
    pytest.mark.skipif(EMULATOR is None, reason="qemu-user is not installed"),
]


@pytest.mark.parametrize(
    ("features", "status", "multiplies"),
    [
        ("", 4 + 2, ""),
        ("+dotprod", 4 + 2, "sdot"),
        ("+dotprod+i8mm+bf16", 4 + 2 + 1, "sdot smmla bfdot"),
    ],
)
def test_products_of_whole_numbers_are_exact_on_arm(
    tmp_path: Path, features: str, status: int, multiplies: str
) -> None:
    """The status: floats in a vector, 2 for instructions for int8, 1 for those for bfloat16."""
    for name, text in HEADERS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    file = Path(__file__).with_name("products.c")
    compiler = [sys.executable, "-m", "ziglang", "cc", f"-mcpu=generic{features}"]
    places = [f"-I{tmp_path}", f"-I{ENGINE}", str(file), "-o", str(tmp_path / "products")]
    subprocess.run([*compiler, *FLAGS, *places], check=True)
    done = subprocess.run([str(EMULATOR), "-cpu", "max", str(tmp_path / "products")], check=False)
    assert done.returncode == status
    words = np.fromfile(tmp_path / "products", dtype="<u4") & 0xFFE0FC00  # without registers
    assert {name for name, word in INSTRUCTIONS.items() if word in words} == {*multiplies.split()}
