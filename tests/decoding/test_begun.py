"""Outputs begin with what they are to begin with, and are scored as ever."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import (
    TIE,
    equal_but_for_ties,
    found,
    models,
    needs_engine,
    searches,
    small,
    sources_for,
)

from headway.core.hypothesis import DecodingSettings
from headway.core.transformer import Transformer
from headway.decoding.forced import PrefixedDecoder


@settings(max_examples=12)
@given(model=models(), how=searches(), length=st.integers(0, 9))
def test_a_beginning_that_would_have_been_written_changes_nothing(
    model: Transformer, how: DecodingSettings, length: int
) -> None:
    """To greedy search; a beam has more room behind it, and its texts the scores that they had."""
    sources = sources_for(model, [length])
    free = found(model, sources, how, engine="torch")[0]
    known, best = {tuple(one.ids): one for one in free}, free[0].ids
    for n in {0, 1, len(best) // 2, len(best)}:
        begun = PrefixedDecoder(model, best[:n], 0)
        again = found(begun, sources, how, engine="torch")[0]
        assert all(one.ids[: len(best[:n])] == best[:n] for one in again)
        for one in again:
            if same := known.get(tuple(one.ids)):
                assert one.token_log_probs == pytest.approx(same.token_log_probs, abs=TIE)
        assert how.rows > 1 or equal_but_for_ties(again, free)


def test_any_beginning_is_gone_on_from_as_search_does_token_by_token() -> None:
    """By hand: the likeliest tokens behind the beginning, fed with it."""
    torch.manual_seed(0)
    model, how = small(), DecodingSettings(method="greedy", max_extra_length=5)
    for ids in sources_for(model, [6, 2]):
        beginning = [9, 4, 17]
        fed = [2, *beginning]
        limit = len(ids) + 1 + 5
        while len(fed) <= limit:
            logits = model(torch.tensor([[*ids, 3]]), torch.tensor([fed]))[0, -1]
            logits[[0, 1, 2]] = -torch.inf
            fed.append(int(logits.argmax()))
            if fed[-1] == 3:
                break
        begun = PrefixedDecoder(model, beginning, 0)
        one = found(begun, [ids], how, engine="torch")[0][0]
        assert one.ids == [token for token in fed[1:] if token != 3]


@needs_engine
@settings(max_examples=12)
@given(
    model=models(),
    how=searches(),
    lengths=st.lists(st.integers(0, 9), max_size=4),
    numbers=st.lists(st.integers(0, 99), max_size=4),
)
def test_the_compiled_engine_goes_on_from_it_as_torch_does(
    model: Transformer, how: DecodingSettings, lengths: list[int], numbers: list[int]
) -> None:
    how = replace(how, max_extra_length=max(how.max_extra_length, len(numbers)))
    beginning = [4 + n % (len(model.output_weight) - 4) for n in numbers]
    sources, begun = sources_for(model, [*lengths, 3]), PrefixedDecoder(model, beginning, 0)
    theirs = found(begun, sources, how, engine="torch", want_attention=True)
    ours = found(begun, sources, how, engine="native", want_attention=True)
    for some, others in zip(ours, theirs, strict=True):
        assert equal_but_for_ties(some, others)
        assert all(one.ids[: len(beginning)] == beginning for one in some)


@needs_engine
def test_the_engine_refuses_a_beginning_that_no_output_may_have() -> None:
    torch.manual_seed(0)
    model = small()
    for beginning in ([9] * 9, [3], [2], [4000]):
        with pytest.raises(ValueError, match=r"within its limit|ids must be from 0"):
            found(PrefixedDecoder(model, beginning, 0), [[7]], DecodingSettings(max_extra_length=5))
