"""What is said of a machine beside what was measured on it."""

import os
import platform

import torch

from headway.core.runtime import available_cores, cpu_name


def machine() -> dict[str, str | int]:
    """What a model card says of the machine: names, counts, bytes, versions."""
    try:
        memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory_bytes = 0  # the system does not tell
    return {
        "cpu": cpu_name(),
        "cores": available_cores(),
        "memory_bytes": memory_bytes,
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
