"""Products with a bias in one call, and of some columns only."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from tests.runtime.plan.sessions import compiled, node_of, plain, types


def test_products_that_others_need_are_not_fused():
    x = tf.placeholder(tf.float32, [2, 2])
    product = raw.MatMul(a=x, b=x)
    biased_product = raw.BiasAdd(value=product, bias=tf.constant([1.0, 2.0]))
    assert "product with bias" not in compiled([biased_product, product], [x]).changes
    square = raw.AddV2(x=raw.MatMul(a=x, b=x), y=x)
    assert "product with bias" not in compiled(square, [x]).changes


def test_a_fused_node_fails_in_the_name_of_what_was_built():
    x = tf.placeholder(tf.float32, [None, None])
    product = raw.MatMul(a=x, b=tf.constant([[1.0, 2.0]]))
    y = raw.BiasAdd(value=product, bias=tf.constant([1.0, 2.0]), name="biased")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(y, {x: [[1.0, 2.0, 3.0]]})
    assert caught.value.op is y.op


RANDOM = np.random.RandomState(0)


def product(rows=4, inner=3, columns=5, transpose_a=False, transpose_b=False, dtype=tf.float32):
    a = tf.placeholder(dtype, [inner, rows] if transpose_a else [rows, inner])
    b = tf.placeholder(dtype, [columns, inner] if transpose_b else [inner, columns])
    return raw.MatMul(a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b), [a, b]


def agrees(y, feeds, tolerance=1e-6):
    values = {x: RANDOM.standard_normal(x.shape.as_list()).astype(x.dtype.as_numpy_dtype) for x in feeds}
    with tf.Session() as sess, plain() as other:
        np.testing.assert_allclose(sess.run(y, values), other.run(y, values), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("transpose_a, transpose_b", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("join", [lambda p, b: raw.BiasAdd(value=p, bias=b), lambda p, b: p + b, lambda p, b: b + p])
def test_a_bias_in_one_call(transpose_a, transpose_b, join):
    made, feeds = product(transpose_a=transpose_a, transpose_b=transpose_b)
    bias = tf.placeholder(tf.float32, [5])
    y = join(made, bias)
    assert types(compiled(y, [*feeds, bias]))[-1] == "_MatMulBias"
    agrees(y, [*feeds, bias])


@pytest.mark.parametrize(
    ("bias", "dtype"),
    [([], tf.float32), ([1], tf.float32), ([4, 5], tf.float32), ([None], tf.float32), ([5], tf.int32)],
)
def test_what_is_added_to_a_product_but_is_no_bias(bias, dtype):
    made, feeds = product(dtype=dtype)
    added = tf.placeholder(dtype, bias)
    assert "product with bias" not in compiled(made + added, [*feeds, added]).changes


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_convolution_with_its_bias(padding):
    x, w, bias = (tf.placeholder(tf.float32, shape) for shape in ([2, 6, 5, 3], [3, 2, 3, 4], [4]))
    y = raw.BiasAdd(value=raw.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], padding=padding), bias=bias)
    assert "_Conv2DBias" in types(compiled(y, [x, w, bias]))
    agrees(y, [x, w, bias], 1e-5)


@pytest.mark.parametrize(
    ("begin", "size", "taken"),
    [
        ([0, 1], [-1, 2], (1, 2)),
        ([0, 1], [4, -1], (1, 4)),
        ([0, 0], [-1, 5], (0, 5)),
        ([1, 1], [-1, 2], None),  # not all rows
        ([0, 1], [3, 2], None),
        ([0, 1], [-1, 0], None),
    ],
)
def test_only_the_columns_that_are_taken_are_multiplied(begin, size, taken):
    made, feeds = product()
    y = raw.Slice(input=made, begin=tf.constant(begin), size=tf.constant(size))
    plan = compiled(y, feeds)
    if taken is None:
        assert "columns of a product" not in plan.changes
    elif begin != [0, 0]:
        node = node_of(plan, "_MatMulColumns")
        assert (node.attribute("start"), node.attribute("count")) == taken
    agrees(y, feeds)
