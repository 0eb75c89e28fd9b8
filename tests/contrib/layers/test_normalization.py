"""Normalization in tf.contrib.layers: each way of building it, against numpy."""

import numpy as np
import pytest

import everflow as tf

L = tf.contrib.layers
X = np.random.RandomState(1).randn(6, 4, 4, 3).astype(np.float32) * 2 + 1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def normalized(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@pytest.mark.parametrize("x", [X, X[:, 0, 0]], ids=["images", "vectors"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fused": False},
        {"updates_collections": None},
        {"zero_debias_moving_mean": True},
        {"batch_weights": np.ones(6, np.float32)},
    ],
)
def test_batch_norm_in_training(x, options):
    y = L.batch_norm(tf.constant(x), decay=0.5, scope="bn", **options)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), normalized(x, tuple(range(x.ndim - 1)), 0.001), atol=1e-4)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        assert bool(updates) == ("updates_collections" not in options)
        if updates:
            sess.run(updates)
        mean = x.reshape(-1, x.shape[-1]).mean(0)
        share = 1.0 if "zero_debias_moving_mean" in options else 0.5
        np.testing.assert_allclose(sess.run("bn/moving_mean:0"), mean * share, rtol=1e-3)


def test_batch_norm_uses_averages_when_told():
    training = tf.placeholder_with_default(False, [])
    x = tf.constant(X)
    ys = [L.batch_norm(x, is_training=flag) for flag in (False, training)] + [
        L.batch_norm(x[:, 0, 0], is_training=training)
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        a, b, c = sess.run(ys)
        np.testing.assert_allclose(a, X / np.sqrt(1.001), rtol=1e-5)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(c, X[:, 0, 0] / np.sqrt(1.001), rtol=1e-5)


def test_batch_norm_puts_variables_where_asked():
    collections = {"beta": ["b"], "moving_mean": ["m"]}
    L.batch_norm(tf.constant(X), variables_collections=collections, scope="bn")
    assert [v.op.name for v in tf.get_collection("b") + tf.get_collection("m")] == ["bn/beta", "bn/moving_mean"]
    assert [v.op.name for v in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)] == [
        "bn/beta",
        "bn/moving_mean",
        "bn/moving_variance",
    ]


@pytest.mark.parametrize(
    ("layer", "axes", "epsilon"),
    [
        (L.layer_norm, (1, 2, 3), 1e-12),
        (lambda x: L.layer_norm(x, begin_norm_axis=-1), (3,), 1e-12),
        (L.instance_norm, (1, 2), 1e-6),
        (lambda x: L.instance_norm(x, data_format="NCHW"), (2, 3), 1e-6),
        (lambda x: L.group_norm(x, groups=1), (1, 2, 3), 1e-6),
        (lambda x: L.group_norm(x, groups=1, mean_close_to_zero=True), (1, 2, 3), 1e-6),
        (lambda x: L.group_norm(x, groups=3), (1, 2), 1e-6),
    ],
)
def test_norms_of_examples(layer, axes, epsilon):
    y = layer(tf.constant(X))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), normalized(X, axes, epsilon), atol=1e-4)


def test_groups_must_divide_the_channels():
    with pytest.raises(ValueError, match="not commensurate"):
        L.group_norm(tf.constant(X), groups=2)
