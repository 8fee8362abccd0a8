"""The benchmarks are scripts beside the package: their folder is looked in last."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
