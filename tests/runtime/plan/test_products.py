"""Products with a bias in one call, and of some columns only."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from tests.runtime.plan.sessions import compiled


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
