"""Constructors and functions that are made from others: what they show, what they refuse, and where arguments go."""

import inspect

import numpy as np
import pytest

import everflow as tf

L = tf.keras.layers


@pytest.mark.parametrize(
    "function, start",
    [
        (
            L.Conv1D,
            "(filters, kernel_size, strides=1, padding='valid', data_format='channels_last', dilation_rate=1, activation=None",
        ),
        (
            L.Conv2DTranspose,
            "(filters, kernel_size, strides=(1, 1), padding='valid', output_padding=None, data_format=None",
        ),
        (
            L.SeparableConv2D,
            "(filters, kernel_size, strides=(1, 1), padding='valid', data_format=None, dilation_rate=(1, 1)",
        ),
        (L.GRU, "(units, activation='tanh', recurrent_activation='hard_sigmoid', use_bias=True"),
        (
            tf.layers.conv3d_transpose,
            "(inputs, filters, kernel_size, strides=(1, 1, 1), padding='valid', data_format='channels_last'",
        ),
        (tf.layers.dense, "(inputs, units, activation=None, use_bias=True, kernel_initializer=None"),
        (
            tf.keras.preprocessing.image.ImageDataGenerator().flow,
            "(x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None",
        ),
    ],
)
def test_what_public_functions_take(function, start):
    assert str(inspect.signature(function)).startswith(start)


def test_the_order_of_a_recurrent_layers_arguments():
    names = list(inspect.signature(L.GRU).parameters)
    assert names[names.index("bias_regularizer") + 1] == "activity_regularizer"
    assert names[-3:] == ["unroll", "reset_after", "kwargs"]
    assert L.GRU(3, reset_after=True).cell.reset_after


def test_arguments_that_are_not_there():
    with pytest.raises(TypeError, match="nonsense"):
        L.Conv2D(3, 3, nonsense=1)
    with pytest.raises(TypeError, match="kernel_size"):
        L.Conv2D(3)
    with pytest.raises(TypeError, match="nonsense"):
        L.LSTM(3, nonsense=1)


@pytest.mark.parametrize(
    "make, count, words",
    [
        (lambda: L.Subtract(), 3, "Subtract is called on a list of exactly 2"),
        (lambda: L.Dot(1), 3, "Dot is called on a list of exactly 2"),
        (lambda: L.Add(), 1, "Add is called on a list of at least 2"),
        (lambda: L.Concatenate(), 1, "Concatenate is called on a list of at least 2"),
    ],
)
def test_merging_too_few_or_too_many(make, count, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        make()([tf.keras.Input((4,)) for _ in range(count)])


def test_what_outputs_are_given():
    x = tf.keras.Input((2,))
    model = tf.keras.Model(x, [L.Dense(1, name="one")(x), L.Dense(1, name="two")(x)])
    with pytest.raises(ValueError, match=r"Unknown entries in loss dictionary: \['three'\]"):
        model.compile("sgd", {"one": "mse", "three": "mse"})
    with pytest.raises(ValueError, match="metrics has 3"):
        model.compile("sgd", "mse", metrics=[["mae"], ["mae"], ["mae"]])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"inputs \[4\], targets \[3, 4\]"):
        model.fit(np.ones((4, 2)), [np.ones((4, 1)), np.ones((3, 1))], verbose=0)
