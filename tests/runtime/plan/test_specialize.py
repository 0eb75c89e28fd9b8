"""Plans made again for the shapes that are fed."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import specialize


@pytest.fixture(autouse=True)
def _at_the_second_run(monkeypatch):
    monkeypatch.setattr(specialize, "WORTH", 0.0)


def model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = raw.Mul(x=x, y=tf.constant(2.0))
    rows = raw.StridedSlice(
        input=raw.Shape(input=y),
        begin=tf.constant([0]),
        end=tf.constant([1]),
        strides=tf.constant([1]),
        shrink_axis_mask=1,
    )
    return x, raw.Mul(x=y, y=raw.Cast(x=rows, DstT=tf.float32))


def test_shape_arithmetic_is_folded_for_shapes_that_come_again():
    x, y = model()
    with tf.Session() as sess:
        for rows in (2, 2, 3, 2, 3, 3):
            np.testing.assert_array_equal(
                sess.run(y, {x: np.ones((rows, 3))}), np.full((rows, 3), 2.0 * rows, np.float32)
            )
        plan = sess._executor.prepare([y], [x]).plan
        assert isinstance(plan, specialize.ShapedPlans)
        assert len(plan.plans) == 2
        for special in plan.plans.values():
            assert "Shape" not in {n.type for n in special.program.nodes()}
            assert "StridedSlice" not in {n.type for n in special.program.nodes()}


def test_the_number_of_specialplans_is_bounded(monkeypatch):
    monkeypatch.setattr(specialize, "MOST_SPECIALIZED", 2)
    x, y = model()
    with tf.Session() as sess:
        for rows in (1, 2, 3, 4, 1, 2, 3, 4):
            assert sess.run(y, {x: np.ones((rows, 3))})[0, 0] == 2.0 * rows
        assert len(sess._executor.prepare([y], [x]).plan.plans) == 2


def test_sizes_that_depend_on_values_are_not_taken_for_constants():
    x = tf.placeholder(tf.float32, [None])
    chosen = raw.Where(input=raw.Greater(x=x, y=tf.constant(0.0)))
    size = raw.Size(input=chosen)
    with tf.Session() as sess:
        assert [int(sess.run(size, {x: value})) for value in ([1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 2.0])] == [
            1,
            2,
            0,
            2,
        ]


def test_feeds_of_another_shape_for_an_intermediate():
    x, y = model()
    middle = y.op.inputs[0]
    with tf.Session() as sess:
        for rows in (2, 2, 5, 5):
            assert sess.run(y, {middle: np.ones((rows, 3))})[0, 0] == rows


def same_with_and_without_rewrites(build, feeds):
    """Runs of what `build()` gives, (placeholder, fetches), are the same in a plain session."""
    from everflow.protos.rewriter_config_pb2 import RewriterConfig

    plain = tf.ConfigProto(graph_options=tf.GraphOptions(rewrite_options=RewriterConfig(disable_meta_optimizer=True)))
    x, fetches = build()
    results = []
    for config in (None, plain):
        with tf.Session(config=config) as sess:
            results.append([sess.run(fetches, {x: feed}) for feed in feeds])
    for one, other in zip(*results, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return results[0]


FEEDS = [np.linspace(0, 1, 6).reshape(2, 3)] * 4 + [np.linspace(0, 1, 9).reshape(3, 3)] * 3


def test_random_ops_in_a_loop_run_each_time():
    def build():
        x = tf.placeholder(tf.float32, [None, 3])
        body = lambda i, v: (i + 1, v + tf.random_uniform(tf.shape(v), seed=3))  # noqa: E731
        return x, [tf.while_loop(lambda i, v: i < 4, body, [0, x])[1]]

    results = same_with_and_without_rewrites(build, FEEDS)
    assert not np.allclose(results[1][0], results[2][0])
    assert results[0][0].mean() > 1.0


def test_loop_variables_that_grow():
    def build():
        x = tf.placeholder(tf.float32, [None, 3])
        grown = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, tf.concat([v, v[:1] * tf.cast(tf.shape(v)[0], tf.float32)], 0)),
            [0, x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
        )[1]
        return x, [grown, tf.shape(grown), tf.gradients(tf.reduce_sum(grown * grown), x)[0]]

    assert same_with_and_without_rewrites(build, FEEDS)[-1][1].tolist() == [6, 3]


def test_gradients_of_loops_with_arrays_and_branches():
    def build():
        x = tf.placeholder(tf.float32, [None, 3])
        steps = tf.TensorArray(tf.float32, 3).unstack(tf.stack([x, x * 2.0, x * 3.0]))

        def body(i, v, out):
            step = steps.read(i)
            v = tf.cond(tf.equal(i % 2, 0), lambda: v * step + tf.reduce_mean(step), lambda: tf.tanh(v) - step[:, :1])
            return i + 1, v, out.write(i, v)

        _, v, out = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.ones_like(x), tf.TensorArray(tf.float32, 3)])
        total = tf.reduce_sum(out.stack() * 0.5) + tf.reduce_mean(v)
        return x, [total, tf.gradients(total, x)[0]]

    same_with_and_without_rewrites(build, FEEDS)


def test_known_shapes_reach_into_loops():
    x = tf.placeholder(tf.float32, [None, 3])
    body = lambda i, v: (i + 1, tf.tanh(v + x[:1]))  # noqa: E731
    loss = tf.reduce_sum(tf.while_loop(lambda i, v: i < 3, body, [0, x])[1])
    gradient = tf.gradients(loss, x)[0]
    with tf.Session() as sess:
        for _ in range(3):
            sess.run(gradient, {x: FEEDS[0]})
        (special,) = sess._executor.prepare([gradient], [x]).plan.plans.values()
    types = {n.type for n in special.program.nodes()}
    assert not types & {"Shape", "BroadcastGradientArgs"}


def test_shapes_of_what_is_gathered_from_a_resource_variable_are_known():
    ids = tf.placeholder(tf.int32, [None, 4])
    table = tf.get_variable("table", [5, 3], use_resource=True)
    rows = tf.nn.embedding_lookup(table, ids)
    size = tf.cast(tf.shape(rows)[0], tf.float32) * rows
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            assert sess.run(size, {ids: np.zeros((2, 4), np.int32)}).shape == (2, 4, 3)
        (special,) = sess._executor.prepare([size], [ids]).plan.plans.values()
        assert "Shape" not in {n.type for n in special.program.nodes()}


def test_shape_arithmetic_in_loops_is_done_before_where_all_shapes_are_known():
    x = tf.placeholder(tf.float32, [3, 4])
    rows = tf.shape(x)[0]

    def body(i, v):
        flat = tf.reshape(v, tf.stack([rows * 4]))
        return i + 1, tf.reshape(flat + tf.cast(tf.range(rows * 4), tf.float32), [rows, -1])

    result = tf.while_loop(
        lambda i, v: i < 3, body, [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])]
    )[1]
    with tf.Session() as sess:
        found = sess.run(result, {x: np.ones((3, 4))})
        types = [n.type for n in sess._executor.prepare([result], [x]).plan.program.nodes()]
    np.testing.assert_array_equal(found, 1.0 + 3.0 * np.arange(12.0).reshape(3, 4))
    assert not {"Shape", "StridedSlice", "Pack", "Range", "Mul", "Cast"} & set(types)


def test_numbers_are_drawn_though_nothing_but_their_shape_is_needed():
    """The next run's draw follows this one's, as in TensorFlow, whether or not a plan has folded the shape."""
    seen = []
    for worth in (0.0, float("inf")):
        with tf.Graph().as_default(), tf.Session() as sess, pytest.MonkeyPatch.context() as patch:
            patch.setattr(specialize, "WORTH", worth)
            tf.set_random_seed(3)
            x = tf.placeholder(tf.float32, [None, 3])
            kept = tf.nn.dropout(x, 0.5)
            only_shape = tf.ones_like(kept)
            for _ in range(8):
                sess.run(only_shape, {x: np.ones([4, 3])})
            seen.append(sess.run(kept, {x: np.ones([4, 3])}).ravel().tolist())
    assert seen[0] == seen[1] == [0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
