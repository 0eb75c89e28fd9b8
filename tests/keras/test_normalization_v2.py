"""Batch normalization as tf.compat.v2 has it, beside that of tf.keras."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

NORMS = {1: tf.keras.layers.BatchNormalization, 2: tf.compat.v2.keras.layers.BatchNormalization}
ROWS = np.arange(12.0, dtype="float32").reshape(4, 3)


@pytest.mark.parametrize(
    ("version", "trainable", "normalizes", "moves"),
    [(1, True, True, True), (1, False, True, False), (2, True, True, True), (2, False, False, False)],
)
def test_what_a_frozen_layer_does_while_training(version, trainable, normalizes, moves):
    with eager_mode():
        layer = NORMS[version]()
        layer.trainable = trainable
        result = layer(tf.constant(ROWS), training=True).numpy()
        assert (abs(result.mean()) < 1e-5) == normalizes
        assert bool(layer.moving_mean.numpy().any()) == moves


@pytest.mark.parametrize(
    ("settings", "shape", "version_1", "version_2"),
    [
        ({}, (2, 4, 4, 3), (True, True), (None, True)),
        ({}, (2, 4), (True, False), (None, False)),
        ({"fused": False}, (2, 4, 4, 3), (False, False), (False, False)),
        ({"renorm": True}, (2, 4, 4, 3), (True, False), (False, False)),
        ({"axis": 2}, (2, 4, 4, 3), (True, False), (False, False)),
        ({"fused": True}, (2, 4), (True, False), ValueError),
        ({"fused": True, "axis": [1, 2]}, (2, 4, 4, 3), (True, False), ValueError),
        ({"fused": True, "virtual_batch_size": 2}, (2, 4, 4, 3), (True, False), ValueError),
    ],
)
def test_which_form_is_used(settings, shape, version_1, version_2):
    def form(make):
        layer = make(**settings)
        wanted = layer.fused
        layer.build(shape)
        return wanted, layer.fused

    with tf.Graph().as_default():
        assert form(NORMS[1]) == version_1
        if version_2 is ValueError:
            with pytest.raises(ValueError, match="fused=True"):
                form(NORMS[2])
        else:
            assert form(NORMS[2]) == version_2
