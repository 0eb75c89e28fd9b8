"""Elements shared out among devices: what one hasn't taken waits for it."""

import pytest

import everflow as tf
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.data.datasets import End, from_iterable
from everflow.kernels.data.devices import MultiDeviceIterator
from everflow.runtime.state import SessionState, Step
from tests.data.test_raw_datasets import NUMBERS, drained, variant


@pytest.fixture
def step():
    return Step(SessionState())


def numbers(count):
    return from_iterable(lambda: [(i,) for i in range(count)], count)


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_each_shard_has_every_so_manyth_element(step, shards):
    iterator = MultiDeviceIterator("it", shards)
    iterator.begin(numbers(7), step)
    for shard in reversed(range(shards)):
        got = []
        with pytest.raises(End):
            while True:
                got += iterator.get_next_of(shard, 1, step)
        assert got == list(range(shard, 7, shards))


def test_beginning_anew_forgets_what_waited_and_ends_the_old_incarnation(step):
    iterator = MultiDeviceIterator("it", 2)
    iterator.begin(numbers(4), step)
    assert iterator.get_next_of(1, 1, step) == [1]
    iterator.begin(numbers(4), step)
    assert iterator.incarnation == 2
    with pytest.raises(InvalidArgumentError, match="Invalid incarnation id"):
        iterator.get_next_of(0, 1, step)
    assert iterator.get_next_of(0, 2, step) == [0]
    with pytest.raises(InvalidArgumentError, match="no shard 2"):
        iterator.get_next_of(2, 2, step)


@pytest.mark.parametrize(
    ("batch", "replicas", "sizes"), [(4, 2, [2, 2, 2, 2, 1, 1]), (3, 4, [1, 1, 1, 0] * 3 + [1, 0, 0, 0])]
)
def test_batches_are_cut_for_replicas(batch, replicas, sizes):
    with tf.Graph().as_default():
        parts = tf.raw_ops.RebatchDataset(
            input_dataset=variant(tf.data.Dataset.range(10).batch(batch)), num_replicas=replicas, **NUMBERS
        )
        got = drained(parts)
    assert [len(part) for part in got] == sizes and sum(got, []) == list(range(10))
