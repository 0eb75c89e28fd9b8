"""What is computed twice is computed once: within a block, and in a block what one around it has; never the other way."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.program import IF, LOOP
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import OFF, assert_same_bits, compiled, node_of, reference, types


def agrees(fetches, feeds):
    with tf.Session() as sess, reference() as other:
        for feed in feeds:
            for one, two in zip(sess.run(fetches, feed), other.run(fetches, feed), strict=True):
                assert_same_bits(one, two)


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [2])


@pytest.fixture
def p():
    return tf.placeholder(tf.bool, [])


def count(fetches, feeds, op_type="Exp", **switches):
    plan = compiled(fetches, feeds, **switches)
    verify(plan.program)
    return types(plan).count(op_type)


def both_sides(x, p):
    return [{x: [1.0, -2.0], p: side} for side in (True, False)]


def test_a_branch_takes_what_is_computed_around_it(x, p):
    outer = raw.Exp(x=x)
    inner = tf.cond(p, lambda: raw.Neg(x=raw.Exp(x=x)), lambda: raw.Abs(x=raw.Exp(x=x)))
    assert count([outer, inner], [x, p]) == 1
    assert count([outer, inner], [x, p], arithmetic_optimization=OFF) == 3
    agrees([outer, inner], both_sides(x, p))


def test_nobody_takes_what_a_branch_may_not_compute(x, p):
    inner = tf.cond(p, lambda: raw.Neg(x=raw.Exp(x=x)), lambda: x)
    with tf.control_dependencies([inner]):
        outer = raw.Exp(x=x)
    plan = compiled([inner, outer], [x, p])
    assert types(plan).count("Exp") == 2 or node_of(plan, "Exp").block is plan.program.top
    agrees([inner, outer], both_sides(x, p))


def test_the_sides_of_a_branch_share_nothing(x, p):
    inner = tf.cond(p, lambda: raw.Neg(x=raw.Exp(x=x)), lambda: raw.Abs(x=raw.Exp(x=x)))
    assert count([inner], [x, p]) == 2
    twice = tf.cond(p, lambda: raw.AddV2(x=raw.Exp(x=x), y=raw.Exp(x=x)), lambda: x)
    assert count([twice], [x, p]) == 1
    agrees([inner, twice], both_sides(x, p))


def test_two_branches_share_nothing(x, p):
    q = tf.placeholder(tf.bool, [])
    one = tf.cond(p, lambda: raw.Neg(x=raw.Exp(x=x)), lambda: x)
    two = tf.cond(q, lambda: raw.Abs(x=raw.Exp(x=x)), lambda: x)
    assert count([one, two], [x, p, q]) == 2
    agrees([one, two], [{x: [1.0, 2.0], p: a, q: b} for a in (True, False) for b in (True, False)])


def test_a_loop_takes_what_is_computed_around_it_and_keeps_what_it_makes(x):
    outer = raw.Exp(x=x)
    body = lambda i, v: (i + 1, raw.AddV2(x=raw.Exp(x=x), y=raw.Exp(x=v)))  # noqa: E731
    looped = tf.while_loop(lambda i, v: i < 3, body, [0, x])[1]
    later = raw.Exp(x=looped)
    plan = compiled([outer, later], [x], loop_optimization=OFF)
    loop = node_of(plan, LOOP)
    assert [n.type for n in loop.blocks[1]].count("Exp") == 1 and types(plan).count("Exp") == 3
    agrees([outer, later], [{x: [0.1, -0.2]}])


def test_outer_blocks_of_several_depths(x, p):
    outer = raw.Exp(x=x)

    def body(i, v):
        deep = tf.cond(
            p,
            lambda: tf.while_loop(lambda j, w: j < 2, lambda j, w: (j + 1, w + raw.Exp(x=x)), [0, v])[1],
            lambda: raw.Exp(x=x),
        )
        return i + 1, deep

    looped = tf.while_loop(lambda i, v: i < 2, body, [0, x])[1]
    assert count([outer, looped], [x, p]) == 1
    agrees([outer, looped], both_sides(x, p))


def test_what_shows_a_variable_before_and_after_a_write_is_not_one():
    v = tf.Variable([1.0, 2.0], use_resource=False)
    before = raw.Exp(x=v.value())
    with tf.control_dependencies([before]):
        written = tf.assign(v, [3.0, 4.0])
    with tf.control_dependencies([written]):
        after = raw.Exp(x=v.value())
    assert count([before, after], []) == 2
    with tf.Session() as sess:
        sess.run(v.initializer)
        one, two = sess.run([before, after])
        np.testing.assert_allclose(one, np.exp([1.0, 2.0]), rtol=1e-6)
        np.testing.assert_allclose(two, np.exp([3.0, 4.0]), rtol=1e-6)
    unwritten = [raw.Exp(x=v.value()), raw.Exp(x=v.value())]
    assert count([raw.AddN(inputs=unwritten)], []) == 1


def test_attributes_devices_and_zeros_of_both_signs_tell_nodes_apart(x):
    m = tf.placeholder(tf.float32, [2, 2])
    assert (
        count([raw.MatMul(a=m, b=m), raw.MatMul(a=m, b=m, transpose_a=True), raw.MatMul(a=m, b=m)], [m], "MatMul") == 2
    )
    one, two = raw.AddV2(x=x, y=tf.constant(0.0)), raw.AddV2(x=x, y=tf.constant(-0.0))
    agrees([one, two], [{x: [-0.0, 0.0]}])
    assert count([one, two], [x], "AddV2") == 2
    assert count([raw.AddV2(x=x, y=tf.constant(0.5)), raw.AddV2(x=x, y=tf.constant(0.5))], [x], "AddV2") == 1
    drawn = [tf.random_uniform([2], seed=1), tf.random_uniform([2], seed=1)]
    assert count(drawn, [], "RandomUniform") == 2


def test_what_is_waited_for_runs_although_another_stands_for_it(x, p):
    once = raw.Exp(x=x)
    again = raw.Exp(x=x)
    with tf.Session() as sess:
        assert sess.run([once.op, again.op, raw.Neg(x=again)], {x: [0.0, 0.0]})[2].tolist() == [-1.0, -1.0]
    assert IF not in types(compiled([once, again], [x]))
