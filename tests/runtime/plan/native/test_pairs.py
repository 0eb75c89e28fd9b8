"""Heavy nodes that know nothing of each other run side by side, and nothing else does."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.native.compared import RANDOM, constant

WIDE = 384  # products of such matrices take longer than waking a thread


def _session(level=1, threads=2):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    config.graph_options.optimizer_options.global_jit_level = level
    return tf.Session(config=config)


def _pairs(fetches, threads=2):
    """The names of nodes that run side by side, and of what machine code and kernels give for some fetches."""
    shown = []
    for level in (-1, 1):
        with _session(level, threads) as sess:
            sess.run(tf.global_variables_initializer())
            shown.append([sess.run(fetches) for _ in range(2)])
            plan = sess._executor.prepare(tf.contrib.framework.nest.flatten(fetches), []).plan
    for one, other in zip(*map(tf.contrib.framework.nest.flatten, shown), strict=True):
        if one is not None:
            np.testing.assert_allclose(other, one, 2e-4, 1e-4)
    beside = plan._native[1].beside if plan._native else {}
    return sorted((first.op.name, second.op.name) for first, second in beside.items())


def _both_ends(width=48):
    cells = [tf.nn.rnn_cell.GRUCell(width) for _ in range(2)]
    x = constant(32, 7, width)
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, np.full(32, 7), dtype=tf.float32)
    return tf.reduce_mean(tf.square(tf.concat(outputs, 2)))


def test_a_text_read_from_both_ends_at_once():
    loss = _both_ends()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    loops = [pair for pair in _pairs([loss, train]) if all("while" in name or "b_count" in name for name in pair)]
    assert len(loops) == 2  # forwards, and backwards


def test_small_loops_are_not_worth_it():
    assert _pairs(_both_ends(4)) == []


def test_a_session_with_one_thread_has_no_pairs():
    assert _pairs(_both_ends(), threads=1) == []


def _weights(name):
    return tf.get_variable(name, initializer=0.05 * RANDOM.randn(WIDE, WIDE).astype("f"))


def test_the_two_gradients_of_a_product():
    a, b = _weights("a"), _weights("b")
    loss = tf.reduce_sum(tf.tanh(tf.matmul(tf.tanh(a), b, name="product")))
    [(first, second)] = _pairs([loss, *tf.gradients(loss, [a, b])])
    assert {first.rpartition("/")[2], second.rpartition("/")[2]} == {"MatMul", "MatMul_1"}


def test_what_needs_the_other_waits_for_it():
    x = tf.tanh(tf.matmul(_weights("a"), _weights("b")))
    assert _pairs(tf.reduce_sum(tf.tanh(tf.matmul(x, x)))) == []


def test_nothing_goes_past_a_write_of_a_variable():
    a, b = _weights("a"), _weights("b")
    x = tf.reduce_sum(tf.tanh(tf.matmul(a, a)) + 1.0)
    with tf.control_dependencies([x]):
        changed = tf.assign(b, tf.tanh(b) * 0.5 + 0.1)
    with tf.control_dependencies([changed]):
        y = tf.reduce_sum(tf.tanh(tf.matmul(b.read_value(), b.read_value())) + 1.0)
    assert _pairs([x, y]) == []


@pytest.mark.parametrize("size, paired", [(2, False), (14, True), (40, False)])
def test_convolutions_of_two_branches(size, paired):
    """Small ones take less time than waking a thread; libraries share large ones well."""
    images = [constant(8, 8, size, size) for _ in range(2)]  # with channels last it would be machine code
    filters = [tf.get_variable(name, initializer=0.1 * RANDOM.randn(5, 5, 8, 16).astype("f")) for name in "ab"]
    made = [tf.nn.conv2d(x, f, 1, "SAME", data_format="NCHW") for x, f in zip(images, filters, strict=True)]
    assert len(_pairs(tf.reduce_sum(tf.tanh(made[0] * 2.0 + made[1])))) == (1 if paired else 0)


def test_an_error_in_one_is_that_ops():
    """The loop refuses, the plan runs it, and says which op it was."""
    table, place = constant(5, 64), tf.placeholder(tf.int32, [])
    weights = [tf.constant(RANDOM.randn(64, 64).astype("f")) for _ in range(2)]

    def looped(number):
        def body(i, x):
            row = tf.gather(table, place + i if number else i, name="row")
            return i + 1, tf.tanh(tf.matmul(x, weights[number])) + row

        return tf.while_loop(lambda i, x: i < 4, body, [0, constant(128, 64)])[1]

    with tf.name_scope("one"):
        one = looped(0)
    with tf.name_scope("two"):
        two = looped(1)
    with _session() as sess:
        sess.run([one, two], {place: 1})
        plan = sess._executor.prepare([one, two], [place]).plan
        assert len(plan._native[1].beside) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="two/while/row"):
            sess.run([one, two], {place: 3})
        sess.run([one, two], {place: 0})


def test_what_is_short_is_not_shared():
    """One thread has a small product done before another is awake. (Products of floats would be machine code.)"""
    a, b = _weights("a"), tf.get_variable("b", initializer=RANDOM.randn(WIDE, 4).astype("f"))
    wide = tf.matmul(a, a, name="wide")
    thin = tf.to_float(tf.matmul(tf.to_int32(a * 5.0), tf.to_int32(b * 5.0), name="thin"))
    loss = tf.reduce_sum(tf.tanh(wide * 2.0)) + tf.reduce_sum(tf.tanh(thin * 2.0))
    with _session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(loss)
        plan = sess._executor.prepare([loss], []).plan
    assert [node.name for node in plan._native[1].short] == ["thin"]
