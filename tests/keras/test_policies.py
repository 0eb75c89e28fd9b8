"""Policies of mixed precision, where a program asks for TensorFlow 2's types of layers."""

import numpy as np
import pytest

import everflow as tf
from everflow.distribute import MirroredStrategy
from everflow.eager.mode import eager_mode
from everflow.keras.engine import autocasting
from everflow.keras.engine.autocast_variable import AutoCastVariable
from everflow.keras.mixed_precision.policy import Policy, global_policy, policy_scope, set_policy


@pytest.fixture(autouse=True)
def v2_types():
    autocasting.switch(True)
    set_policy(None)
    yield
    set_policy(None)
    autocasting.switch(None)


def test_the_policy_of_the_process():
    assert global_policy().name == "float32"
    with policy_scope("mixed_float16"):
        layer = tf.keras.layers.Dense(1)
        assert (layer.dtype, layer._compute_dtype, layer._dtype_policy.name) == ("float32", "float16", "mixed_float16")
    assert tf.keras.layers.Dense(1)._dtype_policy.name == "float32"
    assert Policy("float32_with_float32_vars").name == "float32"
    set_policy("infer")
    assert tf.keras.layers.Dense(1).dtype is None
    autocasting.switch(False)
    with pytest.raises(ValueError, match="infer"):
        set_policy("float64")


def test_policies_and_the_graph_rewrite_exclude_each_other():
    rewrite, undo = (
        tf.train.experimental.enable_mixed_precision_graph_rewrite,
        tf.train.experimental.disable_mixed_precision_graph_rewrite,
    )
    with policy_scope("mixed_float16"), pytest.raises(ValueError, match="policy"):
        rewrite(tf.keras.optimizers.SGD())
    assert type(rewrite(tf.keras.optimizers.SGD())).__name__ == "LossScaleOptimizer"
    with pytest.raises(ValueError, match="rewrite"):
        set_policy("mixed_float16")
    undo()
    set_policy("mixed_float16")


@pytest.mark.parametrize("strategy", [None, MirroredStrategy], ids=["alone", "mirrored"])
def test_a_model_is_trained_with_a_scaled_loss(strategy, tmp_path):
    with eager_mode(), policy_scope(Policy("mixed_float16", loss_scale=8.0)):
        scope = strategy(["cpu:0"]).scope() if strategy else policy_scope(global_policy())
        with scope:
            last = tf.keras.layers.Lambda(lambda x: tf.cast(x, tf.float32))
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones"), last])
            model.compile(tf.keras.optimizers.SGD(0.5), "mse")
            assert type(model.optimizer).__name__ == "LossScaleOptimizer"
            kernel = model.layers[0].kernel
            assert isinstance(kernel, AutoCastVariable) and kernel.dtype == tf.float32
            model.fit(np.ones([4, 2]), np.zeros([4, 1]), batch_size=4, verbose=0)
        np.testing.assert_allclose(model.get_weights()[0], [[-1.0], [-1.0]], atol=1e-3)
        path = tf.train.Checkpoint(optimizer=model.optimizer).save(str(tmp_path / "c"))
        assert any("base_optimizer/iter" in name for name, _ in tf.train.list_variables(path))


def test_only_optimizers_of_keras_scale_losses():
    with policy_scope("mixed_float16"):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        with pytest.raises(ValueError, match=r"tf\.keras\.optimizers"):
            model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
