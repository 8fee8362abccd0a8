"""What stands behind the numbers of a model of pictures: classes, size, normalization."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headway.core.config import build
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.images.augmentation import PictureTraining, augmented
from headway.images.decoding import PictureShape, Pixels
from headway.labelling.task import Example
from headway.labelling.vocabulary import load_labels, save_labels


@dataclass(frozen=True)
class Classes:
    """The vocabulary of a run of pictures, kept in labels.json."""

    labels: tuple[str, ...]
    """Names of classes, in the order of their numbers."""
    size: tuple[int, int, int]
    """Height, width and channels that pictures are scaled to."""
    mean: tuple[float, ...]
    """Of the training set, of each channel; white is 1."""
    deviation: tuple[float, ...]

    def __post_init__(self) -> None:
        sound = all(1 <= side <= 1 << 12 for side in self.size) and min(self.deviation, default=0)
        if not sound or not len(self.mean) == len(self.deviation) == self.size[2]:
            raise ConfigError(
                "labels.json of a run of pictures has their size, and the mean and the deviation "
                f"of each channel; got {self.size}, {self.mean}, {self.deviation}. Take it from a "
                "copy of the run."
            )

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def load(cls, folder: Path) -> "Classes":
        """What `save` wrote."""
        labels, facts = load_labels(folder)
        return build(cls, {"labels": labels, **facts}, section="labels.json")

    def save(self, folder: RunFolder) -> None:
        """labels.json."""
        facts = asdict(self)
        save_labels(folder.path, facts.pop("labels"), facts)

    @property
    def shape(self) -> PictureShape:
        """What pictures are scaled to."""
        return PictureShape(*self.size)

    def normalized(
        self,
        pixels: Sequence[Pixels],
        change: PictureTraining | None = None,
        random: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch channels height width"]:
        """Pictures as a model reads them: less the mean, by the deviation. With `random` each is
        changed as `change` says."""
        pictures = torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2) / 255
        if change is not None and random is not None:
            pictures = augmented(pictures, change, random)
        mean, deviation = torch.tensor([self.mean, self.deviation])[:, :, None, None]
        return (pictures - mean) / deviation


def statistics(rows: Sequence[Example]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation of each channel over all pictures; white is 1."""
    sums = np.zeros((2, rows[0].input.shape[2]))
    for one in rows:
        pixels = one.input / 255
        sums += np.stack([pixels.mean((0, 1)), (pixels**2).mean((0, 1))]) / len(rows)
    deviation = np.sqrt(np.maximum(sums[1] - sums[0] ** 2, 1e-6))
    return tuple(sums[0].tolist()), tuple(deviation.tolist())
