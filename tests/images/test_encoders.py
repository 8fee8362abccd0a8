"""Patches through the trunk, and convolutions: laws of what they make of pictures."""

import pytest
import torch
import torch.nn.functional as F

from headway.core.errors import ConfigError
from headway.images.decoding import PictureShape
from headway.images.encoders import (
    PatchConfig,
    PatchEncoder,
    PictureCnn,
    PictureCnnConfig,
    patches,
    unpatched,
)
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.nn.encoder import Encoder, EncoderConfig

SHAPE = PictureShape(12, 8, 3)
SMALL = {"d_model": 16, "d_ff": 32, "heads": 2, "layers": 2}


def test_patches_then_unpatched_give_the_picture():
    pictures = torch.randn(5, 3, 12, 8)
    cut = patches(pictures, 4)
    assert cut.shape == (5, 6, 48)
    assert torch.equal(cut[0, 3], pictures[0, :, 4:8, 4:8].permute(1, 2, 0).flatten())
    assert torch.equal(unpatched(cut, SHAPE, 4), pictures)


def test_the_first_layer_of_patches_is_a_convolution_with_its_filters():
    torch.manual_seed(1)
    encoder = PatchEncoder(PatchConfig(**SMALL), SHAPE)
    pictures, first = torch.randn(2, 3, 12, 8), encoder.from_vectors
    convolved = F.conv2d(pictures, encoder.filters, first.bias, stride=4).flatten(2)
    torch.testing.assert_close(first(patches(pictures, 4)), convolved.transpose(1, 2))


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_without_positions_a_picture_is_a_bag_of_patches(pooling):
    torch.manual_seed(1)
    pictures = torch.randn(2, 3, 12, 8)
    order = torch.randperm(6)
    permuted = unpatched(patches(pictures, 4)[:, order], SHAPE, 4)
    for positions, is_bag in (("none", True), ("learned", False), ("rotary", False)):
        config = PatchConfig(**SMALL, positions=positions, pooling=pooling, dropout=0.0)
        encoder = PatchEncoder(config, SHAPE)
        head = PoolingHead(16, 3, pooling=config.pooling, dropout=0.0)
        model = Labeller(encoder, head).eval()
        same = torch.allclose(model(pictures), model(permuted), atol=1e-5)
        assert same == is_bag, positions


def test_a_class_vector_stands_in_front_of_the_patches():
    encoder = PatchEncoder(PatchConfig(**SMALL, pooling="first"), SHAPE)
    assert encoder(torch.randn(2, 3, 12, 8)).features.shape == (2, 7, 16)
    assert "class_vector" in dict(encoder.named_parameters())


def test_patches_that_do_not_fill_a_picture_are_refused():
    with pytest.raises(ConfigError, match="patches divide the sides of a picture; got 12 x 8"):
        PatchEncoder(PatchConfig(**SMALL, patch=5), SHAPE)


def test_convolutions_keep_the_plane_and_halve_where_they_are_told():
    config = PictureCnnConfig(channels=(4, 6, 8), halvings=2)
    encoder = PictureCnn(config, PictureShape(13, 8, 1))
    encoded = encoder(torch.randn(2, 1, 13, 8))
    assert encoder.grid == (4, 2)
    assert encoded.features.shape == (2, 8, 8)
    assert encoded.visible.all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"channels": ()}, "channels are the numbers of filters"),
        ({"channels": (4, 0)}, "channels are the numbers of filters"),
        ({"halvings": 9}, "halvings must be at most 4"),
        ({"kernel": 0}, "kernel must be at least 1"),
        ({"dropout": 1.0}, "dropout must be"),
    ],
)
def test_convolutions_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ConfigError, match=words):
        PictureCnnConfig(**settings)


def test_frames_of_anything_enter_the_trunk_as_vectors_and_padding_changes_nothing():
    torch.manual_seed(1)
    encoder = Encoder(EncoderConfig(**SMALL, dropout=0.0), d_input=5).eval()
    frames, n = torch.randn(2, 7, 5), torch.tensor([7, 4])
    visible = torch.arange(7)[None] < n[:, None]
    both = encoder.of_vectors(frames, visible).features
    alone = encoder.of_vectors(frames[1:, :4]).features
    torch.testing.assert_close(both[1:, :4], alone)
