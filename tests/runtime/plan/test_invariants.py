"""What leaves a loop, and what stays in it although it is the same in every round."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import invariants
from everflow.runtime.plan.program import LOOP
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import OFF, assert_same_bits, compiled, config, node_of, reference


def loop(body, x, rounds=3):
    """What `body(v)` makes of x in some rounds."""
    return tf.while_loop(
        lambda i, v: i < rounds, lambda i, v: (i + 1, body(v)), [0, x], shape_invariants=[tf.TensorShape([]), x.shape]
    )[1]


def inside(result, feeds, **switches):
    """The types of the nodes in the body, and how many left it."""
    plan = compiled(result, feeds, **switches)
    verify(plan.program)
    return [node.type for node in node_of(plan, LOOP).blocks[1]], plan.changes.get("loop invariants", 0)


def agrees(result, feed):
    with tf.Session() as sess, reference() as other:
        assert_same_bits(sess.run(result, feed), other.run(result, feed))


def test_what_is_the_same_in_every_round_is_computed_before_the_first():
    x = tf.placeholder(tf.float32, [2])
    result = loop(lambda v: raw.AddV2(x=v, y=raw.Exp(x=raw.Neg(x=x))), x)
    types, moved = inside(result, [x])
    assert "Exp" not in types and "Neg" not in types and moved == 2
    types, moved = inside(result, [x], loop_optimization=OFF)
    assert "Exp" in types and moved == 0
    agrees(result, {x: [0.5, -1.0]})


STAYS = {
    "takes what goes round": lambda v, x: raw.Exp(x=v),
    "may fail": lambda v, x: v + raw.CheckNumerics(tensor=x, message="bad"),
    "may fail for its values": lambda v, x: v + raw.Gather(params=x, indices=tf.cast(x, tf.int32)),
    "draws": lambda v, x: v + tf.random_uniform([2], seed=1) * 0.0,
    "is of unknown shape": lambda v, x: v + tf.reduce_sum(tf.boolean_mask(x, x > 0.0)),
}


@pytest.mark.parametrize("case", STAYS)
def test_what_stays_in_the_loop(case):
    x = tf.placeholder(tf.float32, [2])
    result = loop(lambda v: STAYS[case](v, x), x)
    kept = {"takes what goes round": "Exp", "may fail": "CheckNumerics", "may fail for its values": "Gather",
            "draws": "RandomUniform", "is of unknown shape": "Where"}[case]  # fmt: skip
    assert kept in inside(result, [x])[0]
    agrees(result, {x: [0.0, 1.0]})


def test_large_results_stay(monkeypatch):
    x = tf.placeholder(tf.float32, [64])
    result = loop(lambda v: v + raw.Exp(x=x), x)
    assert "Exp" not in inside(result, [x])[0]
    monkeypatch.setattr(invariants, "_LARGEST", 63)
    assert "Exp" in inside(result, [x])[0]


def test_a_loop_that_never_runs_raises_nothing():
    x = tf.placeholder(tf.float32, [2])
    n = tf.placeholder(tf.int32, [])
    bad = lambda v: v + raw.CheckNumerics(tensor=x, message="not a number")  # noqa: E731
    result = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, bad(v)), [0, tf.zeros([2])])[1]
    with tf.Session() as sess:
        assert sess.run(result, {x: [np.nan, 1.0], n: 0}).tolist() == [0.0, 0.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
            sess.run(result, {x: [np.nan, 1.0], n: 1})


def test_reading_a_variable_that_has_no_value_waits_for_the_first_round():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    n = tf.placeholder(tf.int32, [])
    result = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + v.read_value() * 2.0), [0, tf.zeros([2])])[1]
    with tf.Session() as sess:
        assert sess.run(result, {n: 0}).tolist() == [0.0, 0.0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(result, {n: 1})
        sess.run(v.initializer)
        assert sess.run(result, {n: 2}).tolist() == [4.0, 8.0]


def test_what_leaves_an_inner_loop_leaves_the_outer_one_too():
    x = tf.placeholder(tf.float32, [2])
    result = loop(lambda v: loop(lambda w: w + raw.Exp(x=x), v), x)
    plan = compiled(result, [x])
    assert node_of(plan, "Exp").block is plan.program.top and plan.changes["loop invariants"] >= 2
    agrees(result, {x: [0.5, -1.0]})


def test_fixed_reductions_and_reshapes_leave_and_others_do_not():
    x, axis = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.int32, [])
    fixed = loop(lambda v: v + raw.Sum(x, tf.constant(0)), x)
    assert "Sum" not in inside(fixed, [x])[0]
    open_axis = loop(lambda v: tf.reshape(v + raw.Sum(x, axis), [2, 2]), x)
    assert "Sum" in inside(open_axis, [x, axis])[0]
    agrees(fixed, {x: [[1.0, 2.0], [3.0, 4.0]]})


def test_a_ref_variable_that_the_run_writes_is_looked_at_in_every_round():
    v = tf.Variable([1.0, 2.0], use_resource=False)

    def body(total):
        seen = raw.Exp(x=v.value())
        with tf.control_dependencies([seen]):
            written = tf.assign_add(v, [1.0, 1.0])
        with tf.control_dependencies([written]):
            return total + seen

    result = loop(body, tf.zeros([2]))
    assert "Exp" in inside(result, [])[0]
    with tf.Session() as sess:
        sess.run(v.initializer)
        np.testing.assert_allclose(sess.run(result), [np.exp([1, 2, 3]).sum(), np.exp([2, 3, 4]).sum()], rtol=1e-6)


# --- values, with and without ------------------------------------------------------------------


def moved(fetches, feeds=()):
    with tf.Session() as sess:
        return sess._executor.compile(fetches, list(feeds)).changes.get("loop invariants", 0)


def same_values(fetches, feed=None):
    results = []
    for used in None, config(loop_optimization=OFF):
        with tf.Session(config=used) as sess:
            sess.run(tf.global_variables_initializer())
            results.append(sess.run(fetches, feed))
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    return results[0]


def rounds(count, body, start):
    return tf.while_loop(lambda i, v: i < count, lambda i, v: (i + 1, body(i, v)), [0, start])[1]


def test_chains_of_invariant_nodes():
    x = tf.placeholder(tf.float32, [3, 3])
    y = rounds(4, lambda i, v: v + tf.transpose(tf.matmul(x, x) * 2.0) + tf.cast(i, tf.float32), tf.zeros([3, 3]))
    assert moved([y], [x]) == 3
    same_values([y], {x: np.arange(9.0).reshape(3, 3)})


def test_gradients():
    w = tf.get_variable("w", [3, 3], initializer=tf.random_uniform_initializer(seed=1))
    y = rounds(4, lambda i, v: tf.tanh(tf.matmul(v, tf.sigmoid(w))), tf.ones([2, 3]))
    gradients = tf.gradients(y, [w])
    assert moved(gradients) > 0
    same_values([y, *gradients])


def test_loops_in_loops():
    x = tf.placeholder(tf.float32, [2])

    def outer(i, v):
        scale = tf.cast(i, tf.float32) + tf.exp(x)
        return rounds(3, lambda j, u: u * 0.5 + tf.square(scale) + tf.exp(x), v)

    y = rounds(4, outer, tf.zeros([2]))
    assert moved([y], [x]) >= 2
    same_values([y], {x: [0.5, -1.0]})


def test_what_takes_invariant_values_runs_once_in_each_round():
    x = tf.placeholder(tf.float32, [2])
    seen = []

    def note(value):
        seen.append(value)
        return np.float32(len(seen))

    y = rounds(3, lambda i, v: v + tf.reshape(tf.py_func(note, [tf.exp(x) * 2.0], tf.float32), []), tf.constant(0.0))
    assert moved([y], [x]) == 2
    with tf.Session() as sess:
        assert sess.run(y, {x: [1.0, 2.0]}) == 6.0
    assert len(seen) == 3


def test_gradients_of_invariant_values_in_loops_in_loops():
    x = tf.placeholder(tf.float32, [1, 3])

    def outer(i, v):
        return rounds(3, lambda j, u: u * 0.1 + tf.tanh(v * 1.1 + x), v)

    y = rounds(4, outer, x)
    gradients = tf.gradients(y, x)
    assert moved(gradients, [x]) >= 2
    same_values([y, *gradients], {x: [[0.5, -1.0, 2.0]]})


def test_loops_and_branches_that_take_invariant_values_stay_in_the_body():
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    seen = []

    def note(value):
        seen.append(value)
        return value

    def noted(value):
        return tf.reshape(tf.py_func(note, [value], tf.float32), [2])

    def body(i, v):
        inner = rounds(2, lambda j, u: noted(u), tf.exp(x))
        return v + inner + tf.cond(p, lambda: noted(tf.square(x) + 1.0), lambda: x)

    y = rounds(3, body, tf.zeros([2]))
    assert moved([y], [x, p])
    with tf.Session() as sess:
        sess.run(y, {x: [1.0, 2.0], p: True})
    assert len(seen) == 3 * (2 + 1)


def test_a_body_that_never_runs_does_not_fail():
    x = tf.placeholder(tf.float32, [0, 2])
    y = rounds(
        tf.shape(x)[0], lambda i, v: v + tf.gather(x, 0) + 1.0 // tf.cast(tf.shape(x)[0], tf.float32), tf.ones([2])
    )
    assert same_values([y], {x: np.zeros((0, 2))})[0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_that_the_loop_writes(use_resource):
    v = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
    read = v.read_value() if use_resource else v

    def body(i, total):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return total + tf.identity(read) * 3.0

    y = rounds(3, body, 0.0)
    same_values([y])


def test_branches_inside_and_around():
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    inside = rounds(4, lambda i, v: tf.cond(tf.equal(i % 2, 0), lambda: v + tf.exp(x), lambda: v * 2.0), tf.ones([2]))
    around = tf.cond(p, lambda: rounds(3, lambda i, v: v + tf.exp(x), tf.ones([2])), lambda: x)
    for value in True, False:
        same_values([inside, around], {x: [1.0, 2.0], p: value})


def test_an_invariant_of_the_condition():
    x = tf.placeholder(tf.float32, [2])
    y = tf.while_loop(lambda v: tf.reduce_sum(v) < tf.reduce_sum(x) * 10.0, lambda v: v + x, [tf.zeros([2])])
    assert moved([y], [x]) == 2
    same_values([y], {x: [1.0, 2.0]})
