"""The engine under address and undefined-behaviour sanitizers: random models, sources, searches.

    LD_PRELOAD=libasan.so python tests/support/sanitized_engine.py COMPILER LIBRARY

A fault ends the process.
"""

import sys
from pathlib import Path

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_models import LENGTHS, models, searches, sources_for

from headway.native import building
from headway.native.packing import Packed
from headway.native.translating import Search, translate

SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g")


def main() -> None:
    """Compile, then translate."""
    torch.set_num_threads(1)
    library = Path(sys.argv[2])
    # Half-wide vectors too: other paths through the same sources.
    engines = []
    for number, flags in enumerate(([*building.THIS_PROCESSOR[:1]], [])):
        file = library.with_name(f"{number}{library.name}")
        building.compiled(sys.argv[1], file, *SANITIZED, *flags)
        engines.append(building.loaded(file))
    cases = 0

    @settings(
        max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from(engines), models(), searches(), LENGTHS, st.booleans())
    def whole(engine, model, how, lengths, look):  # type: ignore[no-untyped-def]
        nonlocal cases
        sources = [[*ids, 3] for ids in sources_for(model, lengths)]
        limits = [min(len(ids) + how.max_extra_length, 39) for ids in sources]
        search = Search(2, 3, (0, 1, 2), how.rows, how.n_best, how.length_penalty, True, look)
        packed, threads = Packed(model, engine), 1 + cases % 3
        found = translate(packed, sources, limits, search, threads=threads, done=lambda n: None)
        assert all(found)
        cases += 1

    whole()
    print(f"{cases} cases")


if __name__ == "__main__":
    main()
