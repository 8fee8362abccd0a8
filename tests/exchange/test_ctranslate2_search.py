"""CTranslate2 in the place of our search: the same texts, or what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_models import TIE, equal_but_for_ties, found, models, searches, small, sources_for

from headway.core.errors import ConfigError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.shortlist import Shortlist, Shortlisted
from headway.exchange.ctranslate2 import LEAST_POSITIONS, write_ctranslate2
from headway.exchange.ctranslate2_search import CTranslate2Search
from headway.inspection.ablation import switched
from headway.translation.decoding import SamplingSettings, decode

SPECIAL = SpecialIds()
GREEDY = DecodingSettings(method="greedy", max_extra_length=5)
WORDED = st.lists(st.integers(1, 14), min_size=1, max_size=5)


def there(model: Transformer, folder: Path) -> CTranslate2Search:
    """The model in CTranslate2."""
    tokens = [f"t{i}" for i in range(len(model.output_weight))]
    write_ctranslate2(model, tokens, SPECIAL, folder, 100)
    return CTranslate2Search(model, SPECIAL, folder, tokens, LEAST_POSITIONS)


def by(engine: CTranslate2Search, model: Any, sources: Any, how: Any, **options: Any) -> Any:
    """What is found where it is given as the engine."""
    request = SearchRequest(SPECIAL, how, torch.device("cpu"), **options)
    return decode(model, sources, request, engine)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=models(alike=True), how=searches(), lengths=WORDED)
def test_greedy_search_writes_what_torch_writes_but_for_ties(
    tmp_path: Path, model: Transformer, how: DecodingSettings, lengths: list[int]
) -> None:
    """A beam's hypotheses are its own; of each it is said what torch says."""
    widest = (len(model.output_weight) - 3) // 2
    how = replace(how, beam=min(how.beam, widest), n_best=min(how.n_best, widest))
    sources = sources_for(model, lengths)
    theirs = by(there(model, tmp_path), model, sources, how, want_attention=True)
    ours = found(model, sources, how, engine="torch", want_attention=True)
    for ids, some, others in zip(sources, theirs, ours, strict=True):
        assert 1 <= len(some) <= how.n_best
        assert [one.score for one in some] == sorted((one.score for one in some), reverse=True)
        if how.rows == 1:
            assert equal_but_for_ties(some, others)
        known = {tuple(one.ids): one for one in others}
        for one in some:
            assert not {0, 1, 2, 3} & {*one.ids}
            assert len(one.ids) <= len(ids) + 1 + how.max_extra_length
            if same := known.get(tuple(one.ids)):
                assert one.token_log_probs == pytest.approx(same.token_log_probs, abs=TIE)
                assert one.score == pytest.approx(same.score, abs=TIE)
                expected = same.attention[:, : len(ids) + 1]
                looked = one.attention[:, : len(ids) + 1]
                torch.testing.assert_close(looked, expected, atol=TIE, rtol=0)


Exported = tuple[Transformer, CTranslate2Search]


@pytest.fixture
def exported(tmp_path: Path) -> Exported:
    """A small model, and what has CTranslate2 search with it."""
    model = small()
    return model, there(model, tmp_path)


def test_texts_that_it_does_not_read_are_torchs(
    exported: Exported,
) -> None:
    model, engine = exported
    engine.n_positions = 13
    for sources in ([[5, 6], []], [[5] * 8]):
        theirs = by(engine, model, sources, GREEDY, want_scores=False)
        torchs = found(model, sources, GREEDY, want_scores=False, engine="torch")
        assert [one[0].ids for one in theirs] == [one[0].ids for one in torchs]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (SamplingSettings(method="sampling"), "draws no samples"),
        (DecodingSettings(beam=14), "widest beam is 13"),
    ],
)
def test_other_searches_are_refused(exported: Exported, how: DecodingSettings, why: str) -> None:
    model, engine = exported
    with pytest.raises(ConfigError, match=rf"{why}.*Use --runtime\.engine auto"):
        by(engine, model, [[5, 6]], how)


def test_another_model_than_was_exported_is_refused(
    exported: Exported,
) -> None:
    model, engine = exported
    everything = Shortlist(np.zeros((30, 1), np.int32), np.ones(30, bool))
    with pytest.raises(ConfigError, match="no shortlists"):
        by(engine, Shortlisted(model, everything), [[5, 6]], GREEDY)
    with (
        switched(model, ["encoder.0.self.head.0"]),
        pytest.raises(ConfigError, match="something looks into it"),
    ):
        by(engine, model, [[5, 6]], GREEDY)
    with pytest.raises(ConfigError, match="not the one that was exported"):
        by(engine, small(), [[5, 6]], GREEDY)
