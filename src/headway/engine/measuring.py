"""How fast this processor multiplies in each precision: measured once for each library."""

import platform
import time
from pathlib import Path

import numpy as np

from headway.core.disk import DiskError, checksum
from headway.core.runtime import ProductPrecision, processor_line
from headway.corpora.cache import read_sealed, reopened, sealed_folder
from headway.corpora.cache_place import cache_root, key_of
from headway.engine.building import EngineLibrary
from headway.engine.packing import KINDS, PackedMatrix, aligned, packed, zeros

ROWS, INPUTS, OUTPUTS = 30, 256, 2048
"""Of hypotheses in work, and of a part of a vocabulary; sizes are multiples of every panel."""
ROUNDS = 9


def product_seconds(engine: EngineLibrary) -> dict[ProductPrecision, float]:
    """Processor seconds of a product in each precision, rounding of its rows included: measured in
    a few hundredths of a second, or found in the cache."""
    description = {
        "library": checksum(Path(engine.library._name)),
        "processor": [platform.machine(), processor_line("model name"), processor_line("flags")],
        "measured": [ROWS, INPUTS, OUTPUTS, ROUNDS, engine.has_amx],
    }
    place = cache_root() / f"products-{key_of(description)}"
    kept = reopened(place, lambda: read_sealed(place))
    if kept is not None:
        return {precision: float(kept[precision]) for precision in KINDS}
    found = measured_products(engine)
    try:
        with sealed_folder(place) as (_, content):
            content.update(**found)
    except DiskError:
        pass  # measured again next time
    return found


def measured_products(engine: EngineLibrary) -> dict[ProductPrecision, float]:
    """The least of some rounds in turn, so that what else the machine does hits all alike."""
    draw = np.random.default_rng(1)
    weight = draw.standard_normal((OUTPUTS, INPUTS)).astype(np.float32)
    x, y, scales = zeros(ROWS, INPUTS), zeros(ROWS, OUTPUTS), zeros(2 * ROWS)
    x[...] = draw.standard_normal(x.shape)
    room = aligned(4 * x.size)
    places = [array.ctypes.data for array in (x, y, room, scales)]

    def seconds(matrix: PackedMatrix) -> float:
        begun = time.thread_time()
        engine.library.headway_product(matrix.structure, ROWS, *places)
        return time.thread_time() - begun

    bias = zeros(OUTPUTS)
    matrices = {one: packed(weight, bias, engine.panel, one) for one in KINDS}
    rounds = [{one: seconds(matrix) for one, matrix in matrices.items()} for _ in range(ROUNDS)]
    return {one: min(each[one] for each in rounds) for one in KINDS}
