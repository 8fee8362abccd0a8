"""The compiled training step: losses and gradients are torch's, and dropout is what it says."""

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import models, needs_engine, small
from torch import Tensor

from headway.core.dropout import set_dropout
from headway.core.errors import UserError
from headway.core.layers import Activation
from headway.core.loss import projected_label_smoothed
from headway.core.rows import pad
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine import compiling, learner, levels, packing, training
from headway.engine.compiling import NoEngineError, sources_of
from headway.engine.packing import zeros
from headway.engine.training import NativeStep, unsupported_training
from headway.nn.positioned import PositionedConfig

pytestmark = needs_engine
SPECIAL = SpecialIds()
LENGTHS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=5)
DROPPED = {"dropout": 0.3, "attention_dropout": 0.2, "activation_dropout": 0.25}
LEVELS = ("native", "x86-64-v3", "x86-64")
"""Of processors, as in `levels.py`: three widths of vectors on some machines."""
Pairs = tuple[list[list[int]], list[list[int]]]


def compiled(main: Path, to: Path, *flags: str) -> Path:
    """A library for processors that these flags of the compiler are for."""
    try:
        compiling.compiled(compiling.found_compiler(), main, to, *flags)
    except NoEngineError as error:
        pytest.skip(str(error))
    return to


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, learner.TrainingLibrary]:
    """The step of this processor, and those of lesser ones."""
    found, main = {"native": learner.training_library()}, sources_of("training")[0]
    for level in {*LEVELS} & {*levels.possible_levels()}:
        file = tmp_path_factory.mktemp("step") / "training.so"
        compiled(main, file, "-O1", *levels.level_options(level))
        found[level] = learner.opened_training(file)
    return found


@contextmanager
def learning_by(library: learner.TrainingLibrary) -> Iterator[None]:
    """However little there is to learn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "training_library", lambda: library)
        patch.setattr(training, "LEAST_TOKENS", 1)
        yield


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, steps: dict[str, learner.TrainingLibrary]) -> Any:
    if request.param not in steps:
        pytest.skip(f"no {request.param} here")
    with learning_by(steps[request.param]):
        yield request.param


def pairs_for(model: Transformer, lengths: list[tuple[int, int]]) -> Pairs:
    """Ids without markers."""
    n_tokens = len(model.output_weight)

    def drawn(n: int) -> list[int]:
        return torch.randint(4, n_tokens, (n,)).tolist()

    return [drawn(n) for n, _ in lengths], [drawn(n) for _, n in lengths]


def torch_loss(model: Transformer, pairs: Pairs, smoothing: float) -> Tensor:
    """As `TranslationTask` has it."""
    sources, targets = ([np.array(one, dtype=np.int64) for one in side] for side in pairs)
    read = torch.from_numpy(pad(sources, 0, end=SPECIAL.end))
    fed = torch.from_numpy(pad(targets, 0, begin=SPECIAL.decoder_begin))
    expected = torch.from_numpy(pad(targets, 0, end=SPECIAL.end))
    return projected_label_smoothed(
        model.features(read, fed), model.output_weight, expected,
        output_bias=model.output_bias, smoothing=smoothing, padding=0,
    ).smoothed  # fmt: skip


def gradients(model: Transformer, loss: Tensor) -> dict[str, Tensor]:
    """Those of a loss alone."""
    for parameter in model.parameters():
        parameter.grad = None
    loss.backward()
    return {
        name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None
    }


def assert_alike(found: dict[str, Tensor], expected: dict[str, Tensor], share: float) -> None:
    """To a share of the largest of all gradients: keys' biases have none but noise."""
    largest = max(float(one.abs().max()) for one in expected.values())
    assert found.keys() == expected.keys()
    for name, one in expected.items():
        torch.testing.assert_close(found[name], one, rtol=0, atol=share * largest, msg=name)


def dropping(**more: Any) -> Transformer:
    """A small model with every kind of dropout, that is being trained."""
    torch.manual_seed(1)
    return small(d_model=32, d_ff=32, vocabulary_size=50, **{**DROPPED, **more}).train()


@settings(max_examples=25)
@given(
    model=models(),
    lengths=LENGTHS,
    smoothing=st.sampled_from((0.0, 0.1)),
    threads=st.integers(1, 2),
)
def test_loss_and_gradients_are_torchs(
    steps: dict[str, learner.TrainingLibrary],
    model: Transformer,
    lengths: list[tuple[int, int]],
    smoothing: float,
    threads: int,
) -> None:
    """By every step that this processor can do."""
    pairs = pairs_for(model, lengths)
    expected = torch_loss(model, pairs, smoothing)
    slopes = gradients(model, expected)
    for library in steps.values():
        with learning_by(library):
            found = NativeStep(model, "fp32", threads).loss(*pairs, SPECIAL, smoothing)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)
        assert_alike(gradients(model, found), slopes, 2e-4)


@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_rows_of_whole_pages_have_zeros_behind_them(
    activation: Activation, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(2)
    model = small(d_model=32, d_ff=48, vocabulary_size=50, activation=activation)
    pairs = pairs_for(model, [(7, 9), (12, 3)])
    plain = NativeStep(model, "fp32").loss(*pairs, SPECIAL, 0.1)
    expected = gradients(model, plain)
    monkeypatch.setattr(packing, "PAGE", 16)
    found = NativeStep(model, "fp32").loss(*pairs, SPECIAL, 0.1)
    assert found == plain
    assert_alike(gradients(model, found), expected, 0)


@pytest.mark.parametrize("n_tokens", [1024, 40_001])
def test_so_they_are_of_long_texts_and_large_vocabularies(level: str, n_tokens: int) -> None:
    """Of which some rows, and some columns, are in work at a time."""
    model = small(vocabulary_size=n_tokens, tied=False, output_bias=True)
    pairs = pairs_for(model, [(3, 150), (150, 0)])
    expected = torch_loss(model, pairs, 0.1)
    found = NativeStep(model).loss(*pairs, SPECIAL, 0.1)
    torch.testing.assert_close(found, expected)
    assert_alike(gradients(model, found), gradients(model, expected), 1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_in_fewer_bits_the_gradient_points_where_it_does(level: str, norm: str) -> None:
    model = small(d_model=40, d_ff=50, vocabulary_size=700, norm=norm)
    pairs = pairs_for(model, [(7, 9), (20, 18), (1, 0)])
    expected = gradients(model, torch_loss(model, pairs, 0.1))
    found = gradients(model, NativeStep(model, "bf16").loss(*pairs, SPECIAL, 0.1))
    one, other = (torch.cat([g.flatten() for g in some.values()]) for some in (found, expected))
    assert torch.cosine_similarity(one, other, dim=0) > 0.999
    assert float((one - other).norm() / other.norm()) > 1e-5  # it is rounded


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_gradient_is_that_of_the_loss_with_the_same_numbers_dropped(norm: str) -> None:
    model = dropping(activation="gelu", norm=norm)
    step, pairs = NativeStep(model), pairs_for(model, [(5, 6), (9, 8), (2, 3)])

    def loss() -> Tensor:
        torch.manual_seed(7)
        return step.loss(*pairs, SPECIAL, 0.1)

    slopes = gradients(model, loss())
    length = torch.cat([one.flatten() for one in slopes.values()]).norm().item()
    ends = []
    for way in (0.005, -0.005):
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.add_(slopes[name], alpha=way / length)
            ends.append(loss().item())
            for name, parameter in model.named_parameters():
                parameter.sub_(slopes[name], alpha=way / length)
    assert (ends[0] - ends[1]) / 0.01 == pytest.approx(length, rel=0.01)


def test_what_is_dropped_does_not_hang_on_threads_or_on_what_is_learned_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = dropping()
    pairs = pairs_for(model, [(5, 6), (9, 8), (2, 3), (0, 0), (7, 7)])
    found = []
    monkeypatch.setattr(training, "LEAST_TOKENS", 1)
    for threads, tokens in ((1, 1024), (3, 1024), (1, 10), (2, 1)):
        monkeypatch.setattr(training, "CHUNK_TOKENS", tokens)
        torch.manual_seed(7)
        found.append(
            gradients(model, NativeStep(model, threads=threads).loss(*pairs, SPECIAL, 0.1))
        )
    for other in found[1:]:
        assert_alike(other, found[0], 1e-5)
    torch.manual_seed(7)
    again = gradients(model, NativeStep(model, threads=2).loss(*pairs, SPECIAL, 0.1))
    assert all(torch.equal(one, again[name]) for name, one in found[3].items())
    step = NativeStep(model)
    assert len({step.loss(*pairs, SPECIAL, 0.1).item() for _ in range(3)}) == 3


DROPS = """
void dropped(float p, uint64_t key, int64_t n, float *x) { drop(p, key, n, x, x); }
void all_of_a_row(int64_t places, int64_t heads, float *x) {
    uint64_t key = 5;
    const int64_t first[] = {0, 1};
    const side row = {.rows = 1, .first = first, .keys = &key};
    for (int64_t place = 0; place < places; place++, x += 64) {
        const attention to = {.dropout = 0.5f, .place = place, .queries = &row};
        for (int64_t head = 0; head < heads; head++, x += 64)
            dropped_weights(&to, 0, head, 64, x, x);
        drop_rows(0.5f, &row, place, x, 64);
    }
}
"""


@pytest.fixture(scope="module")
def drops(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The step's dropout."""
    folder = tmp_path_factory.mktemp("drops")
    main = folder / "drops.c"
    main.write_text(f'#include "{sources_of("training")[0]}"\n{DROPS}', encoding="utf-8")
    library = ctypes.CDLL(
        str(compiled(main, folder / "drops.so", "-O0", compiling.THIS_PROCESSOR[0]))
    )
    library.dropped.argtypes = [ctypes.c_float, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p]
    library.all_of_a_row.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    return library


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_no_two_dropouts_of_a_row_drop_alike(drops: ctypes.CDLL, heads: int) -> None:
    x = zeros(30, heads + 1, 64)
    x[...] = 1
    drops.all_of_a_row(30, heads, x.ctypes.data)
    assert len(np.unique(x.reshape(-1, 64), axis=0)) == 30 * (heads + 1)


def test_numbers_are_dropped_at_random_and_others_scaled(drops: ctypes.CDLL) -> None:
    x, n = zeros(400, 512), 400 * 512
    for probability in (0.1, 0.5, 0.9):
        x[...] = 2
        for row in range(400):
            drops.dropped(probability, row * 2**35 + row % 7, 512, x[row].ctypes.data)
        kept = x != 0
        assert x[kept] == pytest.approx(2 / (1 - probability))
        deviation = (probability * (1 - probability)) ** 0.5
        assert abs(kept.mean() - (1 - probability)) < 4 * deviation / n**0.5
        assert abs(kept.mean(0) - kept.mean()).max() < 5 * deviation / 400**0.5
        assert abs(kept.mean(1) - kept.mean()).max() < 5 * deviation / 512**0.5
        centred = kept - kept.mean()
        neighbours = [
            (centred[1:] * centred[:-1]).mean(),
            (centred[:, 1:] * centred[:, :-1]).mean(),
        ]
        assert np.abs(neighbours).max() < 5 * deviation**2 / n**0.5


def test_losses_are_without_dropout_outside_training_and_with_a_share_of_it() -> None:
    model = dropping()
    step, pairs = NativeStep(model), pairs_for(model, [(5, 6), (9, 8)])
    expected = torch_loss(model.eval(), pairs, 0.0)
    with torch.no_grad():
        found = step.loss(*pairs, SPECIAL, 0.0)
    assert not found.requires_grad
    torch.testing.assert_close(found, expected.detach())
    set_dropout(model.train(), 0.0)
    torch.testing.assert_close(step.loss(*pairs, SPECIAL, 0.0), expected)


def test_gradients_are_added_up_times_what_the_loss_is_multiplied_by() -> None:
    model = small(vocabulary_size=40)
    step, pairs = NativeStep(model), pairs_for(model, [(5, 6), (9, 8)])
    once = gradients(model, step.loss(*pairs, SPECIAL, 0.1))
    (step.loss(*pairs, SPECIAL, 0.1) / 4).backward()
    both = {name: one.grad for name, one in model.named_parameters() if one.grad is not None}
    assert_alike(both, {name: 1.25 * one for name, one in once.items()}, 1e-6)
    with torch.no_grad():
        model.output_weight += 0.1  # it reads the weights as they are now
    assert_alike(
        gradients(model, step.loss(*pairs, SPECIAL, 0.1)),
        gradients(model, torch_loss(model, pairs, 0.1)),
        2e-4,
    )


def test_only_the_newest_loss_can_be_gone_back_from() -> None:
    model = small(vocabulary_size=40)
    step, pairs = NativeStep(model), pairs_for(model, [(5, 6)])
    old = step.loss(*pairs, SPECIAL, 0.1)
    step.loss(*pairs, SPECIAL, 0.1)
    with pytest.raises(RuntimeError, match="newest loss"):
        old.backward()


def test_where_a_thread_fails_the_others_have_ended() -> None:
    ended = list[int]()

    def work(thread: int) -> None:
        if not thread:
            raise MemoryError
        time.sleep(0.1)
        ended.append(thread)

    with pytest.raises(MemoryError):
        NativeStep(small(), threads=3)._together(work)
    assert sorted(ended) == [1, 2]


def test_a_begin_marker_that_is_padding_is_fed_but_not_learned() -> None:
    model = small(vocabulary_size=40, tied=False)
    pairs = pairs_for(model, [(5, 6), (3, 2)])
    found = NativeStep(model).loss(*pairs, SpecialIds(begin=None), 0.0)
    grown = gradients(model, found)["target_embedding.weight"]
    assert not grown[0].any()
    assert grown[3:].any()


def test_wrong_ids_are_refused() -> None:
    model = small(vocabulary_size=40, positions="learned", max_length=8)
    step = NativeStep(model)
    for wrong in (40, -1):
        with pytest.raises(ValueError, match="ids must be from 0 to 39"):
            step.loss([[5]], [[6, wrong]], SPECIAL, 0.1)
    with pytest.raises(ValueError, match="no padding"):
        step.loss([[5, 0]], [[6]], SPECIAL, 0.1)
    with pytest.raises(UserError, match="Learned positions end at 8 tokens; got 9"):
        step.loss([[5] * 8], [[6]], SPECIAL, 0.1)


def test_other_models_are_left_to_torch() -> None:
    cpu = torch.device("cpu")
    assert not unsupported_training(dropping(), cpu)
    assert unsupported_training(torch.nn.Linear(2, 2), cpu) == "Linear is no plain Transformer"
    assert "cuda" in unsupported_training(small(), torch.device("cuda"))
    frozen = small()
    next(frozen.parameters()).requires_grad_(False)
    assert "do not learn" in unsupported_training(frozen, cpu)
    rounded = small().bfloat16()
    assert "not float32" in unsupported_training(rounded, cpu)
    uneven = dropping()
    uneven.decoder[0].self_attention.dropout.probability = 0.0
    assert "dropout" in unsupported_training(uneven, cpu)
    looked_at = small()
    looked_at.encoder[0].register_forward_hook(lambda *some: None)
    assert unsupported_training(looked_at, cpu)
    looked_at = small()
    looked_at.output_weight.register_hook(lambda gradient: None)
    assert "looks into" in unsupported_training(looked_at, cpu)
    with pytest.raises(ValueError, match="int8"):
        NativeStep(small(), "int8")
    rotary = Transformer(PositionedConfig(**DROPPED, positions="rotary"), vocabulary_size=9)
    assert "rotary" in unsupported_training(rotary, cpu)
