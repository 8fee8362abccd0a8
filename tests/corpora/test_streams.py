"""Text end to end, in lanes and in windows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.batching import BatchStream
from headway.core.errors import DataError
from headway.corpora.streams import Stream, StreamBatches

BEGIN, END = 2, 3
IDS = np.array([5, 6, END, 7, END, END, 8, 9, END], np.uint16)


def test_what_is_fed_is_the_token_before_and_a_line_begins_with_the_begin_marker():
    fed, wanted = Stream(IDS, begin=BEGIN, end=END).stretch(np.array([0]), len(IDS))
    assert wanted[0].tolist() == IDS.tolist()
    assert fed[0].tolist() == [BEGIN, 5, 6, BEGIN, 7, BEGIN, BEGIN, 8, 9]


def test_a_stretch_over_the_end_goes_on_at_the_beginning():
    fed, wanted = Stream(IDS[:-1], begin=BEGIN, end=END).stretch(np.array([7, 0]), 3)
    assert wanted.tolist() == [[9, 5, 6], [5, 6, END]]
    assert fed.tolist() == [[8, BEGIN, 5], [BEGIN, 5, 6]]


def test_a_stream_of_nothing_is_refused():
    with pytest.raises(DataError, match="at least one token"):
        Stream(IDS[:0], begin=BEGIN, end=END)


sizes = st.tuples(st.integers(1, 400), st.integers(1, 100), st.integers(1, 30))


@given(sizes, st.integers(0, 3))
def test_windows_take_each_token_at_most_once_and_nearly_all(size, epoch):
    n_tokens, batch_tokens, length = size
    batches = StreamBatches(
        n_tokens, batch_tokens=batch_tokens, length=length, seed=1, in_lanes=False
    )
    starts = batches.epoch(epoch)
    assert {len(batch) for batch in starts} == {batches.n_rows}
    taken = (np.concatenate(starts)[:, None] + np.arange(batches.length)) % n_tokens
    counts = np.bincount(taken.ravel(), minlength=n_tokens)
    assert counts.max() == 1
    assert (counts == 0).sum() < batches.length * (batches.n_rows + 1)


@given(sizes, st.integers(0, 3))
def test_each_lane_goes_on_where_it_ended(size, epoch):
    n_tokens, batch_tokens, length = size
    batches = StreamBatches(
        n_tokens, batch_tokens=batch_tokens, length=length, seed=1, in_lanes=True
    )
    starts = np.stack(batches.epoch(epoch))  # [steps, lanes]
    assert ((np.diff(starts, axis=0) - batches.length) % n_tokens == 0).all()
    taken = (starts.ravel()[:, None] + np.arange(batches.length)) % n_tokens
    assert np.bincount(taken.ravel()).max() == 1


def test_epochs_differ_and_are_the_same_for_the_same_seed():
    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = StreamBatches(500, batch_tokens=60, length=12, seed=seed, in_lanes=False)
        return [batch.tolist() for batch in batches.epoch(epoch)]

    assert order(1, 0) == order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_a_stream_of_batches_is_resumed_in_its_middle():
    def stream() -> BatchStream:
        return BatchStream(StreamBatches(500, batch_tokens=60, length=12, seed=1, in_lanes=True))

    whole, stopped = stream(), stream()
    for _ in range(11):
        whole.next()
        stopped.next()
    again = stream()
    again.load_state_dict(stopped.state_dict())
    for _ in range(11):
        assert again.next().tolist() == whole.next().tolist()
