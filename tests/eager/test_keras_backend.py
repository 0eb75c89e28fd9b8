"""tf.keras.backend, metrics and optimizers when executing eagerly: values come at once."""

import numpy as np
import pytest

import everflow as tf

keras, K = tf.keras, tf.keras.backend


def test_variables_and_the_learning_phase():
    v = K.variable([1.0, 2.0])
    K.set_value(v, [3.0, 4.0])
    assert K.get_value(v).tolist() == [3.0, 4.0]
    assert K.learning_phase() == 0
    with K.learning_phase_scope(1):
        assert K.in_train_phase(K.constant(1.0), K.constant(2.0)).numpy() == 1.0


def test_functions_of_models():
    model = keras.Sequential(
        [keras.layers.Dense(4, input_shape=(3,), kernel_initializer="ones"), keras.layers.Dense(2)]
    )
    hidden = K.function([model.input], [model.layers[0].output])
    assert hidden([np.ones((2, 3))])[0].tolist() == [[3.0] * 4] * 2
    model.layers[0].set_weights([np.zeros((3, 4)), np.ones(4)])
    assert hidden([np.ones((2, 3))])[0].tolist() == [[1.0] * 4] * 2
    with pytest.raises(ValueError, match="no session in eager execution"):
        K.function([model.input], [model.output], options=1)


def test_metrics_keep_count():
    mean = keras.metrics.Mean()
    assert [mean([1.0, 3.0]).numpy(), mean([5.0]).numpy()] == [2.0, 3.0]
    mean.reset_states()
    assert mean.result().numpy() == 0.0
    assert keras.losses.MeanSquaredError()([[0.0, 1.0]], [[1.0, 1.0]]).numpy() == 0.5


def test_optimizers_step():
    v, optimizer = tf.Variable(2.0), keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = v * v
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    assert v.numpy() == pytest.approx(1.6)
    optimizer.minimize(lambda: v * v, [v])
    assert v.numpy() == pytest.approx(1.28)
    assert optimizer.iterations.numpy() == 2
