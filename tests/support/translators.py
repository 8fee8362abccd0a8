"""Laws of every translator that trains on pairs and writes token by token."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from headway.core.interfaces import Seq2Seq, State, StepDecoder

BEGIN, END, N_WORDS = 2, 3, 13
SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
FED = torch.tensor([[BEGIN, 7, 8, 9, 4, 12, 6, 6], [BEGIN, 5, 11, 7, 0, 0, 0, 0]])
REAL = FED != 0


def step_by_step(model: nn.Module, source: Tensor, fed: Tensor) -> Tensor:
    """Log-probabilities through the cache, one token at a time."""
    state = model.start(source)
    rows = []
    for token in fed.unbind(1):
        step = model.step(state, token)
        state = step.state
        rows.append(step.logits.log_softmax(-1))
    return torch.stack(rows, 1)


def keeps_the_protocols(model: nn.Module) -> None:
    assert isinstance(model, Seq2Seq)
    assert isinstance(model, StepDecoder)
    assert isinstance(model.start(SOURCE), State)


def hides_the_future(model: nn.Module) -> None:
    before = model(SOURCE, FED)
    for i in range(1, FED.shape[1]):
        changed = FED.clone()
        changed[:, i:] = 10
        after = model(SOURCE, changed)
        assert torch.equal(after[:, :i], before[:, :i])
        assert not torch.allclose(after[:, i], before[:, i])


def forgets_batch_mates_and_padding(model: nn.Module) -> None:
    together = model(SOURCE, FED).log_softmax(-1)
    alone = model(SOURCE[1:, :3], FED[1:, :4]).log_softmax(-1)
    torch.testing.assert_close(together[1:, :4], alone, rtol=0, atol=1e-5)
    longer_source = torch.cat([SOURCE, torch.zeros(2, 9, dtype=torch.long)], 1)
    longer_target = torch.cat([FED, torch.zeros(2, 6, dtype=torch.long)], 1)
    padded = model(longer_source, longer_target).log_softmax(-1)
    torch.testing.assert_close(padded[:, :8], together, rtol=0, atol=1e-5)
    stepped = step_by_step(model, longer_source, FED)
    torch.testing.assert_close(stepped, together, rtol=0, atol=1e-5)


def sends_padding_no_gradient(model: nn.Module) -> None:
    """Of an untied model: what stands behind the end is not learned from."""
    embedded: dict[str, Tensor] = {}

    def keep(name: str) -> Callable[..., None]:
        def hook(_module: object, _inputs: object, output: Tensor) -> None:
            output.retain_grad()
            embedded[name] = output

        return hook

    model.source_embedding.register_forward_hook(keep("source"))
    model.target_embedding.register_forward_hook(keep("target"))
    model(SOURCE, FED)[REAL].square().sum().backward()
    for name, ids in (("source", SOURCE), ("target", FED)):
        gradient = embedded[name].grad
        assert gradient is not None
        given = ids != 0
        assert gradient[:, : ids.shape[1]][given].any(-1).all()
        if name == "target":
            assert not gradient[~given].any()
    for embedding in (model.source_embedding, model.target_embedding):
        assert not embedding.weight.grad[0].any()


def bears_a_source_of_padding(model: nn.Module) -> None:
    logits = model(torch.zeros_like(SOURCE), FED)
    assert logits.isfinite().all()
    logits.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    stepped = step_by_step(model, torch.zeros_like(SOURCE), FED)
    torch.testing.assert_close(stepped, logits.log_softmax(-1), rtol=0, atol=1e-5)


def goes_on_from_a_prefix(model: nn.Module) -> None:
    expected = step_by_step(model, SOURCE, FED)
    for length in (0, 1, 3):
        state = model.start(SOURCE, FED[:, :length]).select(torch.tensor([1, 1, 0]))
        for i in range(length, 4):
            step = model.step(state, FED[[1, 1, 0], i])
            state = step.state
            found = step.logits.log_softmax(-1)
            torch.testing.assert_close(found, expected[[1, 1, 0], i], rtol=0, atol=1e-5)


def goes_on_with_selected_rows(model: nn.Module) -> None:
    """As beam search and sampling select them: repeated, turned round, left out."""
    for rows in ([0, 1], [1, 0], [1, 1, 0, 1], [1, 1, 1, 0, 0, 0], [0, 0], [1]):
        chosen = torch.tensor(rows)
        state = model.start(SOURCE).select(chosen)
        state = model.step(state, FED[chosen, 0]).state
        again = torch.arange(len(rows)).flip(0)
        state = model.step(state.select(again), FED[chosen[again], 1]).state
        found = model.step(state, FED[chosen[again], 2]).logits.log_softmax(-1)
        expected = step_by_step(model, SOURCE[chosen[again]], FED[chosen[again]])[:, 2]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def leaves_earlier_states_alone(model: nn.Module) -> None:
    state = model.step(model.start(SOURCE), FED[:, 0]).state
    first = model.step(state, FED[:, 1])
    after_first = model.step(first.state, FED[:, 2]).logits
    model.step(model.step(state, FED[:, 2]).state, FED[:, 3])
    assert torch.equal(model.step(state, FED[:, 1]).logits, first.logits)
    assert torch.equal(model.step(first.state, FED[:, 2]).logits, after_first)


def computes_in_bfloat16(model: nn.Module) -> None:
    """As training does it: embeddings stay float32, all else is rounded."""
    from headway.core.optimizer import FlatAdam

    exact = model(SOURCE, FED).log_softmax(-1)
    FlatAdam(model, torch.bfloat16, betas=(0.9, 0.98), epsilon=1e-9)
    rounded = model(SOURCE, FED)
    assert rounded.dtype == torch.bfloat16
    found = rounded.float().log_softmax(-1)
    torch.testing.assert_close(found, exact, rtol=0.1, atol=0.3)
    assert step_by_step(model, SOURCE, FED).dtype == torch.float32
    rounded.float().sum().backward()


LAWS = (
    keeps_the_protocols,
    hides_the_future,
    forgets_batch_mates_and_padding,
    bears_a_source_of_padding,
    goes_on_from_a_prefix,
    goes_on_with_selected_rows,
    leaves_earlier_states_alone,
    computes_in_bfloat16,
)
