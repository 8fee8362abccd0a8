"""Pictures a little changed each time they are seen: shifted, turned, scaled, by choice mirrored."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
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
    """Each by a drawing of its own; at the border its edge goes on."""
    n, _, height, width = pictures.shape
    angle = np.radians(random.uniform(-training.rotation, training.rotation, n))
    zoom = 1 + random.uniform(-training.scale, training.scale, n)
    mirror = np.where(random.random(n) < 0.5 * training.flip, -1.0, 1.0)
    shift = 2 * random.uniform(-training.shift, training.shift, (n, 2))  # the sides are 2 long
    cosine, sine, across = np.cos(angle) / zoom, np.sin(angle) / zoom, height / width
    rows = [
        np.stack([cosine * mirror, -sine * across, shift[:, 0]], 1),
        np.stack([sine * mirror / across, cosine, shift[:, 1]], 1),
    ]
    places = torch.from_numpy(np.stack(rows, 1).astype(np.float32))
    grid = F.affine_grid(places, list(pictures.shape), align_corners=False)
    return F.grid_sample(pictures, grid, padding_mode="border", align_corners=False)
