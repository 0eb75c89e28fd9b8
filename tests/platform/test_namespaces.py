"""What a namespace says of a name that it hasn't."""

import copy
import pickle
import types

import pytest

import everflow as tf
from everflow.framework.api_names import MISSING_CONTRIB, resolve


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("matmull", "matmul"),
        ("nn.reluu", "relu or relu6"),
        ("keras.layers.Dens", "Dense"),
        ("contrib.slim.conv2", "conv2d"),
        ("train.AdamOptimzer", "AdamOptimizer or AdagradOptimizer"),
        ("io.gfile.exist", "exists"),
        ("data.experimental.AUTOTUN", "AUTOTUNE"),
        ("nn.rnn_cell.BasicLSTM", "BasicLSTMCell"),
        ("raw_ops.MatMull", "MatMul"),
        ("flags.DEFINE_strng", "DEFINE_string or DEFINE_list"),
        ("relu", "tf.nn.relu or tf.keras.activations.relu"),
        ("Dense", "tf.layers.Dense or tf.keras.layers.Dense"),
    ],
)
def test_misspelt_names(path, meant):
    space, _, name = path.rpartition(".")
    namespace = resolve(tf, space) if space else tf
    with pytest.raises(AttributeError) as caught:
        getattr(namespace, name)
    said = f"module 'tensorflow{space and '.' + space}' has no attribute '{name}'. Did you mean {meant}?"
    assert str(caught.value) == said
    assert caught.value.name == name


@pytest.mark.parametrize("path", ["contrib.bigtable", "contrib.ffmpeg"])
def test_missing_features_are_named(path):
    space, _, name = path.rpartition(".")
    with pytest.raises(AttributeError, match=f"'tensorflow.{space}' has no attribute '{name}' .*doesn't have it yet"):
        getattr(resolve(tf, space), name)


def test_nothing_near():
    with pytest.raises(AttributeError, match="has no attribute 'qqqqqq'$"):
        _ = tf.nn.qqqqqq


def test_every_namespace_explains():
    assert MISSING_CONTRIB
    for (
        path
    ) in "app bitwise config contrib.layers estimator.export keras.backend layers losses saved_model.loader".split():
        with pytest.raises(AttributeError, match=f"module 'tensorflow.{path}' has no attribute 'qqqqqq'"):
            _ = resolve(tf, path).qqqqqq


def test_namespaces_are_modules():
    assert isinstance(tf.train, types.ModuleType) and not hasattr(tf.train, "__wrapped__")
    assert not hasattr(tf.train, "AdamOptimzer") and copy.copy(vars(tf.train))


def test_what_is_no_namespace_stays_as_it_is():
    assert type(tf.framework) is types.ModuleType


def test_namespaces_are_pickled_by_name():
    for namespace in (tf, tf.nn, tf.compat.v2, tf.contrib):
        assert pickle.loads(pickle.dumps(namespace)) is namespace
