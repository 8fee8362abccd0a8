"""Every "why" of the five notes as a measurement: see `benchmarks/why.py`."""
