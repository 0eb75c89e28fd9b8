"""Assertions: decided while building where that can be, when run otherwise."""

import numpy as np
import pytest

import everflow as tf

# assertion, values that pass, values that fail
COMPARISONS = [
    (tf.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3])),
    (tf.assert_none_equal, ([1, 2], [2, 3]), ([1, 2], [2, 2])),
    (tf.assert_less, ([1, 2], [2, 3]), ([1, 2], [2, 2])),
    (tf.assert_less_equal, ([1, 2], [1, 3]), ([1, 2], [1, 1])),
    (tf.assert_greater, ([2, 3], [1, 2]), ([2, 3], [1, 3])),
    (tf.assert_greater_equal, ([2, 3], [2, 2]), ([2, 3], [3, 3])),
    (tf.assert_near, ([1.0, 2.0], [1.0, 2.0]), ([1.0, 2.0], [1.0, 2.1])),
]


@pytest.mark.parametrize(("check", "good", "bad"), COMPARISONS, ids=[c[0].__name__ for c in COMPARISONS])
def test_comparisons_when_run(sess, check, good, bad):
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    op = check(x, y, message="they don't fit")
    assert isinstance(op, tf.Operation)
    sess.run(op, dict(zip((x, y), good, strict=True)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="they don't fit"):
        sess.run(op, dict(zip((x, y), bad, strict=True)))


@pytest.mark.parametrize(("check", "good", "bad"), COMPARISONS[:-1], ids=[c[0].__name__ for c in COMPARISONS[:-1]])
def test_comparisons_of_constants_are_decided_while_building(sess, check, good, bad):
    sess.run(check(*good))
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        check(*bad)


def test_assert_near_waits_for_the_run(sess):
    op = tf.assert_near([1.0], [2.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(op)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (tf.assert_positive, [1, 2], [0, 1]),
        (tf.assert_negative, [-1, -2], [0, -1]),
        (tf.assert_non_negative, [0, 1], [-1, 1]),
        (tf.assert_non_positive, [0, -1], [1, -1]),
    ],
)
def test_signs(sess, check, good, bad):
    x = tf.placeholder(tf.int32, [2])
    op = check(x)
    sess.run(op, {x: good})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(op, {x: bad})


def test_only_strings_and_int32_need_no_guard():
    with tf.Graph().as_default() as graph:
        tf.assert_equal(tf.placeholder(tf.int32), 1)
        assert [op.type for op in graph.get_operations()].count("Switch") == 0
        tf.assert_equal(tf.placeholder(tf.float32), 1.0)
        assert [op.type for op in graph.get_operations()].count("Switch") > 0


def test_monotony(sess):
    for values, rising, strictly in (
        ([1, 2, 2], True, False),
        ([1, 2, 3], True, True),
        ([2, 1], False, False),
        ([5], True, True),
    ):
        found = sess.run([tf.is_non_decreasing(tf.constant(values)), tf.is_strictly_increasing(tf.constant(values))])
        assert found == [rising, strictly]


def test_finite(sess):
    x = tf.placeholder(tf.float32, [None])
    checked = tf.verify_tensor_all_finite(x, "not finite")
    np.testing.assert_array_equal(sess.run(checked, {x: [1.0]}), [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        sess.run(checked, {x: [np.inf]})


def test_checks_of_a_whole_graph(sess):
    x = tf.placeholder(tf.float32, [None])
    tf.log(x) * 2.0
    check = tf.add_check_numerics_ops()
    sess.run(check, {x: [1.0]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Log:0 : Tensor had NaN"):
        sess.run(check, {x: [-1.0]})


def test_numeric_tensors():
    assert tf.is_numeric_tensor(tf.constant(1j, tf.complex64))
    assert not tf.is_numeric_tensor(tf.constant(1j))  # complex128 is not in TensorFlow's list
    assert not tf.is_numeric_tensor(tf.constant(True))
    assert not tf.is_numeric_tensor(5)


def test_log_of_placement_is_set_for_the_process():
    assert tf.debugging.get_log_device_placement() is False
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.debugging.get_log_device_placement() is True
    finally:
        tf.debugging.set_log_device_placement(False)
