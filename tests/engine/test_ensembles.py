"""Several models in one search by the engine: what torch finds with the mean of probabilities."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from random_models import (
    LENGTHS,
    TIE,
    ensembles,
    equal_but_for_ties,
    found,
    needs_engine,
    searches,
    small,
    sources_for,
)

from headway.core.errors import ConfigError, HeadwayError
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.decoding.ensemble import EnsembleDecoder, ensemble_log_probs_over
from headway.decoding.forced import PrefixedDecoder
from headway.engine.building import engine_library
from headway.engine.engine import NativeEngine, prepare
from headway.engine.ensembles import PackedEnsemble
from headway.engine.forced import log_probs_by
from headway.engine.packing import KINDS, Packed
from headway.engine.shortlist import Shortlist, Shortlisted
from headway.engine.translating import translate
from headway.models import MODELS

pytestmark = needs_engine

CPU = torch.device("cpu")
BEAM = DecodingSettings(beam=4, n_best=3, max_extra_length=5)
SEARCH = SearchRequest(SpecialIds(), BEAM, CPU, want_attention=True)
UNLIKELY = -80
"""Nearly the least that a float32 can say of a probability."""


def three(n_tokens: int = 300) -> list[Transformer]:
    """Models of three sizes and kinds, rather sure of themselves."""
    torch.manual_seed(7)
    made = [
        small(vocabulary_size=n_tokens),
        small(vocabulary_size=n_tokens, d_model=40, heads=4, decoder_layers=2, output_bias=True),
        small(vocabulary_size=n_tokens, norm="pre", d_ff=70, positions="learned", max_length=40),
    ]
    with torch.no_grad():
        for model in made:
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight), alpha=0.2)
            model.output_weight.mul_(2)
    return made


@settings(max_examples=15)
@given(models=ensembles(), how=searches(), lengths=LENGTHS)
def test_it_finds_what_torch_finds_but_for_ties(
    models: list[Transformer], how: DecodingSettings, lengths: list[int]
) -> None:
    together, sources = EnsembleDecoder(models), sources_for(models[0], lengths)
    theirs = found(together, sources, how, engine="torch", want_attention=True)
    assume(all(min(one.token_log_probs) > UNLIKELY for some in theirs for one in some))
    ours = found(together, sources, how, engine="native", want_attention=True)
    for ids, some, others in zip(sources, ours, theirs, strict=True):
        assert equal_but_for_ties(some, others)
        for one, other in zip(some, others, strict=True):
            if one.ids == other.ids:
                assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=TIE)
                expected = other.attention[:, : len(ids) + 1]  # torch's goes on over padding
                torch.testing.assert_close(one.attention, expected, atol=TIE, rtol=0)


@pytest.mark.parametrize("precision", KINDS)
def test_every_token_has_the_mean_of_what_each_gives_it_alone(precision: str) -> None:
    """In every precision: each model alone is made to write the same, and says how likely it is."""
    models, engine = three(), engine_library()
    sources = [[*ids, 3] for ids in sources_for(models[0], [5, 0, 11, 8])]
    limits = [len(ids) + 5 for ids in sources]
    together = PackedEnsemble(EnsembleDecoder(models), engine, precision)
    alone = [Packed(one, engine, precision) for one in models]
    greedy = SEARCH._replace(settings=DecodingSettings(method="greedy"))
    n_seen, results = 0, translate(together, sources, limits, SEARCH, threads=1)
    for source, some in zip(sources, results, strict=True):
        for one in some:
            each = [
                translate(it, [source], [len(one.ids)], greedy, [one.ids], threads=1)[0][0]
                for it in alone
            ]
            assert [other.ids for other in each] == 3 * [one.ids]
            mean = np.logaddexp.reduce([o.token_log_probs for o in each]) - math.log(3)
            assert one.token_log_probs == pytest.approx(mean, abs=2e-5)
            looked = torch.stack([other.attention for other in each]).mean(0)
            torch.testing.assert_close(one.attention, looked)
            n_seen += len(one.token_log_probs)
    assert n_seen > 50


@pytest.mark.parametrize("precision", KINDS)
def test_batch_mates_and_threads_change_no_bit(precision: str) -> None:
    models = three()
    packed = PackedEnsemble(EnsembleDecoder(models), engine_library(), precision)
    search = SEARCH._replace(want_attention=False)
    sources = [[*ids, 3] for ids in sources_for(models[0], [n * 7 % 19 for n in range(40)])]
    limits = [len(ids) + 4 for ids in sources]
    whole = translate(packed, sources, limits, search, threads=1)
    assert translate(packed, sources, limits, search, threads=3) == whole
    for i in range(0, 40, 7):
        assert translate(packed, sources[i : i + 1], limits[i : i + 1], search, threads=1) == [
            whole[i]
        ]


def test_without_scores_greedy_search_writes_the_same() -> None:
    models, how = three(), DecodingSettings(method="greedy", max_extra_length=5)
    together, sources = EnsembleDecoder(models), sources_for(models[0], [3, 0, 9, 9, 1])
    with_scores = found(together, sources, how, engine="native")
    without = found(together, sources, how, engine="native", want_scores=False)
    assert [one[0].ids for one in without] == [one[0].ids for one in with_scores]


def test_a_beginning_is_written_by_all() -> None:
    models, special = three(), SpecialIds()
    sources = sources_for(models[0], [5, 2, 9])
    begun = PrefixedDecoder(EnsembleDecoder(models), [9, 17], special.padding)
    ours, theirs = (found(begun, sources, BEAM, engine=one) for one in ("native", "torch"))
    assert all(one[0].ids[:2] == [9, 17] for one in ours)
    assert all(map(equal_but_for_ties, ours, theirs))


def test_what_others_wrote_is_as_likely_as_torch_says() -> None:
    models, special = three(), SpecialIds()
    sources = sources_for(models[0], [5, 2, 0, 11, 2])
    targets = [[9, 17], [], [4], [7] * 13, [5, 6, 7]]
    for decoder in (models[0], EnsembleDecoder(models)):
        engine = prepare(decoder, CPU)
        assert isinstance(engine, NativeEngine)
        ours = log_probs_by(engine, sources, targets, special)
        ended = [[*ids, special.end] for ids in targets]
        for its, torchs in zip(
            ours, ensemble_log_probs_over(decoder, sources, ended, special, CPU), strict=True
        ):
            assert its == pytest.approx(torchs, abs=1e-4)
        never = [[special.padding], [special.end]]
        assert log_probs_by(engine, sources[:2], never, special) == [[], []]


def test_it_reads_as_much_as_its_shortest_member() -> None:
    short, long = small(positions="learned", max_length=8), small()
    packed = PackedEnsemble(EnsembleDecoder([long, short]), engine_library())
    assert packed.longest == 8
    assert packed.n_bytes == sum(Packed(one, engine_library()).n_bytes for one in (short, long))


def test_what_it_cannot_do_is_torchs() -> None:
    first, second = small(), small(d_model=24)
    config, kind = MODELS["recurrent"]
    sizes = config(d_model=8, encoder_layers=1, decoder_layers=1)
    recurrent = kind(sizes, vocabulary_size=30).eval()
    nested = EnsembleDecoder([first, EnsembleDecoder([first, second])])
    for members, why in (
        (EnsembleDecoder([first, recurrent]), "no plain Transformer"),
        (EnsembleDecoder([first, small(positions="rotary")]), "positions are rotary"),
        (nested, "no Transformers with one vocabulary"),
    ):
        sources = sources_for(first, [4, 7])
        torchs = found(members, sources, BEAM, engine="torch")
        assert found(members, sources, BEAM) == torchs
        with pytest.raises(ConfigError, match=why):
            found(members, sources, BEAM, engine="native")
    other = EnsembleDecoder([first, small(vocabulary_size=31)])
    assert "with one vocabulary" in str(prepare(other, CPU))


def test_shortlists_and_members_that_are_looked_into_are_torchs() -> None:
    models, left = three(30), list[str]()
    together, sources = EnsembleDecoder(models), sources_for(models[0], [4, 7])
    prepared = prepare(together, CPU, leave=left.append)
    assert isinstance(prepared, NativeEngine)
    assert all(prepared.search(together, sources, SEARCH))
    everywhere = np.arange(30) % 2 == 1
    some = Shortlisted(together, Shortlist(np.full((30, 1), 3), everywhere))
    assert prepared.search(some, sources, SEARCH) == [[], []]
    handle = models[2].register_forward_hook(lambda *_: None)
    assert prepared.search(together, sources, SEARCH) == [[], []]
    handle.remove()
    assert all(prepared.search(together, sources, SEARCH))
    assert ["no shortlist" in why for why in left] == [True, False]


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_one_member_without_numbers_is_as_fatal_as_in_torch(number: float) -> None:
    models = [small(output_bias=True), small()]
    with torch.no_grad():
        models[0].get_parameter("output_bias")[-1] = number
    for engine in ("torch", "native"):
        with pytest.raises(HeadwayError, match="damaged or its training diverged"):
            found(EnsembleDecoder(models), [[5, 6], [7]], BEAM, engine=engine)
