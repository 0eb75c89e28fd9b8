"""Loop variables that are held as Python's numbers: the values, types and errors are those of tensors."""

import re

import numpy as np
import pytest

import everflow as tf


def _run(fetches, feeds=None):
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def _source(fetches):
    with tf.Session() as sess:
        return sess.explain(fetches)


def test_counting_takes_no_kernels():
    count = tf.while_loop(lambda i: tf.logical_and(i < 10, tf.not_equal(i, 7)), lambda i: i + 1, [0])
    loop = _source(count).partition("while True:")[2]
    assert loop and not re.search(r"\bk\d+\(", loop)
    result = _run(count)
    assert result == 7 and result.dtype == np.int32


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_numbers_wrap_round_as_tensors_do(dtype):
    factor, term = 1103515245, 12345
    x = tf.while_loop(lambda i, x: i < 50, lambda i, x: (i + 1, x * factor + term), [0, tf.constant(99, dtype)])[1]
    expected = np.array(99, dtype.as_numpy_dtype)
    with np.errstate(over="ignore"):
        for _ in range(50):
            expected = expected * expected.dtype.type(factor) + expected.dtype.type(term)
    result = _run(x)
    assert result == expected and result.dtype == expected.dtype


def test_subtraction_wraps_round_at_the_lowest_number():
    lowest = tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, x - 1), [0, tf.constant(-(2**31))])[1]
    assert _run(lowest) == 2**31 - 1


def test_counters_as_tensors_in_the_body():
    table = tf.constant([10.0, 20.0, 30.0, 40.0])
    total = tf.while_loop(
        lambda i, s: i < 4,
        lambda i, s: (i + 1, s + tf.gather(table, i) * tf.cast(i, tf.float32)),
        [tf.constant(0), tf.constant(0.0)],
    )
    assert _run(total) == (4, 200.0)


def test_limits_that_are_computed_or_fed():
    limit = tf.placeholder(tf.int32, [])
    count, doubled = tf.while_loop(
        lambda i, j: tf.less(i, limit * 2), lambda i, j: (i + 1, tf.maximum(j, i * 3)), [0, 0]
    )
    assert _run([count, doubled], {limit: 4}) == [8, 21]


def test_truth_values_go_round():
    flag, turns = tf.while_loop(
        lambda go, n: go, lambda go, n: (tf.logical_or(n < 3, tf.equal(n, 100)), n + 1), [True, 0]
    )
    flag, turns = _run([flag, turns])
    assert flag.dtype == np.bool_ and not flag and turns == 4


def test_counters_of_nested_loops():
    def row(i, total):
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + j * i), [0, total])
        return i + 1, inner[1]

    assert _run(tf.while_loop(lambda i, t: i < 5, row, [0, 0])[1]) == sum(i * j for i in range(5) for j in range(i))


def test_counters_in_branches():
    def body(i, odd):
        return i + 1, tf.cond(tf.equal(i % 2, 1), lambda: odd + i, lambda: odd)

    assert _run(tf.while_loop(lambda i, s: i < 6, body, [0, 0])[1]) == 9


def test_gradients_through_loops_that_count():
    x = tf.constant(2.0)
    y = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, v * x * tf.cast(i + 1, tf.float32)), [0, tf.constant(1.0)]
    )[1]
    assert _run([y, *tf.gradients(y, x)]) == [48.0, 72.0]


def test_tensor_arrays_by_counters():
    array = tf.TensorArray(tf.float32, 3)
    _, array = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([2], tf.cast(i, tf.float32)))), [0, array]
    )
    np.testing.assert_array_equal(_run(array.stack()), [[0, 0], [1, 1], [2, 2]])


def test_a_write_of_another_shape_is_refused():
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, element_shape=[None])
    array = array.write(0, [1.0]).write(1, [1.0, 2.0])
    np.testing.assert_array_equal(_run(array.concat()), [1, 1, 2])
    strict = tf.TensorArray(tf.float32, 3)
    x = tf.placeholder(tf.float32)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="incompatible with the TensorArray's inferred element shape"
    ):
        _run(strict.write(0, [1.0]).write(1, x).stack(), {x: [1.0, 2.0]})


def test_an_error_in_the_body_shows_the_counter():
    x = tf.placeholder(tf.float32, [None])
    count = tf.while_loop(lambda i, v: i < 9, lambda i, v: (i + 1, tf.gather(x, i)), [0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"int32 \[\]"):
        _run(count, {x: [1.0, 2.0]})


def test_side_effects_in_a_loop_keep_their_order():
    seen = []
    note = tf.Variable(0, name="note")

    def body(i):
        with tf.control_dependencies([tf.py_func(lambda v: seen.append(int(v)) or np.int32(0), [i], tf.int32)]):
            with tf.control_dependencies([tf.assign_add(note, i)]):
                return tf.identity(i) + 1

    end = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([end]):
        total = note.read_value()
    with tf.Session() as sess:
        sess.run(note.initializer)
        assert sess.run([end, total]) == [4, 6]
    assert seen == [0, 1, 2, 3]


def test_a_slice_of_a_product_in_a_loop_multiplies_what_it_takes():
    """As the gradient of a recurrent cell has it: of [inputs, state] only the state's part goes round."""
    x = tf.placeholder(tf.float32, [None, 4, 3])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(5), x, dtype=tf.float32)
    kernel = tf.trainable_variables()[0]
    loss = tf.reduce_sum(outputs * outputs)
    slope = tf.gradients(loss, kernel)[0]
    values = np.random.RandomState(0).rand(2, 4, 3)
    plain = tf.ConfigProto()
    plain.graph_options.rewrite_options.disable_meta_optimizer = True
    start = np.random.RandomState(1).rand(*kernel.shape.as_list()) - 0.5
    found = []
    for config in (None, plain):
        with tf.Session(config=config) as sess:
            sess.run(tf.global_variables_initializer())
            kernel.load(start, sess)
            for _ in range(4):  # the third run is made for the shapes
                result = sess.run(slope, {x: values})
            found.append(result)
    np.testing.assert_allclose(*found, rtol=1e-5)
