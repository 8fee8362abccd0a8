"""A script in a process of its own, with address and undefined-behaviour sanitizers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import headway

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), "")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0", "-g1")
SUPPORT = Path(__file__).parent


def runtime_library() -> str:
    """What the sanitizer needs loaded before all else; nothing if the compiler has none."""
    if not COMPILER:
        return ""
    command = [COMPILER, "-print-file-name=libasan.so"]
    path = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else ""


def refuse_faults(script: str, folder: Path) -> None:
    """Run a script of this folder, which compiles into `folder` and counts its cases."""
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime_library(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONPATH": os.pathsep.join([str(Path(headway.__file__).parent.parent), str(SUPPORT)]),
    }
    command = [sys.executable, str(SUPPORT / script), COMPILER, str(folder)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("cases") == 3, done.stdout
