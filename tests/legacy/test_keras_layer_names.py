"""Inner names of Keras's layers and optimizers, by the paths of TensorFlow's tree."""

import importlib

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode


def inner(path):
    return importlib.import_module(f"tensorflow.python.{path}")


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("SGD", {"lr": 0.01, "momentum": 0.0, "decay": 0.0, "nesterov": False}),
        ("RMSprop", {"lr": 0.001, "rho": 0.9, "decay": 0.0, "epsilon": 1e-7}),
        ("Adagrad", {"lr": 0.01, "decay": 0.0, "epsilon": 1e-7}),
        ("Adadelta", {"lr": 1.0, "rho": 0.95, "decay": 0.0, "epsilon": 1e-7}),
        ("Adam", {"lr": 0.001, "beta_1": 0.9, "beta_2": 0.999, "decay": 0.0, "epsilon": 1e-7, "amsgrad": False}),
        ("Adamax", {"lr": 0.002, "beta_1": 0.9, "beta_2": 0.999, "decay": 0.0, "epsilon": 1e-7}),
        ("Nadam", {"lr": 0.002, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7, "schedule_decay": 0.004}),
    ],
)
def test_optimizers_with_lr(name, config):
    optimizers = inner("keras.optimizers")
    kind = getattr(optimizers, name)
    assert kind is getattr(optimizers, name.lower()) and issubclass(kind, getattr(tf.keras.optimizers, name))
    made = kind()
    assert made.get_config() == pytest.approx(config)
    assert kind.from_config(made.get_config()).get_config() == made.get_config()
    with pytest.raises(TypeError, match="lr"):
        kind(learning_rate=0.1)
    # What is written is made into today's optimizer, and is brought up to date in place.
    written = optimizers.serialize(made)
    again = optimizers.deserialize(written)
    assert type(again) is getattr(tf.keras.optimizers, name)
    assert written["class_name"] == name.lower() and "lr" not in written["config"]
    new = again.get_config()
    assert new["learning_rate"] == written["config"]["learning_rate"] == np.float32(config["lr"])


def test_optimizer_of_train_knows_gradients():
    optimizers = inner("keras.optimizers")
    with tf.Graph().as_default(), tf.Session() as session:
        made = optimizers.TFOptimizer(tf.train.GradientDescentOptimizer(0.1))
        x = tf.constant([2.0])
        assert session.run(made.get_gradients(x * x, [x]))[0].tolist() == [4.0]
        with pytest.raises(ValueError, match="None"):
            made.get_gradients(x, [tf.constant(1.0)])


@pytest.mark.parametrize(
    ("kernel", "stride", "first_seen"),
    [(2, 1, [[0], [0, 1], [1, 2], [2, 3]]), (3, 1, [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]), (2, 2, [[0], [1, 2]])],
)
def test_what_places_of_locally_connected_layers_see(kernel, stride, first_seen):
    local = inner("keras.layers.local")
    mask = local.get_locallyconnected_mask((4,), (kernel,), (stride,), "same", "channels_last")
    assert mask.shape == (4, 1, len(first_seen), 1)
    assert [np.flatnonzero(column).tolist() for column in mask[:, 0, :, 0].T] == first_seen
    first = local.get_locallyconnected_mask((4,), (kernel,), (stride,), "same", "channels_first")
    assert first.shape == (1, 4, 1, len(first_seen))
    with tf.Graph().as_default():
        layer = tf.keras.layers.LocallyConnected1D(1, kernel, strides=stride, padding="same", implementation=2)
        layer.build((None, 4, 1))
        assert (layer.kernel_mask == mask).all()


def test_products_of_locally_connected_layers():
    local = inner("keras.layers.local")
    with eager_mode():
        mask = local.get_locallyconnected_mask((3,), (2,), (1,), "valid", "channels_last").astype("float32")
        kernel, inputs = tf.ones((3, 1, 2, 1)), tf.constant([[[1.0], [2.0], [3.0]]])
        assert local.local_conv_matmul(inputs, kernel, mask, (1, 2, 1)).numpy().ravel().tolist() == [3.0, 5.0]
        entries = [[0, 0], [0, 1], [1, 1], [1, 2]]
        sparse = local.local_conv_sparse_matmul(inputs, tf.ones(4), entries, (2, 3), (1, 2, 1))
        assert sparse.numpy().ravel().tolist() == [3.0, 5.0]


def test_small_names():
    layers, utils = inner("keras.layers.convolutional"), inner("layers.utils")
    assert layers.Deconv2D is layers.Deconvolution2D is tf.keras.layers.Conv2DTranspose
    assert inner("keras.layers.normalization").BatchNormalizationBase._USE_V2_BEHAVIOR is False
    assert inner("keras.layers.normalization_v2").BatchNormalization._USE_V2_BEHAVIOR is True
    assert inner("keras.mixed_precision.experimental.policy").policy_defaults_to_floatx() is False
    with pytest.raises(NotImplementedError):
        inner("keras.optimizer_v2.optimizer_v2").RestoredOptimizer().get_config()
    with tf.Graph().as_default():
        known, unknown = tf.zeros((2, 3)), tf.placeholder(tf.float32)
        assert (utils.static_shape(known), utils.static_shape(unknown)) == ((2, 3), None)
        assert utils.object_list_uid([known, [unknown]]) == f"{id(known)}, {id(unknown)}"


def test_parts_of_recurrent_layers():
    one, two = inner("keras.layers.recurrent"), inner("keras.layers.recurrent_v2")
    with eager_mode():
        mask = tf.constant([[True, True, False], [True, False, False]])
        assert bool(two.is_sequence_right_padded(mask, False)) and not bool(two.is_sequence_right_padded(~mask, False))
        assert two.calculate_sequence_by_mask(tf.transpose(mask), True).numpy().tolist() == [2, 1]
        assert len(one._generate_dropout_mask(tf.ones((2, 3)), 0.5, training=True, count=2)) == 2
        assert [t.shape.as_list() for t in one._generate_zero_filled_state(3, [2, 4], "float32")] == [[3, 2], [3, 4]]
        layer = two.LSTM(2)
        inputs = tf.constant(np.linspace(-1, 1, 24, dtype="float32").reshape(2, 4, 3))
        expected = layer(inputs)
        zeros = tf.zeros((2, 2))
        how = (None, False, False, tf.keras.activations.tanh, tf.keras.activations.sigmoid)
        last, _, _, _, runtime = two.lstm_with_backend_selection(inputs, zeros, zeros, *layer.weights, *how)
        np.testing.assert_allclose(last.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
        assert float(runtime) == two._RUNTIME_CPU
        layer = two.GRU(2)
        expected = layer(inputs)
        last = two.gru_with_backend_selection(inputs, zeros, *layer.weights, *how)[0]
        np.testing.assert_allclose(last.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
