"""Laws of the paper's model."""

import pytest
import torch
from smoothed_loss import label_smoothed

from headway.core.errors import ConfigError, UserError
from headway.core.interfaces import State, StepDecoder
from headway.core.loss import projected_label_smoothed
from headway.core.transformer import Transformer
from headway.models import MODELS, PRESETS
from headway.nn.attention_weights import look
from headway.nn.positioned import PositionedConfig

BEGIN, END, N_WORDS = 2, 3, 13
SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
FED = torch.tensor([[BEGIN, 7, 8, 9], [BEGIN, 5, 0, 0]])
EXPECTED = torch.tensor([[7, 8, 9, END], [5, END, 0, 0]])


def small(**options: object) -> Transformer:
    torch.manual_seed(2)
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 8, "d_ff": 12, "heads": 2}
    config = PositionedConfig(**{**sizes, "dropout": 0.0, **options})  # type: ignore[arg-type]
    return Transformer(config, vocabulary_size=N_WORDS).eval()


def step_by_step(model: Transformer, source: torch.Tensor, fed: torch.Tensor) -> torch.Tensor:
    """Log-probabilities through the cache, one token at a time."""
    state = model.start(source)
    rows = []
    for token in fed.unbind(1):
        step = model.step(state, token)
        state = step.state
        rows.append(step.logits.log_softmax(-1))
    return torch.stack(rows, 1)


# -- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_parameters"), [("paper-base", 63_082_496), ("paper-big", 214_245_376)]
)
def test_the_papers_models_have_exactly_their_number_of_parameters(name, n_parameters):
    """37,000 x d_model shared once, plus every weight and bias of table 3's rows, by hand."""
    sections = dict(PRESETS[name]["model"])
    kind, model = MODELS[str(sections.pop("type"))]
    config = kind(**sections)
    with torch.device("meta"):
        parameters = list(model(config, vocabulary_size=37_000).parameters())
    assert sum(parameter.numel() for parameter in parameters) == n_parameters
    d, ff = config.d_model, config.d_ff
    attention, feed_forward, norm = 4 * (d * d + d), 2 * d * ff + d + ff, 2 * d
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    assert n_parameters == 37_000 * d + 6 * (encoder_layer + decoder_layer)


def test_the_defaults_are_the_base_model_of_table_3():
    config = PositionedConfig()
    assert (config.key_size, config.value_size) == (64, 64)
    assert (config.d_model, config.d_ff, config.heads) == (512, 2048, 8)
    assert (config.encoder_layers, config.decoder_layers, config.dropout) == (6, 6, 0.1)
    assert (config.norm, config.positions, config.activation) == ("post", "sinusoidal", "relu")
    assert config.tied
    assert not config.attention_dropout
    assert not config.activation_dropout


# -- what may depend on what ------------------------------------------------------------------


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_future_tokens_cannot_change_earlier_logits(positions):
    model = small(positions=positions)
    before = model(SOURCE, FED)
    for i in range(1, FED.shape[1]):
        changed = FED.clone()
        changed[:, i:] = 11
        after = model(SOURCE, changed)
        assert torch.equal(after[:, :i], before[:, :i])
        assert not torch.allclose(after[:, i], before[:, i])


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_batch_mates_and_more_padding_change_nothing(positions):
    model = small(positions=positions)
    together = model(SOURCE, FED).log_softmax(-1)
    alone = model(SOURCE[1:, :3], FED[1:, :2]).log_softmax(-1)
    torch.testing.assert_close(together[1:, :2], alone, rtol=0, atol=1e-5)
    longer_source = torch.cat([SOURCE, torch.zeros(2, 9, dtype=torch.long)], 1)
    longer_target = torch.cat([FED, torch.zeros(2, 6, dtype=torch.long)], 1)
    padded = model(longer_source, longer_target).log_softmax(-1)
    torch.testing.assert_close(padded[:, :4], together, rtol=0, atol=1e-5)
    stepped = step_by_step(model, longer_source, FED)
    torch.testing.assert_close(stepped, together, rtol=0, atol=1e-5)


def test_the_loss_and_its_gradients_do_not_see_padding():
    gradients = []
    zeros = torch.zeros(2, 5, dtype=torch.long)
    for extra in (zeros[:, :0], zeros):
        model = small()
        source, fed, expected = (torch.cat([ids, extra], 1) for ids in (SOURCE, FED, EXPECTED))
        label_smoothed(model(source, fed), expected, smoothing=0.1, padding=0).smoothed.backward()
        gradients.append({name: p.grad for name, p in model.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], rtol=1e-5, atol=1e-5)


def test_padded_positions_get_no_gradient():
    model = small(tied=False)
    embedded: dict[str, torch.Tensor] = {}

    def keep(name: str):
        def hook(_module: object, _inputs: object, output: torch.Tensor) -> None:
            output.retain_grad()
            embedded[name] = output

        return hook

    model.source_embedding.register_forward_hook(keep("source"))
    model.target_embedding.register_forward_hook(keep("target"))
    label_smoothed(model(SOURCE, FED), EXPECTED, smoothing=0.1, padding=0).smoothed.backward()
    for name, ids in (("source", SOURCE), ("target", FED)):
        gradient = embedded[name].grad
        assert gradient is not None
        assert not gradient[ids == 0].any()
        assert gradient[ids != 0].any(-1).all()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight.grad is not None
        assert not embedding.weight.grad[0].any()


def test_a_source_of_padding_only_gives_no_nan():
    model = small()
    logits = model(torch.zeros_like(SOURCE), FED)
    assert logits.isfinite().all()
    logits.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


# -- one pass, and step by step ---------------------------------------------------------------


def test_it_is_a_step_decoder():
    model = small()
    assert isinstance(model, StepDecoder)
    assert isinstance(model.start(SOURCE), State)


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_a_prefix_stands_for_its_tokens_fed_one_by_one(positions, length):
    model = small(positions=positions)
    expected = step_by_step(model, SOURCE, FED)
    state = model.start(SOURCE, FED[:, :length]).select(torch.tensor([1, 1, 0]))
    for i in range(length, 4):
        step = model.step(state, FED[[1, 1, 0], i])
        state = step.state
        found = step.logits.log_softmax(-1)
        torch.testing.assert_close(found, expected[[1, 1, 0], i], rtol=0, atol=1e-5)


def test_a_source_is_needed():
    with pytest.raises(ConfigError, match="needs a source"):
        small().start(None)


@pytest.mark.parametrize(
    "rows", [[0, 1], [1, 0], [1, 1, 0, 1], [1, 1, 1, 0, 0, 0], [0, 0], [0], [1]]
)
@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_selected_rows_go_on_as_if_they_had_always_been_there(positions, rows):
    model = small(positions=positions)
    chosen = torch.tensor(rows)
    state = model.start(SOURCE).select(chosen)  # before the first step as well
    state = model.step(state, FED[chosen, 0]).state
    again = torch.arange(len(rows)).flip(0)
    state = model.step(state.select(again), FED[chosen[again], 1]).state
    found = model.step(state, FED[chosen[again], 2]).logits.log_softmax(-1)
    expected = step_by_step(model, SOURCE[chosen[again]], FED[chosen[again]])[:, 2]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
@pytest.mark.parametrize(("n_beams", "leaving"), [(1, 20), (3, 8), (3, 20)])
def test_rows_reordered_within_and_leaving_with_their_sentences_equal_full_decoding(
    positions, n_beams, leaving
):
    """What beam search does, for more steps than the cache has room for at first."""
    model = small(positions=positions)
    generator = torch.Generator().manual_seed(n_beams)
    sentence = torch.arange(2)
    fed = torch.full((2, 1), BEGIN)
    state = model.start(SOURCE)
    for step in range(24):
        found = model.step(state, fed[:, -1])
        expected = model(SOURCE[sentence], fed)[:, -1]
        torch.testing.assert_close(found.logits, expected, rtol=0, atol=1e-4)
        groups = [(sentence == i).nonzero().squeeze(1) for i in sentence.unique()]
        if step == leaving:
            groups = groups[1:]
        chosen = [
            group[torch.randint(len(group), (n_beams,), generator=generator)] for group in groups
        ]
        rows = torch.cat(chosen)
        words = torch.randint(4, N_WORDS, (len(rows), 1), generator=generator)
        fed, sentence = torch.cat([fed[rows], words], 1), sentence[rows]
        state = found.state.select(rows)


def test_rows_that_leave_one_by_one_equal_full_decoding():
    """What sampling does: sentences keep different numbers of rows."""
    model = small()
    generator = torch.Generator().manual_seed(1)
    sentence = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
    fed = torch.full((8, 1), BEGIN)
    state = model.start(SOURCE).select(sentence)
    for leaving in (None, None, 1, 5, None, 0, None, 3, 0, 0, 0):
        found = model.step(state, fed[:, -1])
        expected = model(SOURCE[sentence], fed)[:, -1]
        torch.testing.assert_close(found.logits, expected, rtol=0, atol=1e-4)
        rows = torch.tensor([row for row in range(len(fed)) if row != leaving])
        words = torch.randint(4, N_WORDS, (len(rows), 1), generator=generator)
        fed, sentence = torch.cat([fed[rows], words], 1), sentence[rows]
        state = found.state.select(rows)


def test_reordering_within_sentences_copies_neither_source_nor_cache():
    model = small()
    state = model.step(model.start(SOURCE).select(torch.tensor([0, 0, 1, 1])), FED[[0, 0, 1, 1], 0])
    again = state.state.select(torch.tensor([1, 1, 3, 2]))
    assert again.source is state.state.source
    assert again.cache is state.state.cache
    assert again.source.columns.shape[1] == 2  # sentences, not rows


def test_a_step_changes_neither_the_state_it_starts_from_nor_others_that_went_on_from_it():
    model = small()
    state = model.step(model.start(SOURCE), FED[:, 0]).state
    first = model.step(state, FED[:, 1])
    after_first = model.step(first.state, FED[:, 2]).logits
    model.step(model.step(state, FED[:, 2]).state, FED[:, 3])
    assert torch.equal(model.step(state, FED[:, 1]).logits, first.logits)
    assert torch.equal(model.step(first.state, FED[:, 2]).logits, after_first)


@pytest.mark.parametrize(("n_layers", "chosen"), [(1, 0), (2, 1), (3, 1), (4, 2), (6, 4)])
def test_attention_of_a_step_is_the_mean_over_the_alignment_layers_heads(n_layers, chosen):
    model = small(decoder_layers=n_layers)
    weights = look(model, SOURCE, FED).cross[chosen].mean(1)  # [batch, target, source]
    state = model.start(SOURCE)
    for i, token in enumerate(FED.unbind(1)):
        assert model.step(state, token).attention is None
        step = model.step(state, token, want_attention=True)
        assert step.attention is not None
        torch.testing.assert_close(step.attention, weights[:, i])
        state = step.state


def test_looking_gives_every_layer_and_head_and_hides_what_is_hidden():
    model = small(encoder_layers=3, decoder_layers=1)
    weights = look(model, SOURCE, FED)
    assert weights.encoder.shape == (3, 2, 2, 5, 5)
    assert weights.decoder.shape == (1, 2, 2, 4, 4)
    assert weights.cross.shape == (1, 2, 2, 4, 5)
    for kind in weights:
        torch.testing.assert_close(kind.sum(-1), torch.ones(kind.shape[:-1]))
    assert not weights.encoder[:, 1, :, :, 3:].any()
    assert not weights.cross[:, 1, :, :, 3:].any()
    assert not weights.decoder.triu(1).any()


# -- options ----------------------------------------------------------------------------------

OPTIONS = [  # each of any option meets each of any other
    (("post", "pre")[(i + j) % 2], positions, activation, (i + j // 2) % 2 == 0)
    for i, positions in enumerate(("sinusoidal", "learned", "relative", "rotary", "none"))
    for j, activation in enumerate(("relu", "gelu", "swiglu"))
]


@pytest.mark.parametrize(("norm", "positions", "activation", "tied"), OPTIONS)
def test_with_every_option_it_learns_and_one_pass_equals_feeding_step_by_step(
    norm, positions, activation, tied
):
    model = small(
        encoder_layers=1, decoder_layers=2, d_k=6, d_v=3, max_length=9,
        norm=norm, positions=positions, activation=activation, tied=tied,
    )  # fmt: skip
    features = model.features(SOURCE, FED)
    loss = projected_label_smoothed(
        features, model.output_weight, EXPECTED, smoothing=0.1, padding=0
    )
    loss.smoothed.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if not name.endswith("to_key.bias"):  # shifts all scores of a query alike
            assert parameter.grad.any(), name
    with torch.no_grad():
        in_one_pass = model(SOURCE, FED).log_softmax(-1)
        torch.testing.assert_close(step_by_step(model, SOURCE, FED), in_one_pass, rtol=0, atol=1e-5)
        for parameter in model.parameters():
            parameter.sub_(0.01 * parameter.grad)
        better = label_smoothed(model(SOURCE, FED), EXPECTED, smoothing=0.1, padding=0)
    assert better.smoothed < loss.smoothed


def test_pre_norm_has_one_more_norm_at_the_end_of_each_stack_and_post_norm_none():
    assert isinstance(small().encoder_norm, torch.nn.Identity)
    assert isinstance(small().decoder_norm, torch.nn.Identity)
    for norm in (small(norm="pre").encoder_norm, small(norm="pre").decoder_norm):
        assert isinstance(norm, torch.nn.LayerNorm)


def test_dropout_acts_in_training_only_and_at_each_of_its_places():
    calm = small()(SOURCE, FED)
    for place in ("dropout", "attention_dropout", "activation_dropout"):
        model = small(**{place: 0.5})
        assert torch.equal(model(SOURCE, FED), calm)
        assert not torch.allclose(model.train()(SOURCE, FED), calm)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"d_model": 10, "heads": 4},
            "divide d_model; got 4 heads, and d_model is 10. Try heads=2",
        ),
        ({"heads": 0}, "heads must be at least 1; got 0"),
        ({"decoder_layers": 0}, "decoder_layers must be at least 1"),
        ({"positions": "rotary", "d_k": 3, "d_v": 3}, "d_k must be even; got 3. Set --model.d-k"),
        ({"dropout": 1.0}, "dropout must be .* below 1; got 1.0"),
        ({"attention_dropout": -0.1}, "dropout must be .* got -0.1"),
        ({"activation_dropout": 2.0}, "dropout must be .* got 2.0"),
        ({"d_k": -1}, "d_k must be at least 0; got -1"),
        ({"d_v": -4}, "d_v must be at least 0; got -4"),
        ({"residual_gain": -0.5}, "residual_gain must be at least 0; got -0.5"),
    ],
)
def test_impossible_sizes_are_refused_with_a_remedy(options, message):
    with pytest.raises(ConfigError, match=message):
        PositionedConfig(**options)


def test_heads_need_not_divide_d_model_when_their_sizes_are_given():
    assert PositionedConfig(d_model=10, heads=4, d_k=3, d_v=3).key_size == 3


# -- what models of others have ---------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_epsilon_is_that_of_every_layer_norm(norm):
    model = small(norm=norm, layer_norm_epsilon=1e-12)
    norms = [module for module in model.modules() if isinstance(module, torch.nn.LayerNorm)]
    assert len(norms) == 10 + 2 * (norm == "pre")
    assert {module.eps for module in norms} == {1e-12}
    with pytest.raises(ConfigError, match="layer_norm_epsilon must be above 0; got 0"):
        PositionedConfig(layer_norm_epsilon=0.0)


@pytest.mark.parametrize("tied", [True, False])
def test_an_output_bias_is_learned_and_acts_in_one_pass_and_step_by_step(tied):
    plain, model = small(tied=tied), small(tied=tied, output_bias=True)
    assert plain.output_bias is None
    assert set(model.state_dict()) - set(plain.state_dict()) == {"output_bias"}
    torch.nn.init.normal_(model.output_bias)
    torch.testing.assert_close(model(SOURCE, FED), plain(SOURCE, FED) + model.output_bias)
    in_one_pass = model(SOURCE, FED).log_softmax(-1)
    torch.testing.assert_close(step_by_step(model, SOURCE, FED), in_one_pass, rtol=0, atol=1e-5)


def test_a_model_says_how_long_its_texts_may_be():
    assert small().longest is None
    model = small(positions="learned", max_length=5)
    assert model.longest == 5
    model(SOURCE, torch.full((2, 5), 4))
    with pytest.raises(UserError, match="end at 5 tokens; got 6"):
        model(SOURCE, torch.full((2, 6), 4))


# -- restricted self-attention ----------------------------------------------------------------


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_a_window_as_wide_as_the_text_changes_nothing(positions):
    full, near = small(positions=positions), small(positions=positions, window=8)
    near.load_state_dict(full.state_dict())
    torch.testing.assert_close(near(SOURCE, FED)[0], full(SOURCE, FED)[0])


@pytest.mark.parametrize("positions", ["sinusoidal", "relative", "rotary"])
def test_cached_steps_within_a_window_equal_one_pass_and_keep_few_tokens(positions):
    model = small(positions=positions, window=3)
    fed = torch.randint(4, N_WORDS, (2, 30))  # blocks: 20 are read at once
    fed[:, 0] = BEGIN
    found = step_by_step(model, SOURCE, fed)
    torch.testing.assert_close(found, model(SOURCE, fed).log_softmax(-1), rtol=1e-4, atol=1e-5)
    state = model.start(SOURCE, fed)
    assert state.used <= 2 * (3 + 1)
    assert state.cache.keys.shape[3] <= 16


def test_a_decoders_window_sees_what_its_layers_reach_together_and_no_further():
    model = small(window=2, decoder_layers=2)
    fed = torch.randint(4, N_WORDS, (1, 12))
    changed = fed.clone()
    changed[0, 0] = 4 if fed[0, 0] != 4 else 5
    same = (model(SOURCE[:1], fed) == model(SOURCE[:1], changed)).all(-1)[0]
    assert not same[:5].any()
    assert same[5:].all()


def test_rows_that_are_reordered_within_a_window_go_on_as_they_were():
    model = small(window=3)
    fed = torch.randint(4, N_WORDS, (2, 14))
    state = model.start(SOURCE, fed[:, :9]).select(torch.tensor([1, 1, 0]))
    rows = torch.stack([fed[1], fed[1], fed[0]])
    for n in range(9, 14):
        step = model.step(state, rows[:, n])
        state = step.state
    sources = torch.stack([SOURCE[1], SOURCE[1], SOURCE[0]])
    wanted = model(sources, rows)[:, -1].log_softmax(-1)
    torch.testing.assert_close(step.logits.log_softmax(-1), wanted, rtol=1e-4, atol=1e-5)


def test_a_negative_window_is_refused():
    with pytest.raises(ConfigError, match="window must not be negative; got -1. 0 is all"):
        small(window=-1)
