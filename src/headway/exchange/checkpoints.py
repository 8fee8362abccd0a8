"""Folders in which Hugging Face's `transformers` keeps a model: config.json, weights in the format
safetensors. Whatever they say is checked before it is believed."""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from headway.core import tensor_files
from headway.core.config import build
from headway.core.disk import refuse_large
from headway.core.errors import ConfigError, DataError, RunError
from headway.core.layers import Activation

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
PICKLES = (
    *("pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5", "flax_model.msgpack"),
    "rust_model.ot",
)
COUNTED = ("position_ids", "embed_positions.weights", ".attn.bias", ".attn.masked_bias")
"""Names of tensors that say nothing: positions that are counted, sinusoids, masks of GPT-2."""
MAX_BYTES = 1 << 24
"""Of a table in JSON: ten times what the largest have."""
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "swish",
    "swish": "swish",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_python": "gelu",
}
"""By the names there; the first name of each is what is written."""
KNOWN_ACTIVATIONS = ACTIVATIONS, f"it is one of {', '.join(ACTIVATIONS)}"
"""For `refuse_unheld`."""
UNSCALED = "its embeddings are not scaled: they and the output become matrices of their own"
"""Said of a model that is tied there, and cannot be here."""
Shapes = Mapping[str, tuple[int, ...]]
T = TypeVar("T")


def read_json(path: Path) -> dict[str, Any]:
    """A table in a file of JSON.

    Raises:
        DataError: it is missing, too large, or none.
    """
    try:
        refuse_large(path, MAX_BYTES)
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"a model of `transformers` is a folder on this machine with a {path.name}; cannot "
            f"read {path}: {error.strerror or error}. Check the path."
        ) from None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise DataError(f"{path} is to be a table in JSON; it is none. Take it from a copy.")
    return values


def read_config(kind: type[T], path: Path, *, model_type: str) -> T:
    """Of a config.json what `kind`, a dataclass, has fields for; what changes nothing of what is
    computed has none.

    Raises:
        DataError: it is missing, or no JSON of a model.
        ConfigError: it is of another type of model, or a value is of another type.
    """
    values = read_json(path)
    found = values.get("model_type") or model_type
    if found != model_type:
        raise ConfigError(
            f"{path} is to be of a model of the type {model_type}; its model_type is {found!r}. "
            "Other kinds of model cannot be taken so."
        )
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given = {key: value for key, value in values.items() if key in known and value is not None}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in given and field.default is field.default_factory is MISSING:
            raise ConfigError(
                f"the shape of a model stands in its config.json; {path} has no {field.name!r}. "
                "Take that file from where the weights came from."
            )
    with naming(path):
        return build(kind, given, section=path.name)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """While it is open, a ConfigError names the file that the settings are from."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"in {path}: {error}") from None


def refuse_unheld(
    config: object, path: Path, rules: Mapping[str, tuple[Container[Any], str]]
) -> None:
    """Raise ConfigError for a value of a config.json that cannot be held here: `rules` has by name
    the values that can, and why others cannot."""
    for name, (held, why) in rules.items():
        if (value := getattr(config, name)) not in held:
            raise ConfigError(
                f"{path} is of a model that headway cannot hold: {name} is {value!r}; {why}. Take "
                "another."
            )


@dataclass(frozen=True)
class StoredWeights:
    """The tensors of a model: in one file, or in several that an index names."""

    files: Sequence[Path]
    shapes: Shapes

    @classmethod
    def of_folder(cls, folder: Path, architecture: str) -> "StoredWeights":
        """What is there; nothing of it is read. `architecture` is the class in `transformers` that
        opens the folder.

        Raises:
            DataError: there are none, they are no numbers with a point, or a pickle.
        """
        files = [folder / WEIGHTS]
        if not files[0].exists() and (index := folder / INDEX).exists():
            named = read_json(index).get("weight_map")
            names = sorted({*map(str, named.values())}) if isinstance(named, dict) else []
            if not names or any(Path(name).name != name for name in names):
                raise DataError(f"{index} is to name files beside it; it does not. Take a copy.")
            files = [folder / name for name in names]
        elif not files[0].exists():
            refuse_pickle(folder, architecture)
        found: dict[str, tuple[int, ...]] = {}
        for file in files:
            found |= read_shapes(file)
        return cls(files, found)

    def load(self) -> dict[str, Tensor]:
        """All of them, as they are stored.

        Raises:
            DataError: a weight is no number.
        """
        found: dict[str, Tensor] = {}
        for file in self.files:
            for name, tensor in tensor_files.load_tensors(file).items():
                if not all(part.isfinite().all() for part in tensor.flatten().split(1 << 22)):
                    raise DataError(
                        f"weights must be numbers; {name} of {file} is not finite. Take that file "
                        "from a copy, or another model."
                    )
                found[name] = tensor
        return found


def refuse_pickle(folder: Path, architecture: str) -> None:
    """Raise DataError, which says how to make what is read of what is there."""
    found = next((name for name in PICKLES if (folder / name).exists()), None)
    if found is None:
        raise DataError(f"the weights of a model are {WEIGHTS}; {folder} has none. Take a copy.")
    once = (
        f"from transformers import {architecture} as M; "
        f"M.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
    )
    raise DataError(
        f"weights are read from {WEIGHTS}; {folder} has {found}, which can run programs when it "
        f'is opened. Where you trust it: python -c "{once}"'
    )


def read_shapes(weights: Path) -> dict[str, tuple[int, ...]]:
    """Of each tensor by its name that has learned numbers, which have a point.

    Raises:
        DataError: the file cannot be used.
    """
    try:
        shapes = tensor_files.shapes(weights)
    except RunError as error:
        raise DataError(str(error)) from None
    found = {}
    for name, (kind, shape) in shapes.items():
        if name.endswith(COUNTED):
            continue
        found[name] = shape
        if kind not in ("F32", "F16", "BF16"):
            raise DataError(
                f"weights are of the types F32, F16 or BF16; {name} of {weights} is {kind}. Take "
                "the model as it was trained."
            )
    return found


def refuse_few(found: Shapes, n_layers: int, place: Path) -> None:
    """Raise DataError where a file has not even a tensor for each layer: such a model is not
    built."""
    if n_layers >= len(found):
        raise other_weights(f"{place} has {len(found)} tensors where {n_layers} layers belong")


def refuse_other_shapes(
    found: Shapes, wanted: Shapes, optional: Container[str], place: Path
) -> None:
    """Raise DataError where a file has not the tensors that it must have, or others; those that are
    `optional` may be absent."""
    for name in [*wanted, *found]:
        shape = found.get(name)
        if shape != wanted.get(name) and not (shape is None and name in optional):
            held, needed = (
                "nothing" if one is None else str(list(one)) for one in (shape, wanted.get(name))
            )
            raise other_weights(f"{place} has {held} for {name} where {needed} belongs")


def refuse_unlike(tensors: Mapping[str, Tensor], same: Mapping[str, str], place: Path) -> None:
    """Raise DataError where a tensor is not that which it is to be the `same` as; one that is not
    there is."""
    for name, other in same.items():
        if {name, other} <= tensors.keys() and not torch.equal(tensors[name], tensors[other]):
            raise DataError(
                f"config.json says that {name} is {other}; in {place} they differ. Take both files "
                'from a copy; where they are right, put "tie_word_embeddings": false into it.'
            )


def other_weights(how: str) -> DataError:
    """For weights that are not those that config.json describes; `how`, in words."""
    return DataError(
        f"the weights of a model are those that its config.json describes; {how}. Put the two "
        "files of one model together."
    )
