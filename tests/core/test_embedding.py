"""Laws of token embeddings and of the matrix they share with the output."""

import math

import torch
import torch.nn.functional as F

from headway.core.embedding import TokenEmbedding, project
from headway.core.transformer import Transformer, TransformerConfig

SMALL = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 8, "d_ff": 8, "heads": 2}


def test_a_look_up_equals_one_hot_times_matrix_times_sqrt_d_model():
    embedding = TokenEmbedding(11, 9, padding=0)
    ids = torch.tensor([[3, 1, 10], [0, 0, 7]])
    one_hot = F.one_hot(ids, 11).float()
    torch.testing.assert_close(embedding(ids), one_hot @ embedding.weight * math.sqrt(9))


def test_padding_is_zero_and_sends_no_gradient():
    embedding = TokenEmbedding(11, 9, padding=4)
    ids = torch.tensor([[3, 4, 4, 3]])
    assert not embedding(ids)[0, 1].any()
    embedding(ids).sum().backward()
    gradient = embedding.weight.grad
    assert gradient is not None
    assert gradient[3].tolist() == [2 * 3.0] * 9
    assert not gradient[torch.arange(11) != 3].any()


def test_rows_begin_with_a_length_of_about_one():
    lengths = TokenEmbedding(500, 256, padding=0).weight[1:].norm(dim=1)
    assert 0.8 < lengths.min().item() < lengths.max().item() < 1.2


def test_tied_means_one_tensor_and_untied_three():
    tied = Transformer(TransformerConfig(**SMALL), vocabulary_size=11)
    assert tied.source_embedding is tied.target_embedding
    assert tied.output_weight is tied.target_embedding.weight
    untied = Transformer(TransformerConfig(**SMALL, tied=False), vocabulary_size=11)
    names = {name for name, parameter in untied.named_parameters() if parameter.shape == (11, 8)}
    assert names == {"source_embedding.weight", "target_embedding.weight", "output_weight"}
    n_parameters = [sum(p.numel() for p in model.parameters()) for model in (tied, untied)]
    assert n_parameters[1] - n_parameters[0] == 2 * 11 * 8


def test_projection_is_the_product_with_the_matrix_in_the_features_precision():
    features, weight = torch.randn(2, 3, 4), torch.randn(11, 4)
    torch.testing.assert_close(
        project(features, weight), torch.einsum("bld,vd->blv", features, weight)
    )
    assert project(features.bfloat16(), weight).dtype == torch.bfloat16


def test_a_model_computes_in_the_type_of_its_layers():
    model = Transformer(TransformerConfig(**SMALL), vocabulary_size=11)
    ids = torch.tensor([[4, 5]])
    assert model.features(ids, ids).dtype == torch.float32
    model.decoder.bfloat16()
    model.encoder.bfloat16()
    assert model.features(ids, ids).dtype == torch.bfloat16
