"""Element-wise math of two inputs and the operators of tensors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everflow as tf
from everflow.framework.shapes import broadcast_gradient_axes


def _types_and_names(graph):
    return [(op.name, op.type) for op in graph.get_operations() if op.type not in ("Placeholder", "Const")]


def test_operators_make_the_nodes_that_tensorflow_makes():
    with tf.Graph().as_default() as graph:
        a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        for result in (a + b, a - b, a * b, a / b, a // b, a % b, a**b, a < b, a >= b, -a, abs(a), 1.0 - a, 2 > a):
            assert isinstance(result, tf.Tensor)
        assert _types_and_names(graph) == [
            ("add", "AddV2"),
            ("sub", "Sub"),
            ("mul", "Mul"),
            ("truediv", "RealDiv"),
            ("floordiv", "FloorDiv"),
            ("mod", "FloorMod"),
            ("pow", "Pow"),
            ("Less", "Less"),
            ("GreaterEqual", "GreaterEqual"),
            ("Neg", "Neg"),
            ("Abs", "Abs"),
            ("sub_1", "Sub"),
            ("Less_1", "Less"),
        ]


def test_bool_operators(sess):
    p, q = tf.constant([True, True, False]), tf.constant([True, False, False])
    for result, expected in ((p & q, [1, 0, 0]), (p | q, [1, 1, 0]), (p ^ q, [0, 1, 0]), (~p, [0, 0, 1])):
        np.testing.assert_array_equal(sess.run(result), np.array(expected, bool))


def test_equality_of_tensors_is_identity():
    x = tf.constant(1)
    assert x == x
    assert x != tf.constant(1)


def test_numpy_arrays_leave_the_operator_to_the_tensor(sess):
    result = np.array([1.0, 2.0], np.float32) + tf.constant([1.0, 1.0])
    assert isinstance(result, tf.Tensor)
    np.testing.assert_array_equal(sess.run(result), [2, 3])


def test_a_value_of_another_type_is_refused_and_leaves_its_constant():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.int32, name="x")
        with pytest.raises(TypeError, match="is of type float32, not int32 as its argument 'x'"):
            x + 1.5
        assert [op.name for op in graph.get_operations()] == ["x", "add/y"]


def test_the_other_side_may_know_better():
    class Other:
        def __radd__(self, tensor):
            return "other"

    assert tf.constant(1.0) + Other() == "other"


@pytest.mark.parametrize(
    ("dtype", "result"), [("int8", "float32"), ("uint16", "float32"), ("int32", "float64"), ("int64", "float64")]
)
def test_integers_divide_into_floats(sess, dtype, result):
    quotient = tf.constant([7], dtype) / tf.constant([2], dtype)
    assert quotient.dtype.name == result
    np.testing.assert_array_equal(sess.run(quotient), [3.5])


integers = st.integers(-(2**31) + 1, 2**31 - 1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(integers, integers.filter(bool)), min_size=1, max_size=8))
def test_integer_division_and_remainder(pairs):
    x, y = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.constant(x), tf.constant(y)
        floor, rest, truncated, truncated_rest = sess.run([a // b, a % b, tf.truncatediv(a, b), tf.truncatemod(a, b)])
    wide_x, wide_y = x.astype(np.int64), y.astype(np.int64)
    np.testing.assert_array_equal(floor, wide_x // wide_y)
    np.testing.assert_array_equal(rest, wide_x % wide_y)
    np.testing.assert_array_equal(truncated, np.trunc(wide_x / wide_y).astype(np.int64))
    np.testing.assert_array_equal(truncated_rest, np.fmod(wide_x, wide_y))


@pytest.mark.parametrize("function", [tf.floordiv, tf.floormod, tf.div])
def test_integer_division_by_zero(sess, function):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        sess.run(function(tf.constant([1, 2]), tf.constant([1, 0])))


def test_truncating_division_by_zero_is_internal(sess):
    with pytest.raises(tf.errors.InternalError):
        sess.run(tf.truncatemod(tf.constant([1]), tf.constant([0])))


def test_negative_powers_of_integers_are_refused(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integers to negative integer powers"):
        sess.run(tf.pow(tf.constant([2]), tf.constant([-1])))


def test_maximum_takes_the_first_where_one_is_nan(sess):
    result = sess.run([f([np.nan, 1.0], [1.0, np.nan]) for f in (tf.maximum, tf.minimum)])
    np.testing.assert_array_equal(result, [[np.nan, 1], [np.nan, 1]])


def test_no_nan_variants(sess):
    x, y = tf.constant([1.0, 0.0, np.nan]), tf.constant([0.0, 0.0, 0.0])
    np.testing.assert_array_equal(sess.run(tf.math.divide_no_nan(x, y)), [0, 0, 0])
    np.testing.assert_array_equal(sess.run(tf.math.multiply_no_nan(x, y)), [0, 0, 0])
    np.testing.assert_array_equal(sess.run(tf.math.xlogy([0.0, 2.0], [0.0, 1.0])), [0, 0])
    np.testing.assert_array_equal(sess.run(tf.math.reciprocal_no_nan([0.0, 4.0])), [0, 0.25])


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.zeros([2]) + tf.zeros([3])


def test_shapes_that_do_not_broadcast_when_run(sess):
    p = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
        sess.run(p + tf.zeros([3]), {p: [1.0, 2.0]})


sides = st.lists(st.sampled_from([1, 1, 2, 3]), max_size=4)


@settings(max_examples=60, deadline=None)
@given(sides, sides)
def test_broadcast_gradient_axes_bring_gradients_back(x_shape, y_shape):
    try:
        full = np.broadcast_shapes(x_shape, y_shape)
    except ValueError:
        return
    for shape, axes in zip((x_shape, y_shape), broadcast_gradient_axes(x_shape, y_shape), strict=True):
        assert np.ones(full).sum(tuple(axes)).size == np.prod(shape, dtype=int)


def test_add_n(sess):
    x = tf.constant([1, 2])
    assert tf.add_n([x]) is x
    np.testing.assert_array_equal(sess.run(tf.add_n([x, [3, 4], x])), [5, 8])
    for bad in ([], None):
        with pytest.raises(ValueError, match="at least one Tensor"):
            tf.add_n(bad)
    with pytest.raises(TypeError):
        tf.add_n(5)


def test_accumulate_n_checks_its_arguments(sess):
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(sess.run(tf.accumulate_n([x, x, x])), [3, 6])
    with pytest.raises(TypeError):
        tf.accumulate_n([x, x], tensor_dtype=tf.int32)
    with pytest.raises(ValueError, match="not compatible"):
        tf.accumulate_n([x, x], shape=[3])


def test_comparison_of_strings_and_unsigned(sess):
    np.testing.assert_array_equal(sess.run(tf.equal(["a", "b"], "b")), [False, True])
    big = tf.constant([2**63 + 1, 1], tf.uint64)
    np.testing.assert_array_equal(sess.run(tf.less(big, tf.constant([1, 2**63 + 1], tf.uint64))), [False, True])


def test_scalar_mul_wants_a_scalar():
    with pytest.raises(ValueError, match="Only scalar multiply works"):
        tf.scalar_mul([1.0], tf.ones([2]))


def test_sparse_times_dense(sess):
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    np.testing.assert_array_equal(sess.run((sparse * [[1.0, 10.0], [100.0, 1.0]]).values), [20, 300])
    np.testing.assert_array_equal(sess.run((sparse / 2.0).values), [1, 1.5])


@pytest.mark.parametrize("function", [tf.add, tf.subtract, tf.multiply, tf.equal, tf.less, tf.maximum])
def test_the_name_by_position(function):
    with tf.Graph().as_default():
        assert function(1.0, 2.0, "sum").op.name == "sum"
