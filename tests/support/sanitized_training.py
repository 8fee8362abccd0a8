"""The training step under address and undefined-behaviour sanitizers: random models and pairs."""

from pathlib import Path

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_models import models, sources_for
from sanitizing import SANITIZED

from headway.core.subwords import SpecialIds
from headway.engine import compiling, learner, training
from headway.engine.compiling import sources_of
from headway.engine.training import NativeStep

LENGTHS = st.lists(st.integers(0, 20), min_size=1, max_size=4)


def main(compiler: str, folder: Path) -> None:
    """Compile, then learn."""
    torch.set_num_threads(1)
    library = folder / "training.so"
    flags = *SANITIZED, *compiling.THIS_PROCESSOR[:1]
    compiling.compiled(compiler, sources_of("training")[0], library, *flags)
    opened = learner.opened_training(library)
    training.training_library = lambda: opened
    training.LEAST_TOKENS = 1
    cases = 0

    @settings(
        max_examples=16, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(("fp32", "bf16")),
        models(),
        LENGTHS,
        st.integers(1, 3),
        st.sampled_from((5, 1024)),
    )
    def step(precision, model, lengths, threads, tokens):  # type: ignore[no-untyped-def]
        nonlocal cases
        training.CHUNK_TOKENS = tokens
        sources, targets = sources_for(model, lengths), sources_for(model, lengths[::-1])
        native = NativeStep(model.train(cases % 2 == 0), precision, threads)
        for _ in range(2):
            native.loss(sources, targets, SpecialIds(), 0.1).backward()
        assert model.output_weight.grad.isfinite().all()
        cases += 1

    step()
    print(f"{cases} cases")
