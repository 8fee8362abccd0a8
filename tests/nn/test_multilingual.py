"""A Transformer that is told which language to write."""

import torch

from headway.core.transformer import Transformer
from headway.nn.multilingual import MultilingualTransformer
from headway.nn.positioned import PositionedConfig

CONFIG = PositionedConfig(
    d_model=16, d_ff=24, heads=4, encoder_layers=2, decoder_layers=2, norm="pre", dropout=0.0,
    positions="learned", max_length=20,
)  # fmt: skip
N, PADDING, END, FIRST_LANGUAGE = 40, 1, 2, 30


def model() -> MultilingualTransformer:
    torch.manual_seed(3)
    return MultilingualTransformer(CONFIG, vocabulary_size=N, padding=PADDING).eval()


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """Sources of two lengths with two languages in front of each, and what is fed."""
    source = torch.randint(4, 30, (3, 8))
    source[:, :2] = torch.tensor([[31, 30], [32, 30], [31, 35]])
    source[:, -1] = END
    source[1, 5], source[1, 6:] = END, PADDING
    fed = torch.cat([torch.full((3, 1), END), torch.randint(4, 30, (3, 5))], 1)
    return source, fed


def plain(of: MultilingualTransformer) -> Transformer:
    found = Transformer(CONFIG, vocabulary_size=N, padding=PADDING).eval()
    found.load_state_dict(of.state_dict())
    return found


def test_it_is_the_plain_one_whose_encoder_is_not_fed_the_language_and_whose_decoder_is():
    own = model()
    source, fed = batch()
    expected = plain(own)(source[:, 1:], torch.cat([fed[:, :1], source[:, :1], fed[:, 1:]], 1))
    torch.testing.assert_close(own(source, fed), expected[:, 1:])


def test_token_by_token_equals_all_at_once_also_when_rows_move():
    own = model()
    source, fed = batch()
    whole = own(source, fed).log_softmax(-1)
    state = own.start(source)
    order = torch.tensor([2, 0, 1])
    for place in range(fed.shape[1]):
        if place == 2:
            state, source, fed, whole = state.select(order), source[order], fed[order], whole[order]
        step = own.step(state, fed[:, place], want_attention=True)
        torch.testing.assert_close(step.logits.log_softmax(-1), whole[:, place])
        assert step.attention is not None
        assert step.attention.shape[1] >= source.shape[1]
        assert not step.attention[:, 0].any()  # nothing is taken of the language
        state = step.state


def test_a_prefix_is_as_good_as_steps():
    own = model()
    source, fed = batch()
    begun = own.step(own.start(source, fed[:, :-1]), fed[:, -1]).logits
    torch.testing.assert_close(begun.log_softmax(-1), own(source, fed)[:, -1].log_softmax(-1))


def test_another_language_changes_every_output_and_no_encoding():
    own = model()
    source, fed = batch()
    other = source.clone()
    other[:, 0] = 33
    assert torch.equal(own.encode(source)[0][:, 1:], own.encode(other)[0][:, 1:])
    assert ((own(source, fed) - own(other, fed)).abs().amax(-1) > 1e-4).all()


def test_positions_end_where_the_language_and_the_longest_text_fill_them():
    own = model()
    assert own.longest == CONFIG.max_length - 1
    source = torch.cat([torch.full((1, 1), 31), torch.randint(4, 30, (1, own.longest))], 1)
    fed = torch.randint(4, 30, (1, own.longest))
    assert own(source, fed).shape[1] == own.longest
