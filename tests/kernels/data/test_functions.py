"""Datasets that call functions: what ends an iteration and what is an error; groups, scans and generators at their edges."""

import numpy as np
import pytest

import everflow as tf
from tests.data.draining import drain

D = tf.data.Dataset
E = tf.data.experimental

pytestmark = pytest.mark.usefixtures("own_graph")


def numbers(dataset):
    return [int(v) for v in drain(dataset)]


@pytest.mark.parametrize("parallel", [None, 2, tf.data.experimental.AUTOTUNE])
def test_maps_keep_order_and_structure(parallel):
    dataset = D.range(4).map(lambda x: {"x": x, "pair": (x * x, tf.as_string(x))}, num_parallel_calls=parallel)
    got = drain(dataset)
    assert [(int(g["x"]), int(g["pair"][0]), g["pair"][1]) for g in got] == [(i, i * i, b"%d" % i) for i in range(4)]


def test_parallel_calls_are_counted_from_one():
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls must be greater than zero"):
        numbers(D.range(2).map(lambda x: x, num_parallel_calls=tf.constant(0)))


@pytest.mark.parametrize("lengths", [[2, 0, 1], [0, 0], []])
def test_inner_datasets_one_after_the_other(lengths):
    outer = D.from_tensor_slices(np.array(lengths, np.int64))
    assert numbers(outer.flat_map(lambda n: D.range(n))) == [i for n in lengths for i in range(n)]


@pytest.mark.parametrize(("cycle", "block"), [(0, 1), (1, 0)])
def test_turns_that_can_not_be(cycle, block):
    dataset = D.range(3).interleave(lambda x: D.range(2), tf.constant(cycle, tf.int64), tf.constant(block, tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        numbers(dataset)


def test_states_go_from_element_to_element():
    dataset = D.range(1, 5).apply(E.scan((np.int64(1), "-"), lambda s, x: ((s[0] * x, s[1] + "x"), (s[0] * x, s[1]))))
    got = drain(dataset)
    assert [(int(a), b) for a, b in got] == [(1, b"-"), (2, b"-x"), (6, b"-xx"), (24, b"-xxx")]


def test_reductions_of_structures_and_of_nothing():
    with tf.Session() as sess:
        total = D.range(5).reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x, s[1] * 2))
        nothing = D.range(0).reduce(np.int64(7), lambda s, x: s + x)
        assert [int(v) for v in sess.run(total)] == [10, 32] and sess.run(nothing) == 7


@pytest.mark.parametrize(("count", "message"), [(0, "Dataset was empty"), (2, "Dataset had more than one element")])
def test_single_elements(count, message):
    with tf.Session() as sess:
        assert sess.run(E.get_single_element(D.range(5).skip(4))) == 4
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(E.get_single_element(D.range(count)))


def test_windows_of_groups_come_when_they_are_full():
    dataset = D.from_tensor_slices(np.int64([1, 2, 1, 1, 3, 2, 1]))
    windows = dataset.apply(
        E.group_by_window(lambda x: x, lambda key, window: window.batch(10), window_size_func=lambda key: key + 1)
    )
    assert [w.tolist() for w in drain(windows)] == [[1, 1], [1, 1], [2, 2], [3]]


def test_windows_have_a_size():
    windows = D.range(3).apply(
        E.group_by_window(lambda x: x % 2, lambda key, w: w, window_size_func=lambda k: np.int64(0))
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Window size must be greater than zero, but got 0"):
        numbers(windows)


def test_reducers_have_a_state_for_each_key():
    reducer = E.Reducer(lambda key: (key, np.int64(0)), lambda s, x: (s[0], s[1] + x), lambda key, total: (key, total))
    got = drain(D.range(7).apply(E.group_by_reducer(lambda x: x % 3, reducer)))
    assert [(int(k), int(t)) for k, t in got] == [(0, 9), (1, 5), (2, 7)]


def test_a_condition_that_fails_ends_for_good():
    values = D.from_tensor_slices(np.int64([1, 2, 9, 1])).apply(E.take_while(lambda x: x < 5))
    assert numbers(values) == [1, 2]


def test_generators_begin_anew_and_are_closed():
    closed = []

    def made():
        try:
            yield from range(3)
        finally:
            closed.append(True)

    assert numbers(D.from_generator(made, tf.int64).repeat(2)) == [0, 1, 2] * 2
    assert len(closed) == 2


def test_an_error_of_a_generator_is_told():
    def made():
        yield 1
        raise ValueError("no more")

    following = D.from_generator(made, tf.int64).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(following) == 1
        with pytest.raises(tf.errors.OpError, match="no more"):
            sess.run(following)


def test_a_window_of_size_nothing_fails_at_each_element(own_graph):
    grouped = tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, w: w.batch(4), window_size=0)
    following = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(4).apply(grouped)).get_next()
    with tf.Session() as sess:
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
                sess.run(following)


def test_a_scan_goes_on_where_its_function_says_that_there_is_no_more(own_graph):
    def stopping(x):
        return next(iter([])) if x == 2 else x

    scan = tf.data.experimental.scan(0, lambda state, x: (state, tf.py_func(stopping, [x], tf.int64)))
    following = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(4).apply(scan)).get_next()
    with tf.Session() as sess:
        assert [sess.run(following) for _ in range(2)] == [0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(following)
        assert sess.run(following) == 3
