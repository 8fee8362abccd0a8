"""What reads pictures: patches through the house's encoder (Dosovitskiy et al. 2021), or a few
convolutions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.dropout import check_dropout
from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.images.decoding import PictureShape
from headway.nn.encoder import Encoded, Encoder, EncoderConfig
from headway.nn.positioned import Positions


def patches(
    pictures: Float[Tensor, "batch channels height width"], side: int
) -> Float[Tensor, "batch n_patches numbers"]:
    """Squares of a picture, row by row, each as one vector: its rows, and of each pixel its
    channels."""
    rows = pictures.unfold(2, side, side).unfold(3, side, side)  # [batch, channels, down, across,
    return rows.permute(0, 2, 3, 4, 5, 1).flatten(3).flatten(1, 2)  # side, side]


def unpatched(
    vectors: Float[Tensor, "batch n_patches numbers"], shape: PictureShape, side: int
) -> Float[Tensor, "batch channels height width"]:
    """The pictures that `patches` took apart."""
    down, across = shape.height // side, shape.width // side
    cut = vectors.unflatten(1, (down, across)).unflatten(3, (side, side, shape.channels))
    return cut.permute(0, 5, 1, 3, 2, 4).reshape(-1, shape.channels, shape.height, shape.width)


@dataclass(frozen=True)
class PatchConfig(EncoderConfig):
    """[model] of type transformer."""

    seen: ClassVar = 400_000
    """Pictures to train on, each as often as it is seen, where no length is given."""
    d_model: int = 64
    """Size of each patch between layers."""
    d_ff: int = 128
    """Size inside the feed-forward."""
    layers: int = 4
    """Layers, one above the other."""
    positions: Positions = "learned"
    """How the place of a patch is known; none: a picture is a bag of patches."""
    patch: int = 4
    """Pixels of a side of a patch, which must divide the picture's sides."""
    pooling: Literal["mean", "first"] = "mean"
    """What the label is told from: the mean of all patches, or a vector in front of them that
    belongs to none (their class token)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"patch": 1})


class PatchEncoder(Encoder):
    """A vision transformer: each patch is a vector that enters the trunk where a text's ids do."""

    def __init__(self, config: PatchConfig, shape: PictureShape) -> None:
        """Raises ConfigError where patches do not fill the picture."""
        if shape.height % config.patch or shape.width % config.patch:
            raise ConfigError(
                f"patches divide the sides of a picture; got {shape.height} x {shape.width} and "
                f"--model.patch {config.patch}. Give --data.size {8 * config.patch}, or another "
                "--model.patch."
            )
        n_patches = shape.height * shape.width // config.patch**2
        places = n_patches + (config.pooling == "first")
        numbers = config.patch**2 * shape.channels
        super().__init__(replace(config, max_length=places), d_input=numbers)
        self.patch, self.shape = config.patch, shape
        self.class_vector = None
        if config.pooling == "first":
            self.class_vector = nn.Parameter(0.02 * torch.randn(config.d_model))

    def forward(self, pictures: Float[Tensor, "batch channels height width"]) -> Encoded:
        """Of pictures, normalized."""
        vectors = patches(pictures, self.patch)
        if self.class_vector is None:
            return self.of_vectors(vectors)
        embedded = self.from_vectors(vectors.to(self.class_vector.dtype))
        first = self.class_vector.expand(len(embedded), 1, -1)
        embedded = torch.cat([first, embedded], 1)
        return self.encode(embedded, embedded.new_ones(embedded.shape[:2], dtype=torch.bool))

    @property
    def grid(self) -> tuple[int, int]:
        """Patches down and across."""
        return self.shape.height // self.patch, self.shape.width // self.patch

    @property
    def filters(self) -> Float[Tensor, "filters channels height width"]:
        """What each number of a patch's vector is the product with."""
        own = PictureShape(self.patch, self.patch, self.shape.channels)
        return unpatched(self.from_vectors.weight[:, None], own, self.patch)


@dataclass(frozen=True)
class PictureCnnConfig:
    """[model] of type cnn."""

    seen: ClassVar = 300_000
    """As above."""
    channels: tuple[int, ...] = (16, 32, 64, 64)
    """Of each layer, a convolution and ReLU."""
    kernel: int = 5
    """Side of the first layer's filters; the others' are 3."""
    halvings: int = 2
    """After so many layers, the first ones, each 2 x 2 places become one, the largest."""
    dropout: float = 0.3
    """In front of the head."""
    pooling: Literal["mean", "max"] = "mean"
    """What the label is told from, of all places."""

    def __post_init__(self) -> None:
        if not self.channels or not all(1 <= n <= 1 << 14 for n in self.channels):
            raise ConfigError(
                f"channels are the numbers of filters of each layer; got {self.channels}. Try "
                "--model.channels 32,64,128"
            )
        refuse_below(self, {"kernel": 1, "halvings": 0})
        refuse_beyond(self, {"kernel": 64, "halvings": len(self.channels)})
        check_dropout(self.dropout)


class PictureConvolution(nn.Module):
    """A convolution that keeps the size, ReLU, and by choice half of it (LeCun et al. 1998)."""

    def __init__(self, n_input: int, n_output: int, *, kernel: int, halves: bool) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(n_input, n_output, kernel, padding="same")
        nn.init.kaiming_normal_(self.convolution.weight, nonlinearity="relu")
        nn.init.zeros_(self.convolution.bias)  # type: ignore[arg-type]
        self.halves = halves

    def forward(self, x: Float[Tensor, "batch n_input h w"]) -> Float[Tensor, "batch n_output _ _"]:
        """Of some pictures, or of what the layer below has made of them."""
        x = self.convolution(x).relu()
        return F.max_pool2d(x, 2, ceil_mode=True) if self.halves else x


class PictureCnn(nn.Module):
    """Convolutions one above the other; each place of the last one is a vector."""

    def __init__(self, config: PictureCnnConfig, shape: PictureShape) -> None:
        super().__init__()
        self.d_output = config.channels[-1]
        sizes = enumerate(pairwise((shape.channels, *config.channels)))
        self.layers = nn.ModuleList(
            PictureConvolution(*two, kernel=3 if n else config.kernel, halves=n < config.halvings)
            for n, two in sizes
        )
        self.shape, self.halvings = shape, config.halvings

    def forward(self, pictures: Float[Tensor, "batch channels height width"]) -> Encoded:
        """Of pictures, normalized."""
        x = pictures.to(next(self.parameters()).dtype)
        for layer in self.layers:
            x = layer(x)
        features = x.flatten(2).transpose(1, 2)
        return Encoded(features, features.new_ones(features.shape[:2], dtype=torch.bool))

    @property
    def grid(self) -> tuple[int, int]:
        """Places of the last layer, down and across."""
        half = 2**self.halvings
        return -(-self.shape.height // half), -(-self.shape.width // half)

    @property
    def filters(self) -> Float[Tensor, "filters channels height width"]:
        """Of the first layer."""
        first: PictureConvolution = self.layers[0]  # type: ignore[assignment]
        return first.convolution.weight


PICTURE_ENCODERS: dict[str, tuple[type, Callable[..., nn.Module]]] = {
    "transformer": (PatchConfig, PatchEncoder),
    "cnn": (PictureCnnConfig, PictureCnn),
}
"""What may read a picture, by `--model.type`: the dataclass of [model], and what is built from it
and a `PictureShape`."""
