"""Calls like an earlier one go to its kernel directly; what they differ in must count all the same."""

import numpy as np
import pytest

import everflow as tf
from everflow.runtime.thread_orders import count_alone, count_for_small


@pytest.mark.parametrize("_", range(2))
def test_python_values_among_the_inputs_count(_):
    x = tf.constant([[1, 2], [3, 4]])
    assert tf.concat([x, x], 0).shape == (4, 2)
    assert tf.concat([x, x], 1).shape == (2, 4)
    assert tf.gather(x, [0, 1]).shape == (2, 2)
    assert tf.gather(x, (1,)).numpy().tolist() == [[3, 4]]
    assert tf.gather(x, 1).numpy().tolist() == [3, 4]


@pytest.mark.parametrize("_", range(2))
def test_equal_values_of_other_types_are_others(_):
    whole, real = tf.identity([1, 2]), tf.identity([1.0, 2.0])
    assert (whole.dtype, real.dtype) == (tf.int32, tf.float32)
    assert [tf.identity(v).dtype for v in (1, True, 1.0)] == [tf.int32, tf.bool, tf.float32]
    assert [tf.constant(v).dtype for v in ([1], [1.0], [True], ["1"])] == [tf.int32, tf.float32, tf.bool, tf.string]
    assert [tf.identity([]).dtype, tf.identity(["a"]).dtype] == [tf.float32, tf.string]


@pytest.mark.parametrize("_", range(2))
def test_zeros_keep_their_sign(_):
    assert np.signbit(tf.identity(-0.0).numpy())
    assert not np.signbit(tf.identity(0.0).numpy())
    assert np.signbit(tf.constant([1.0, -0.0]).numpy()).tolist() == [False, True]
    assert np.signbit(tf.identity([1.0, 0.0]).numpy()).tolist() == [False, False]


def test_tapes_see_through_calls_with_python_values():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for axis, expected in ((0, [[2.0, 2.0], [2.0, 2.0]]), (1, [[2.0, 2.0], [2.0, 2.0]])):
        for _ in range(2):
            with tf.GradientTape() as tape:
                total = tf.reduce_sum(tf.concat([v, v], axis) * 1.0)
            assert tape.gradient(total, v).numpy().tolist() == expected


def test_products_take_as_many_threads_as_they_are_worth():
    small, large = tf.ones([4, 4])._value, tf.ones([512, 512])._value
    assert count_alone([small, small], 2) == 1
    assert count_alone([small, large], 2) == 2


def test_small_operands_are_left_to_one_thread():
    small, large, text = tf.ones([4, 4])._value, tf.ones([512, 512])._value, tf.constant("text")._value
    variables = [tf.Variable(tf.ones(shape)).handle._value for shape in ([4, 4], [512, 512])]
    assert count_for_small([small, variables[0]], 2) == 1
    for operand in (large, variables[1], text):
        assert count_for_small([small, operand], 2) == 2


def test_a_call_with_the_number_zero_is_like_an_earlier_one():
    x = tf.constant([-1.0, 2.0])
    for zero in (0.0, -0.0):
        for _ in range(2):
            assert tf.maximum(x, zero).numpy().tolist() == [0.0, 2.0]
            assert np.signbit(tf.maximum(tf.constant([-1.0]), zero).numpy()) == np.signbit(zero)
