"""Inner modules of Keras that tests and libraries import by TensorFlow's paths."""

import itertools

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

layers = tf.keras.layers


def test_premade_models_have_modules_of_their_own():
    from tensorflow.python.keras.premade import linear, wide_deep

    model = wide_deep.WideDeepModel(linear.LinearModel(), tf.keras.Sequential([layers.Dense(1)]))
    assert model(tf.ones([2, 3])).shape.as_list() == [2, 1]


def test_saved_models_by_their_modules(tmp_path):
    from tensorflow.python.keras.saving.saved_model import constants, load, save

    model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,))])
    save.save(model, str(tmp_path / "model"), True, True)
    x = np.ones((1, 3), "float32")
    np.testing.assert_allclose(load.load(str(tmp_path / "model")).predict(x), model.predict(x), rtol=1e-6)
    assert (constants.KERAS_ATTR, constants.KERAS_CACHE_KEY) == ("keras_api", "keras_serialized_attributes")


def test_what_outputs_of_convolutions_see():
    from tensorflow.python.keras.utils import conv_utils

    assert conv_utils.conv_output_shape((5, 6), (2, 3), (2, 1), "same") == (3, 6)
    seen = [conv_utils.conv_connected_inputs((7,), 4, (at,), 3, "same") for at in range(3)]
    assert seen == [[range(2)], [range(1, 5)], [range(4, 7)]]
    assert conv_utils.deconv_output_length(input_length=4, filter_size=3, padding="valid", stride=2) == 9
    with pytest.raises(ValueError, match="tuple of 2"):
        conv_utils.normalize_tuple((1, 2, 3), n=2, name="strides")


def test_rows_of_dense_layers_follow_the_order_of_channels():
    from tensorflow.python.keras.utils import layer_utils

    dense = layers.Dense(1, use_bias=False)
    dense.build((None, 24))
    for target, order in (("channels_first", (2, 3, 4)), ("channels_last", (2, 3, 4))):
        values = np.arange(24.0)
        dense.set_weights([values[:, None]])
        layer_utils.convert_dense_weights_data_format(dense, order, target)
        to_first = target == "channels_first"
        maps = values.reshape((3, 4, 2) if to_first else (4, 2, 3)).transpose((2, 0, 1) if to_first else (1, 2, 0))
        np.testing.assert_array_equal(dense.get_weights()[0][:, 0], maps.ravel())


def test_weights_of_parts():
    from tensorflow.python.keras.utils import layer_utils

    norm = layers.BatchNormalization()
    norm.build((None, 2))
    more = [tf.Variable(1.0), tf.Variable(1.0, trainable=False)]
    counts = [
        (
            len(layer_utils.gather_trainable_weights(t, [norm], more)),
            len(layer_utils.gather_non_trainable_weights(t, [norm], more)),
        )
        for t in (True, False)
    ]
    assert counts == [(3, 3), (0, 6)]
    assert not layer_utils.is_builtin_layer(norm)  # version 2 has another
    assert layer_utils.is_builtin_layer(tf.keras.layers.Dense(2))


@pytest.mark.parametrize(("answers", "expected"), [("y", True), ("n", False), ("?y", True)])
def test_asking_before_a_file_is_written_over(answers, expected, monkeypatch):
    from tensorflow.python.keras.utils import io_utils

    given = iter(answers)
    monkeypatch.setattr("builtins.input", lambda text: next(given))
    assert io_utils.ask_to_proceed_with_overwrite("here") is expected


def test_specs_of_inputs_as_shapes_and_tensor_specs():
    from tensorflow.python.keras.engine import input_spec

    shapes = [
        input_spec.to_tensor_shape(tf.keras.layers.InputSpec(**given))
        for given in ({"shape": (1, 2)}, {"ndim": 3, "axes": {1: 5}})
    ]
    assert [s.as_list() for s in shapes] == [[1, 2], [None, 5, None]]
    assert input_spec.to_tensor_shape(layers.InputSpec(min_ndim=3)).ndims is None
    assert input_spec.to_tensor_spec(layers.InputSpec(ndim=2), default_dtype="float64").dtype == tf.float64


def test_tensors_among_the_arguments_of_a_call():
    x, scale = tf.keras.Input((3,)), tf.keras.Input((3,))

    class Scaled(layers.Layer):
        def call(self, inputs, scale):
            return inputs * scale

    layer = Scaled()
    layer(x, scale=scale)
    node = layer._inbound_nodes[0]
    counts = [len(list(node.iterate_inbound(**given))) for given in ({}, {"include_arguments": True})]
    assert counts == [1, 2]


def test_a_sequential_around_one_with_an_input_layer_waits_for_data():
    inner = tf.keras.Sequential([layers.InputLayer((4,)), layers.Dense(3)])
    assert not tf.keras.Sequential([inner, layers.Dense(2)]).built
    known = tf.keras.Sequential([layers.Dense(3, input_shape=(4,))])
    assert tf.keras.Sequential([known, layers.Dense(2)]).output_shape == (None, 2)
    with pytest.raises(ValueError, match="no layers"):
        tf.keras.Sequential([tf.keras.Sequential()])


def test_logs_of_batches():
    from tensorflow.python.keras import callbacks

    model = tf.keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    modes = itertools.product(("train", "predict"), ("", "val_"))
    assert [sorted(callbacks.make_logs(model, {"size": 1}, [1, 2], mode, prefix=prefix)) for mode, prefix in modes] == [
        ["loss", "mean_absolute_error", "size"],
        ["size", "val_loss", "val_mean_absolute_error"],
        ["outputs", "size"],
        ["outputs", "size"],
    ]
