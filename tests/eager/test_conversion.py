"""What becomes of values that are no tensors where operations run at once, and which errors come of those that can't."""

import numpy as np
import pytest

import everflow as tf


@pytest.mark.parametrize("number", [1, 1.5, True, [1, 2], np.array([1, 2]), np.float64(2), np.int64(3)])
def test_numbers_take_the_type_of_a_tensor_wherever_it_stands(number):
    x = tf.constant([1.0, 2.0])
    assert tf.add(number, x).dtype == tf.float32 and tf.multiply(x, number).dtype == tf.float32
    assert np.array_equal(tf.maximum(number, x), np.maximum(number, [1.0, 2.0]))


def test_a_variable_gives_its_type_too():
    assert np.array_equal(tf.greater_equal(2, tf.Variable([1.0, 3.0])), [True, False])


def test_numbers_alone_have_their_own():
    assert tf.add(1, 2).dtype == tf.int32 and tf.add(1, [2]).dtype == tf.int32


@pytest.mark.parametrize("value", ["a", b"a", ["a"], 1j])
def test_what_is_of_another_kind(value):
    x = tf.constant([1.0])
    for call in (lambda: tf.add(x, value), lambda: tf.add(value, x), lambda: tf.concat([x, value], 0)):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("value", [object(), ["a", 1], {"a": 1}, {1}, len, tf.float32, None, 2**70])
def test_what_no_tensor_holds(value):
    for call in (lambda: tf.convert_to_tensor(value), lambda: tf.constant(value), lambda: tf.gather([1.0], value)):
        with pytest.raises(ValueError):
            call()


def test_tensors_of_different_types():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.constant(1.0), tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.concat([tf.constant([1.0]), tf.constant([1])], 0)
    with pytest.raises(TypeError):
        tf.constant(tf.constant(1), tf.float32)


def test_a_wrong_name_leaves_nothing_behind():
    for name in (["a"], 3.5):
        with pytest.raises(TypeError):
            tf.shape(tf.constant(1), name=name)
    with tf.init_scope():
        assert tf.Variable(1).name == "Variable:0"


def test_the_iterator_of_tensors_by_their_class():
    assert [int(x) for x in tf.Tensor.__iter__(tf.constant([3, 4]))] == [3, 4]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.cumsum(tf.constant([1], tf.uint32)), tf.errors.NotFoundError),
        (lambda: tf.less(tf.constant([1], tf.uint16), tf.constant([1], tf.uint16)), tf.errors.NotFoundError),
        (lambda: tf.sin(tf.constant([1])), tf.errors.NotFoundError),
        (lambda: tf.tan(tf.constant([1])), tf.errors.InvalidArgumentError),
        (lambda: tf.math.reciprocal_no_nan(tf.constant([1])), tf.errors.NotFoundError),
        (
            lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, [[1, 0], [0, 0], [0, 0], [0, 0]]),
            tf.errors.InvalidArgumentError,
        ),
        (
            lambda: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, "SAME", dilations=[2, 1, 1, 1]),
            tf.errors.InvalidArgumentError,
        ),
        (
            lambda: tf.nn.dilation2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1]), [1] * 4, [2, 1, 1, 1], "SAME"),
            tf.errors.UnimplementedError,
        ),
        (
            lambda: tf.image.extract_patches(tf.ones([1, 4, 4, 1]), [2, 2, 2, 1], [1] * 4, [1] * 4, "SAME"),
            tf.errors.UnimplementedError,
        ),
        (lambda: tf.as_string(tf.constant([1.0], tf.float16)), tf.errors.InvalidArgumentError),
        (lambda: tf.signal.fft(tf.constant([1.0])), tf.errors.InvalidArgumentError),
        (lambda: tf.zeros([2, -1]), tf.errors.InvalidArgumentError),
        (lambda: tf.eye(-1), tf.errors.InvalidArgumentError),
        (tf.add_check_numerics_ops, RuntimeError),
    ],
)
def test_types_without_a_kernel_and_impossible_shapes(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("call", [tf.identity, tf.nn.relu, lambda x: tf.concat([x, x], 0), lambda x: tf.add(1.0, x)])
def test_what_is_no_tensor_is_a_value_error(call):
    for value in (tf.SparseTensor([[0]], [1.0], [2]), tf.TensorSpec([]), object()):
        with pytest.raises(ValueError, match="unsupported type"):
            call(value)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(object(), tf.float32)
    with pytest.raises(TypeError, match="dtype float"):
        tf.convert_to_tensor("text", tf.float32)
