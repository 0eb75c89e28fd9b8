"""Layers called on what comes from `Input` where all else runs at once: effects in order, outputs behind them."""

import numpy as np

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
