"""tf.layers.experimental: layers that share variables as objects, and the collections of layers in general."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_names_are_unique_and_variables_are_resources():
    with tf.variable_scope("outer"):
        with tf.layers.experimental.keras_style_scope():
            first, second, named = tf.layers.Dense(3), tf.layers.Dense(3), tf.layers.Dense(2, name="named")
            y = named(second(first(tf.ones([2, 3]))))
        after = tf.layers.Dense(3)
        after(y)
    assert [layer.kernel.name for layer in (first, second, named)] == [
        "outer/dense_1/kernel:0",
        "outer/dense_2/kernel:0",
        "outer/named/kernel:0",
    ]
    assert first.kernel.op.type == "VarHandleOp"
    assert (after.kernel.name, after.kernel.op.type) == ("outer/dense/kernel:0", "VariableV2")
    with pytest.raises(ValueError, match="scope"):
        assert first.scope_name


def test_scopes_and_reuse_are_refused():
    with tf.layers.experimental.keras_style_scope():
        with pytest.raises(ValueError, match="scope argument not allowed"):
            tf.layers.dense(tf.ones([2, 3]), 3, name="a")
        with pytest.raises(ValueError, match="reuse argument not allowed"):
            tf.layers.Dense(3, _reuse=True)
        with pytest.raises(ValueError, match="scope argument not allowed"):
            tf.layers.Dense(3)(tf.ones([2, 3]), scope="a")


def test_updates_stay_with_the_layer():
    with tf.layers.experimental.keras_style_scope():
        layer = tf.layers.BatchNormalization()
        layer(tf.ones([2, 3]), training=True)
    assert len(layer.updates) == 2
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []


def test_style_can_be_set_for_good(monkeypatch):
    monkeypatch.setattr(tf.layers.experimental, "keras_style", False)
    tf.layers.experimental.set_keras_style()
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 3]))
    assert layer.kernel.name == "dense_1/kernel:0"


def test_the_collection_of_updates_is_there_from_the_first_layer_on():
    assert tf.GraphKeys.UPDATE_OPS not in tf.get_default_graph().get_all_collection_keys()
    tf.layers.dense(tf.ones([2, 3]), 4)
    assert tf.GraphKeys.UPDATE_OPS in tf.get_default_graph().get_all_collection_keys()


def test_a_loop_leaves_no_collection_of_summaries_behind():
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    assert tf.get_default_graph().get_all_collection_keys() == ["while_context"]
