"""The questions that everybody asks of the Transformer, each answered by a measurement.

Others are answered beside what they are about: the scale in nn/test_attention.py, the order of
words in nn/test_positions.py, the future in models/test_transformer.py.
"""

import torch

from headway.models.transformer import Transformer, TransformerConfig
from headway.nn.attention import attend, attention_weights
from headway.nn.masks import additive


def test_one_projection_for_queries_and_keys_makes_every_position_look_at_itself() -> None:
    torch.manual_seed(1)
    n, d = 16, 64
    x, to_query, to_key = torch.randn(n, d), torch.randn(d, d) / 8, torch.randn(d, d) / 8
    query, key = ((x @ matrix)[None, None] for matrix in (to_query, to_key))

    scores = query @ query.mT
    torch.testing.assert_close(scores, scores.mT)  # i looks at j as j looks at i
    alone = attention_weights(query, query)[0, 0].diagonal().mean()
    apart = attention_weights(query, key)[0, 0].diagonal().mean()
    assert alone > 0.9
    assert apart < 2 / n


def test_one_head_that_looks_at_two_places_cannot_tell_which_is_which_and_two_heads_can() -> None:
    values = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    both, first, second = torch.zeros(1, 2), torch.tensor([[99.0, 0]]), torch.tensor([[0, 99.0]])
    keys = torch.eye(2)[None, None]

    def one_head(value: torch.Tensor) -> torch.Tensor:
        return attend(both[None, None], keys, value[None, None]).flatten()

    def two_heads(value: torch.Tensor) -> torch.Tensor:
        queries = torch.stack([first, second])[None]
        return attend(queries, keys.expand(1, 2, 2, 2), value.expand(1, 2, 2, 2)).flatten()

    exchanged = values.flip(0)
    torch.testing.assert_close(one_head(values), one_head(exchanged))
    torch.testing.assert_close(two_heads(values), torch.tensor([1.0, 0, 0, 1]))
    torch.testing.assert_close(two_heads(exchanged), torch.tensor([0.0, 1, 1, 0]))


def test_only_minus_infinity_hides_whatever_the_scores_are() -> None:
    visible = torch.tensor([True, True, False])
    scores = torch.tensor([-2000.0, -2001.0, 5.0])
    assert (scores * visible).softmax(-1)[2] > 0.99  # a zero is a score like any other
    assert (scores - 1000.0 * ~visible).softmax(-1)[2] > 0.99  # nor is a large number enough
    hidden = (scores + additive(visible)).softmax(-1)
    assert hidden[2] == 0
    torch.testing.assert_close(hidden[:2], torch.tensor([1.0, 0.0]).softmax(-1))


def test_without_cross_attention_the_output_knows_nothing_of_the_source() -> None:
    torch.manual_seed(1)
    config = TransformerConfig(encoder_layers=1, decoder_layers=2, d_model=16, d_ff=16, heads=2)
    model = Transformer(config, vocabulary_size=11).eval()
    target = torch.tensor([[2, 5, 6]])
    sources = torch.tensor([[4, 7, 3]]), torch.tensor([[8, 9, 3]])

    with torch.no_grad():
        one, other = (model(source, target) for source in sources)
        assert not torch.allclose(one, other, atol=1e-3)
        for layer in model.decoder:
            layer.cross_attention.to_output.weight.zero_()
        one, other = (model(source, target) for source in sources)
        assert torch.equal(one, other)
