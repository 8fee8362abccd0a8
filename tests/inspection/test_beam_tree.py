"""Laws of the beam tree: it is the search's own, whole and to the last bit."""

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from writers import END, KINDS, N_WORDS, SPECIAL, next_log_probs, writing

from headway.core.beam import greedy
from headway.core.errors import HeadwayError
from headway.core.hypothesis import DecodingSettings, Rules
from headway.core.search import search
from headway.inspection.beam_tree import ROOT, Tree, search_tree


@examples(max_examples=15)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 1000),
    beam=st.integers(1, 6),
    n_best=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 0.6, 1.0, 2.0]),
    limit=st.integers(0, 7),
)
def test_its_finished_hypotheses_are_those_of_the_search(
    kind: str, seed: int, beam: int, n_best: int, alpha: float, limit: int
) -> None:
    settings = DecodingSettings(beam=beam, n_best=min(beam, n_best), length_penalty=alpha)
    one = writing(kind, seed, limit=limit)
    state, last = one.started()
    rules = Rules(settings, END, torch.tensor([limit]), SPECIAL.unwritten)
    [expected] = search(one.decoder, state, last, rules)
    tree = search_tree(one, settings)
    assert tree.found == expected
    for place, hypothesis in zip(tree.finished, expected, strict=False):
        node = tree.nodes[place]
        assert tree.ids(place) == hypothesis.ids
        assert node.total == hypothesis.log_prob
        assert tree.score(node) == hypothesis.score
        path = [tree.nodes[at].log_prob for at in tree.path(place)]
        assert path == hypothesis.token_log_probs
    assert len(tree.finished) >= len(expected)
    rest = tree.finished[len(expected) :]
    scores = [tree.score(tree.nodes[place]) for place in rest]
    assert scores == sorted(scores, reverse=True)
    assert all(score <= expected[-1].score + 1e-6 for score in scores)


@examples(max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), beam=st.integers(1, 6))
def test_at_each_step_what_was_kept_is_the_best_of_what_there_was(
    kind: str, seed: int, beam: int
) -> None:
    """Against a list of all continuations, made by the model in one pass for each."""
    one = writing(kind, seed)
    tree = search_tree(one, DecodingSettings(beam=beam, n_best=beam))
    for depth in range(1, 1 + max(node.depth for node in tree.nodes)):
        before = [
            (place, node)
            for place, node in enumerate(tree.nodes)
            if node.depth == depth - 1 and node.fate == "kept"
        ] or [(ROOT, None)]
        totals = []
        for place, parent in before:
            following = next_log_probs(one, tree.ids(place))
            allowed = [END] if depth > one.limit else [END, *range(4, N_WORDS)]
            total = 0.0 if parent is None else parent.total
            totals += [(total + following[token].item(), place, token) for token in allowed]
        totals.sort(reverse=True)
        here = [node for node in tree.nodes if node.depth == depth]
        considered = sorted(here, key=lambda node: node.rank)
        assert [node.rank for node in considered] == list(range(1, 1 + len(considered)))
        expected = [total for total, _, _ in totals[: len(considered)]]
        assert [node.total for node in considered] == pytest.approx(expected, abs=1e-4)
        assert [node.fate != "pruned" for node in considered] == [
            rank < beam for rank in range(len(considered))
        ]
        assert len(considered) == min(2 * beam, len(totals))


@examples(max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), beam=st.integers(1, 5))
def test_the_winner_is_the_same_however_many_are_asked_for(kind: str, seed: int, beam: int) -> None:
    one = writing(kind, seed)
    settings = DecodingSettings(beam=beam)
    assert (
        search_tree(one, settings).found[0]
        == search_tree(one, replace(settings, n_best=beam)).found[0]
    )


def fates(tree: Tree) -> dict[str, int]:
    return {
        fate: sum(node.fate == fate for node in tree.nodes)
        for fate in ("kept", "pruned", "finished", "open")
    }


def test_every_hypothesis_has_its_fate_and_what_is_left_open_cannot_win() -> None:
    seen = dict.fromkeys(("kept", "pruned", "finished", "open"), 0)
    for kind, seed in itertools.product(KINDS, range(10)):
        one = writing(kind, seed)
        tree = search_tree(one, DecodingSettings(beam=3, n_best=1, length_penalty=1.0))
        winner = tree.score(tree.nodes[tree.finished[0]])
        for node in tree.nodes:
            assert node.parent == ROOT or tree.nodes[node.parent].fate == "kept"
            assert (node.fate == "finished") == (node.token == END and node.fate != "pruned")
            if node.fate == "open":
                assert node.total / ((5 + one.limit + 1) / 6) <= winner + 1e-6
        for fate, n in fates(tree).items():
            seen[fate] += n
    assert all(seen.values()), seen


@examples(max_examples=15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000))
def test_greedy_is_the_path_of_a_beam_of_one(kind: str, seed: int) -> None:
    one = writing(kind, seed)
    settings = DecodingSettings(beam=1)
    [[expected]] = greedy(one.decoder, *one.started(), one.rules(settings))
    tree = search_tree(one, settings)
    on_path = tree.path(tree.finished[0])
    assert tree.ids(tree.finished[0]) == expected.ids
    assert [place for place, node in enumerate(tree.nodes) if node.fate != "pruned"] == on_path
    assert all(tree.nodes[place].rank == 1 for place in on_path)


def test_a_model_that_gives_no_numbers_is_refused() -> None:
    one = writing("transformer")
    with torch.no_grad():
        one.decoder.output_weight.fill_(torch.nan)
    with pytest.raises(HeadwayError, match="diverged"):
        search_tree(one, DecodingSettings())
