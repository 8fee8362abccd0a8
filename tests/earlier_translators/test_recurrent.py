"""Laws of recurrent translators: the papers' equations, one pass against steps, padding."""

import itertools

import pytest
import torch
from smoothed_loss import label_smoothed
from torch import Tensor

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, Rules
from headway.core.interfaces import Seq2Seq, State, StepDecoder
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.rows import pad
from headway.core.search import search
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.nn.attention_weights import AttentionModel

BEGIN, END, N_WORDS = 2, 3, 13
N_UPDATES = 110
SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
FED = torch.tensor([[BEGIN, 7, 8, 9], [BEGIN, 5, 0, 0]])
EXPECTED = torch.tensor([[7, 8, 9, END], [5, END, 0, 0]])
WAYS = [
    {"attention": "none"},
    {"attention": "additive"},
    {"attention": "dot"},
    {"attention": "dot", "input_feeding": False},
]
CELLS = ["rnn", "lstm", "gru"]
ALL = [
    {**way, "recurrence": cell, "encoder_layers": n, "decoder_layers": n}
    for way, (cell, n) in itertools.product(WAYS, zip(CELLS, (1, 2, 2), strict=True))
]


def small(**options: object) -> RecurrentTranslator:
    torch.manual_seed(2)
    sizes = {"d_embedding": 6, "d_model": 8, "dropout": 0.0}
    config = RecurrentTranslatorConfig(**{**sizes, **options})  # type: ignore[arg-type]
    model = RecurrentTranslator(config, vocabulary_size=N_WORDS).eval()
    for parameter in model.parameters():  # biases too, so that none hides a slip
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def step_by_step(model: RecurrentTranslator, source: Tensor, fed: Tensor) -> Tensor:
    state, rows = model.start(source), []
    for token in fed.unbind(1):
        step = model.step(state, token)
        state = step.state
        rows.append(step.logits)
    return torch.stack(rows, 1)


# -- the papers' equations --------------------------------------------------------------------


def gru(layer: torch.nn.Module, x: Tensor, h: Tensor) -> Tensor:
    """One step of torch's own cell with the layer's weights."""
    d = len(h)
    cell = torch.nn.GRUCell(len(x), d)
    given, back = layer.from_input, layer.from_hidden
    cell.weight_ih, cell.bias_ih = given.weight, given.bias
    cell.weight_hh, cell.bias_hh = back.weight, back.bias
    return cell(x[None], h[None])[0]


def encoded_by_hand(model: RecurrentTranslator, source: list[int]) -> tuple[Tensor, Tensor]:
    [layer] = model.encoder
    x = [model.source_embedding.weight[i] * model.source_embedding.scale for i in source]
    h = torch.zeros(4)
    left = [h := gru(layer.from_left, some, h) for some in x]
    h = torch.zeros(4)
    right = [h := gru(layer.from_right, some, h) for some in reversed(x)][::-1]
    both = [torch.cat(pair) for pair in zip(left, right, strict=True)]
    return torch.stack(both), torch.cat([left[-1], right[0]])


def logits_by_hand(model: RecurrentTranslator, source: list[int], fed: list[int]) -> Tensor:
    """Word by word, vector by vector, as the papers print it."""
    config, decoder = model.config, model.decoder
    h_source, c_fixed = encoded_by_hand(model, source)
    begin = model.to_beginning
    s = torch.tanh(begin.weight @ c_fixed + begin.bias)
    attended = torch.zeros(config.d_embedding)
    rows = []
    for token in fed:
        y = model.target_embedding.weight[token] * model.target_embedding.scale

        def context(query: Tensor) -> Tensor:
            found = []
            for h in h_source:
                scores = decoder.scores
                if config.attention == "additive":  # v . tanh(W s + U h)
                    u = scores.from_value
                    inner = torch.tanh(scores.from_query.weight @ query + u.weight @ h + u.bias)
                    found.append(scores.to_score.weight[0] @ inner)
                else:  # s . W h
                    found.append(query @ (scores.from_value.weight @ h))
            weights = torch.stack(found).exp()
            return (weights / weights.sum()) @ h_source

        if config.attention == "dot":
            fed_in = [y, attended] if config.input_feeding else [y]
            s = gru(decoder.first, torch.cat(fed_in), s)
            parts = [s, context(s)]
        else:
            c = c_fixed if config.attention == "none" else context(s)
            s = gru(decoder.first, torch.cat([y, c]), s)
            parts = [s, c, y]
        out = decoder.to_output
        attended = torch.tanh(out.weight @ torch.cat(parts) + out.bias)
        rows.append(model.output_weight @ attended + model.output_bias)
    return torch.stack(rows)


@pytest.mark.parametrize("way", WAYS)
def test_it_is_its_papers_equations_computed_one_number_after_the_other(way):
    model = small(**way)
    with torch.no_grad():
        for row in (0, 1):
            source = [i for i in SOURCE[row].tolist() if i]
            fed = [i for i in FED[row].tolist() if i]
            torch.testing.assert_close(
                model(SOURCE, FED)[row, : len(fed)],
                logits_by_hand(model, source, fed),
                rtol=0,
                atol=1e-5,
            )


def test_its_parameters_add_up_by_hand():
    with torch.device("meta"):
        model = RecurrentTranslator(RecurrentTranslatorConfig(), vocabulary_size=30_000)
    e, d, v = 620, 1000, 30_000
    half = 3 * (d // 2 * e + (d // 2) ** 2 + d)  # weights, and two biases of half the size
    encoder = 2 * half
    decoder = 3 * (d * (e + d) + d * d + 2 * d)
    attention = d * d + d * d + d + d
    output = e * (2 * d + e) + e
    expected = v * e + v + encoder + decoder + attention + output + d * d + d
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


# -- what may depend on what ------------------------------------------------------------------


@pytest.mark.parametrize("options", ALL)
def test_steps_equal_one_pass_and_batch_mates_and_padding_change_nothing(options):
    model = small(**options)
    together = model(SOURCE, FED)
    torch.testing.assert_close(step_by_step(model, SOURCE, FED), together, rtol=0, atol=1e-5)
    alone = model(SOURCE[1:, :3], FED[1:, :2])
    torch.testing.assert_close(together[1:, :2], alone, rtol=0, atol=1e-5)
    wider = torch.cat([SOURCE, torch.zeros(2, 9, dtype=torch.long)], 1)
    torch.testing.assert_close(model(wider, FED), together, rtol=0, atol=1e-5)
    prefixed = model.start(SOURCE, FED[:, :2])
    torch.testing.assert_close(
        model.step(prefixed, FED[:, 2]).logits, together[:, 2], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("way", WAYS)
def test_future_tokens_cannot_change_earlier_logits(way):
    model = small(**way, decoder_layers=2)
    before = model(SOURCE, FED)
    for i in range(1, FED.shape[1]):
        changed = FED.clone()
        changed[:, i:] = 11
        after = model(SOURCE, changed)
        torch.testing.assert_close(after[:, :i], before[:, :i], rtol=0, atol=1e-6)
        assert not torch.allclose(after[:, i], before[:, i])


@pytest.mark.parametrize("way", WAYS)
def test_rows_may_be_reordered_repeated_and_dropped(way):
    model = small(**way, decoder_layers=2)
    state = model.step(model.start(SOURCE), FED[:, 0]).state
    rows = torch.tensor([1, 1, 0])
    chosen = model.step(state.select(rows), FED[rows, 1], want_attention=True)
    alone = model.step(state, FED[:, 1], want_attention=True)
    torch.testing.assert_close(chosen.logits, alone.logits[rows], rtol=0, atol=1e-6)
    back = model.step(chosen.state.select(torch.tensor([2])), FED[:1, 2]).logits
    torch.testing.assert_close(back, model(SOURCE, FED)[:1, 2], rtol=0, atol=1e-5)
    if way["attention"] == "none":
        assert chosen.attention is None
    else:
        assert chosen.attention is not None
        torch.testing.assert_close(chosen.attention.sum(1), torch.ones(3))


@pytest.mark.parametrize("way", WAYS)
def test_padding_gets_no_gradient_and_a_source_of_padding_gives_no_nan(way):
    model = small(**way, tied=False)
    label_smoothed(model(SOURCE, FED), EXPECTED, smoothing=0.1, padding=0).smoothed.backward()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.weight.grad is not None
        assert not embedding.weight.grad[0].any()
    logits = model(torch.zeros_like(SOURCE), FED)
    assert logits.isfinite().all()
    logits.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_a_fixed_vector_is_all_that_its_decoder_knows_of_a_source():
    """Where the encoder gives the same vector, the decoder writes the same; with attention not."""
    for way in WAYS:
        model = small(**way)
        source = model.encode(SOURCE)
        other = source._replace(values=source.values.flip(1))
        y = model.embed(model.target_embedding, FED)
        found = []
        for one in (source, other):
            started, fed = model.decoder.start(one)
            found.append(model.decoder(y, model.beginning(one), started, fed).features)
        assert torch.allclose(*found) == (way["attention"] == "none")


# -- looking, settings ------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS[1:])
def test_attention_is_seen_and_is_that_of_the_steps(way):
    model = small(**way)
    assert isinstance(model, (StepDecoder, Seq2Seq, AttentionModel))
    looked = model.look(SOURCE, FED)
    assert looked.cross.shape == (1, 2, 1, 4, 5)
    assert looked.encoder.shape == (0, 2, 1, 5, 5)
    assert not looked.cross[0, 1, 0, :, 3:].any()
    state = model.start(SOURCE)
    assert isinstance(state, State)
    for n, token in enumerate(FED.unbind(1)):
        step = model.step(state, token, want_attention=True)
        state = step.state
        assert step.attention is not None
        torch.testing.assert_close(step.attention, looked.cross[0, :, 0, n])


def test_without_attention_there_is_nothing_to_look_at():
    with pytest.raises(ConfigError, match="attention = none. Train one with --model.attention"):
        small(attention="none").look(SOURCE, FED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_layers": 0}, "encoder_layers must be at least 1; got 0"),
        ({"d_model": 7}, "d_model must be even, half of it reads each way; got 7. Try 8"),
        ({"d_embedding": 1 << 17}, "d_embedding must be at most 65,536"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
        ({"attention": "additive", "input_feeding": False}, "attention = additive. Leave it out"),
        ({"attention": "none", "input_feeding": False}, "attention = none. Leave it out"),
    ],
)
def test_what_cannot_be_or_would_change_nothing_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RecurrentTranslatorConfig(**options)


@pytest.mark.parametrize("way", WAYS[1:3])
def test_it_computes_in_bfloat16(way):
    model = small(**way).to(torch.bfloat16)
    for embedding in {model.source_embedding, model.target_embedding}:
        embedding.float()
    both = model(SOURCE, FED), step_by_step(model, SOURCE, FED)
    torch.testing.assert_close(both[0].float(), both[1].float(), rtol=0, atol=0.1)


# -- it learns --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [WAYS[1], WAYS[3]])
def test_with_attention_it_learns_to_reverse(options):
    torch.manual_seed(1)
    config = RecurrentTranslatorConfig(**options, d_embedding=32, d_model=64, dropout=0.0)
    model = RecurrentTranslator(config, vocabulary_size=N_WORDS)
    optimizer = FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)
    generator = torch.Generator().manual_seed(1)

    def some(n: int) -> list[Tensor]:
        lengths = torch.randint(1, 5, (n,), generator=generator).tolist()
        return [torch.randint(4, N_WORDS, (length,), generator=generator) for length in lengths]

    def padded(rows: list[Tensor], **markers: int) -> Tensor:
        return torch.from_numpy(pad([row.numpy() for row in rows], 0, **markers))

    for step in range(N_UPDATES):
        rows = some(48)
        wanted = [row.flip(0) for row in rows]
        loss = projected_label_smoothed(
            model.features(padded(rows, end=END), padded(wanted, begin=BEGIN)),
            model.output_weight,
            padded(wanted, end=END),
            output_bias=model.output_bias,
            smoothing=0.0,
            padding=0,
        )
        (loss.smoothed / sum(len(row) + 1 for row in rows)).backward()
        optimizer.step(7e-3 * (1 - step / N_UPDATES), clip_norm=1.0)
    unseen = some(100)
    with torch.inference_mode():
        found = search(
            model.eval(),
            model.start(padded(unseen, end=END)),
            torch.full((100,), BEGIN),
            Rules(DecodingSettings(beam=3), END, torch.full((100,), 8)),
        )
    right = [best[0].ids == row.flip(0).tolist() for best, row in zip(found, unseen, strict=True)]
    assert sum(right) > 95
