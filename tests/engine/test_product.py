"""Products in fewer bits are those of rounded numbers, on every instruction set."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.runtime import ProductPrecision
from headway.engine import building, compiling, levels
from headway.engine.building import EngineLibrary
from headway.engine.compiling import NoEngineError, sources_of
from headway.engine.packing import LONGEST_SUM, aligned, packed, zeros
from headway.engine.rounding import MOST_STEPS, Floats, as_bfloat16, as_int8

PRECISIONS: tuple[ProductPrecision, ...] = ("fp32", "bf16", "int8")
SHAPES = st.tuples(st.integers(1, 45), st.integers(1, 150), st.integers(1, 80), st.integers(0, 99))
"""Rows, inputs, outputs and a seed."""
ROW_STEPS = 126
"""From the least number of a row to the greatest."""


ENGINES = {
    "wide": ("-march=x86-64-v4", ["avx512bw", "avx512vl"]),
    "half": ("-march=x86-64-v3", ["avx2", "fma"]),
    "half, with bytes": ("-mavxvnni", ["avx2", "avxvnni"]),
    "quarter": ("-march=x86-64-v2", ["ssse3"]),
    "portable": ("", []),
}
"""A flag of the compiler, and what the processor must have for it."""


@pytest.fixture(scope="module", params=["native", *ENGINES])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> EngineLibrary:
    """The one of this processor, and those of lesser ones."""
    if request.param == "native":
        return building.engine_library()
    flag, needed = ENGINES[request.param]
    there = levels.processor_features()
    if not set(needed) <= set(there):
        pytest.skip(f"no {' '.join(needed)} here")
    file = tmp_path_factory.mktemp("engine") / "engine.so"
    try:
        compiler, main = compiling.found_compiler(), sources_of("engine")[0]
        compiling.compiled(compiler, main, file, "-O0", *filter(None, [flag]))
    except NoEngineError as error:
        pytest.skip(str(error))
    return building.loaded(file)


def product(
    engine: EngineLibrary, precision: ProductPrecision, x: Floats, weight: Floats, bias: Floats
) -> Floats:
    """What the engine gives for any shape, padded as it wants it."""
    panel = engine.panel
    n_rows, (n_outputs, n_inputs) = len(x), weight.shape
    inputs, outputs = (-(-n // panel) * panel for n in (n_inputs, n_outputs))
    rows, whole, biases = zeros(n_rows, inputs), zeros(outputs, inputs), zeros(outputs)
    rows[:, :n_inputs], whole[:n_outputs, :n_inputs], biases[:n_outputs] = x, weight, bias
    matrix = packed(whole, biases, panel, precision)
    found, scales, room = zeros(n_rows, outputs), zeros(2 * n_rows), aligned(4 * rows.size)
    places = [array.ctypes.data for array in (rows, found, room, scales)]
    engine.library.headway_product(matrix.structure, n_rows, *places)
    return found[:, :n_outputs]


def drawn(rows: int, inputs: int, outputs: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Rows, weights and bias, each row and each output of its own size."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((rows, inputs)) * np.exp(draw.standard_normal((rows, 1)))
    weight = draw.standard_normal((outputs, inputs)) * np.exp(draw.standard_normal((outputs, 1)))
    bias = draw.standard_normal(outputs)
    return x.astype(np.float32), weight.astype(np.float32), bias.astype(np.float32)


def whole_weights(draw: np.random.Generator, n: int, size: int) -> Floats:
    """Outputs whose largest weight is all steps of a power of two, all others whole steps; in a
    third of them all are as large."""
    found = draw.integers(-MOST_STEPS, MOST_STEPS + 1, (n, size))
    found[np.arange(n), draw.integers(0, size, n)] = draw.choice((-MOST_STEPS, MOST_STEPS), n)
    found[::3] = draw.choice((-MOST_STEPS, MOST_STEPS), (len(found[::3]), 1))
    return (found * 2.0 ** draw.integers(-3, 4, (n, 1))).astype(np.float32)


def whole_rows(draw: np.random.Generator, n: int, size: int) -> Floats:
    """Rows that span all steps of a power of two, 0 among them, all numbers whole steps; in a third
    of the rows they are the least or the greatest, in another there is none below 0."""
    least = draw.integers(-ROW_STEPS, 1, (n, 1))
    least[1::3] = 0
    found = least + draw.integers(0, ROW_STEPS + 1, (n, size))
    found[::3] = least[::3] + ROW_STEPS * draw.integers(0, 2, found[::3].shape)
    one, other = draw.permutation(size)[:2] if size > 1 else (0, 0)
    found[:, one], found[:, other] = least[:, 0], least[:, 0] + ROW_STEPS
    if size == 1:
        found[:] = ROW_STEPS * draw.choice((-1, 1), (n, 1))
    return (found * 2.0 ** draw.integers(-3, 4, (n, 1))).astype(np.float32)


@settings(max_examples=15)
@given(shape=SHAPES)
def test_whole_steps_are_multiplied_exactly_in_int8(
    engine: EngineLibrary, shape: tuple[int, int, int, int]
) -> None:
    rows, inputs, outputs, seed = shape
    draw = np.random.default_rng(seed)
    x, weight = whole_rows(draw, rows, inputs), whole_weights(draw, outputs, inputs)
    expected = x.astype(np.float64) @ weight.astype(np.float64).T  # below 2^53 steps: exact
    np.testing.assert_array_equal(
        product(engine, "int8", x, weight, np.zeros(outputs, np.float32)), expected
    )


@settings(max_examples=15)
@given(shape=SHAPES)
def test_int8_is_off_by_half_a_step_of_each_number_at_most(
    engine: EngineLibrary, shape: tuple[int, int, int, int]
) -> None:
    x, weight, bias = drawn(*shape)
    sizes, of_weights = np.abs(x.astype(np.float64)), np.abs(weight.astype(np.float64))
    spans = np.maximum(x.max(1, keepdims=True), 0) - np.minimum(x.min(1, keepdims=True), 0)
    half = spans.astype(np.float64) / (2 * ROW_STEPS)
    half_of_weights = of_weights.max(1, keepdims=True) / (2 * MOST_STEPS)
    most = (sizes + half) @ (of_weights + half_of_weights).T - sizes @ of_weights.T
    exact = x.astype(np.float64) @ weight.astype(np.float64).T + bias
    off = np.abs(product(engine, "int8", x, weight, bias) - exact)
    assert (off <= 1.0001 * most + 1e-5 * (np.abs(exact) + 1)).all()


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@settings(max_examples=15)
@given(shape=SHAPES)
def test_floats_are_rounded_once_and_summed_in_float32(
    engine: EngineLibrary, precision: ProductPrecision, shape: tuple[int, int, int, int]
) -> None:
    x, weight, bias = drawn(*shape)
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
    read, held = (torch.from_numpy(one).to(dtype).double().numpy() for one in (x, weight))
    room = (np.abs(read) @ np.abs(held).T + np.abs(bias)) * (x.shape[1] + 2) * 2.0**-23
    found = product(engine, precision, x, weight, bias)
    assert (np.abs(found - (read @ held.T + bias)) <= room).all()


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_row_gives_the_same_alone_to_the_last_bit(
    engine: EngineLibrary, precision: ProductPrecision
) -> None:
    x, weight, bias = drawn(31, 70, 50, 1)
    together = product(engine, precision, x, weight, bias)
    for row in range(len(x)):
        alone = product(engine, precision, x[row : row + 1], weight, bias)
        np.testing.assert_array_equal(alone[0], together[row])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(("wrong", "place"), [(np.nan, 0), (np.nan, 33), (np.inf, 69)])
def test_what_is_no_number_stays_none(
    engine: EngineLibrary, precision: ProductPrecision, wrong: float, place: int
) -> None:
    x, weight, bias = drawn(3, 70, 50, 2)
    sound = product(engine, precision, x, weight, bias)
    spoilt = x.copy()
    spoilt[1, place] = wrong
    found = product(engine, precision, spoilt, weight, bias)
    np.testing.assert_array_equal(found[[0, 2]], sound[[0, 2]])
    assert not np.isfinite(found[1]).any()
    held = weight.copy()
    held[4, place] = wrong
    found = product(engine, precision, x, held, bias)
    assert not np.isfinite(found[:, 4]).any()
    np.testing.assert_array_equal(np.delete(found, 4, 1), np.delete(sound, 4, 1))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_zeros_give_the_bias(engine: EngineLibrary, precision: ProductPrecision) -> None:
    x, weight, bias = drawn(4, 40, 30, 3)
    nothing = [product(engine, precision, 0 * x, weight, bias)]
    nothing.append(product(engine, precision, x, 0 * weight, bias))
    for found in nothing:
        np.testing.assert_array_equal(found, np.tile(bias, (4, 1)))


def test_bfloat16_is_torchs() -> None:
    numbers = np.random.default_rng(1).integers(0, 1 << 32, 4096, np.uint32).view(np.float32)
    finite = numbers[np.isfinite(numbers)]
    expected = torch.from_numpy(finite).bfloat16().view(torch.int16).numpy().view(np.uint16)
    np.testing.assert_array_equal(as_bfloat16(finite), expected)


def test_the_longest_sum_of_the_largest_numbers_fits(engine: EngineLibrary) -> None:
    signs = np.random.default_rng(5).choice((-1, 1), LONGEST_SUM).astype(np.float32)
    one = np.ones(LONGEST_SUM, np.float32)
    x = ROW_STEPS * np.stack([one, -one, signs / 2])
    weight = MOST_STEPS * np.stack([one, -one, signs])
    found = product(engine, "int8", x, weight, np.zeros(3, np.float32))
    np.testing.assert_array_equal(found, x.astype(np.float64) @ weight.astype(np.float64).T)


def test_the_largest_weight_of_an_output_has_all_steps() -> None:
    _, weight, _ = drawn(1, 50, 20, 4)
    weight[3] = 0
    whole, steps = as_int8(weight)
    sizes = np.abs(whole).max(1)
    assert sizes[3] == 0
    assert (np.delete(sizes, 3) == MOST_STEPS).all()
    np.testing.assert_allclose(whole * steps[:, None], weight, atol=float(steps.max()) / 1.99)
