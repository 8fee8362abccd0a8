"""Laws of every neural language model, whichever it is."""

import pytest
import torch
from torch import nn

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, Hypothesis, Rules
from headway.core.interfaces import State, StepDecoder
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.search import METHODS, search
from headway.decoding.sampling import sample
from headway.language_models.interfaces import LanguageModel, NeuralLanguageModel
from headway.language_models.models import LANGUAGE_MODELS
from headway.translation.decoding import SamplingSettings

BEGIN, END, N_WORDS = 2, 3, 13
FED = torch.tensor([[BEGIN, 7, 8, 9, BEGIN, 4, 6], [BEGIN, 5, 11, 12, 4, BEGIN, 10]])
WANTED = torch.tensor([[7, 8, 9, END, 4, 6, END], [5, 11, 12, 4, END, 10, 8]])
SIZES = {
    "transformer": {"layers": 2, "d_model": 8, "d_ff": 12, "heads": 2, "max_length": 16},
    "nnlm": {"order": 4, "d_model": 6, "d_hidden": 8},
    **{kind: {"layers": 2, "d_model": 8} for kind in ("rnn", "lstm", "gru")},
    "elmo": {"layers": 2, "d_model": 8, "d_cell": 12, "d_character": 4, "filters": (4, 4)},
}
KINDS = list(SIZES)


def small(kind: str, **options: object) -> nn.Module:
    torch.manual_seed(2)
    config, model = LANGUAGE_MODELS[kind]
    return model(
        config(**{**SIZES[kind], "dropout": 0.0, **options}), vocabulary_size=N_WORDS
    ).eval()


def all_log_probs(model: nn.Module, fed: torch.Tensor = FED) -> torch.Tensor:
    """Of the whole vocabulary behind each token."""
    return model(fed).log_softmax(-1).detach()


def test_every_model_that_is_offered_has_sizes_here():
    assert {*SIZES, "ngram"} == {*LANGUAGE_MODELS}, "what counts has laws of its own"


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_what_training_and_search_ask_for(kind):
    model = small(kind)
    assert isinstance(model, NeuralLanguageModel)
    assert isinstance(model, LanguageModel)
    assert isinstance(model, StepDecoder)
    assert isinstance(model.start(None, FED[:, :2]), State)


@pytest.mark.parametrize("kind", KINDS)
def test_future_tokens_cannot_change_what_stands_before(kind):
    model = small(kind)
    before = all_log_probs(model)
    for i in range(1, FED.shape[1]):
        changed = FED.clone()
        changed[:, i:] = (FED[:, i:] + 1) % N_WORDS
        after = all_log_probs(model, changed)
        torch.testing.assert_close(after[:, :i], before[:, :i], rtol=0, atol=1e-6)
        assert not torch.allclose(after[:, i], before[:, i])


@pytest.mark.parametrize("kind", KINDS)
def test_batch_mates_and_padding_behind_the_text_change_nothing(kind):
    model = small(kind)
    together = all_log_probs(model)
    torch.testing.assert_close(all_log_probs(model, FED[1:])[0], together[1], rtol=0, atol=1e-5)
    padded = torch.cat([FED, torch.zeros(2, 5, dtype=torch.long)], 1)
    torch.testing.assert_close(all_log_probs(model, padded)[:, :7], together, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_prefix", [0, 1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_step_by_step_from_any_prefix_equals_one_pass(kind, n_prefix):
    model = small(kind)
    rows = torch.tensor([1, 0, 1])
    expected = all_log_probs(model)[rows]
    state = model.start(None, FED[:, :n_prefix]).select(rows)
    for i in range(n_prefix, FED.shape[1]):
        step = model.step(state, FED[rows, i])
        state = step.state
        assert step.logits.dtype == torch.float32
        assert step.attention is None
        found = step.logits.log_softmax(-1)
        torch.testing.assert_close(found, expected[:, i], rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_may_be_reordered_repeated_and_dropped_between_steps(kind):
    model = small(kind)
    state = model.start(None, FED[:, :1])
    state = model.step(state, FED[:, 1]).state.select(torch.tensor([1, 1, 0]))
    state = model.step(state, FED[[1, 1, 0], 2]).state.select(torch.tensor([2, 0]))
    found = model.step(state, FED[[0, 1], 3]).logits.log_softmax(-1)
    torch.testing.assert_close(found, all_log_probs(model)[:, 3], rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_prefix_one_text_is_begun_and_a_source_is_refused(kind):
    model = small(kind)
    found = model.step(model.start(None), FED[:1, 0]).logits.log_softmax(-1)
    torch.testing.assert_close(found, all_log_probs(model)[:1, 0], rtol=0, atol=1e-5)
    with pytest.raises(ConfigError, match="reads no source"):
        model.start(FED)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "transformer"])
def test_stretch_by_stretch_with_what_is_carried_equals_one_pass(kind):
    model = small(kind)
    expected = all_log_probs(model).gather(2, WANTED[..., None]).squeeze(2)
    carried, found = None, []
    for fed, wanted in zip(FED.split([2, 1, 4], 1), WANTED.split([2, 1, 4], 1), strict=True):
        log_probs, carried = model.log_probs(fed, wanted, carried)
        found.append(log_probs)
        assert all(len(part) == len(FED) for part in carried.values())
        assert not any(part.requires_grad for part in carried.values())
    torch.testing.assert_close(torch.cat(found, 1), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_log_probs_are_those_of_the_logits_and_nothing_is_carried_into_the_graph(kind):
    model = small(kind)
    expected = all_log_probs(model).gather(2, WANTED[..., None]).squeeze(2)
    scored = model.log_probs(FED, WANTED)
    torch.testing.assert_close(scored.log_probs, expected, rtol=0, atol=1e-5)
    assert not scored.log_probs.requires_grad
    carried = model.read(FED).carried
    assert not any(part.requires_grad for part in carried.values())


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_acts_in_training_only(kind):
    calm, model = small(kind), small(kind, dropout=0.5)
    assert torch.equal(model(FED), calm(FED))
    assert not torch.allclose(model.train()(FED), calm(FED))


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_ten_sentences_by_heart_and_search_writes_them(kind):
    """Ten sentences of four words that differ in the first: a plain loop, and every search."""
    sentences = torch.randint(4, N_WORDS, (10, 4), generator=torch.Generator().manual_seed(3))
    sentences = torch.cat([torch.arange(4, 14)[:, None], sentences], 1)
    torch.manual_seed(1)
    config, build = LANGUAGE_MODELS[kind]
    sizes = {
        "transformer": {"d_model": 32, "d_ff": 64, "layers": 2, "heads": 2},
        "nnlm": {"order": 4, "d_model": 32},
    }
    options = sizes.get(kind, {"d_model": 32, "layers": 1})
    model = build(config(dropout=0.0, **options), vocabulary_size=14)
    fed = torch.cat([torch.full((10, 1), BEGIN), sentences], 1)
    wanted = torch.cat([sentences, torch.full((10, 1), END)], 1)
    adam = FlatAdam(model, torch.float32, betas=(0.9, 0.999), epsilon=1e-8)
    for _ in range(80):
        loss = projected_label_smoothed(
            model.read(fed).features, model.output_weight, wanted,
            output_bias=model.output_bias, smoothing=0.0, padding=0,
        ).smoothed  # fmt: skip
        loss.backward()
        adam.step(0.01, clip_norm=0.0)
    model.eval()
    log_probs = model.log_probs(fed, wanted).log_probs
    assert log_probs[:, 1:].exp().min() > 0.9, "all but the first word, which is one of ten"
    for settings in (
        DecodingSettings(method="greedy"),
        DecodingSettings(method="beam", beam=3),
        SamplingSettings(method="sampling", top_k=1),
    ):
        found: list[list[Hypothesis]] = search(
            model,
            model.start(None, fed[:, :1]),
            sentences[:, 0],
            Rules(settings, END, torch.full((10,), 8)),
            {**METHODS, "sampling": sample},
        )
        assert [[*best.ids] for best, *_ in found] == sentences[:, 1:].tolist()
