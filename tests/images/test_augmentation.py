"""Pictures a little changed: by what was drawn, and nothing else."""

import numpy as np
import pytest
import torch

from headway.core.errors import ConfigError
from headway.images.augmentation import PictureTraining, augmented, transformed

NONE = {"shift": 0.0, "rotation": 0.0, "scale": 0.0}


def changed(pictures: torch.Tensor, seed: int = 1, **how: float | bool) -> torch.Tensor:
    return augmented(pictures, PictureTraining(**(NONE | how)), np.random.default_rng(seed))


def exactly(
    pictures: torch.Tensor,
    degrees: float = 0,
    scale: float = 1,
    shift: float = 0,
    flip: bool = False,
) -> torch.Tensor:
    n = len(pictures)
    moved = np.full((n, 2), shift)
    turned, scaled = np.full(n, np.radians(degrees)), np.full(n, scale, float)
    return transformed(pictures, turned, scaled, moved.astype(float), np.full(n, flip))


def test_nothing_to_change_leaves_the_picture_as_it_is():
    pictures = torch.rand(3, 2, 8, 12)
    torch.testing.assert_close(changed(pictures), pictures, atol=1e-5, rtol=0)


def test_each_change_is_what_its_name_says():
    pictures = torch.rand(2, 1, 8, 8)
    quarter = exactly(pictures, degrees=90)
    torch.testing.assert_close(quarter, pictures.rot90(1, (2, 3)), atol=1e-5, rtol=0)
    mirrored = exactly(pictures, flip=True)
    torch.testing.assert_close(mirrored, pictures.flip(3), atol=1e-5, rtol=0)
    moved = exactly(pictures, shift=0.25)  # two of eight pixels, to the left and up
    torch.testing.assert_close(moved[:, :, :6, :6], pictures[:, :, 2:, 2:], atol=1e-5, rtol=0)
    ramp = torch.linspace(-3.5, 3.5, 8).expand(1, 1, 8, 8)
    twice = exactly(ramp, scale=2)
    torch.testing.assert_close(twice, ramp / 2, atol=1e-5, rtol=0)


def test_a_picture_that_is_wider_than_high_is_turned_without_being_sheared():
    wide = torch.zeros(1, 1, 9, 19)
    wide[0, 0, 4, 6:13] = 1  # a bar of seven, in the middle
    turned = exactly(wide, degrees=90)
    expected = torch.zeros(1, 1, 9, 19)
    expected[0, 0, 1:8, 9] = 1
    torch.testing.assert_close(turned, expected, atol=1e-4, rtol=0)


def test_the_same_drawing_gives_the_same_pictures_and_each_its_own():
    pictures = torch.rand(1, 1, 8, 8).expand(4, 1, 8, 8)
    how = {"shift": 0.2, "rotation": 20.0, "scale": 0.2}
    once, again, other = (changed(pictures, seed, **how) for seed in (1, 1, 2))
    assert torch.equal(once, again)
    assert not torch.allclose(once, other)
    assert not torch.allclose(once[0], once[1])


def test_nothing_is_mirrored_unless_it_is_asked_for():
    pictures = torch.rand(1, 1, 8, 8).expand(64, 1, 8, 8)
    assert torch.allclose(changed(pictures), pictures, atol=1e-5)
    mirrored = (changed(pictures, flip=True) - pictures).abs().amax((1, 2, 3)) > 0.01
    assert 16 < int(mirrored.sum()) < 48


@pytest.mark.parametrize("setting", ["shift", "rotation", "scale"])
def test_a_change_beyond_measure_is_refused(setting):
    for value in (-0.1, 200.0):
        with pytest.raises(ConfigError, match=setting):
            PictureTraining(**{setting: value})
