"""Pictures a little changed each time they are seen: shifted, turned, scaled, mirrored."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from headway.core.errors import refuse_below, refuse_beyond
from headway.operations.time_budget import PlannedTraining


@dataclass(frozen=True)
class PictureTraining(PlannedTraining):
    """Section [training]. Nothing is mirrored unless it is asked for: digits and letters are
    others then."""

    shift: float = 0.08
    """How far a picture is moved at most, as a share of its side."""
    rotation: float = 10.0
    """How far it is turned at most, in degrees."""
    scale: float = 0.1
    """How much larger or smaller it becomes at most."""
    flip: bool = False
    """Whether half of the pictures are mirrored, left for right: right for cats, wrong for text."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, dict.fromkeys(("shift", "rotation", "scale"), 0))
        refuse_beyond(self, {"shift": 0.5, "rotation": 180.0, "scale": 0.9})


def augmented(
    pictures: Float[Tensor, "batch channels height width"],
    training: PictureTraining,
    random: np.random.Generator,
) -> Float[Tensor, "batch channels height width"]:
    """Each by a drawing of its own."""
    n = len(pictures)
    return transformed(
        pictures,
        np.radians(random.uniform(-training.rotation, training.rotation, n)),
        1 + random.uniform(-training.scale, training.scale, n),
        random.uniform(-training.shift, training.shift, (n, 2)),
        random.random(n) < 0.5 * training.flip,
    )


def transformed(
    pictures: Float[Tensor, "batch channels height width"],
    angle: Float[np.ndarray, " batch"],
    scale: Float[np.ndarray, " batch"],
    shift: Float[np.ndarray, "batch 2"],
    mirrored: Bool[np.ndarray, " batch"],
) -> Float[Tensor, "batch channels height width"]:
    """Pictures mirrored, made larger by `scale`, turned by `angle` (radians, to the left) and moved
    to the left and up by `shift` (shares of the sides); at the border its edge goes on."""
    across = pictures.shape[2] / pictures.shape[3]
    cosine, sine, side = np.cos(angle) / scale, np.sin(angle) / scale, 1 - 2.0 * mirrored
    rows = [
        np.stack([cosine * side, -sine * across * side, 2 * shift[:, 0]], 1),
        np.stack([sine / across, cosine, 2 * shift[:, 1]], 1),  # a picture is 2 wide and 2 high
    ]
    places = torch.from_numpy(np.stack(rows, 1).astype(np.float32))
    grid = F.affine_grid(places, list(pictures.shape), align_corners=False)
    return F.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
