"""The compiled engine finds what torch finds, and stands aside where it cannot."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from random_models import (
    LENGTHS,
    TIE,
    equal_but_for_ties,
    found,
    models,
    needs_engine,
    searches,
    small,
    sources_for,
)
from torch import Tensor, nn

from headway.core.errors import ConfigError, HeadwayError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.layers import FeedForward
from headway.core.search import decode_all
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.compiling import NoEngineError
from headway.engine.engine import MOST_BEAM, NativeEngine, prepare, unsupported
from headway.engine.packing import KINDS
from headway.inspection.ablation import switched
from headway.translation.decoding import SamplingSettings, decode

CPU = torch.device("cpu")
GREEDY = DecodingSettings(method="greedy", max_extra_length=5)


@needs_engine
@settings(max_examples=20)
@given(model=models(), how=searches(), lengths=LENGTHS)
def test_it_finds_what_torch_finds_but_for_ties(
    model: Transformer, how: DecodingSettings, lengths: list[int]
) -> None:
    sources = sources_for(model, lengths)
    native = found(model, sources, how, engine="native", want_attention=True)
    torchs = found(model, sources, how, engine="torch", want_attention=True)
    for ids, ours, theirs in zip(sources, native, torchs, strict=True):
        assert equal_but_for_ties(ours, theirs)
        for one, other in zip(ours, theirs, strict=True):
            if one.ids == other.ids:
                assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=TIE)
                assert one.log_prob == pytest.approx(sum(one.token_log_probs))
                expected = other.attention[:, : len(ids) + 1]  # torch's goes on over padding
                torch.testing.assert_close(one.attention, expected, atol=TIE, rtol=0)


@needs_engine
def test_without_scores_greedy_search_writes_the_same() -> None:
    model = small()
    sources = sources_for(model, [3, 0, 9, 9, 1])
    with_scores = found(model, sources, GREEDY, engine="native")
    without = found(model, sources, GREEDY, engine="native", want_scores=False)
    assert [one[0].ids for one in without] == [one[0].ids for one in with_scores]
    assert all(one[0].token_log_probs == [] and one[0].score != one[0].score for one in without)


@needs_engine
def test_what_is_prepared_holds_the_weights_and_leaves_what_has_changed_hands() -> None:
    model, sources = small(), [[5, 6, 7, 8]]
    request, left = SearchRequest(SpecialIds(), GREEDY, CPU), list[str]()
    prepared = prepare(model, CPU, leave=left.append)
    assert isinstance(prepared, NativeEngine)
    before = prepared.search(model, sources, request)
    with torch.no_grad():
        model.output_weight.copy_(model.output_weight.flip(0))
    assert prepared.search(model, sources, request) == before
    after = found(model, sources, GREEDY, engine="native")
    assert after != before
    assert equal_but_for_ties(after[0], found(model, sources, GREEDY, engine="torch")[0])
    assert left == []
    assert prepared.search(small(), sources, request) == [[]]
    with switched(model, ["encoder.0.self.head.0"]):
        assert prepared.search(model, sources, request) == [[]]
        whole = decode(model, sources, request, prepared)
        assert whole == decode_all(model, sources, request)
    assert ["another" in why for why in left] == [True, False]  # once for one reason


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"window": 2}, "window of 2"),
        ({"positions": "relative"}, "positions are relative"),
        ({"positions": "rotary"}, "positions are rotary"),
    ],
)
def test_what_it_cannot_do_is_done_in_torch_and_refused_by_name(
    options: dict[str, Any], why: str
) -> None:
    model, sources = small(**options), [[5, 6, 7], []]
    assert found(model, sources, GREEDY) == found(model, sources, GREEDY, engine="torch")
    with pytest.raises(ConfigError, match=rf"{why}\. Use --runtime\.engine auto"):
        found(model, sources, GREEDY, engine="native")


class Doubled(FeedForward):
    """Twice what is usual, by weights of the usual names."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


def of_another_type(model: Transformer) -> None:
    model.decoder[0].feed_forward = Doubled(16, 16)


def with_another_activation(model: Transformer) -> None:
    model.decoder[0].feed_forward.activate = torch.tanh


def with_fewer_heads(model: Transformer) -> None:
    model.encoder[0].self_attention.heads = 1


def without_a_norm(model: Transformer) -> None:
    model.encoder[0].around_feed_forward.norm = nn.Identity()


def without_a_bias(model: Transformer) -> None:
    model.decoder[0].feed_forward.to_output = nn.Linear(16, 16, bias=False)


@needs_engine
@pytest.mark.parametrize(
    "exchange",
    [of_another_type, with_another_activation, with_fewer_heads, without_a_norm, without_a_bias],
)
def test_a_model_of_other_parts_is_torchs(exchange: Callable[[Transformer], None]) -> None:
    model, sources = small(), [[5, 6, 7, 8], [9]]
    exchange(model)
    torchs = found(model, sources, GREEDY, engine="torch")
    assert found(model, sources, GREEDY) == torchs
    with pytest.raises(ConfigError, match="not as they were built"):
        found(model, sources, GREEDY, engine="native")


@needs_engine
def test_a_model_loaded_in_inference_mode_is_searched_with_too() -> None:
    with torch.inference_mode():
        model = small()
    sources = [[5, 6, 7], []]
    native = found(model, sources, GREEDY, engine="native")
    assert all(map(equal_but_for_ties, native, found(model, sources, GREEDY, engine="torch")))


@needs_engine
def test_a_text_that_is_too_long_is_torchs_and_its_batch_mates_stay_as_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("headway.engine.packing.MOST_POSITIONS", 20)
    model, how = small(), DecodingSettings(beam=2, max_extra_length=5)
    long, short = sources_for(model, [30, 4])
    together = found(model, [short, long, short], how, precision="int8")
    alone = found(model, [short], how, precision="int8")
    assert together == [*alone, *found(model, [long], how, engine="torch"), *alone]


@needs_engine
def test_a_wide_beam_is_nothing_to_greedy_search() -> None:
    model, sources = small(), [[5, 6]]
    wide = DecodingSettings(method="greedy", beam=MOST_BEAM + 1, max_extra_length=5)
    assert found(model, sources, wide, engine="native") == found(
        model, sources, GREEDY, engine="native"
    )


@needs_engine
@pytest.mark.parametrize(
    ("how", "why"),
    [
        (SamplingSettings(method="sampling", max_extra_length=5), "no samples"),
        (
            DecodingSettings(beam=MOST_BEAM + 1, max_extra_length=5),
            f"beam is {MOST_BEAM}",
        ),
    ],
)
def test_a_search_that_it_cannot_do_is_torchs_and_refused_by_name(
    how: DecodingSettings, why: str
) -> None:
    model, sources = small(), [[5, 6]]
    assert found(model, sources, how) == found(model, sources, how, engine="torch")
    with pytest.raises(ConfigError, match=rf"{why}\. Use --runtime\.engine auto"):
        found(model, sources, how, engine="native")


def test_other_types_of_models_and_models_in_training_are_torchs() -> None:
    assert "being trained" in unsupported(small().train(), CPU)
    assert "being trained" in unsupported(small().bfloat16(), CPU)
    assert "on cuda" in unsupported(small(), torch.device("cuda"))
    shorter = small()
    shorter.encoder = type(shorter.encoder)()
    assert "not as they were built" in unsupported(shorter, CPU)
    hooked = small()
    hooked.decoder[0].feed_forward.register_forward_hook(lambda *_: None)
    assert "not as they were built" in unsupported(hooked, CPU)


@needs_engine
@pytest.mark.parametrize("place", ["", "encoder.0", "decoder.0.feed_forward"])
@pytest.mark.parametrize("before", [False, True])
def test_a_hook_on_any_part_is_called_from_when_it_is_set_until_it_goes(
    place: str, before: bool
) -> None:
    model, request = small(), SearchRequest(SpecialIds(), DecodingSettings(beam=2), CPU)
    engine, called = prepare(model, CPU), list[int]()
    assert isinstance(engine, NativeEngine)
    part = model.get_submodule(place)
    set_hook = part.register_forward_pre_hook if before else part.register_forward_hook
    hook = set_hook(lambda *_: called.append(1))
    assert engine.search(model, [[5, 6]], request) == [[]]  # torch does it
    assert decode(model, [[5, 6]], request, engine)[0]
    assert bool(called) == bool(place)  # the whole model is never called as one in a search
    hook.remove()
    assert engine.search(model, [[5, 6]], request) != [[]]


@pytest.mark.parametrize("part", ["encoder.0.self.head.0", "decoder.0.self.residual", "cross.0"])
def test_parts_that_are_switched_off_are_off_in_the_engines_place_too(part: str) -> None:
    model = small()
    assert unsupported(model, CPU) == ""
    with switched(model, [part]):
        assert "not as they were built" in unsupported(model, CPU)
    assert unsupported(model, CPU) == ""
    assert "is no plain Transformer" in unsupported(type("Own", (Transformer,), {}), CPU)


def test_without_a_compiler_torch_translates(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise NoEngineError("there is no C compiler")

    monkeypatch.setattr("headway.engine.engine.engine_library", absent)
    model, sources = small(), [[5, 6, 7], []]
    assert found(model, sources, GREEDY) == found(model, sources, GREEDY, engine="torch")
    with pytest.raises(ConfigError, match="there is no C compiler"):
        found(model, sources, GREEDY, engine="native")


@needs_engine
def test_what_needs_more_memory_than_there_is_is_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(_n: int) -> None:
        raise MemoryError

    monkeypatch.setattr("headway.engine.translating.aligned", short)
    model, sources = small(), [[5, 6, 7]]
    torchs = found(model, sources, GREEDY, engine="torch")
    assert found(model, sources, GREEDY, engine="native") == torchs


@needs_engine
def test_a_model_that_gives_no_numbers_is_said_to_be_damaged() -> None:
    model = small()
    with torch.no_grad():
        model.output_weight.fill_(torch.nan)
    with pytest.raises(HeadwayError, match="damaged or its training diverged"):
        found(model, [[5, 6]], DecodingSettings(beam=3), engine="native")


CROSS = "decoder.0.cross_attention"


@needs_engine
@pytest.mark.parametrize(
    ("names", "number"),
    [
        (["decoder.0.feed_forward.to_inner.bias"], torch.nan),
        ([f"{CROSS}.to_key.bias"], torch.nan),
        ([f"{CROSS}.to_query.bias", f"{CROSS}.to_key.bias"], 1e30),  # whose product is infinite
        (["output_bias"], torch.nan),
        (["output_bias"], torch.inf),
    ],
)
def test_one_number_that_is_none_is_as_fatal_as_in_torch(names: list[str], number: float) -> None:
    model, how = small(output_bias=True), DecodingSettings(beam=3, max_extra_length=5)
    with torch.no_grad():
        for name in names:
            model.get_parameter(name)[-1] = number
    for engine, precision in (("torch", "fp32"), *[("native", kind) for kind in KINDS]):
        with pytest.raises(HeadwayError, match="damaged or its training diverged"):
            found(model, [[5, 6], [7]], how, engine=engine, precision=precision)


@needs_engine
def test_tokens_that_are_banned_by_a_bias_of_minus_infinity_change_nothing_else() -> None:
    model = small(vocabulary_size=300, output_bias=True)
    how = DecodingSettings(beam=3, max_extra_length=5)
    with torch.no_grad():
        model.output_bias[:128] = -torch.inf  # all that the engine reads first
    sources, special = sources_for(model, [5, 2]), SpecialIds(end=299)
    request, prepared = SearchRequest(special, how, CPU), prepare(model, CPU)
    assert isinstance(prepared, NativeEngine)
    native = prepared.search(model, sources, request)
    torchs = decode_all(model, sources, request)
    assert all(map(equal_but_for_ties, native, torchs))


@needs_engine
def test_every_finished_sentence_is_told() -> None:
    told: list[int] = []
    model = small()
    found(model, sources_for(model, [5] * 50), GREEDY, engine="native", done=told.append)
    assert sum(told) == 50
