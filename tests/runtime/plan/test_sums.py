"""Sums of scaled values in one pass keep every bit; what rounds once where the graph rounds twice is done only where
that is asked for.
"""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from tests.runtime.plan.sessions import AGGRESSIVE, OFF, assert_same_bits, compiled, config, odd_values, plain, types

SCALED = {
    "x + c y": lambda x, y, c: raw.AddV2(x=x, y=raw.Mul(x=c, y=y)),
    "x + y c": lambda x, y, c: raw.Add(x=x, y=raw.Mul(x=y, y=c)),
    "c y + x": lambda x, y, c: raw.AddV2(x=raw.Mul(x=c, y=y), y=x),
    "x - c y": lambda x, y, c: raw.Sub(x=x, y=raw.Mul(x=c, y=y)),
}


def pairs(dtype):
    values = odd_values(dtype)
    one, other = np.meshgrid(values, values)
    return one.copy(), other.copy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.1, -3.0, 1e30, 0.0, -0.0])
@pytest.mark.parametrize("form", SCALED)
def test_scaled_sums_keep_every_bit(form, constant, dtype):
    one, other = pairs(dtype)
    x, y = tf.placeholder(dtype, one.shape), tf.placeholder(dtype, one.shape)
    total = SCALED[form](x, y, tf.constant(constant, dtype))
    plan = compiled(total, [x, y])
    assert plan.changes["scaled sums"] == 1 and "Mul" not in types(plan)
    with tf.Session() as on, plain() as off:
        assert_same_bits(on.run(total, {x: one, y: other}), off.run(total, {x: one, y: other}))


def test_sums_that_stay_as_they_are():
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    n = tf.placeholder(tf.int32, [2])
    product = raw.Mul(x=y, y=tf.constant(0.5))
    stay = {
        "a product that others take": [raw.AddV2(x=x, y=product), product],
        "a scaled minuend": [raw.Sub(x=product, y=x)],
        "a row of factors": [raw.AddV2(x=x, y=raw.Mul(x=y, y=tf.constant([0.5, 0.25])))],
        "whole numbers": [raw.AddV2(x=n, y=raw.Mul(x=n, y=tf.constant(2)))],
        "two unknown factors": [raw.AddV2(x=x, y=raw.Mul(x=x, y=y))],
    }
    for name, fetches in stay.items():
        feeds = [n] if name == "whole numbers" else [x, y]
        assert "scaled sums" not in compiled(fetches, feeds).changes, name
    assert "scaled sums" not in compiled(raw.AddV2(x=x, y=product), [x, y], remapping=OFF).changes


@pytest.mark.parametrize("count", [2, 3, 4])
def test_sums_by_pairs_keep_every_bit(count):
    one, other = pairs(np.float32)
    x, y = tf.placeholder(tf.float32, one.shape), tf.placeholder(tf.float32, one.shape)
    total = raw.AddN(inputs=[x, y, raw.Neg(x=x), raw.Abs(x=y)][:count])
    plan = compiled(total, [x, y])
    assert plan.changes["sums by pairs"] == 1 and "AddN" not in types(plan)
    with tf.Session() as on, plain() as off:
        assert_same_bits(on.run(total, {x: one, y: other}), off.run(total, {x: one, y: other}))
    many = raw.AddN(inputs=[x] * 5)
    assert "sums by pairs" not in compiled(many, [x]).changes


def test_contraction_only_where_it_is_asked_for():
    x, y, z = (tf.placeholder(tf.float32, [1000]) for _ in range(3))
    total = raw.AddV2(x=x, y=raw.Mul(x=y, y=z))
    assert "contraction" not in compiled(total, [x, y, z]).changes
    assert compiled(total, [x, y, z], remapping=AGGRESSIVE).changes["contraction"] == 1
    row = tf.placeholder(tf.float32, [1])
    wide = raw.AddV2(x=x, y=raw.Mul(x=y, y=row))  # to repeat the row would take longer than two passes
    assert "contraction" not in compiled(wide, [x, y, row], remapping=AGGRESSIVE).changes
    chance = np.random.RandomState(3)
    feed = {t: chance.randn(1000).astype(np.float32) for t in (x, y, z)}
    with tf.Session() as on, plain() as off, tf.Session(config=config(remapping=AGGRESSIVE)) as quick:
        exact = off.run(total, feed)
        assert_same_bits(on.run(total, feed), exact)
        np.testing.assert_allclose(quick.run(total, feed), exact, rtol=1e-5, atol=1e-6)


def test_uniform_numbers_have_the_bits_of_tensorflow():
    """A range is scaled and shifted in ops of the graph, each of which rounds."""
    numbers = tf.random_uniform([6], -10, 10, seed=2)
    with tf.Session() as sess:
        bits = sess.run(numbers).view(np.uint32)
    assert bits.tolist() == [1080347568, 1082723964, 3206187408, 3199770944, 3202178816, 1066006752]
