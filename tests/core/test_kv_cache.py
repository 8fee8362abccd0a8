"""Laws of decoding token by token; those of whole models are in models/test_transformer.py."""

import pytest
import torch
from small_stack import stack

from headway.core.attention import causal_mask
from headway.core.kv_cache import start, step


@pytest.mark.parametrize("crosses", [False, True])
@pytest.mark.parametrize("rotary", [False, True])
@torch.no_grad()
def test_token_by_token_a_stack_computes_what_it_computes_in_one_pass(crosses, rotary):
    layers, x = stack(crosses=crosses, rotary=rotary), torch.randn(2, 40, 8)
    source = torch.randn(2, 5, 8) if crosses else None
    visible = torch.ones(2, 1, 1, 5).bool() if crosses else None
    whole = layers(x, causal_mask(40), source, visible)
    state = start(layers, 2, source, visible)
    for i in range(40):
        found, state, _ = step(layers, x[:, i], state)
        torch.testing.assert_close(found, whole[:, i], rtol=0, atol=1e-5)


@torch.no_grad()
def test_a_source_that_is_hidden_altogether_gives_zeros_and_no_nan_step_by_step():
    layers, x, source = stack(crosses=True), torch.randn(2, 8), torch.randn(2, 5, 8)
    visible = torch.tensor([True, False])[:, None, None, None].expand(2, 1, 1, 5)
    together = layers(x[:, None], None, source, visible)[:, 0]
    found, *_ = step(layers, x, start(layers, 2, source, visible))
    torch.testing.assert_close(found, together)
