"""Policies of mixed precision, and Keras optimizers that scale the loss."""

import numpy as np
import pytest

import everflow as tf

keras = tf.keras
mp = keras.mixed_precision.experimental


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()


@pytest.mark.parametrize(
    ("name", "compute", "variable"),
    [
        ("float32", "float32", "float32"),
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("infer", None, None),
        ("infer_with_float32_vars", None, "float32"),
        ("float16_with_float32_vars", "float16", "float32"),
    ],
)
def test_policies_by_name(name, compute, variable):
    policy = mp.Policy(name)
    assert (policy.compute_dtype, policy.variable_dtype, policy.should_cast_variables) == (
        compute,
        variable,
        compute != variable,
    )
    assert (policy.loss_scale is not None) == (name == "mixed_float16")


def test_what_is_no_policy():
    with pytest.raises(ValueError, match="Cannot convert value foo"):
        mp.Policy("foo")
    with pytest.raises(TypeError, match="must be a string"):
        mp.Policy(3)
    with pytest.raises(ValueError, match="has to infer them"):
        mp.set_policy("mixed_float16")
    mp.set_policy("infer")
    assert mp.global_policy().name == "infer"


def test_a_layer_may_be_given_a_policy():
    assert keras.layers.Dense(2, dtype=mp.Policy("float64"))(tf.ones([1, 2], tf.float64)).dtype == tf.float64
    assert keras.layers.Dense(2, dtype=mp.Policy("mixed_float16"))(tf.ones([1, 2], tf.float16)).dtype == tf.float16


@pytest.mark.parametrize("scale", [8.0, "dynamic"])
def test_a_scaled_loss_makes_the_same_step(scale):
    optimizer = mp.LossScaleOptimizer(keras.optimizers.SGD(0.1), scale)
    v = tf.Variable(1.0, use_resource=True)
    step = optimizer.minimize(lambda: v * 3.0, [v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)
        assert sess.run(v) == pytest.approx(0.7)
        factor = sess.run(optimizer.loss_scale())
        assert sess.run(optimizer.get_scaled_loss(tf.constant(2.0))) == 2.0 * factor
        assert sess.run(optimizer.get_unscaled_gradients([tf.constant(16.0), None])[0]) == 16.0 / factor


def test_steps_that_overflow_are_left_out():
    optimizer = mp.LossScaleOptimizer(keras.optimizers.SGD(0.1, momentum=0.9), "dynamic")
    v = tf.Variable(1.0, use_resource=True)
    factor = tf.placeholder(tf.float32, [])
    step = optimizer.minimize(lambda: v * factor, [v])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step, {factor: np.inf})
        assert sess.run([v, optimizer.loss_scale(), optimizer.iterations]) == [1.0, 2.0**14, 0]
        sess.run(step, {factor: 1.0})
        assert sess.run(v) == pytest.approx(0.9)


def test_models_train_with_it():
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile(mp.LossScaleOptimizer(keras.optimizers.SGD(0.1), "dynamic"), "mse")
    losses = model.fit(np.eye(2), np.ones((2, 1)), epochs=3, verbose=0).history["loss"]
    assert losses[2] < losses[0]


def test_what_cannot_be_wrapped():
    with pytest.raises(ValueError, match="must be an instance of OptimizerV2"):
        mp.LossScaleOptimizer(3, 8.0)
    with pytest.raises(ValueError, match="clipnorm"):
        mp.LossScaleOptimizer(keras.optimizers.SGD(clipnorm=1.0), 8.0)
