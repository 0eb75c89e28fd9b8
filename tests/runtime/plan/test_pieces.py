"""Large plans are cut into functions: values, errors and lifetimes stay as they are."""

import weakref

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import pieces
from tests.runtime.plan.sessions import assert_same_bits, compiled, plain, reference


@pytest.fixture
def small(monkeypatch):
    """Programs of a few nodes are cut, too."""

    def limits(largest, deepest):
        monkeypatch.setattr(pieces.Pieces.__init__, "__defaults__", (largest, deepest))

    return limits


def functions(plan) -> int:
    return plan.emitted.source.count("def piece")


def row(x, count):
    for i in range(count):
        x = raw.Sin(x=x) if i % 3 else raw.AddV2(x=x, y=tf.constant(0.25))
    return x


def expected_row(x, count):
    for i in range(count):
        x = torch.sin(x) if i % 3 else x + 0.25
    return x


def test_a_long_row_is_cut():
    x = tf.placeholder(tf.float32, [3])
    y = row(x, 3000)
    assert functions(compiled(y, [x])) >= 3000 // pieces.LARGEST
    value = np.float32([0.5, -1.0, 2.0])
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: value}), expected_row(torch.tensor(value), 3000), rtol=1e-4)


def test_a_short_row_is_not():
    x = tf.placeholder(tf.float32, [3])
    assert functions(compiled(row(x, 100), [x])) == 0


def test_a_long_body_is_cut():
    x = tf.placeholder(tf.float32, [3])
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, row(v, 1500) + x), [0, x])[1]
    plan = compiled(y, [x])
    assert functions(plan) >= 1500 // pieces.LARGEST
    value = start = torch.tensor([0.5, -1.0, 2.0])
    for _ in range(3):
        value = expected_row(value, 1500) + start
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: start.numpy()}), value, rtol=1e-3)


def test_an_error_in_a_piece_names_its_node_and_what_it_was_given():
    x = tf.placeholder(tf.float32, None)
    middle = row(x, 1200)
    wrong = raw.MatMul(a=middle, b=tf.ones([3, 2]), name="wrong")
    last = row(wrong, 1200)
    assert functions(compiled(last, [x])) > 3
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(last, {x: np.ones([4, 2])})
        assert caught.value.op is wrong.op
        assert "[4,2]" in str(caught.value) and "[3,2]" in str(caught.value)
        assert sess.run(last, {x: np.ones([4, 3])}).shape == (4, 2)


def test_an_error_in_a_cut_loop_names_its_node(small):
    small(5, 2)
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    check = lambda v: raw.CheckNumerics(tensor=row(v, 9) / tf.cast(n, tf.float32), message="went wrong", name="check")  # noqa: E731
    y = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, row(check(v), 9)), [0, x])[1]
    assert functions(compiled(y, [x, n])) > 3
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="went wrong") as caught:
            sess.run(y, {x: [1.0, 2.0, 3.0], n: 0})
        assert caught.value.op.type == "CheckNumerics"
        assert np.isfinite(sess.run(y, {x: [1.0, 2.0, 3.0], n: 1})).all()


def test_memory_is_let_go_between_pieces(small):
    """What a node gave is gone when all who take it have run, also where these are in other pieces."""
    small(5, 2)
    x = tf.placeholder(tf.float32, [3])
    alive, most = [], []

    def watched(value):
        result = value + 1.0
        alive.append(weakref.ref(result))
        most.append(sum(ref() is not None for ref in alive))
        return result

    y = x
    for _ in range(40):
        y = raw.Neg(x=tf.py_func(watched, [y], tf.float32))
        y.set_shape([3])
    plan = compiled(y, [x])
    assert functions(plan) >= 8
    with tf.Session() as sess:
        sess.run(y, {x: [1.0, 2.0, 3.0]})
    assert len(most) == 40 and max(most) <= 3
    assert sum(ref() is not None for ref in alive) == 0


def test_values_that_stay_in_a_piece_are_its_own(small):
    small(5, 2)
    x = tf.placeholder(tf.float32, [3])
    plan = compiled(row(x, 20), [x])
    shared = [name for name in plan.emitted.names.values() if name.startswith("r[")]
    own = [name for name in plan.emitted.names.values() if name.startswith("t")]
    assert 0 < len(set(shared)) <= functions(plan) + 1 and len(own) > len(set(shared))


def test_values_that_others_fetch_or_feed_cross_pieces(small):
    small(3, 2)
    x, y = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3])
    early, late = row(x, 2), row(y, 9)
    both = [early, row(late + x, 7), late + early, y * 2.0]
    with tf.Session() as sess, reference() as other:
        feed = {x: [1.0, 2.0, 3.0], y: [0.5, 0.25, -1.0]}
        for one, two in zip(sess.run(both, feed), other.run(both, feed), strict=True):
            assert_same_bits(one, two)


# --- programs of all kinds, cut as finely as can be -----------------------------------------------


def branch(x, n):
    return [tf.cond(n > 2, lambda: row(x, 5), lambda: tf.cond(n > 1, lambda: x, lambda: row(x, 4) * x))]


def loop(x, n):
    body = lambda i, v, w: (i + 1, w + x, tf.cond(i > 1, lambda: row(v, 3), lambda: w))  # noqa: E731
    return list(tf.while_loop(lambda i, v, w: i < n, body, [0, x, x * 2.0]))


def loop_in_loop(x, n):
    inner = lambda v: tf.while_loop(lambda j, w: j < 2, lambda j, w: (j + 1, row(w, 3) + v), [0, v])[1]  # noqa: E731
    return [tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, inner(v) * x), [0, x])[1]]


def gradient_of_loop(x, n):
    loss = tf.reduce_sum(loop_in_loop(x, n)[0]) + tf.reduce_sum(loop(x, n)[1])
    return [loss, tf.gradients(loss, x)[0]]


def arrays(x, n):
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    _, out = tf.while_loop(
        lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, row(x, 4) * tf.cast(i, tf.float32))), [0, out]
    )
    return [out.stack(), out.size()]


def writes(x, n):
    v = tf.get_variable("v", initializer=[1.0, 1.0, 1.0], use_resource=True)

    def body(i, seen):
        with tf.control_dependencies([v.assign_add(x, read_value=False)]):
            return i + 1, seen + row(v.read_value(), 3)

    seen = tf.while_loop(lambda i, s: i < n, body, [0, tf.zeros([3])])[1]
    with tf.control_dependencies([seen]):
        return [seen, v.read_value()]


def fetched_inside(x, n):
    otherwise, then = raw.Switch(data=x, pred=n < 100)
    return [row(then, 7), raw.Merge(inputs=[row(otherwise, 3), row(then, 3)]).value_index]


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (3, 2), (5, 2), (8, 3)])
@pytest.mark.parametrize("build", [branch, loop, loop_in_loop, gradient_of_loop, arrays, writes, fetched_inside])
def test_programs_cut_as_finely_as_can_be(build, limits, small):
    small(*limits)
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    fetches = build(x, n)
    plan = compiled(fetches, [x, n])
    assert functions(plan) > 1
    results = []
    for session in (tf.Session, plain, reference):
        with session() as sess:
            sess.run(tf.global_variables_initializer())
            results.append([sess.run(fetches, {x: [0.5, -1.0, 2.0], n: rounds}) for rounds in (3, 2, 1)])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            for a, b in zip(one, two, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5)


# --- depth ----------------------------------------------------------------------------------------


def nested_loops(depth, v):
    if depth == 0:
        return v + 1
    return tf.while_loop(
        lambda i, w: i < (2 if depth in (1, 25) else 1), lambda i, w: (i + 1, nested_loops(depth - 1, w)), [0, v]
    )[1]


def test_twenty_five_loops_in_each_other():
    x = tf.placeholder(tf.int32, [])
    y = nested_loops(25, x)
    assert functions(compiled(y, [x])) > 1
    with tf.Session() as sess:
        assert sess.run(y, {x: 5}) == 9


def test_thirty_branches_in_each_other():
    x = tf.placeholder(tf.int32, [])

    def nested(depth):
        return x * 100 if depth == 30 else tf.cond(x > depth, lambda: nested(depth + 1), lambda: tf.constant(depth))

    y = nested(0)
    with tf.Session() as sess:
        assert [sess.run(y, {x: value}) for value in (0, 1, 17, 29, 30, 31)] == [0, 1, 17, 29, 3000, 3100]
