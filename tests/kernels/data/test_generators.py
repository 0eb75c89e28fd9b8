"""Generators end when nobody can ask them for more."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


class Endless:
    """An iterator that says when it is gone."""

    def __init__(self, gone):
        self._gone = gone

    def __iter__(self):
        return self

    def __next__(self):
        return 42

    def __del__(self):
        self._gone.append(True)


def test_a_generator_that_nobody_asks_any_more_is_gone():
    gone = []
    dataset = tf.data.Dataset.from_generator(lambda: Endless(gone), tf.int64).take(2)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert [session.run(following) for _ in range(2)] == [42, 42] and not gone
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
        assert gone


def test_an_iterator_that_begins_anew_lets_its_generator_go():
    gone = []
    dataset = tf.data.Dataset.from_generator(lambda: Endless(gone), tf.int64)
    iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(following) == 42 and not gone
        session.run(iterator.initializer)
        assert gone


def test_python_that_stops_ends_a_map_and_nothing_else():
    def stop(x):
        raise StopIteration

    numbers = tf.data.Dataset.range(3)

    def stopping(x):
        return tf.py_func(stop, [x], tf.int64, stateful=False)

    for dataset, problem in (
        (numbers.map(stopping), tf.errors.OutOfRangeError),
        (numbers.flat_map(lambda x: tf.data.Dataset.range(stopping(x))), tf.errors.InternalError),
        (numbers.filter(lambda x: stopping(x) > 0), tf.errors.InternalError),
        (numbers.interleave(lambda x: tf.data.Dataset.range(stopping(x)), 2), tf.errors.InternalError),
    ):
        iterator = tf.compat.v1.data.make_initializable_iterator(dataset)
        following = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            with pytest.raises(problem):
                session.run(following)
