"""The engine under address and undefined-behaviour sanitizers: random models, sources, searches."""

import threading
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_models import LENGTHS, ensembles, models, searches, small, sources_for
from sanitizing import SANITIZED

from headway.core.errors import HeadwayError
from headway.core.hypothesis import SearchRequest
from headway.core.subwords import SpecialIds
from headway.decoding.ensemble import EnsembleDecoder
from headway.engine import building, compiling, translating
from headway.engine.compiling import sources_of
from headway.engine.ensembles import PackedEnsemble
from headway.engine.feeding import EngineThreads, FedJob
from headway.engine.packing import KINDS, Packed, aligned, packed, zeros
from headway.engine.translating import translate

CPU, N_TOKENS = torch.device("cpu"), 25


def shortlist(n_tokens, seed, ids):  # type: ignore[no-untyped-def]
    """Some tokens, from the end marker alone to all."""
    draw = np.random.default_rng([seed, *ids])
    kept = draw.random(n_tokens) < draw.choice([0, 0.1, 0.5, 1])
    kept[3] = True
    return np.flatnonzero(kept).astype(np.int32)


def fed(threads, packed, sources, limits, search):  # type: ignore[no-untyped-def]
    """What is found for sources that are put into a running job as soon as there is a place."""
    change, found, numbers = threading.Condition(), {}, {}

    def hear(entries):  # type: ignore[no-untyped-def]
        with change:
            for entry in entries:
                found[numbers.pop(entry)] = job.take(entry, want_attention=search.want_attention)
            change.notify()

    longest = max(map(len, sources)), max(limits) + 1
    with patch.object(translating, "ROWS", (9, 9)):  # places are soon taken, and taken again
        job = FedJob(packed, search, longest, threads, hear)
    for number, (ids, limit) in enumerate(zip(sources, limits, strict=True)):
        with change:
            assert change.wait_for(lambda: job.free, timeout=60)
            numbers[job.put(ids, limit)] = number
        job.wake(1)
    with change:
        assert change.wait_for(lambda: len(found) == len(sources), timeout=60)
    job.close()
    return [found[number] for number in range(len(sources))]


def main(compiler: str, folder: Path) -> None:
    """Compile, then translate."""
    torch.set_num_threads(1)
    # Half-wide vectors too: other paths through the same sources.
    engines = []
    for number, flags in enumerate(([*compiling.THIS_PROCESSOR[:1]], [])):
        file = folder / f"engine-{number}.so"
        compiling.compiled(compiler, sources_of("engine")[0], file, *SANITIZED, *flags)
        engines.append(building.loaded(file))
    cases, workers = 0, EngineThreads(2)

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
        if some is None:
            again = fed(workers, model, 2 * sources, 2 * limits, search)
            assert [one[0].ids for one in again] == 2 * [one[0].ids for one in found]

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
        room, scales = aligned(4 * rows * inputs), zeros(2 * rows)
        places = [one.ctypes.data for one in (x, y, room, scales)]
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

    @settings(
        max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(engines),
        st.sampled_from(list(KINDS)),
        ensembles(),
        searches(),
        LENGTHS,
        st.booleans(),
    )
    def together(engine, precision, models, how, lengths, look):  # type: ignore[no-untyped-def]
        """Several models; some outputs begin with what is given."""
        nonlocal cases
        sources = [[*ids, 3] for ids in sources_for(models[0], lengths)]
        limits = [min(len(ids) + how.max_extra_length, 39) for ids in sources]
        search = SearchRequest(SpecialIds(), how, CPU, want_attention=look)
        packed, threads = PackedEnsemble(EnsembleDecoder(models), engine, precision), 1 + cases % 3
        begun = [[4 + i % 3] * (i % 2) for i in range(len(sources))] * (cases % 2)
        found = translate(packed, sources, limits, search, begun, threads=threads)
        for one, its in zip(found, begun, strict=False):
            assert one[0].ids[: len(its)] == its
        cases += 1
        if not begun:
            again = fed(workers, packed, 2 * sources, 2 * limits, search)
            assert [one[0].ids for one in again] == 2 * [one[0].ids for one in found]

    whole()
    together()
    infinite()
    product()
    workers.close()
    print(f"{cases} cases")
