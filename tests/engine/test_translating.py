"""The engine alone: what it gives depends on nothing but model, sentence and search."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pytest
import torch
from random_models import sources_for
from sanitizing import COMPILER
from torch import Tensor
from torch.nn import functional

from headway.core.hypothesis import DecodingSettings, Hypothesis, SearchRequest
from headway.core.layers import Activation
from headway.core.runtime import ProductPrecision
from headway.core.search import decode_all
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.engine import building, compiling, levels, packing, translating
from headway.engine.compiling import sources_of
from headway.engine.packing import Packed
from headway.engine.rounding import MOST_STEPS
from headway.engine.translating import shared, translate

pytestmark = pytest.mark.skipif(not COMPILER, reason="no C compiler here")

PRECISIONS: tuple[ProductPrecision, ...] = ("fp32", "bf16", "int8")
SEARCH = SearchRequest(SpecialIds(), DecodingSettings(beam=4, n_best=3), torch.device("cpu"))


@pytest.fixture
def model() -> Transformer:
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 24, "d_ff": 40, "heads": 3}
    return Transformer(TransformerConfig(**sizes), vocabulary_size=500).eval()


@pytest.fixture
def sources(model: Transformer) -> list[list[int]]:
    return [[*ids, 3] for ids in sources_for(model, [n * 7 % 19 for n in range(70)])]


def all_of(
    packed: Packed, sources: list[list[int]], search: SearchRequest = SEARCH, threads: int = 1
) -> list[list[Hypothesis]]:
    limits = [len(ids) + 4 for ids in sources]
    return translate(packed, sources, limits, search, threads=threads)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_batch_mates_and_threads_change_no_bit(
    precision: ProductPrecision,
    model: Transformer,
    sources: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = Packed(model, building.engine_library(), precision)
    together = all_of(packed, sources)
    assert [all_of(packed, [ids])[0] for ids in sources] == together
    assert all_of(packed, sources, threads=3) == together
    monkeypatch.setattr(translating, "ROWS", (9, 9))
    monkeypatch.setattr(translating, "ENCODED_ROWS", 30)
    assert all_of(packed, sources) == together


def in_bf16(numbers: Tensor, *, weights: bool) -> Tensor:
    return numbers.bfloat16().float()


def in_int8(numbers: Tensor, *, weights: bool) -> Tensor:
    """Each row in whole steps: of weights 64 to the largest, of others 126 from end to end."""
    if weights:
        step = numbers.abs().amax(-1, keepdim=True) / MOST_STEPS
    else:
        step = (
            numbers.amax(-1, keepdim=True).relu() + (-numbers).amax(-1, keepdim=True).relu()
        ) / 126
    return torch.where(step > 0, (numbers / step).round() * step, 0.0)


@pytest.mark.parametrize("page", [packing.PAGE, 16])
@pytest.mark.parametrize("activation", get_args(Activation))
def test_every_activation_gives_the_log_probabilities_of_torch(
    activation: Activation, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each row has a panel of zeros behind it, as rows of whole pages have."""
    monkeypatch.setattr(packing, "PAGE", page)
    torch.manual_seed(4)
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 24, "d_ff": 40, "heads": 3}
    model = Transformer(TransformerConfig(**sizes, activation=activation), vocabulary_size=90)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
    read = sources_for(model.eval(), [5, 11, 8])
    ours = all_of(Packed(model, building.engine_library()), [[*ids, 3] for ids in read])
    how = DecodingSettings(beam=4, n_best=3, max_extra_length=4)
    theirs = decode_all(model, read, SearchRequest(SpecialIds(), how, torch.device("cpu")))
    for one, other in zip(ours, theirs, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        for h, k in zip(one, other, strict=True):
            assert h.token_log_probs == pytest.approx(k.token_log_probs, abs=1e-4)


@pytest.mark.parametrize(("precision", "rounded"), [("bf16", in_bf16), ("int8", in_int8)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_fewer_bits_find_what_torch_finds_by_products_of_rounded_numbers(
    precision: ProductPrecision,
    rounded: Callable[..., Tensor],
    norm: Literal["post", "pre"],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(3)
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 48, "d_ff": 40, "heads": 3}
    config = TransformerConfig(**sizes, norm=norm, activation="swiglu", output_bias=True)
    model = Transformer(config, vocabulary_size=120).eval()
    read = sources_for(model, [5, 0, 11, 8, 3, 3, 6, 2])
    limits = [len(ids) + 5 for ids in read]
    ours = translate(
        Packed(model, building.engine_library(), precision),
        [[*ids, 3] for ids in read],
        limits,
        SEARCH,
        threads=1,
    )
    linear = functional.linear
    monkeypatch.setattr(
        functional,
        "linear",
        lambda x, weight, *bias: linear(
            rounded(x, weights=False), rounded(weight, weights=True), *bias
        ),
    )
    how = DecodingSettings(beam=4, n_best=3, max_extra_length=4)
    theirs = decode_all(model, read, SearchRequest(SpecialIds(), how, torch.device("cpu")))
    off = []
    for one, other in zip(ours, theirs, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        both = zip(one, other, strict=True)
        off += [np.subtract(h.token_log_probs, k.token_log_probs) for h, k in both]
    sizes_off = np.abs(np.concatenate(off))  # where both round a number alike: nearly everywhere
    assert np.quantile(sizes_off, 0.5) < 1e-5
    assert sizes_off.max() < 0.05


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="names x86-64's instruction sets")
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_narrower_vectors_find_the_same(
    level: str, model: Transformer, sources: list[list[int]], tmp_path: Path
) -> None:
    file = tmp_path / "engine.so"
    compiling.compiled(COMPILER, sources_of("engine")[0], file, "-O0", f"-march={level}")
    narrow = building.loaded(file)
    assert narrow.width == {"x86-64": 4, "x86-64-v3": 8}[level]
    if level == "x86-64-v3" and "avx2" not in levels.processor_features():
        pytest.skip("this processor has no AVX2")
    ours = all_of(Packed(model, narrow), sources)
    for one, other in zip(
        ours, all_of(Packed(model, building.engine_library()), sources), strict=True
    ):
        assert [h.ids for h in one] == [h.ids for h in other]
        for h, k in zip(one, other, strict=True):
            assert h.token_log_probs == pytest.approx(k.token_log_probs, abs=1e-5)


@pytest.mark.parametrize(
    ("sources", "changed", "why"),
    [
        ([[500, 3]], {}, "ids must be"),
        ([[-1, 3]], {}, "ids must be"),
        ([[4, 3]], {"special": SpecialIds(end=500)}, "ids must be"),
        ([[4, 3]], {"special": SpecialIds(unknown=1 << 40)}, "ids must be"),
        ([[4, 3], []], {}, "at least an end marker"),
        ([[4, 3]], {"settings": DecodingSettings(beam=65)}, "at most 64"),
        ([[4] * 5000], {}, "positions end at 4096"),
    ],
)
def test_what_would_reach_beyond_an_array_never_reaches_the_engine(
    sources: list[list[int]], changed: dict[str, Any], why: str, model: Transformer
) -> None:
    with pytest.raises(ValueError, match=why):
        all_of(Packed(model, building.engine_library()), sources, SEARCH._replace(**changed))


def test_progress_adds_up_though_sentences_are_finished_while_it_is_told() -> None:
    class Busy:
        """A job of which one more sentence is finished between any two looks."""

        n, stop = 0, 0

        @property
        def done(self) -> int:
            self.n += 1
            return self.n

    job: Any = Busy()
    told = list[int]()
    shared(lambda _room: None, [0, 1], job, told.append)
    assert sum(told) == job.n


def test_a_stopped_job_ends(model: Transformer, sources: list[list[int]]) -> None:
    def interrupted(_n: int) -> None:
        raise KeyboardInterrupt

    packed = Packed(model, building.engine_library())
    with pytest.raises(KeyboardInterrupt):
        translate(packed, sources, [9] * 70, SEARCH._replace(done=interrupted), threads=2)
    assert len(all_of(packed, sources)) == 70
