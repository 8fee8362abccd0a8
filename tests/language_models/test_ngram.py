"""Laws of counting models, and their numbers by hand."""

import math
from pathlib import Path

import pytest
import torch
from counted import BEGIN, END, PADDING, UNKNOWN, all_grams, model_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, Rules
from headway.core.interfaces import State, StepDecoder
from headway.core.search import search
from headway.language_models.interfaces import LanguageModel
from headway.language_models.ngram import Ngram, NgramConfig

A, B, C, D = 4, 5, 6, 7
THREE = [[A, B], [A, B, C], [B]]  # "a b", "a b c", "b"
SIZE = 8
SMOOTHED = ["add-one", "add-k", "kneser-ney", "modified-kneser-ney"]
WORDS = st.integers(4, 11)
ROWS = st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=10)


def probabilities(model: Ngram, fed: list[int]) -> list[float]:
    """Of every next word."""
    state = model.start(None, torch.tensor([fed[:-1]], dtype=torch.long))
    return model.step(state, torch.tensor(fed[-1:])).logits[0].double().exp().tolist()


def one(model: Ngram, word: int, *fed: int) -> float:
    """Of one word, as scoring has it."""
    wanted = torch.tensor([[*fed[1:], word]])
    return model.log_probs(torch.tensor([fed]), wanted).log_probs[0, -1].double().exp().item()


def test_add_one_is_its_formula_by_hand(tmp_path: Path):
    """(c(h, w) + 1) / (c(h) + |V|): |V| is 6: a, b, c, d, <unk> and </s>; not <s>, not padding."""
    model = model_of(THREE, SIZE, tmp_path, order=3, smoothing="add-one")
    assert model.n_predictable == 6
    expected = {
        (BEGIN, A): {B: 3 / 8},  # "a" began two lines; b followed in both
        (A, B): {C: 2 / 8, END: 2 / 8},
        (D, B): {},  # a context that was never seen: 1 / |V|
        (BEGIN, B): {END: 2 / 7},
    }
    others = {(BEGIN, A): 1 / 8, (A, B): 1 / 8, (D, B): 1 / 6, (BEGIN, B): 1 / 7}
    for context, seen in expected.items():
        fed = context if context[0] == BEGIN else (BEGIN, C, *context)
        for word in (A, B, C, D, UNKNOWN, END):
            assert one(model, word, *fed) == pytest.approx(seen.get(word, others[context]), 1e-6)
    first = {A: 3 / 9, B: 2 / 9}  # three lines, |V| = 6: only <s> stands before the first word
    for word in (A, B, C, D, UNKNOWN, END):
        assert one(model, word, BEGIN) == pytest.approx(first.get(word, 1 / 9), 1e-6)


def test_add_k_is_its_formula_and_add_1_of_it_is_add_one(tmp_path: Path):
    k = 0.25
    model = model_of(THREE, SIZE, tmp_path, order=2, smoothing="add-k", k=k)
    counts = all_grams(THREE, 2)[1]
    for word in (A, B, C, D, UNKNOWN, END):
        expected = (counts[(B, word)] + k) / (3 + 6 * k)
        assert one(model, word, BEGIN, B) == pytest.approx(expected, 1e-6)
    laplace = model_of(THREE, SIZE, tmp_path, order=2, smoothing="add-one")
    same = model_of(THREE, SIZE, tmp_path, order=2, smoothing="add-k", k=1.0)
    for name, weights in laplace.state_dict().items():
        assert torch.equal(same.state_dict()[name], weights)


def test_maximum_likelihood_is_a_share_of_counts_and_has_no_answer_to_the_rest(tmp_path: Path):
    model = model_of(THREE, SIZE, tmp_path, order=2, smoothing="none")
    assert one(model, A, BEGIN) == pytest.approx(2 / 3)
    assert one(model, END, BEGIN, B) == pytest.approx(2 / 3)
    fed, wanted = torch.tensor([[BEGIN, A, C]]), torch.tensor([[A, C, END]])
    scores = model.log_probs(fed, wanted).log_probs[0]
    assert scores[1] == -math.inf, "a c was never counted"
    assert scores[2] == 0.0, "c always ended"


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("smoothing", SMOOTHED)
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS, fed=st.lists(WORDS | st.just(UNKNOWN), max_size=7))
def test_what_can_come_next_sums_to_one_in_every_context_and_is_what_scoring_says(
    smoothing, order, rows, fed, tmp_path_factory
):
    model = model_of(rows, 12, tmp_path_factory.mktemp("n"), order=order, smoothing=smoothing)
    for n in range(len(fed) + 1):
        found = probabilities(model, [BEGIN, *fed[:n]])
        assert sum(found) == pytest.approx(1.0, abs=2e-6)
        assert found[PADDING] == found[BEGIN] == 0.0
        for word in (UNKNOWN, END, 4, 9):
            assert found[word] == pytest.approx(one(model, word, BEGIN, *fed[:n]), rel=2e-5)


@pytest.mark.parametrize("smoothing", ["none", *SMOOTHED])
def test_nothing_beyond_the_last_words_has_an_effect(smoothing: str, tmp_path: Path):
    rows = [[A, B, C, D, A], [D, C, B], [B, B, A, C]]
    for order in (1, 2, 3, 4):
        model = model_of(rows, SIZE, tmp_path, order=order, smoothing=smoothing)
        for end in ([A, B, C], [D, D, D], [B, A, C]):
            last = end[len(end) - order + 1 :]
            distributions = [
                probabilities(model, [BEGIN, *before, *last])
                for before in ([A, A, A, A, A], [C, D, B, UNKNOWN, C])
            ]
            assert distributions[0] == distributions[1]


@pytest.mark.parametrize("smoothing", SMOOTHED)
def test_a_context_does_not_reach_back_over_the_beginning_of_a_line(smoothing: str, tmp_path: Path):
    model = model_of([[A, B], [B, B, A]], SIZE, tmp_path, order=4, smoothing=smoothing)
    alone = model.log_probs(torch.tensor([[BEGIN, B, A]]), torch.tensor([[B, A, END]]))
    for begin in (BEGIN, END):  # the end marker that is fed stands for the begin that follows it
        fed = torch.tensor([[BEGIN, A, B, B, begin, B, A]])
        after = model.log_probs(fed, torch.tensor([[A, B, B, END, B, A, END]]))
        assert torch.equal(after.log_probs[:, 4:], alone.log_probs)


@pytest.mark.parametrize("smoothing", ["none", *SMOOTHED])
def test_a_text_in_pieces_that_carry_on_scores_as_the_whole(smoothing: str, tmp_path: Path):
    model = model_of([[A, B, C], [C, B, A, A]], SIZE, tmp_path, order=3, smoothing=smoothing)
    fed = torch.tensor([[BEGIN, A, B, C, BEGIN, A, A], [BEGIN, C, B, A, A, BEGIN, D]])
    wanted = torch.tensor([[A, B, C, END, A, A, C], [C, B, A, A, END, D, END]])
    whole = model.log_probs(fed, wanted).log_probs
    for cut in range(1, 7):
        first = model.log_probs(fed[:, :cut], wanted[:, :cut])
        second = model.log_probs(fed[:, cut:], wanted[:, cut:], first.carried)
        assert torch.equal(torch.cat([first.log_probs, second.log_probs], 1), whole)


def test_it_is_what_search_asks_for_and_writes_what_is_likely(tmp_path: Path):
    model = model_of([[A, B, C]] * 3 + [[D]], SIZE, tmp_path, order=3, smoothing="kneser-ney")
    assert isinstance(model, LanguageModel)
    assert isinstance(model, StepDecoder)
    state = model.start(None, torch.tensor([[BEGIN], [BEGIN]]))
    assert isinstance(state, State)
    assert torch.equal(state.select(torch.tensor([1, 1, 0])).fed, state.fed[[1, 1, 0]])
    for method in ("greedy", "beam"):
        rules = Rules(DecodingSettings(method=method, beam=2), END, torch.tensor([9]))
        found = search(model, model.start(), torch.tensor([BEGIN]), rules)
        assert list(found[0][0].ids) == [A, B, C]


def test_rows_are_independent_and_padding_scores_nothing(tmp_path: Path):
    model = model_of(THREE, SIZE, tmp_path, order=3, smoothing="modified-kneser-ney")
    fed = torch.tensor([[BEGIN, A, B, C], [BEGIN, B, PADDING, PADDING]])
    wanted = torch.tensor([[A, B, C, END], [B, END, PADDING, PADDING]])
    both = model.log_probs(fed, wanted).log_probs
    assert not both[1, 2:].any()
    assert torch.equal(both[1:, :2], model.log_probs(fed[1:, :2], wanted[1:, :2]).log_probs)
    state = model.start(None, fed[:, :1])
    batch = model.step(state, fed[:, 1]).logits
    for row in range(2):
        alone = model.step(state.select(torch.tensor([row])), fed[row, 1:2])
        assert torch.equal(batch[row], alone.logits[0])


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"order": 0}, "order is at least 1; got 0"),
        ({"order": 99}, "order must be at most 20"),
        ({"k": 0.5}, "k is what add-k adds"),
        ({"smoothing": "add-k", "k": 0.0}, "above 0; got 0.0"),
        ({"order": 2, "n_grams": (5, 4, 3)}, "a number for each order up to 2"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options: dict, rule: str):
    with pytest.raises(ConfigError, match=rule):
        NgramConfig(**options)
