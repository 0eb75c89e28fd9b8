"""Layers called on what comes from `Input` where all else runs at once: effects in order, outputs behind them."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


class _Counting(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.calls = self.add_weight("calls", (), initializer="zeros", trainable=False)

    def call(self, inputs):
        self.calls.assign_add(1.0)
        return inputs, [inputs * self.calls]


def test_outputs_are_tensors_of_their_own_behind_effects():
    with eager_mode():
        x = tf.keras.Input((3,))
        same, [times] = _Counting(name="counting")(x)
        assert [same.op.type, times.op.name] == ["Identity", "counting/Identity_1"]
        assert {op.type for op in times.op.control_inputs} == {"AssignAddVariableOp", "ReadVariableOp"}


def test_functions_of_a_model_run_the_effects_of_its_layers():
    with eager_mode():
        x = tf.keras.Input((3,))
        layer = _Counting()
        same, _ = layer(x)
        tf.keras.backend.function(x, same)(np.ones((1, 3)))
        assert layer.calls.numpy() == 1


def test_graphs_of_programs_have_no_such_tensors():
    with tf.Graph().as_default():
        y = tf.keras.layers.Dense(2, name="dense")(tf.keras.Input((3,)))
        assert y.op.name == "dense/BiasAdd"


def test_constraints_of_weights_go_by_name():
    weight = tf.keras.layers.Layer().add_weight("w", (1,), constraint="nonneg")
    assert isinstance(weight.constraint, tf.keras.constraints.NonNeg)


class _InBranch(tf.keras.layers.Layer):
    """Adds something in a branch."""

    def __init__(self, add):
        super().__init__()
        self.add = add

    def call(self, inputs):
        def branch():
            self.add(self, inputs)
            return inputs

        return tf.cond(tf.reduce_sum(inputs) > 0, branch, lambda: inputs)


def _add_loss(layer, x):
    layer.add_loss(tf.reduce_sum(x))


def _add_metric(layer, x):
    layer.add_metric(tf.reduce_sum(x), aggregation="mean", name="sum")


def _regularize(layer, x):
    layer.inner = tf.keras.layers.Activation("relu", activity_regularizer="l1")
    layer.inner(x)


@pytest.mark.parametrize("functional", [True, False])
@pytest.mark.parametrize("add", [_add_loss, _add_metric, _regularize])
def test_branches_of_a_model_add_nothing_to_it(add, functional):
    was = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if functional else tf.disable_control_flow_v2)()
    try:
        with eager_mode(), pytest.raises(RuntimeError):
            _InBranch(add)(tf.keras.Input((3,)))
    finally:
        (tf.enable_control_flow_v2 if was else tf.disable_control_flow_v2)()


def test_metrics_of_branches_are_reported_from_graphs():
    x = np.ones((4, 3))
    with tf.Graph().as_default(), tf.Session().as_default():
        inputs = tf.keras.Input((3,))
        model = tf.keras.Model(inputs, _InBranch(_add_metric)(inputs))
        model.compile("sgd", "mse")
        assert model.evaluate(x, x, verbose=0) == [0, 12]
