"""Small Transformers of every kind that the compiled engine knows, with sources and searches."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest
import torch
from hypothesis import strategies as st

from headway.core.hypothesis import DecodingSettings, Hypothesis, SearchRequest
from headway.core.layers import Activation
from headway.core.runtime import EngineName, ProductPrecision
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.building import engine_library
from headway.engine.compiling import NoEngineError
from headway.nn.positioned import PositionedConfig
from headway.translation.decoding import EngineChoice, decode

LENGTHS = st.lists(st.integers(0, 14), min_size=1, max_size=5)


def _config(draw: st.DrawFn, alike: bool) -> PositionedConfig:
    heads = draw(st.integers(1, 4))
    d_k = draw(st.sampled_from((0, 0, 3, 16, 17)))
    return PositionedConfig(
        encoder_layers=draw(st.integers(1, 2)),
        decoder_layers=draw(st.integers(1, 3)),
        heads=heads,
        d_model=heads * draw(st.integers(2, 20)),
        d_k=d_k,
        d_v=d_k if alike else draw(st.sampled_from((0, 0, 5, 18))),
        d_ff=draw(st.integers(3, 70)),
        norm=draw(st.sampled_from(("post", "pre"))),
        positions=draw(st.sampled_from(("sinusoidal", "learned", "none"))),
        activation=draw(st.sampled_from(get_args(Activation))),
        tied=draw(st.booleans()),
        output_bias=draw(st.booleans()),
        max_length=40,
        layer_norm_epsilon=draw(st.sampled_from((1e-5, 1e-12, 1e-2))),
    )


@st.composite
def models(draw: st.DrawFn, *, alike: bool = False, n_tokens: int = 0) -> Transformer:
    """With biases and norms that are not as they are born, and any sharpness; `alike`: keys and
    values of one size; of `n_tokens`, any for 0."""
    torch.manual_seed(draw(st.integers(0, 1 << 20)))
    n_tokens = n_tokens or draw(st.sampled_from((8, 31, 33, 300)))
    model = Transformer(_config(draw, alike), vocabulary_size=n_tokens).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * draw(st.sampled_from((0.02, 0.2))))
        model.output_weight.mul_(draw(st.sampled_from((1, 3))))
    return model


def ensembles() -> st.SearchStrategy[list[Transformer]]:
    """Some models with one vocabulary."""
    return st.sampled_from((8, 33, 300)).flatmap(
        lambda n: st.lists(models(n_tokens=n), min_size=2, max_size=3)
    )


@st.composite
def searches(draw: st.DrawFn) -> DecodingSettings:
    """Greedy, or a beam with some of its hypotheses."""
    beam = draw(st.integers(0, 7))
    return DecodingSettings(
        method="beam" if beam else "greedy",
        beam=beam or 1,
        n_best=draw(st.integers(1, beam or 1)),
        length_penalty=draw(st.sampled_from((0.0, 0.6, 1.0, 2.0))),
        max_extra_length=draw(st.sampled_from((0, 5, 12))),
    )


def sources_for(model: Transformer, lengths: list[int]) -> list[list[int]]:
    """Ids without markers."""
    n_tokens = len(model.output_weight)
    return [torch.randint(4, n_tokens, (length,)).tolist() for length in lengths]


SMALL = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 16, "heads": 2}
TIE = 1e-4


def small(**options: Any) -> Transformer:
    """As small as can be, of 30 tokens unless told otherwise."""
    n_tokens = options.pop("vocabulary_size", 30)
    return Transformer(PositionedConfig(**{**SMALL, **options}), vocabulary_size=n_tokens).eval()


def found(
    model: Any,
    sources: Any,
    how: DecodingSettings,
    engine: EngineName = "auto",
    precision: ProductPrecision = "fp32",
    **options: Any,
) -> Any:
    """What search finds on the processor, by an engine that is prepared for this call."""
    request = SearchRequest(SpecialIds(), how, torch.device("cpu"), **options)
    prepared = EngineChoice(engine, precision).prepare(model, request.device)
    return decode(model, sources, request, prepared)


def equal_but_for_ties(ours: Sequence[Hypothesis], theirs: Sequence[Hypothesis]) -> bool:
    """Rank by rank the same text, or the same score."""
    return len(ours) == len(theirs) and all(
        (one.ids == other.ids or abs(one.score - other.score) < TIE)
        and one.score == pytest.approx(other.score, abs=TIE, nan_ok=True)
        for one, other in zip(ours, theirs, strict=True)
    )


def built() -> bool:
    """Whether there is a compiler."""
    try:
        engine_library()
    except NoEngineError:
        return False
    return True


needs_engine = pytest.mark.skipif(not built(), reason="no C compiler here")
