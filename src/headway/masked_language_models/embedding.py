"""A vector for every word of a text, from the layers of a masked language model."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from torch import Tensor

from headway.core.runtime import Device
from headway.labelling.task import Example, padded
from headway.labelling.vocabulary import around
from headway.language_models.units import TokenUnit
from headway.masked_language_models.spec import SPEC
from headway.nn.layer_outputs import Row, layer_outputs, vectors_of_rows
from headway.runs.loading import LoadedRun, open_run
from headway.vectors.contextual import EmbeddedText, Sees, embedded_texts


class MaskedEmbedder:
    """A `headway.vectors.contextual.Embedder`: each text by itself, between its markers."""

    sees: Sees = "the words on both sides"

    def __init__(self, opened: LoadedRun) -> None:
        self.opened = opened
        self.encoder = opened.model.get_submodule("encoder")
        n_layers = len(self.encoder.get_submodule("layers")._modules)
        self.layers = ("embedding", *map(str, range(1, n_layers + 1)))

    def embed(self, texts: Iterable[str]) -> Iterator[EmbeddedText]:
        """See `headway.vectors.contextual.Embedder`."""
        settings = self.opened.settings
        cut = TokenUnit(settings.text.unit, settings.text.segmenter).cut
        longest = max(1, settings.training.window - 2)  # the markers stand around
        read = partial(vectors_of_rows, read=self.read, longest=longest, causal=False)
        return embedded_texts(map(cut, texts), self.opened.vocabulary, read)

    def read(self, rows: list[Row]) -> Float[Tensor, "layers rows length size"]:
        """What each layer gives of some rows of ids."""
        special = self.opened.vocabulary.special
        begin, end = around(special)
        fed = [Example(np.array([*begin, *row, *end]), None) for row in rows]
        ids = padded(fed, special.padding).to(self.opened.device)
        layers, norm = (self.encoder.get_submodule(name) for name in ("layers", "norm"))
        found = layer_outputs(lambda: self.encoder(ids), list(layers.children()), norm)
        return found[:, :, len(begin) :]


def embedder(run: Path, device: Device = "auto") -> MaskedEmbedder:
    """What a run of this task brings to `headway embed`."""
    return MaskedEmbedder(open_run(SPEC, run, device=device))
