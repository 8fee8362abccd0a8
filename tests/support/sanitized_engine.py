"""The engine under address and undefined-behaviour sanitizers: random models, sources, searches.

    LD_PRELOAD=libasan.so python tests/support/sanitized_engine.py COMPILER LIBRARY

A fault ends the process.
"""

import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_models import LENGTHS, models, searches, small, sources_for

from headway.core.errors import HeadwayError
from headway.core.search import SearchRequest
from headway.core.subwords import SpecialIds
from headway.engine import building
from headway.engine.packing import KINDS, Packed, aligned, packed, zeros
from headway.engine.translating import translate

CPU, N_TOKENS = torch.device("cpu"), 25
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g")


def shortlist(n_tokens, seed, ids):  # type: ignore[no-untyped-def]
    """Some tokens, from the end marker alone to all."""
    draw = np.random.default_rng([seed, *ids])
    kept = draw.random(n_tokens) < draw.choice([0, 0.1, 0.5, 1])
    kept[3] = True
    return np.flatnonzero(kept).astype(np.int32)


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
    @given(
        st.sampled_from(engines),
        st.sampled_from(list(KINDS)),
        models(),
        searches(),
        LENGTHS,
        st.booleans(),
    )
    def whole(engine, precision, model, how, lengths, look):  # type: ignore[no-untyped-def]
        nonlocal cases
        sources = [[*ids, 3] for ids in sources_for(model, lengths)]
        limits = [min(len(ids) + how.max_extra_length, 39) for ids in sources]
        search = SearchRequest(SpecialIds(), how, CPU, want_attention=look)
        allowed = [shortlist(len(model.output_weight), cases, ids) for ids in sources]
        model, threads = Packed(model, engine, precision), 1 + cases % 3
        some = allowed if cases % 2 else None
        found = translate(model, sources, limits, search, (), some, threads=threads)
        assert all(found)
        cases += 1

    @settings(max_examples=20, deadline=None, derandomize=True)
    @given(
        st.sampled_from(engines),
        st.sampled_from(list(KINDS)),
        *[st.integers(1, most) for most in (33, 5, 5)],
        st.sampled_from((0.0, 1e-42, 1.0, 1e30, float("inf"), float("nan"))),
    )
    def product(engine, precision, rows, inputs, outputs, size):  # type: ignore[no-untyped-def]
        """One product, in arrays that are just as large as they must be, of numbers of any size."""
        nonlocal cases
        inputs, outputs = inputs * engine.panel, outputs * engine.panel
        x, y = zeros(rows, inputs), zeros(rows, outputs)
        x[...] = size * torch.randn(rows, inputs).numpy()
        weight = zeros(outputs, inputs)
        weight[...] = torch.randn(outputs, inputs).numpy() / max(size, 1e-3)
        matrix = packed(weight, zeros(outputs), engine.panel, precision)
        room, steps = aligned(4 * rows * inputs), zeros(rows)
        places = [one.ctypes.data for one in (x, y, room, steps)]
        engine.library.headway_product(matrix.structure, rows, *places)
        cases += 1

    @settings(
        max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(engines),
        st.sampled_from(list(KINDS)),
        searches(),
        st.sets(st.integers(4, N_TOKENS - 1), max_size=3),
    )
    def infinite(engine, precision, how, tokens):  # type: ignore[no-untyped-def]
        """Some tokens have infinite logits."""
        nonlocal cases
        torch.manual_seed(cases)
        model = small(vocabulary_size=N_TOKENS, output_bias=True)
        model.output_bias.data[list(tokens)] = torch.inf
        sources = [[*ids, 3] for ids in sources_for(model, [0, 1, 2])]
        limits = [len(ids) + how.max_extra_length for ids in sources]
        search = SearchRequest(SpecialIds(), how, CPU, want_attention=bool(cases % 2))
        model, threads = Packed(model, engine, precision), 1 + cases % 3
        with suppress(HeadwayError):  # that its log-probabilities are not finite
            translate(model, sources, limits, search, threads=threads)
        cases += 1

    whole()
    infinite()
    product()
    print(f"{cases} cases")


if __name__ == "__main__":
    main()
