"""The chain beside brute force over all taggings."""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from headway.tagging.crf import LinearChain
from headway.tagging.schemes import n_violations, transitions

LABELS = ["O", "B-X", "I-X", "E-X", "S-X"]


def chain(*, learned: bool = True, scheme: str | None = "BIOES", seed: int = 1) -> LinearChain:
    """One with transitions drawn at random."""
    found = LinearChain(transitions(LABELS, scheme), learned=learned)
    if learned:
        torch.manual_seed(seed)
        torch.nn.init.normal_(found.transitions)
    return found


def by_hand(of: LinearChain, emissions: Tensor, tags: tuple[int, ...]) -> float:
    """The score of one tagging, term by term."""
    scores, edge, total = of.scores().tolist(), len(LABELS), 0.0
    for before, after in itertools.pairwise([edge, *tags, edge]):
        total += scores[before][after]
    return total + sum(emissions[t, tag].item() for t, tag in enumerate(tags))


def all_scores(of: LinearChain, emissions: Tensor) -> dict[tuple[int, ...], float]:
    """Of every tagging of a sentence."""
    taggings = itertools.product(range(len(LABELS)), repeat=len(emissions))
    return {tags: by_hand(of, emissions, tags) for tags in taggings}


@pytest.fixture
def batch() -> tuple[Tensor, Tensor]:
    """Sentences of 5, 1 and 3 tokens; what stands at padding is no number that may count."""
    torch.manual_seed(3)
    emissions = 2 * torch.randn(3, 5, len(LABELS))
    visible = torch.tensor([[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0]]).bool()
    return emissions.masked_fill(~visible[..., None], 77.0), visible


@pytest.mark.parametrize("scheme", ["BIOES", None])
@torch.no_grad()
def test_partition_score_and_best_equal_brute_force(batch, scheme):
    emissions, visible = batch
    of = chain(scheme=scheme)
    partition, best = of.log_partition(emissions, visible), of.best(emissions, visible)
    for i, n in enumerate(visible.sum(1).tolist()):
        scores = all_scores(of, emissions[i, :n])
        values = torch.tensor([*scores.values()], dtype=torch.float64)
        assert partition[i].item() == pytest.approx(values.logsumexp(0).item(), abs=1e-4)
        assert (*best[i, :n].tolist(),) == max(scores, key=scores.__getitem__)
        assert not best[i, n:].any()
    tags = best.clone()
    tags[0] = torch.tensor([0, 1, 2, 3, 4])
    found = of.score(emissions, tags, visible)
    for i, n in enumerate(visible.sum(1).tolist()):
        expected = by_hand(of, emissions[i, :n], (*tags[i, :n].tolist(),))
        assert found[i].item() == pytest.approx(expected, abs=1e-3)


def test_gradient_is_that_of_brute_force(batch):
    emissions, visible = batch
    of = chain()
    row = emissions[:1].clone().requires_grad_()
    of.log_partition(row, visible[:1]).sum().backward()
    with torch.no_grad():
        scores = all_scores(of, emissions[0])
        probs = torch.tensor([*scores.values()], dtype=torch.float64).softmax(0).numpy()
    marginal = np.zeros((5, len(LABELS)))
    for tags, p in zip(scores, probs, strict=True):
        marginal[range(5), tags] += p
    assert row.grad is not None
    np.testing.assert_allclose(row.grad[0].numpy(), marginal, atol=1e-4)


def test_the_loss_of_a_head_without_transitions_is_cross_entropy(batch):
    emissions, visible = batch
    tags = torch.randint(0, len(LABELS), visible.shape)
    rows = zip(emissions[visible].log_softmax(-1), tags[visible], strict=True)
    expected = -sum(row[tag].item() for row, tag in rows)
    found = chain(learned=False).loss(emissions, tags, visible)
    assert found.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("learned", [True, False])
@torch.no_grad()
def test_what_the_scheme_forbids_is_never_said(learned):
    torch.manual_seed(5)
    of, visible = chain(learned=learned), torch.ones(200, 7, dtype=torch.bool)
    if learned:
        of.transitions.mul_(30)
    best = of.best(50 * torch.randn(200, 7, len(LABELS)), visible)
    for row in best.tolist():
        assert n_violations([LABELS[tag] for tag in row], "BIOES") == 0


@torch.no_grad()
def test_padding_and_batch_mates_do_not_matter(batch):
    emissions, visible = batch
    of, n = chain(), visible.sum(1).tolist()
    for i in range(3):
        alone = emissions[i : i + 1, : n[i]], visible[i : i + 1, : n[i]]
        torch.testing.assert_close(of.log_partition(*alone)[0], of.log_partition(*batch)[i])
        assert torch.equal(of.best(*alone)[0], of.best(*batch)[i, : n[i]])


@torch.no_grad()
def test_scores_far_apart_are_still_summed():
    of, visible = chain(learned=False), torch.ones(1, 3, dtype=torch.bool)
    emissions = torch.zeros(1, 3, len(LABELS))
    emissions[0, :, 0] = 5_000
    assert of.log_partition(emissions, visible).item() == pytest.approx(15_000)
