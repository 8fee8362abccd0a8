"""The compiled updates: what Python hands to `kernel.c`, checked."""

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.engine.building import all_of, opened_library
from headway.engine.compiling import NoEngineError, cached_library
from headway.word2vec.objective import Counted, Law, RandomStates, refuse_lines

_pointer, _int, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class KernelModel(ctypes.Structure):
    """`model` of kernel.c."""

    _fields_ = (
        *all_of(_pointer, "vectors outputs kept noise starts nodes turns"),
        *all_of(_int, "words size window negatives skip_gram"),
    )


class KernelStretch(ctypes.Structure):
    """`stretch` of kernel.c."""

    _fields_ = (
        *all_of(_pointer, "ids lengths"),
        *all_of(_int, "n_ids n_lines"),
        *all_of(_double, "rate last_rate"),
        ("state", ctypes.c_uint64),
        *all_of(_pointer, "words room"),
        *all_of(_int, "n_kept n_pairs"),
        ("nats", _double),
    )


@functools.cache
def kernel_library() -> ctypes.CDLL | str:
    """The compiled kernel, or why there is none: once a process, as a compiler takes its time."""
    try:
        return cached_library("word2vec", opened)
    except NoEngineError as error:
        return str(error)


def opened(file: Path) -> ctypes.CDLL:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    model = ctypes.POINTER(KernelModel)
    takes: dict[str, tuple[Any, list[Any]]] = {
        "word2vec": (None, [model, ctypes.POINTER(KernelStretch)]),
        "noise": (None, [model, ctypes.c_uint64, _int, _pointer]),
    }
    library: ctypes.CDLL = opened_library(file, "headway", takes)[0]
    return library


class KernelUpdates:
    """`Updates` in C. Python's lock is released meanwhile, so threads run side by side."""

    def __init__(
        self,
        library: ctypes.CDLL,
        vectors: NDArray[np.float32],
        outputs: NDArray[np.float32],
        law: Law,
        states: RandomStates,
    ) -> None:
        self._library, self.states = library, states
        self._draws, self._size = law.draws, vectors.shape[1]
        ways = law.tree if law.objective.hierarchical else ()
        arrays: tuple[NDArray[Any], ...] = (
            vectors, outputs, law.kept, np.stack(law.noise, axis=1), *ways
        )  # fmt: skip
        self._alive = arrays  # as long as their addresses are used
        self._model = KernelModel(
            *(array.ctypes.data for array in arrays),
            *(None for _ in range(3 - len(ways))),
            *vectors.shape,
            law.objective.window,
            law.objective.negatives,
            law.objective.direction == "skip-gram",
        )

    def update(
        self,
        ids: NDArray[np.uint32],
        lengths: NDArray[np.int32],
        rate: float,
        last_rate: float,
        thread: int = 0,
    ) -> Counted:
        """See `Updates`."""
        ids, lengths = np.ascontiguousarray(ids), np.ascontiguousarray(lengths)
        refuse_lines(ids, lengths, self._model.words)
        words = np.empty(max(1, lengths.max(initial=0)), dtype=np.uint32)
        room = np.empty(2 * self._size, dtype=np.float32)
        stretch = KernelStretch(
            ids.ctypes.data, lengths.ctypes.data, len(ids), len(lengths), rate, last_rate,
            self.states[thread], words.ctypes.data, room.ctypes.data,
        )  # fmt: skip
        self._library.headway_word2vec(self._model, stretch)
        self.states.advance(thread, len(ids) + stretch.n_kept * self._draws)
        return Counted(len(ids), stretch.n_kept, stretch.n_pairs, stretch.nats)

    def noise(self, n: int) -> NDArray[np.uint32]:
        """Words of noise, drawn as they are while learning."""
        drawn = np.empty(n, dtype=np.uint32)
        self._library.headway_noise(self._model, self.states[0], n, drawn.ctypes.data)
        self.states.advance(0, n)
        return drawn
