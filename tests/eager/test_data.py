"""Datasets in Python's own loops and in traced functions."""

import numpy as np
import pytest

import everflow as tf


def test_a_for_loop_gives_values_each_time_anew():
    dataset = tf.data.Dataset.range(7).batch(3)
    for _ in range(2):
        assert [batch.numpy().tolist() for batch in dataset] == [[0, 1, 2], [3, 4, 5], [6]]


def test_iterators_end_in_two_ways():
    iterator = iter(tf.data.Dataset.range(1))
    assert next(iterator).numpy() == 0
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    assert isinstance(tf.data.Dataset.range(1).make_one_shot_iterator(), type(iterator))
    with pytest.raises(RuntimeError, match="initializable"):
        tf.data.Dataset.range(1).make_initializable_iterator()


def test_functions_see_graphs_and_capture_values():
    seen, shift = [], tf.Variable(10, dtype=tf.int64)

    def function(x):
        seen.append(tf.executing_eagerly())
        return x + shift

    dataset = tf.data.Dataset.range(2).map(function)
    assert [x.numpy() for x in dataset] == [10, 11]
    shift.assign(20)
    assert [x.numpy() for x in dataset] == [20, 21]
    assert seen == [False]


def test_generators_and_python_functions():
    dataset = tf.data.Dataset.from_generator(lambda n: iter(range(n)), tf.int32, args=(3,))
    doubled = dataset.map(lambda x: tf.py_function(lambda v: v.numpy() * 2, [x], tf.int32))
    assert [x.numpy() for x in doubled] == [0, 2, 4]


def test_reduce_and_windows():
    dataset = tf.data.Dataset.range(5)
    assert dataset.reduce(np.int64(0), lambda total, x: total + x).numpy() == 10
    assert [[x.numpy() for x in window] for window in dataset.window(2)] == [[0, 1], [2, 3], [4]]


@tf.function
def _sum_up_to(dataset, limit):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        if x > limit:
            break
        total += x
    return total


def test_a_loop_in_a_function_is_a_loop_of_the_graph():
    assert _sum_up_to(tf.data.Dataset.range(10), tf.constant(4, tf.int64)).numpy() == 10
    assert _sum_up_to(iter(tf.data.Dataset.range(3)), tf.constant(9, tf.int64)).numpy() == 3


def test_a_function_takes_from_an_iterator_outside():
    iterator = iter(tf.data.Dataset.range(5))

    @tf.function
    def following():
        return next(iterator) + 100

    assert [following().numpy(), next(iterator).numpy(), following().numpy()] == [100, 1, 102]


def test_graphs_refuse_loops():
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="only supported inside of tf.function"):
        iter(tf.data.Dataset.range(1))


def test_a_seeded_shuffle_is_the_same_for_every_iterator():
    rows = tf.data.Dataset.range(6).shuffle(6, seed=1)
    first, second = [int(x) for x in rows], [int(x) for x in rows]
    assert first == second == [4, 5, 1, 2, 3, 0]
