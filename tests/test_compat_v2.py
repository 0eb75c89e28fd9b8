"""tf.compat.v2: the names that are there, and those that TensorFlow 2 doesn't have."""

import functools
import inspect

import numpy as np
import pytest

import everflow as tf
from everflow.compat import signatures
from everflow.compat import v2 as v2_namespace
from everflow.framework import api_names


def test_names():
    v2 = tf.compat.v2
    assert not hasattr(v2, "Session") and not hasattr(v2, "placeholder")
    assert v2.Graph is tf.Graph and v2.float32 is tf.float32
    assert v2.math.add is tf.math.add
    assert {"Graph", "nn", "keras"} <= set(dir(v2)) and "relu" in dir(v2.nn)
    with pytest.raises(AttributeError):
        v2.nn.no_such_thing  # noqa: B018


def test_every_listed_name_is_there():
    missing = []
    for path in v2_namespace._all():
        try:
            functools.reduce(getattr, path.split("."), tf.compat.v2)
        except AttributeError:
            missing.append(path)
    assert [path for path in missing if api_names.resolve(tf, path) is not None] == []


def test_functions_of_version_2_alone():
    v2 = tf.compat.v2
    with tf.Graph().as_default(), tf.Session() as sess:
        picture, kernel = tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.zeros([2, 2, 1])
        ones = [1, 1, 1, 1]
        assert sess.run(v2.nn.dilation2d(picture, kernel, ones, "VALID", "NHWC", ones))[0, 0, 0, 0] == 5.0
        assert sess.run(v2.nn.erosion2d(picture, kernel, ones, "VALID", "NHWC", ones))[0, 0, 0, 0] == 0.0
        with pytest.raises(ValueError, match="NHWC"):
            v2.nn.dilation2d(picture, kernel, ones, "VALID", "NCHW", ones)
        pooled = v2.nn.fractional_max_pool(picture, 2.0, seed=5)
        assert pooled[0].op.get_attr("deterministic") and pooled[0].op.get_attr("seed2") == 5
        assert sess.run(pooled[0]).ravel().tolist() == [5.0, 7.0, 13.0, 15.0]
        sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 2])
        assert sess.run(v2.sparse.reduce_sum(sparse, 1)).tolist() == [1.0, 2.0]
        assert sess.run(v2.sparse.reduce_max(sparse, output_is_sparse=True)).values.tolist() == [2.0]


def test_changed_meaning():
    with tf.Graph().as_default(), tf.Session() as sess:
        picked = tf.compat.v2.where([True, False], [[1], [2]], [3, 4])
        np.testing.assert_array_equal(sess.run(picked), [[1, 4], [2, 4]])


def test_changed_arguments():
    v2 = tf.compat.v2
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant([[1.0, 5.0], [7.0, 3.0]])
        assert sess.run(v2.reduce_max(x, 1, True)).tolist() == [[5.0], [7.0]]
        assert sess.run(v2.argmax(x, 1)).tolist() == [1, 0]
        assert sess.run(v2.math.in_top_k([0, 0], x, 1)).tolist() == [False, True]  # targets come first
        assert sess.run(v2.zeros_like(input=x)).tolist() == [[0, 0], [0, 0]]
        assert sess.run(v2.strings.split(["a b", "c"]).row_lengths()).tolist() == [2, 1]
        halves = [tf.constant([[0.0], [1.0]]), tf.constant([[2.0], [3.0]])]
        assert sess.run(v2.nn.embedding_lookup(halves, [1, 2])).tolist() == [
            [1.0],
            [2.0],
        ]  # rows in order, not dealt out
        assert v2.nn.conv2d(tf.ones([1, 4, 4, 1]), filters=tf.ones([2, 2, 1, 1]), strides=1, padding="SAME").shape == [
            1,
            4,
            4,
            1,
        ]
    assert list(inspect.signature(v2.gather).parameters) == [
        "params",
        "indices",
        "validate_indices",
        "axis",
        "batch_dims",
        "name",
    ]
    with pytest.raises(TypeError):
        v2.reduce_sum([1.0], keep_dims=True)


def test_every_signature_has_its_function():
    for path in signatures.lines():
        function, served = signatures.function(path), functools.reduce(getattr, path.split("."), tf)
        assert len(inspect.signature(function).parameters) <= len(inspect.signature(served).parameters), path


def test_initializers_with_a_seed_depend_on_nothing_else():
    initializers = tf.compat.v2.initializers

    def drawn(graph_seed, **arguments):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(graph_seed)
            return sess.run(
                [initializers.GlorotUniform(**arguments)([2, 3]), initializers.RandomNormal(**arguments)([4])]
            )

    for first, second in zip(drawn(1, seed=3), drawn(2, seed=3)):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(drawn(1)[1], drawn(2)[1])
    np.testing.assert_allclose(drawn(1, seed=3)[0].ravel()[:2], [-0.66622162, 0.96255732], rtol=1e-6)  # TensorFlow's
    assert initializers.RandomNormal(seed=3).get_config() == {"mean": 0.0, "stddev": 0.05, "seed": 3}
    with tf.Graph().as_default():
        assert initializers.Constant([1, 2])([2]).dtype == tf.int32
        with pytest.raises(TypeError):
            initializers.Constant([1, 2])([3])
        with pytest.raises(ValueError, match="floating"):
            initializers.TruncatedNormal()([2], tf.int32)
