"""Laws of constrained search, on a decoder small enough to enumerate every output."""

import unicodedata

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import PIECES, VOCABULARY, WANTED, encode, written
from random_models import equal_but_for_ties, found, needs_engine, searches, small, sources_for

from headway.decoding.beam import beam_search
from headway.decoding.constrained import constrained_search
from headway.decoding.hypothesis import Rules
from headway.decoding.settings import DecodingSettings
from headway.errors import HeadwayError
from headway.text.terms.automaton import CHARACTER, LETTER, SIGN, STOP, kind_of, kinds
from headway.text.terms.holding import Holding, Spelling, Wanted
from headway.text.terms.spelling import Spelled

WIDE = 400


class Runs:
    """Wants each of some runs of tokens somewhere; a state is all that was written."""

    longest = 10**6

    def __init__(self, *wanted):
        self.wanted = wanted

    def tables(self, limit):
        return None

    def start(self, limit):
        asked = []
        for run in sorted(self.wanted, key=len):
            if len(run) <= limit:
                asked.append(run)
                limit -= len(run)
        return tuple(asked), ()

    def after(self, state, token):
        return state[0], (*state[1], token)

    def lacking(self, state):
        asked, ids = state
        return [run for run in asked if not holds(ids, run)]

    def missing(self, state):
        lacking = self.lacking(state)
        saved = max((begun(state[1], run) for run in lacking), default=0)
        return sum(map(len, lacking)) - saved

    def onward(self, state):
        lacking = self.lacking(state)
        return [run[begun(state[1], run)] for run in lacking] + [run[0] for run in lacking]


def holds(ids, run):
    return any(tuple(ids[i : i + len(run)]) == tuple(run) for i in range(len(ids)))


def begun(ids, run):
    return max(n for n in range(len(run)) if n == 0 or tuple(ids[-n:]) == tuple(run[:n]))


def search(decoder, toy, wanted, limits, **options):
    source = toy.source[: len(limits)]
    rules = Rules(
        DecodingSettings(**{"length_penalty": 0.0, **options}),
        toy.END,
        torch.tensor(limits),
        (0, 1),
    )
    last = torch.full((len(source),), toy.BEGIN)
    return constrained_search(decoder, decoder.start(source), last, rules, wanted)


run = st.lists(st.sampled_from([3, 4, 5]), min_size=1, max_size=3).map(tuple)
runs = st.lists(st.lists(st.sampled_from([3, 4, 5]), min_size=1, max_size=3).map(tuple), max_size=3)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    wanted=st.lists(run, max_size=1),
    limit=st.integers(1, 4),
    alpha=st.sampled_from([0.0, 1.0]),
)
def test_a_beam_wide_enough_equals_brute_force_over_all_that_hold(toy, seed, wanted, limit, alpha):
    decoder, acceptor = toy.Decoder(seed), Runs(*wanted)
    [found] = search(decoder, toy, [acceptor], [limit], beam=WIDE, n_best=5, length_penalty=alpha)
    asked = acceptor.start(limit)[0]
    everything = decoder.brute_force(toy.source[0].tolist(), limit, alpha)
    expected = [ids for ids, _, _ in everything if all(holds(ids, run) for run in asked)]
    assert [one.ids for one in found] == expected[:5]


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    wanted=runs,
    limit=st.integers(0, 9),
    beam=st.integers(1, 6),
    sharpness=st.sampled_from([0.5, 8.0]),
)
def test_what_fits_is_always_held_whatever_the_beam(toy, seed, wanted, limit, beam, sharpness):
    acceptor = Runs(*wanted)
    decoder = toy.Decoder(seed, sharpness, shifted=True)
    [found] = search(decoder, toy, [acceptor], [limit], beam=beam, n_best=beam)
    asked = acceptor.start(limit)[0]
    if sum(map(len, wanted)) <= limit:
        assert len(asked) == len(wanted)
    assert found
    for one in found:
        assert len(one.ids) <= limit
        assert all(holds(one.ids, run) for run in asked)
        expected = decoder.token_log_probs(toy.source[0].tolist(), one.ids)
        assert one.token_log_probs == pytest.approx(expected, abs=1e-5)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    beam=st.integers(1, 5),
    places=st.sets(st.integers(0, 2)),
    grid=st.sampled_from([None, 1.0]),
)
def test_batch_mates_without_anything_wanted_are_as_in_plain_beam_search(
    toy, seed, beam, places, grid
):
    wanted = [Runs((3, 3), (5,)) if i in places else None for i in range(3)]
    options = {"beam": beam, "n_best": beam, "length_penalty": 0.6}
    decoder = toy.Decoder(seed, grid=grid)
    found = search(decoder, toy, wanted, toy.limits.tolist(), **options)
    plain = toy.run(beam_search, decoder, toy.source, max_lengths=toy.limits, **options)
    for i in range(3):
        if i not in places:
            assert found[i] == plain[i]
        else:
            [alone] = search(decoder, _only(toy, i), [wanted[i]], [int(toy.limits[i])], **options)
            assert found[i] == alone


def _only(toy, i):
    class One:
        source, END, BEGIN = toy.source[i : i + 1], toy.END, toy.BEGIN

    return One


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), beam=st.integers(1, 5))
def test_a_search_whose_best_output_holds_it_already_finds_one_as_good(toy, seed, beam):
    decoder = toy.Decoder(seed)
    options = {"beam": beam, "n_best": 1, "length_penalty": 0.0}
    [[plain]] = toy.run(beam_search, decoder, toy.source[:1], max_lengths=toy.limits[:1], **options)
    [[found]] = search(
        decoder, toy, [Runs(tuple(plain.ids[:2] or [3]))], [4], beam=WIDE, length_penalty=0.0
    )
    if plain.ids:
        assert found.score >= plain.score - 1e-6


words = st.text("abé", min_size=1, max_size=3) | st.text("ab狗", min_size=1, max_size=3)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    terms=st.lists(words, min_size=1, max_size=3),
    beam=st.integers(1, 5),
    limit=st.integers(1, 20),
    sharpness=st.sampled_from([0.5, 6.0]),
)
def test_texts_hold_whole_words_however_they_are_cut(toy, seed, terms, beam, limit, sharpness):
    acceptor = Spelled([Wanted((Spelling(term),)) for term in terms], VOCABULARY)
    decoder = toy.Decoder(seed, sharpness, vocabulary=len(PIECES))
    [found] = search(decoder, toy, [acceptor], [limit], beam=beam, n_best=beam)
    asked = [
        term for term, n in zip(terms, acceptor.lacks(acceptor.start(limit)), strict=True) if n
    ]
    if limit >= sum(len(encode(f" {term}")) for term in terms):
        assert len(asked) == len(terms)
    for one in found:
        text = written(one.ids)
        for term in asked:
            assert stands_in(term, text)


def stands_in(term, text):
    """By the definition: a letter of a spaced script may not continue one beyond either end."""

    def joins(left, right):
        return bool(left and right) and left in "abé" and right in "abé"

    return any(
        text.startswith(term, i)
        and not joins(text[i - 1 : i] if i else "", term[0])
        and not joins(term[-1], text[i + len(term) : i + len(term) + 1])
        for i in range(len(text))
    )


@needs_engine
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    how=searches().filter(lambda how: how.method == "beam"),
    asked=st.lists(st.none() | WANTED, min_size=1, max_size=4),
    n_expected=st.sampled_from([2, 10**6]),
)
def test_the_compiled_engine_finds_what_torch_finds_and_it_holds(seed, how, asked, n_expected):
    torch.manual_seed(seed)
    model = small(vocabulary_size=len(PIECES))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    sources = sources_for(model, [3 + n for n in range(len(asked))])

    def acceptors():
        return [some and Spelled(some, VOCABULARY, n_expected) for some in asked]

    native = found(model, sources, how, engine="native", wanted=acceptors())
    torchs = found(model, sources, how, engine="torch", wanted=acceptors())
    plain = found(model, sources, how, engine="native")
    for n, some in enumerate(asked):
        assert equal_but_for_ties(native[n], torchs[n])
        if some is None:
            assert native[n] == plain[n]
            continue
        acceptor = Spelled(some, VOCABULARY, n_expected)
        limit = min(len(sources[n]) + 1 + how.max_extra_length, acceptor.longest)
        fits = acceptor.lacks(acceptor.start(limit))
        for one in native[n]:
            lacking = Holding(some).lacking_in(written(one.ids))
            both = zip(lacking, some, fits, strict=True)
            assert all(n_lacking <= wanted.times - n for n_lacking, wanted, n in both)


@needs_engine
@pytest.mark.parametrize("beam", [1, 3])
def test_terms_in_a_model_with_infinite_logits_are_refused_as_in_torch(beam):
    """What is no number has no place in any order: it was written beyond the beam."""
    model = small(vocabulary_size=len(PIECES), output_bias=True)
    with torch.no_grad():
        model.output_bias[10:16] = torch.inf
    how = DecodingSettings(beam=beam, max_extra_length=9)
    for engine in ("native", "torch"):
        wanted = Spelled([Wanted((Spelling(text),)) for text in ("ab", "狗")], VOCABULARY)
        with pytest.raises(HeadwayError, match="damaged"):
            found(model, [[5, 6, 7]], how, engine=engine, wanted=[wanted])


@needs_engine
def test_a_text_whose_terms_have_no_tables_is_torchs_and_its_batch_mates_the_engines():
    model, how = small(vocabulary_size=len(PIECES)), DecodingSettings(beam=3, max_extra_length=9)
    sources, wanted = sources_for(model, [4, 3]), [None, Runs((5, 6))]
    native = found(model, sources, how, engine="native", wanted=wanted)
    assert native[:1] == found(model, sources[:1], how, engine="native")
    assert native[1:] == found(model, sources[1:], how, engine="torch", wanted=wanted[1:])


def test_the_engines_kinds_of_characters_are_those_that_texts_are_read_by():
    every = kinds()
    for point in range(0, 0x110000, 7):
        kind = every[point] if point < len(every) else SIGN
        assert kind == kind_of(chr(point)), hex(point)
    examples = {"a": LETTER, "_": LETTER, "\u0301": LETTER, "狗": CHARACTER, "。": STOP, "-": SIGN}
    assert {one: kind_of(one) for one in examples} == examples
    assert unicodedata.category("\U000e0100") == "Mn"
    assert every[0xE0100] == LETTER
