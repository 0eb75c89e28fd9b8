"""Which nodes of a plan become machine code, and that what they give stays the same."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels import registry
from everflow.native import lowering
from everflow.runtime.plan.program import NATIVE, UPDATE
from tests.runtime.random_programs import compare

X = np.random.RandomState(0).randn(4, 6).astype(np.float32)


def config(level):
    made = tf.ConfigProto()
    made.graph_options.optimizer_options.global_jit_level = level
    return made


def both_ways(build, feeds=X):
    """The results of `build(x)` by kernels and by machine code, and how many regions there were."""
    results = []
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, feeds.shape)
            fetches = build(x)
            sess.run(tf.global_variables_initializer())
            results.append([sess.run(fetches, {x: feeds}) for _ in range(3)])
            text = sess.explain(fetches, [x])
    for one, other in zip(*results, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
            assert a.dtype == b.dtype and np.shape(a) == np.shape(b)
    return text.count(f"({NATIVE})") + text.count(f"({UPDATE})")


def test_a_chain_is_one_region():
    assert both_ways(lambda x: [tf.tanh(x * 2.0 + 1.0) - tf.nn.relu(x)]) == 1


def test_a_kernel_in_between_makes_two():
    def build(x):
        h = tf.cumsum(tf.nn.sigmoid(x) * 2.0, 1)
        return [tf.nn.softmax(h * h + 1.0)]

    assert both_ways(build) == 2


def _layer(x, name, width=40):
    return tf.layers.dense(x, width, tf.nn.tanh, name=name, bias_initializer=tf.random_normal_initializer())


def test_products_of_the_blas_are_in_regions():
    """A training step of small layers, their products, gradients and updates, is one call."""
    wide = np.tile(X, (16, 5))

    def build(x):
        loss = tf.reduce_mean(tf.square(_layer(_layer(x, "one"), "two")))
        return [tf.gradients(loss, tf.trainable_variables())[0], loss]

    assert both_ways(build, wide) == 1

    def step(x):
        loss = tf.reduce_mean(tf.square(_layer(_layer(x, "one"), "two")))
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(loss)]):
            return [tf.identity(loss)]

    assert both_ways(step, wide) <= 2


def test_cells_of_an_unrolled_network_are_one_region():
    def build(x):
        cell = tf.nn.rnn_cell.BasicLSTMCell(24)
        outputs, _ = tf.nn.static_rnn(cell, tf.split(x, 6, axis=1), dtype=tf.float32)
        return [tf.concat(outputs, 1), *tf.gradients(outputs, tf.trainable_variables())]

    assert both_ways(build, np.tile(X, (8, 6))) == 1


def test_classes_that_products_decide_are_looked_at_before_anything_else_is_done():
    """What is checked comes before all else of a region, so that it begins a new one."""

    def build(x):
        scores = _layer(x, "scores")
        chosen = tf.gather(_layer(x, "table"), tf.argmax(scores, 1))
        return [
            chosen * 2.0
            + tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.argmax(scores, 1), logits=scores)[:, None]
        ]

    assert both_ways(build, np.tile(X, (16, 5))) >= 2


def test_a_long_chain_is_cut_so_that_compiling_takes_no_more_than_its_share():
    def build(x):
        for _ in range(60):
            x = tf.tanh(x * 1.1 + 0.1)
        return [x]

    assert 2 <= both_ways(build) <= 4


def test_a_view_of_what_another_region_gives_stays_for_kernels():
    """It is in the second region, which does nothing for it, and a kernel takes it."""

    def build(x):
        first = h = tf.tanh(x * 1.1)
        for _ in range(60):
            h = tf.tanh(h * 1.1 + 0.1)
        return [h, tf.cumsum(tf.slice(first, [0, 1], [4, 3]) + 0.0 * h[:, :3], 1), tf.cumsum(first[:, 1:3])]

    assert both_ways(build) >= 2


def test_a_single_small_op_stays_a_kernel():
    assert both_ways(lambda x: [tf.tanh(x)]) == 0


def test_losses_normalizations_and_their_gradients():
    def build(x):
        w = tf.get_variable("w", [6, 3], initializer=tf.random_normal_initializer(seed=1))
        logits = tf.matmul(x, w)
        mean, variance = tf.nn.moments(logits, [0])
        normal = tf.nn.batch_normalization(logits, mean, variance, 0.1, 1.5, 1e-3)
        labels = tf.one_hot([0, 1, 2, 1], 3)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=normal))
        loss += 0.1 * tf.nn.l2_loss(w) + tf.reduce_max(tf.abs(w))
        return [loss, *tf.gradients(loss, [w, x])]

    assert both_ways(build) >= 1


def test_views_are_only_other_addresses():
    def build(x):
        y = tf.transpose(x * 2.0)[1:5:2, ::-1]
        return [tf.reshape(y + 1.0, [-1]), tf.tile(x, [2, 1]) * 3.0, tf.expand_dims(x - 1.0, 0) * x[:, 2:3]]

    assert both_ways(build) >= 1


def test_a_variable_is_read_before_the_write_that_comes_later():
    def build(x):
        v = tf.Variable(tf.ones([4, 6]))
        before = tf.exp(v * 0.5) + x
        with tf.control_dependencies([before]):
            after = v.assign_add(x)
        with tf.control_dependencies([after]):
            return [before, tf.exp(v * 0.5) + x]

    assert both_ways(build) >= 2


def test_loops_keep_their_counters_and_compile_their_bodies():
    def build(x):
        def body(i, y):
            digits = tf.cast(tf.strings.length(tf.as_string(i)), tf.float32)  # text leaves the loop to Python
            return i + 1, tf.tanh(y * 0.9 + 0.1) * x * digits

        _, y = tf.while_loop(lambda i, _: i < 5, body, [0, x])
        return [y, *tf.gradients(y, x)]

    assert both_ways(build) >= 1


def test_scalars_constants_and_outputs_that_are_equal():
    def build(x):
        s = tf.reduce_sum(x)
        return [tf.ones_like(s), s * 2.0, s * 2.0 + 0.0 * s, tf.zeros_like(x), tf.fill([2, 3], s)]

    both_ways(build)


def test_a_shape_that_the_graph_has_wrong_is_left_to_kernels():
    """`set_shape` may lie, and TensorFlow believes the tensor."""
    results = []
    for level in (-1, 1):
        with tf.Graph().as_default(), tf.Session(config=config(level)) as sess:
            x = tf.placeholder(tf.float32, [None, 6])
            kept = tf.boolean_mask(x, x[:, 0] > -9.0)
            kept.set_shape([2, 6])
            results.append(sess.run(tf.tanh(kept * 2.0) + 1.0, {x: X}))
    assert results[1].shape == (4, 6)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)


def test_inputs_in_another_order_of_memory():
    def build(x):
        return [tf.tanh(tf.linalg.transpose(tf.matmul(x, x, transpose_b=True)) * 2.0) + 1.0]

    both_ways(build, np.asfortranarray(X))


def test_an_uninitialized_variable_is_told_by_name():
    with tf.Graph().as_default(), tf.Session(config=config(1)) as sess:
        v = tf.Variable(tf.ones([3]), name="weights")
        with pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
            sess.run(tf.exp(v * 2.0) + 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_with_machine_code(seed):
    compare(seed, 8, native=True)


def test_every_lowering_is_of_an_op_type_that_has_a_kernel():
    registry.load_all()
    assert not set(lowering.op_types()) - set(registry.names())
