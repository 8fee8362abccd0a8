"""Laws of the Transformer's decoder alone; the oracle is Hugging Face's GPT-2."""

import itertools

import pytest
import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from headway.core.errors import ConfigError, UserError
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig

N_WORDS = 13
FED = torch.tensor([[2, 7, 8, 9, 2, 4, 6, 10], [2, 5, 11, 12, 4, 2, 10, 9]])
SIZES = {"layers": 2, "d_model": 8, "d_ff": 12, "heads": 2, "max_length": 9, "dropout": 0.0}


def small(**options: object) -> DecoderOnly:
    config = DecoderOnlyConfig(**{**SIZES, **options})  # type: ignore[arg-type]
    return DecoderOnly(config, vocabulary_size=N_WORDS).eval()


OPTIONS = list(
    itertools.product(["post", "pre"], ["sinusoidal", "learned", "relative", "rotary", "none"])
)


@pytest.mark.parametrize(("norm", "positions"), OPTIONS)
def test_with_every_option_a_prefix_and_steps_equal_one_pass_and_every_weight_learns(
    norm, positions
):
    model = small(norm=norm, positions=positions, d_k=6, d_v=3, tied=False)
    expected = model(FED).log_softmax(-1)
    expected.gather(2, FED[..., None]).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("to_key.bias"):  # shifts all scores of a query alike
            assert parameter.grad.any(), name
    for n_prefix in (1, 5):
        state = model.start(None, FED[:, :n_prefix])
        for i in range(n_prefix, FED.shape[1]):
            step = model.step(state, FED[:, i])
            state = step.state
            found = step.logits.log_softmax(-1)
            torch.testing.assert_close(found, expected[:, i], rtol=0, atol=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_more_steps_behind_a_prefix_than_the_cache_has_room_for_at_first(positions):
    """Rows are reordered within and between texts as beam search does."""
    model = small(positions=positions)
    generator = torch.Generator().manual_seed(1)
    fed = FED[:, :5]
    state = model.start(None, fed[:, :-1])
    for _ in range(30):
        found = model.step(state, fed[:, -1])
        torch.testing.assert_close(found.logits, model(fed)[:, -1], rtol=0, atol=1e-4)
        rows = torch.randint(len(fed), (4,), generator=generator)
        words = torch.randint(4, N_WORDS, (4, 1), generator=generator)
        fed = torch.cat([fed[rows], words], 1)
        state = found.state.select(rows)


def test_it_equals_gpt_2_with_the_same_weights():
    """Of Hugging Face: GELU exact as here, embedding and output apart, ours scaled by sqrt(d)."""
    config = GPT2Config(
        vocab_size=N_WORDS, n_positions=9, n_embd=8, n_layer=2, n_head=2, n_inner=12,
        activation_function="gelu", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        tie_word_embeddings=False, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    torchs = GPT2LMHeadModel(config).eval()
    for parameter in torchs.parameters():
        nn.init.normal_(parameter)
    ours = small(positions="learned", tied=False)
    body = torchs.transformer

    def copy(into: nn.Module, weight: torch.Tensor, bias: torch.Tensor) -> None:
        into.weight.data.copy_(weight)
        into.bias.data.copy_(bias)

    ours.embedding.weight.data.copy_(body.wte.weight / ours.embedding.scale)
    ours.positions.table.data.copy_(body.wpe.weight)
    ours.output_weight.data.copy_(torchs.lm_head.weight)
    copy(ours.norm, body.ln_f.weight, body.ln_f.bias)
    for layer, theirs in zip(ours.stack, body.h, strict=True):
        attention, feed_forward = layer.self_attention, layer.feed_forward
        joined = zip(
            theirs.attn.c_attn.weight.T.chunk(3), theirs.attn.c_attn.bias.chunk(3), strict=True
        )
        for into, (weight, bias) in zip(
            (attention.to_query, attention.to_key, attention.to_value), joined, strict=True
        ):
            copy(into, weight, bias)
        copy(attention.to_output, theirs.attn.c_proj.weight.T, theirs.attn.c_proj.bias)
        copy(feed_forward.to_inner, theirs.mlp.c_fc.weight.T, theirs.mlp.c_fc.bias)
        copy(feed_forward.to_output, theirs.mlp.c_proj.weight.T, theirs.mlp.c_proj.bias)
        for norm, its in (
            (layer.around_self_attention.norm, theirs.ln_1),
            (layer.around_feed_forward.norm, theirs.ln_2),
        ):
            copy(norm, its.weight, its.bias)
    torch.testing.assert_close(ours(FED), torchs(FED).logits, rtol=1e-4, atol=1e-4)


def test_a_bias_of_every_word_is_added_and_counted_in_what_is_scored():
    model = small(output_bias=True)
    model.output_bias.data.normal_()
    expected = model(FED[:, :-1]).log_softmax(-1).gather(2, FED[:, 1:, None]).squeeze(2)
    scored = model.log_probs(FED[:, :-1], FED[:, 1:])
    torch.testing.assert_close(scored.log_probs, expected)
    assert scored.carried == {}


def test_learned_positions_say_where_texts_must_end():
    model = small(positions="learned")
    assert model.longest == 9
    assert small(positions="rotary").longest is None
    with pytest.raises(UserError, match="end at 9 tokens; got 10"):
        model(FED.repeat(1, 2)[:, :10])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "layers must be at least 1; got 0"),
        ({"layers": 2000}, "layers must be at most 1,000; got 2000"),
        ({"heads": 3}, "divide d_model; got 3 heads, and d_model is 8. Try heads=2"),
        ({"max_length": 0}, "max_length must be at least 1; got 0"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        small(**options)


def test_a_prompt_read_at_once_within_a_window_equals_its_tokens_fed_one_by_one():
    torch.manual_seed(3)
    config = DecoderOnlyConfig(layers=2, d_model=8, d_ff=12, heads=2, dropout=0.0, window=3)
    model = DecoderOnly(config, vocabulary_size=13).eval()
    fed = torch.randint(4, 13, (2, 30))
    wanted = model(fed).log_softmax(-1)
    state = model.start(None, fed[:, :25])
    for n in range(25, 30):
        step = model.step(state, fed[:, n])
        state = step.state
        found = step.logits.log_softmax(-1)
        torch.testing.assert_close(found, wanted[:, n], rtol=1e-4, atol=1e-5)
    assert state.used <= 8
