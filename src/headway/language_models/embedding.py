"""Words as a language model makes vectors of them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.errors import RunError
from headway.core.rows import pad
from headway.core.runtime import Device
from headway.language_models.elmo import Elmo
from headway.language_models.nnlm import Nnlm
from headway.language_models.trained import TrainedLanguageModel
from headway.nn.layer_outputs import Row, layer_outputs, vectors_of_rows
from headway.vectors.contextual import EmbeddedText, Sees, embedded_texts


class Layered(NamedTuple):
    """What the layers of a model give."""

    names: tuple[str, ...]
    sees: Sees
    read: Callable[[list[Row]], Float[Tensor, "layers rows length size"]]
    longest: int | None
    """Tokens that are read at once; None for all."""


def stacked(used: TrainedLanguageModel) -> Layered:
    """Layers one upon another, each of them when it has read a word and those before it; the last
    one's output behind the final norm, if there is one."""
    model = cast(Any, used.decoder)
    layers, last = list(model.stack), getattr(model, "norm", None)

    def read(rows: list[Row]) -> Tensor:
        fed = _fed(used, rows)
        return layer_outputs(lambda: model.read(fed), layers, last)[:, :, 1:]

    names = ("embedding", *map(str, range(1, len(layers) + 1)))
    longest = None if used.carries else used.window - 1  # the begin marker stands before
    return Layered(names, "the words before it", read, longest)


def static(used: TrainedLanguageModel) -> Layered:
    """The one vector that each word has."""
    vectors = cast(Nnlm, used.decoder).word_vectors()

    def read(rows: list[Row]) -> Tensor:
        return vectors[_fed(used, rows)[:, 1:]][None]

    return Layered(("embedding",), "the word alone", read, None)


def _fed(used: TrainedLanguageModel, rows: list[Row]) -> Int[Tensor, "rows length"]:
    """Ids of some texts, a begin marker before each."""
    special, arrays = used.vocabulary.special, [np.array(row, np.int64) for row in rows]
    fed = pad(arrays, special.padding, begin=special.decoder_begin)
    return torch.from_numpy(fed).to(used.device)


def both_ways(used: TrainedLanguageModel) -> Layered:
    """Its letters, and layers that read forward and backward."""
    model = cast(Elmo, used.decoder)
    names = ("embedding", *map(str, range(1, len(model.layers) + 1)))

    def read(rows: list[Row]) -> Tensor:
        return model.contextual(_fed(used, rows)[:, 1:])

    return Layered(names, "the words on both sides", read, None)


LAYERS: dict[str, Callable[[TrainedLanguageModel], Layered]] = {
    "transformer": stacked,
    "rnn": stacked,
    "lstm": stacked,
    "gru": stacked,
    "nnlm": static,
    "elmo": both_ways,
}
"""By type of model; what is not here has no vectors."""


class LanguageModelEmbedder:
    """A language model's layers, of each text by itself."""

    def __init__(self, used: TrainedLanguageModel, layered: Layered) -> None:
        self.used, self.layered = used, layered
        self.layers, self.sees = layered.names, layered.sees

    def embed(self, texts: Iterable[str]) -> Iterator[EmbeddedText]:
        """See `Embedder`."""
        used, (_, _, read, longest) = self.used, self.layered
        found = partial(vectors_of_rows, read=read, longest=longest, causal=True)
        return embedded_texts(map(used.cut, texts), used.vocabulary, found)


def embedder(run: Path, device: Device = "auto") -> LanguageModelEmbedder:
    """What a run of language modelling brings to `headway embed`.

    Raises RunError: there is no such run, or its model counts words and has no vectors.
    """
    used = TrainedLanguageModel.load(run, device=device)
    kind = used.settings.model_type
    if kind not in LAYERS:
        raise RunError(
            f"vectors are those of a model of the type {', '.join(LAYERS)}; {run} is of the type "
            f"{kind}, which counts words. Train one: --model.type lstm"
        )
    return LanguageModelEmbedder(used, LAYERS[kind](used))
