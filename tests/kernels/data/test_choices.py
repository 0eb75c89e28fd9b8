"""Which elements follow which: counts at their edges, shards, errors left out, and several datasets as one."""

import functools

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.data.datasets import End, Iteration, from_iterable
from everflow.kernels.registry import function_of
from tests.data.draining import drain

D = tf.data.Dataset
E = tf.data.experimental

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(dataset):
    return [int(v) for v in drain(dataset)]


@pytest.mark.parametrize(
    ("change", "left", "size"),
    [
        (lambda d: d.take(2), [0, 1], 2),
        (lambda d: d.take(0), [], 0),
        (lambda d: d.take(9), [0, 1, 2, 3], 4),
        (lambda d: d.skip(3), [3], 1),
        (lambda d: d.skip(9), [], 0),
        (lambda d: d.skip(-1), [], 0),
        (lambda d: d.repeat(0), [], 0),
        (lambda d: d.repeat(2), [0, 1, 2, 3] * 2, 8),
        (lambda d: d.repeat().take(6), [0, 1, 2, 3, 0, 1], 6),
        (lambda d: d.shard(3, 0), [0, 3], 2),
        (lambda d: d.shard(3, 2), [2], 1),
        (lambda d: d.concatenate(D.range(2)), [0, 1, 2, 3, 0, 1], 6),
        (lambda d: d.filter(lambda x: x > 1), [2, 3], -2),
    ],
)
def test_elements_and_how_many_there_are(change, left, size):
    dataset = change(D.range(4))
    assert numbers(dataset) == left
    with tf.Session() as sess:
        assert sess.run(E.cardinality(dataset)) == size


def test_an_empty_dataset_repeated_for_ever_ends():
    assert numbers(D.range(0).repeat()) == []


def test_the_shortest_ends_a_zip():
    got = drain(D.zip((D.range(5), (D.range(10, 12), D.range(9)))))
    assert [(int(a), (int(b), int(c))) for a, (b, c) in got] == [(0, (10, 0)), (1, (11, 1))]


def test_many_joined_in_a_loop():
    """Programs join thousands of datasets one by one: calls don't go through each of them."""
    parts = [from_iterable(lambda i=i: [(i,)], 1) for i in range(5000)]
    following = functools.reduce(function_of("ConcatenateDataset"), parts).start(Iteration())
    assert [following()[0] for _ in range(5000)] == list(range(5000))
    with pytest.raises(End):
        following()


def test_failing_elements_are_left_out():
    dataset = D.from_tensor_slices([1.0, 0.0, 4.0, 0.0]).map(lambda x: tf.check_numerics(1.0 / x, "bad"))
    assert [float(v) for v in drain(dataset.apply(E.ignore_errors()))] == [1.0, 0.25]


@pytest.mark.parametrize("values", [[1, 2, 1, 1, 3], ["a", "b", "a", "a", "c"]])
def test_values_seen_before_are_left_out(values):
    got = drain(D.from_tensor_slices(values).apply(E.unique()))
    assert [v if isinstance(v, bytes) else int(v) for v in got] in ([1, 2, 3], [b"a", b"b", b"c"])


def test_a_dataset_that_has_ended_is_passed_over():
    datasets = [D.range(1), D.range(10, 13)]
    chosen = E.choose_from_datasets(datasets, D.from_tensor_slices(np.int64([0, 0, 1, 0, 1, 1, 1])))
    assert numbers(chosen) == [0, 10, 11, 12]
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers(E.choose_from_datasets(datasets, D.from_tensor_slices(np.int64([2]))))


@pytest.mark.parametrize(("shards", "index"), [(0, 0), (3, 3), (3, -1)])
def test_shards_that_can_not_be(shards, index):
    with pytest.raises(tf.errors.InvalidArgumentError):
        numbers(D.range(3).shard(tf.constant(shards, tf.int64), tf.constant(index, tf.int64)))
