"""Outputs are written from their sources' shortlists; one of everything changes nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import (
    LENGTHS,
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
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.shortlist import Shortlist, Shortlisted

MARKERS = [0, 1, 2, 3]


def drawn(n_tokens: int, n: int, seed: int) -> Shortlist:
    """Of random tokens."""
    everywhere = np.zeros(n_tokens, bool)
    everywhere[MARKERS] = True
    likely = np.random.default_rng(seed).integers(0, n_tokens, (n_tokens, n))
    likely[MARKERS] = 3
    return Shortlist(likely, everywhere)


def whole(n_tokens: int) -> Shortlist:
    return Shortlist(np.zeros((n_tokens, 0), np.int64), np.ones(n_tokens, bool))


@needs_engine
@settings(max_examples=12)
@given(
    model=models(), how=searches(), lengths=LENGTHS, n=st.integers(0, 9), seed=st.integers(0, 99)
)
def test_the_engine_writes_from_it_what_torch_writes(
    model: Transformer, how: DecodingSettings, lengths: list[int], n: int, seed: int
) -> None:
    sources = sources_for(model, lengths)
    n_tokens = len(model.output_weight)
    plain = found(model, sources, how, engine="native")
    for shortlist in (drawn(n_tokens, n, seed), whole(n_tokens)):
        native = found(Shortlisted(model, shortlist), sources, how, engine="native")
        torchs = found(Shortlisted(model, shortlist), sources, how, engine="torch")
        for ids, ours, theirs in zip(sources, native, torchs, strict=True):
            assert equal_but_for_ties(ours, theirs)
            allowed = {*shortlist.tokens(ids).tolist()}
            assert all({*one.ids} <= allowed for one in ours)
    assert all(map(equal_but_for_ties, native, plain))


def test_it_has_the_sources_tokens_their_likely_ones_and_those_for_all() -> None:
    likely, everywhere = np.full((12, 2), 3), np.zeros(12, bool)
    likely[7], likely[8], everywhere[MARKERS] = (10, 4), (4, 3), True
    shortlist = Shortlist(likely, everywhere)
    assert shortlist.tokens([7, 8]).tolist() == [0, 1, 2, 3, 4, 7, 8, 10]
    assert shortlist.tokens([]).tolist() == MARKERS


def test_probabilities_are_shared_out_among_what_is_listed() -> None:
    model = small()
    shortlist = drawn(30, 0, 1)
    how = DecodingSettings(method="greedy", max_extra_length=3)
    [[one]] = found(Shortlisted(model, shortlist), [[9, 20]], how, engine="torch")
    with torch.no_grad():
        begin = torch.tensor([[SpecialIds().begin, *one.ids]])
        logits = model(torch.tensor([[9, 20, SpecialIds().end]]), begin)[0]
    listed = logits[:, shortlist.tokens([9, 20])].log_softmax(1)
    places = [shortlist.tokens([9, 20]).tolist().index(i) for i in [*one.ids, SpecialIds().end]]
    expected = listed[torch.arange(len(places)), places]
    assert one.token_log_probs == pytest.approx(expected.tolist(), abs=TIE)
