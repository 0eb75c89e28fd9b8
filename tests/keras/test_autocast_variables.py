"""Layers that compute in another type than their weights have."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.framework.graph_scopes import reading_as
from everflow.keras.engine.autocast_variable import AutoCastVariable
from everflow.keras.mixed_precision.policy import Policy, global_policy, policy_scope, with_input_dtype
from everflow.legacy.inner.keras_testing import gradients

layers = tf.keras.layers


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    if request.param == "graph":
        yield
        return
    with eager_mode():
        yield
    tf.keras.backend.clear_session()


def test_a_variable_is_read_in_the_type_that_is_asked_for(mode):
    variable = AutoCastVariable(tf.Variable(1.0, use_resource=True))
    assert variable.dtype == variable.value().dtype == tf.float32
    with reading_as("float16"):
        assert (variable.dtype, variable.true_dtype) == (tf.float16, tf.float32)
        assert variable.value().dtype == (variable + tf.constant(1.0, tf.float16)).dtype == tf.float16
        assert tf.convert_to_tensor(variable).dtype == tf.identity(variable).dtype == tf.float16
        with pytest.raises(ValueError):
            tf.convert_to_tensor(variable, tf.float32)
    with pytest.raises(ValueError, match="only floats"):
        AutoCastVariable(tf.Variable(1, use_resource=True))
    with pytest.raises(ValueError, match="resource"):
        AutoCastVariable(tf.constant(1.0))


@pytest.mark.parametrize("name", ["mixed_float16", "infer_with_float32_vars", "float16_with_float32_vars"])
def test_a_layer_computes_in_half_and_keeps_whole_weights(mode, name):
    layer = layers.Dense(3, dtype=Policy(name))
    assert layer(tf.ones([2, 4], tf.float16)).dtype == tf.float16
    assert (layer.kernel.dtype, layer.dtype, layer._compute_dtype) == (tf.float32, "float32", "float16")
    assert layer.get_config()["dtype"] == "float32"


def test_models_of_mixed_precision_train_and_are_saved(mode, tmp_path):
    policy = Policy("mixed_float16")
    model = tf.keras.Sequential([layers.Dense(1, dtype=policy, input_shape=(2,), kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.25), "mse")
    ones, zeros = np.ones([4, 2], "float32"), np.zeros([4, 1], "float32")
    assert model.fit(ones, zeros, verbose=0, epochs=2).history["loss"] == [4.0, 1.0]
    weights = model.get_weights()
    assert weights[0].dtype == np.float32
    for file in ("weights", "weights.h5"):
        model.set_weights(weights)
        model.save_weights(str(tmp_path / file))
        model.set_weights([0 * w for w in weights])
        model.load_weights(str(tmp_path / file))
        np.testing.assert_array_equal(model.get_weights()[0], weights[0])


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda policy: layers.Conv2D(2, 2, dtype=policy), [1, 4, 4, 3]),
        (lambda policy: layers.BatchNormalization(dtype=policy), [2, 4]),
        (lambda policy: layers.BatchNormalization(dtype=policy), [2, 4, 4, 3]),
        (lambda policy: layers.LSTM(3, dtype=policy), [1, 2, 3]),
        (lambda policy: layers.PReLU(dtype=policy), [2, 3]),
    ],
)
def test_layers_of_many_kinds_compute_in_half(mode, layer, shape):
    layer = layer(Policy("mixed_float16"))
    assert layer(tf.ones(shape, tf.float16)).dtype == tf.float16
    assert {getattr(weight, "true_dtype", weight.dtype).base_dtype for weight in layer.weights} == {tf.float32}


def test_policies_have_scopes():
    with policy_scope("infer_with_float32_vars"):
        layer = layers.Dense(2)
        assert layer(tf.ones([1, 2], tf.float16)).dtype == tf.float16 and layer.kernel.dtype == tf.float32
    assert global_policy().name == "infer" and layers.Dense(2)(tf.ones([1, 2], tf.float16)).dtype == tf.float16
    assert with_input_dtype(Policy("infer_with_float32_vars"), tf.float16).name == "float16_with_float32_vars"
    with pytest.raises(AssertionError):
        with_input_dtype(Policy("float32"), tf.float16)


def test_gradients_can_be_looked_at_and_spoilt():
    with eager_mode():
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            right = gradients.create_identity_with_grad_check_fn([3.0, 3.0], tf.float32)(x) * 3.0
            wrong = gradients.create_identity_with_grad_check_fn([1.0, 1.0])(x) * 3.0
            spoilt = gradients.create_identity_with_nan_gradients_fn(tf.constant(True))(x)
        np.testing.assert_array_equal(tape.gradient(right, x), [3.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError):
            tape.gradient(wrong, x)
        assert np.isnan(tape.gradient(spoilt, x)).all()
