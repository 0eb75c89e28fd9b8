"""Constants and placeholders, and how Python values turn into constants."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from tests.ops.array.against_numpy import run

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.int32),
        (2**40, tf.int64),
        (1.0, tf.float32),
        (True, tf.bool),
        (1j, tf.complex128),
        ("a", tf.string),
        (b"a", tf.string),
        ([1, 2.5], tf.float32),
        ([], tf.float32),
        (np.float64(1), tf.float64),
        (np.arange(3, dtype=np.uint8), tf.uint8),
        (np.array([1.0, 2.0]), tf.float64),
    ],
)
def test_the_type_that_a_value_has(value, dtype):
    made = tf.constant(value)
    assert made.dtype == dtype and made.op.type == "Const"
    found = run(made)
    assert np.array_equal(found, b"a" if isinstance(value, str) else value)


@pytest.mark.parametrize(
    ("value", "shape", "expected"),
    [
        (7, [2, 2], [[7, 7], [7, 7]]),
        ([1, 2], [4], [1, 2, 2, 2]),
        ([1, 2, 3, 4], [2, 2], [[1, 2], [3, 4]]),
        (0, [0], []),
    ],
)
def test_few_values_fill_a_shape(value, shape, expected):
    made = tf.constant(value, shape=shape)
    assert made.shape.as_list() == shape
    assert run(made).tolist() == expected


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.constant([1, 2, 3], shape=[2]), ValueError),
        (lambda: tf.constant([1, 2], shape=[3], verify_shape=True), TypeError),
        (lambda: tf.constant([[1], [2, 3]]), ValueError),
        (lambda: tf.constant(1.5, tf.int32), TypeError),
        (lambda: tf.constant("a", tf.int32), TypeError),
        (lambda: tf.constant(None), ValueError),
        (lambda: tf.convert_to_tensor(tf.TensorShape([None, 2])), ValueError),
        (lambda: tf.convert_to_tensor(tf.TensorShape([2]), tf.float32), TypeError),
        (lambda: tf.convert_to_tensor(tf.Dimension(None)), ValueError),
        (lambda: tf.placeholder_with_default([1, 2], [3]), ValueError),
        (lambda: tf.constant([np.array([1.0]), np.array([2.0])]), ValueError),
        (lambda: tf.constant([np.array([1.0]), [2.0]], shape=[2]), ValueError),
        (lambda: tf.constant([np.array([1.0]), np.array([2.0, 3.0])]), TypeError),
        (lambda: tf.constant([[1.0], np.array([2.0])], tf.float32), TypeError),
        (lambda: tf.constant([np.array(1)], tf.int32), TypeError),
        (lambda: tf.constant([["a"], np.array(["b"])]), TypeError),
        (lambda: tf.make_tensor_proto([np.array(["a"])]), ValueError),
    ],
)
def test_values_that_are_no_constants(build, error):
    with pytest.raises(error):
        build()


def test_a_constant_does_not_follow_its_array():
    array = np.array([1, 2])
    made = tf.constant(array)
    array[0] = 9
    assert run(made).tolist() == [1, 2]


def test_shapes_and_dimensions_become_ints():
    small, large = tf.convert_to_tensor(tf.TensorShape([2, 3])), tf.convert_to_tensor(tf.TensorShape([2**31]))
    assert (small.dtype, large.dtype) == (tf.int32, tf.int64)
    assert run(small).tolist() == [2, 3] and run(large).tolist() == [2**31]
    assert run(tf.convert_to_tensor(tf.Dimension(4), tf.int64)) == 4


def test_lists_with_tensors_are_packed(own_graph):
    x = tf.placeholder(tf.float32, [], "x")
    packed = tf.convert_to_tensor([[x, 1], [2, 3]])
    assert packed.op.type == "Pack" and packed.shape.as_list() == [2, 2] and packed.dtype == tf.float32
    assert run(packed, feed={x: 5}).tolist() == [[5, 1], [2, 3]]
    assert [t.op.name for t in packed.op.inputs] == ["packed/0", "packed/1_1"]
    with pytest.raises(TypeError):
        tf.convert_to_tensor([x, tf.constant(1)])
    with pytest.raises(TypeError):
        tf.convert_to_tensor([x, "a"])


def test_a_placeholder_with_a_default_may_be_fed():
    x = tf.placeholder_with_default([1, 2], [None])
    assert x.shape.as_list() == [None]
    assert run(x).tolist() == [1, 2] and run(x, feed={x: [3]}).tolist() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.placeholder(tf.int32))


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([np.float64(2), 1.0], "float64"),
        ([1.0, np.float64(2)], "float32"),
        ([np.float16(1), 2.0], "float16"),
        ([np.array(1.0)], "float64"),
        ([np.uint8(3)], "int32"),
        ([np.int64(2**40)], "int64"),
        ([np.complex64(1)], "complex128"),
        ([np.int64(1), 2.5], "float32"),
    ],
)
def test_the_first_number_decides_on_the_type_when_executing_eagerly(values, name):
    with eager_mode():
        assert tf.constant(values).dtype.name == name


@pytest.mark.parametrize(
    ("values", "dtype", "made"),
    [
        ([np.array([1.0, 2.0]), [3.0, 4.0]], None, tf.float64),
        ([np.array([1, 2])], tf.float32, tf.float32),
        ([np.array(["a"]), np.array([b"b"])], None, tf.string),
        ([np.array([]), np.array([])], None, tf.float32),
    ],
)
def test_lists_hold_arrays_when_executing_eagerly(values, dtype, made):
    with eager_mode():
        assert tf.constant(values, dtype).dtype == made


@pytest.mark.parametrize(
    ("values", "dtype", "error"),
    [
        ([np.array([1.0])], tf.int32, TypeError),
        ([np.array([True])], tf.float32, TypeError),
        ([np.array(["a"])], tf.float32, TypeError),
        ([np.array([1.0]), np.array([2.0, 3.0])], None, ValueError),
    ],
)
def test_arrays_in_lists_fit_their_type_when_executing_eagerly(values, dtype, error):
    with eager_mode(), pytest.raises(error):
        tf.constant(values, dtype)


def test_a_proto_is_a_constant_as_it_is():
    assert run(tf.constant(tf.make_tensor_proto([1.0, 2.0]))).tolist() == [1.0, 2.0]
    variant = tf.make_tensor_proto(1)
    variant.dtype = tf.variant.as_datatype_enum
    assert tf.constant(variant).dtype == tf.variant


def test_a_large_shape_is_no_tensor_of_int32():
    shape = tf.TensorShape([2**31, 2])
    assert tf.convert_to_tensor(shape).dtype == tf.int64
    with pytest.raises(ValueError):
        tf.convert_to_tensor(shape, dtype=tf.int32)


@pytest.mark.parametrize(
    "values", [[True, 1], [True, 1.0], [1, 1j], [1j, True], 1e40, [1.0, -1e40], 2**63, np.array([1, None], object)]
)
def test_numbers_that_no_one_type_holds_are_refused_when_executing_eagerly(values):
    with eager_mode(), pytest.raises(ValueError):
        tf.constant(values)


def test_what_stands_for_numbers_when_executing_eagerly():
    with eager_mode():
        assert tf.constant(tf.TensorShape([1, 2])).numpy().tolist() == [1, 2]
        assert tf.constant(tf.Dimension(3)).numpy() == 3
        assert tf.constant([1, 2], tf.quint8).numpy().tolist() == [1, 2]
        assert np.isinf(tf.constant(float("inf")).numpy())
