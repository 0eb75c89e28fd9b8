"""Activations, initializers, regularizers, constraints, and finding a program's own by name."""

import sys
import types

import numpy as np
import pytest

import everflow as tf
from everflow.keras.saving.hdf5 import ask_to_proceed_with_overwrite

K, keras = tf.keras.backend, tf.keras
X = np.array([[-2.0, 0.5, 3.0]], dtype="f")


@pytest.mark.parametrize(
    "name, expected",
    [
        ("relu", np.maximum(X, 0)),
        ("elu", np.where(X > 0, X, np.exp(X) - 1)),
        ("selu", 1.05070098 * np.where(X > 0, X, 1.67326324 * (np.exp(X) - 1))),
        ("softmax", np.exp(X) / np.exp(X).sum()),
        ("hard_sigmoid", np.clip(0.2 * X + 0.5, 0, 1)),
        ("exponential", np.exp(X)),
        ("softsign", X / (1 + abs(X))),
        ("linear", X),
        (None, X),
    ],
)
def test_activations(name, expected):
    np.testing.assert_allclose(K.eval(keras.activations.get(name)(K.constant(X))), expected, rtol=1e-5)


def test_activations_by_name():
    assert keras.activations.serialize(keras.activations.tanh) == "tanh"
    with pytest.raises(ValueError, match="Unknown activation function:wavy"):
        keras.activations.get("wavy")
    with keras.utils.CustomObjectScope({"wavy": tf.sin}):
        assert keras.activations.get("wavy") is tf.sin


def test_initializers_start_small():
    normal = keras.initializers.get("normal")
    assert normal.get_config() == {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}
    again = keras.initializers.deserialize(keras.initializers.serialize(keras.initializers.he_normal(seed=3)))
    assert again.get_config()["scale"] == 2.0
    assert abs(K.eval(keras.initializers.RandomUniform(seed=1)((100,)))).max() <= 0.05
    with pytest.raises(ValueError, match="Unknown initializer"):
        keras.initializers.get("nothing")


def test_regularizers():
    assert K.eval(keras.regularizers.l1_l2(0.1, 0.01)(K.constant(X))) == pytest.approx(0.1 * 5.5 + 0.01 * 13.25)
    again = keras.regularizers.get(keras.regularizers.serialize(keras.regularizers.l2(0.5)))
    assert again.get_config() == {"l1": 0.0, "l2": 0.5}


def test_constraints():
    w = np.array([[3.0, 0.1], [4.0, -0.2]], dtype="f")
    long = K.eval(keras.constraints.max_norm(1.0)(K.constant(w)))
    np.testing.assert_allclose(np.linalg.norm(long, axis=0), [1.0, np.linalg.norm(w[:, 1])], rtol=1e-5)
    np.testing.assert_allclose(
        np.linalg.norm(K.eval(keras.constraints.unit_norm(1)(K.constant(w))), axis=1), 1, rtol=1e-5
    )
    assert K.eval(keras.constraints.non_neg()(K.constant(w))).min() == 0
    between = K.eval(keras.constraints.min_max_norm(1.0, 2.0)(K.constant(w)))
    np.testing.assert_allclose(np.linalg.norm(between, axis=0), [2.0, 1.0], rtol=1e-4)


@pytest.mark.parametrize("size, diagonal", [(3, [1, 0]), (4, [3, 1]), (5, [3, 2, 1])])
def test_radial_constraint(size, diagonal):
    w = np.arange(size * size, dtype="f").reshape(size, size, 1, 1)
    got = K.eval(keras.constraints.RadialConstraint()(K.constant(w)))[:, :, 0, 0]
    assert [got[i, i] for i in range(len(diagonal))] == [w[place, place, 0, 0] for place in diagonal]
    np.testing.assert_array_equal(got, got[::-1, ::-1])


def test_objects_as_data():
    class Mine:
        def __init__(self, size=1):
            self.size = size

        def get_config(self):
            return {"size": self.size}

        @classmethod
        def from_config(cls, config):
            return cls(**config)

    written = keras.utils.serialize_keras_object(Mine(3))
    assert written == {"class_name": "Mine", "config": {"size": 3}}
    assert keras.utils.deserialize_keras_object(written, custom_objects={"Mine": Mine}).size == 3
    with pytest.raises(ValueError, match="Unknown object: Mine"):
        keras.utils.deserialize_keras_object(written)
    keras.utils.get_custom_objects()["Mine"] = Mine
    try:
        assert keras.utils.deserialize_keras_object("Mine").size == 1
    finally:
        keras.utils.get_custom_objects().clear()


def test_what_layers_import_from_inside():
    from everflow.keras.utils import for_layers

    assert [for_layers.conv_output_length(7, 3, padding, 2) for padding in ("valid", "same", "full")] == [3, 4, 5]
    assert for_layers.normalize_tuple(3, 2, "size") == (3, 3)
    assert for_layers.convert_data_format("channels_first", 4) == "NCHW"

    class Halving(keras.layers.Layer):
        @for_layers.shape_type_conversion
        def compute_output_shape(self, input_shape):
            assert isinstance(input_shape, tuple)
            return (input_shape[0], input_shape[1] // 2)

    assert Halving().compute_output_shape(tf.TensorShape([None, 8])).as_list() == [None, 4]


def test_where_keras_was_before():
    assert tf.contrib.keras.layers.Dense is keras.layers.Dense


def test_layers_of_one_name_are_refused_before_those_of_tf_layers():
    inputs = tf.keras.Input([3])
    hidden = tf.layers.Dense(2, name="same")(inputs)
    with pytest.raises(ValueError, match="used 2 times"):
        tf.keras.Model(inputs, tf.layers.Dense(2, name="same")(hidden))
    with pytest.raises(TypeError, match="legacy"):
        tf.keras.Model(inputs, hidden)


def test_the_question_before_a_file_is_written_anew(monkeypatch, capsys):
    answers = iter(["what", "Y "])
    moves = types.SimpleNamespace(input=lambda prompt: next(answers))
    monkeypatch.setitem(sys.modules, "six", types.SimpleNamespace(moves=moves))
    assert ask_to_proceed_with_overwrite("weights.h5")
    assert "overwrite=True" in capsys.readouterr().out


def test_cross_entropy_of_classes_broadcasts():
    labels, one = tf.constant([[0.0, 1.0], [1.0, 0.0]]), tf.constant([[0.5, 0.5]])
    with tf.Session() as sess:
        assert sess.run(tf.keras.backend.categorical_crossentropy(labels, one)).shape == (2,)
