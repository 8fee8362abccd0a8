import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.batching import BatchStream, TokenBatches
from headway.core.errors import ConfigError, RunError
from headway.core.rows import pad
from headway.corpora.weighted import WeightedRounds, times_seen

lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60)
budgets = st.integers(1, 200)


def batches_of(
    pairs: list[tuple[int, int]],
    batch_tokens: int,
    seed: int = 1,
    weights: list[float] | None = None,
) -> TokenBatches:
    return TokenBatches(
        list(np.array(pairs, np.int32).T), batch_tokens=batch_tokens, seed=seed,
        rounds=None if weights is None else WeightedRounds(np.array(weights, np.float64)),
    )  # fmt: skip


def seen(batches: TokenBatches, n_epochs: int) -> list[int]:
    """How often each pair comes in the first epochs."""
    epochs = [batch for n in range(n_epochs) for batch in batches.epoch(n)]
    return np.bincount(np.concatenate(epochs), minlength=len(batches)).tolist()


weighted = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=60
)


@given(lengths, budgets, st.integers(0, 5))
def test_each_pair_comes_once_an_epoch(
    pairs: list[tuple[int, int]], batch_tokens: int, n: int
) -> None:
    epoch = batches_of(pairs, batch_tokens).epoch(n)
    assert sorted(np.concatenate(epoch).tolist()) == list(range(len(pairs)))


def cost(pairs: list[tuple[int, int]], batch: np.ndarray) -> int:
    return len(batch) * max(max(pairs[i]) + 1 for i in batch)


@given(lengths, budgets)
def test_no_batch_is_over_the_budget_but_a_single_long_pair(
    pairs: list[tuple[int, int]], batch_tokens: int
) -> None:
    for batch in batches_of(pairs, batch_tokens).epoch(0):
        assert cost(pairs, batch) <= batch_tokens or len(batch) == 1


@given(lengths, budgets)
def test_batches_are_filled_in_order_of_target_then_source_length(
    pairs: list[tuple[int, int]], batch_tokens: int
) -> None:
    by_hand: list[list[tuple[int, int]]] = [[]]
    for pair in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
        fuller = [*by_hand[-1], pair]
        if len(fuller) > 1 and len(fuller) * (max(map(max, fuller)) + 1) > batch_tokens:
            by_hand.append([pair])
        else:
            by_hand[-1] = fuller
    epoch = batches_of(pairs, batch_tokens).epoch(0)
    assert sorted([pairs[i] for i in batch] for batch in epoch) == sorted(by_hand)


@given(lengths, budgets, st.integers(0, 9))
def test_an_epoch_depends_on_seed_and_number_alone(
    pairs: list[tuple[int, int]], batch_tokens: int, n: int
) -> None:
    one, other = (batches_of(pairs, batch_tokens) for _ in range(2))
    other.epoch(n + 1)
    for left, right in zip(one.epoch(n), other.epoch(n), strict=True):
        assert left.tolist() == right.tolist()


def test_epochs_and_seeds_differ_in_order_and_in_ties() -> None:
    pairs = [(5, 5)] * 50 + [(9, 9)] * 50
    orders = [
        [batch.tolist() for batch in batches_of(pairs, 60, seed).epoch(n)]
        for seed, n in ((1, 0), (1, 1), (2, 0))
    ]
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert {tuple(sorted(b)) for b in orders[0]} != {tuple(sorted(b)) for b in orders[1]}
    widths = [pairs[batch[0]] for batch in orders[0]]
    assert widths != sorted(widths), "batches come in random order"


@given(weighted, budgets, st.integers(1, 3))
def test_a_pair_comes_exactly_as_often_as_it_weighs(
    triples: list[tuple[int, int, int]], batch_tokens: int, n_epochs: int
) -> None:
    weights = [weight for *_, weight in triples]
    batches = batches_of([t[:2] for t in triples], batch_tokens, weights=list(map(float, weights)))
    assert seen(batches, n_epochs) == [n_epochs * weight for weight in weights]
    for batch in batches.epoch(0):
        assert cost([t[:2] for t in triples], batch) <= batch_tokens or len(batch) == 1


@given(st.lists(st.floats(1e-2, 4.0), min_size=1, max_size=20), st.integers(1, 6))
def test_a_weight_that_is_not_whole_is_right_to_within_one_after_any_number_of_epochs(
    weights: list[float], n_epochs: int
) -> None:
    times = sum(times_seen(np.array(weights), 1, n) for n in range(n_epochs))
    for found, weight in zip(times.tolist(), weights, strict=True):
        assert abs(found - n_epochs * weight) < 1


def test_half_a_weight_is_every_other_pass_and_half_of_the_pairs_in_each() -> None:
    batches = batches_of([(5, 5)] * 1000, 300, weights=[0.5] * 1000)
    assert seen(batches, 6) == [3] * 1000
    first, second = (np.concatenate(batches.epoch(n)).tolist() for n in (0, 1))
    assert 400 < len(first) < 600
    assert sorted(first + second) == list(range(1000))


def test_heavy_pairs_are_spread_over_an_epoch_and_never_twice_in_a_batch() -> None:
    pairs = [(i % 9, i % 11) for i in range(2000)]
    batches = batches_of(pairs, 40, weights=[4.0] * 500 + [1.0] * 1500)
    epoch = batches.epoch(0)
    assert all(len(set(batch.tolist())) == len(batch) for batch in epoch)
    quarter = np.concatenate(epoch[: len(epoch) // 4])
    assert 450 < (quarter < 500).sum() < 550
    assert 300 < (quarter >= 500).sum() < 450


def test_epochs_without_any_pair_are_passed_over() -> None:
    stream = BatchStream(batches_of([(1, 1)], 8, weights=[0.1]))
    assert [stream.next().tolist() for _ in range(3)] == [[0]] * 3
    assert stream.epoch >= 20


@given(weighted, budgets, st.integers(0, 30), st.sampled_from([0.5, 1.0, 1.3]))
def test_weighted_batches_restored_equal_never_stopped(
    triples: list[tuple[int, int, int]], batch_tokens: int, before: int, scale: float
) -> None:
    def stream() -> BatchStream:
        weights = [scale * weight for *_, weight in triples]
        return BatchStream(batches_of([t[:2] for t in triples], batch_tokens, weights=weights))

    stopped = stream()
    for _ in range(before):
        stopped.next()
    state = json.loads(json.dumps(stopped.state_dict()))
    expected = [stopped.next().tolist() for _ in range(20)]
    resumed = stream()
    resumed.load_state_dict(state)
    assert [resumed.next().tolist() for _ in range(20)] == expected


def test_weights_of_one_are_no_weights() -> None:
    pairs = [(i % 9, i % 11) for i in range(200)]
    plain, weighed = batches_of(pairs, 40), batches_of(pairs, 40, weights=[1.0] * 200)
    assert seen(plain, 2) == seen(weighed, 2)
    state = BatchStream(plain).state_dict()
    with pytest.raises(RunError, match="same weights"):
        BatchStream(weighed).load_state_dict(state)


@given(lengths, budgets, st.integers(0, 30), st.integers(1, 30))
def test_restored_equals_never_stopped(
    pairs: list[tuple[int, int]], batch_tokens: int, before: int, after: int
) -> None:
    stream = BatchStream(batches_of(pairs, batch_tokens))
    for _ in range(before):
        stream.next()
    state = json.loads(json.dumps(stream.state_dict()))
    expected = [stream.next().tolist() for _ in range(after)]
    resumed = BatchStream(batches_of(pairs, batch_tokens))
    resumed.load_state_dict(state)
    assert [resumed.next().tolist() for _ in range(after)] == expected
    assert resumed.state_dict() == stream.state_dict()


def test_the_stream_is_the_epochs_one_after_another() -> None:
    batches = batches_of([(i % 7, i % 5) for i in range(40)], 30)
    stream = BatchStream(batches)
    expected = [batch.tolist() for n in range(3) for batch in batches.epoch(n)]
    assert [stream.next().tolist() for _ in expected] == expected
    stream.next()
    assert (stream.epoch, stream.index) == (3, 1)


@pytest.mark.parametrize(
    ("changed", "name"),
    [(([(1, 1)] * 4, 8, 1), "pairs"), (([(1, 1)] * 3, 9, 1), "batch_tokens"),
     (([(1, 1)] * 3, 8, 2), "seed")],
)  # fmt: skip
def test_other_data_or_settings_cannot_be_resumed(
    changed: tuple[list[tuple[int, int]], int, int], name: str
) -> None:
    state = BatchStream(batches_of([(1, 1)] * 3, 8, 1)).state_dict()
    with pytest.raises(RunError, match=f"same {name}"):
        BatchStream(batches_of(*changed)).load_state_dict(state)


@pytest.mark.parametrize("batch_tokens", [0, -1])
def test_a_batch_holds_something(batch_tokens: int) -> None:
    with pytest.raises(ConfigError, match=f"batches of {batch_tokens} tokens"):
        batches_of([(1, 1)], batch_tokens)


def test_batches_of_nothing_are_refused() -> None:
    none = np.zeros(0, np.int32)
    with pytest.raises(ConfigError, match=r"sides of \[0, 0\] rows"):
        TokenBatches([none, none], batch_tokens=10, seed=1)
    with pytest.raises(ConfigError, match=r"\[3, 2\]"):
        TokenBatches([np.ones(3, np.int32), np.ones(2, np.int32)], batch_tokens=10, seed=1)
    with pytest.raises(ConfigError, match=r"\[\]"):
        TokenBatches([], batch_tokens=10, seed=1)


def test_a_position_of_the_version_before_is_understood() -> None:
    batches = batches_of([(i % 7, i % 5) for i in range(40)], 30)
    stored = {
        "epoch": 1, "index": 2, "pairs": 40, "batch_tokens": 30, "seed": 1, "weights": 0,
    }  # fmt: skip
    stream = BatchStream(batches)
    stream.load_state_dict(stored)
    assert stream.next().tolist() == batches.epoch(1)[2].tolist()
    del stored["weights"]  # as older ones had none
    stream.load_state_dict(stored)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), budgets)
def test_one_side_alone_is_packed_by_its_length(sizes: list[int], batch_tokens: int) -> None:
    one = TokenBatches([np.array(sizes, np.int32)], batch_tokens=batch_tokens, seed=1)
    two = batches_of([(size, size) for size in sizes], batch_tokens)
    assert [b.tolist() for b in one.epoch(0)] == [b.tolist() for b in two.epoch(0)]


rows = st.lists(st.lists(st.integers(4, 9), max_size=6), max_size=5)


@given(rows, st.sampled_from([None, 2]), st.sampled_from([None, 3]), st.sampled_from(["u2", "u4"]))
def test_padding_equals_padding_by_hand(
    rows: list[list[int]], begin: int | None, end: int | None, kind: str
) -> None:
    marked = [[m for m in (begin, *row, end) if m is not None] for row in rows]
    longest = max(map(len, marked), default=int(begin is not None) + int(end is not None))
    expected = [row + [0] * (longest - len(row)) for row in marked]
    padded = pad([np.array(row, kind) for row in rows], 0, begin=begin, end=end)
    assert padded.dtype == np.int64
    assert padded.shape == (len(rows), longest)
    assert padded.tolist() == expected
