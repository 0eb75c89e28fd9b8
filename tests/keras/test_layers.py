"""tf.keras.layers: names and nodes in a plain graph, shapes, masks, what can't be, configurations, and eager calls."""

import subprocess
import sys

import numpy as np
import pytest

import everflow as tf

L, K = tf.keras.layers, tf.keras.backend


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


def evaluate(tensor, feeds=None):
    return K.get_session().run(tensor, feeds)


def test_a_layer_called_twice_shares_its_weights_under_new_names():
    layer = L.Dense(2, activation="relu")
    first, second = layer(tf.zeros([1, 3])), layer(tf.zeros([1, 3]))
    assert (first.name, second.name) == ("dense/Relu:0", "dense_1/Relu:0")
    assert [w.name for w in layer.weights] == ["dense/kernel:0", "dense/bias:0"]
    assert tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == layer.weights


def test_nodes_of_dense_are_those_of_tensorflow():
    L.Dense(2)(tf.placeholder(tf.float32, [None, 3]))
    names = [
        op.name
        for op in tf.get_default_graph().get_operations()
        if "/Initializer/" not in op.name and "phase" not in op.name
    ]
    assert names == [
        "Placeholder",
        "dense/kernel",
        "dense/kernel/IsInitialized/VarIsInitializedOp",
        "dense/kernel/Assign",
        "dense/kernel/Read/ReadVariableOp",
        "dense/bias",
        "dense/bias/IsInitialized/VarIsInitializedOp",
        "dense/bias/Assign",
        "dense/bias/Read/ReadVariableOp",
        "dense/MatMul/ReadVariableOp",
        "dense/MatMul",
        "dense/BiasAdd/ReadVariableOp",
        "dense/BiasAdd",
    ]


@pytest.mark.parametrize(
    "layer, shape, wanted",
    [
        (lambda: L.Dense(3), (None, 4), [None, 3]),
        (lambda: L.Conv1D(3, 2, padding="causal"), (None, 7, 2), [None, 7, 3]),
        (lambda: L.Conv2D(3, 2, strides=2, padding="same"), (None, 7, 7, 2), [None, 4, 4, 3]),
        (lambda: L.Conv2DTranspose(3, 2, strides=2), (None, 4, 4, 2), [None, 8, 8, 3]),
        (lambda: L.SeparableConv2D(3, 2), (None, 4, 4, 2), [None, 3, 3, 3]),
        (lambda: L.DepthwiseConv2D(2, depth_multiplier=2), (None, 4, 4, 2), [None, 3, 3, 4]),
        (lambda: L.MaxPooling2D(), (None, 5, 5, 2), [None, 2, 2, 2]),
        (lambda: L.GlobalAveragePooling1D(), (None, 5, 2), [None, 2]),
        (lambda: L.UpSampling2D((2, 3)), (None, 2, 2, 1), [None, 4, 6, 1]),
        (lambda: L.ZeroPadding2D(((1, 2), (3, 4))), (None, 2, 2, 1), [None, 5, 9, 1]),
        (lambda: L.Cropping1D((1, 2)), (None, 8, 3), [None, 5, 3]),
        (lambda: L.LSTM(3, return_sequences=True), (None, 5, 2), [None, 5, 3]),
        (lambda: L.Bidirectional(L.GRU(3)), (None, 5, 2), [None, 6]),
        (lambda: L.TimeDistributed(L.Dense(3)), (None, 5, 2), [None, 5, 3]),
        (lambda: L.Flatten(), (None, 3, 4), [None, 12]),
        (lambda: L.Reshape((2, 3)), (None, 6), [None, 2, 3]),
        (lambda: L.LocallyConnected2D(2, 2), (None, 4, 4, 1), [None, 3, 3, 2]),
        (lambda: L.Embedding(9, 3), (None, 4), [None, 4, 3]),
        (lambda: L.LayerNormalization(), (None, 4), [None, 4]),
    ],
)
def test_drawn_and_computed_shapes_agree(layer, shape, wanted):
    made = layer()
    assert made(tf.placeholder(tf.float32, shape)).shape.as_list() == wanted
    assert tf.TensorShape(layer().compute_output_shape(shape)).as_list() == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.Dense(3, activation="tanh", kernel_regularizer="l2"),
        lambda: L.Conv2D(2, 3, dilation_rate=2),
        lambda: L.SeparableConv1D(2, 3),
        lambda: L.GRU(2, reset_after=True, dropout=0.1),
        lambda: L.Bidirectional(L.LSTM(2), merge_mode="sum"),
        lambda: L.TimeDistributed(L.Conv2D(2, 2)),
        lambda: L.RNN([L.LSTMCell(2), L.GRUCell(3)]),
        lambda: L.BatchNormalization(axis=1, momentum=0.5),
        lambda: L.ConvLSTM2D(2, 3),
        lambda: L.CuDNNLSTM(2),
        lambda: L.UpSampling2D(interpolation="bilinear"),
        lambda: L.LeakyReLU(0.1),
        lambda: L.Dot(axes=(1, 2), normalize=True),
    ],
)
def test_configurations_make_the_same_layer_again(make):
    layer = make()
    written = L.serialize(layer)
    again = L.deserialize(written)
    assert type(again) is type(layer)
    assert again.get_config() == layer.get_config()


def test_a_subclass_with_arguments_must_say_its_config():
    class Mine(L.Layer):
        def __init__(self, size, **kwargs):
            super().__init__(**kwargs)

    with pytest.raises(NotImplementedError):
        Mine(3).get_config()


def test_weights_and_layers_in_attributes_belong_to_the_layer():
    class Mine(L.Layer):
        def __init__(self):
            super().__init__()
            self.inner = {"a": L.Dense(1)}
            self.extra = tf.Variable(1.0, name="extra", trainable=False)
            self.late = []

        def build(self, shape):
            self.scale = self.add_weight("scale", [2], initializer="ones")
            self.late.append(L.Dense(1))

        def call(self, x):
            return self.inner["a"](x * self.scale) + self.late[0](x)

    layer = Mine()
    layer(tf.zeros([1, 2]))
    assert len(layer.trainable_weights) == 5
    assert layer.non_trainable_weights == [layer.extra]
    layer.trainable = False
    assert layer.trainable_weights == [] and layer.late[0].trainable and not layer.late.trainable


def test_python_control_flow_over_tensors_in_call():
    class Signed(L.Layer):
        def call(self, x):
            if tf.reduce_sum(x) > 0:
                return x + 1.0
            return x - 1.0

    x = tf.placeholder(tf.float32, [2])
    y = Signed()(x)
    assert evaluate(y, {x: [1, 1]}).tolist() == [2, 2]
    assert evaluate(y, {x: [-1, -1]}).tolist() == [-2, -2]


def test_masks_go_through_layers_that_support_them():
    ids = tf.constant([[1, 2, 0]])
    embedded = L.Embedding(4, 2, mask_zero=True)(ids)
    assert evaluate(embedded._keras_mask).tolist() == [[True, True, False]]
    assert L.Dropout(0.5)(embedded)._keras_mask is embedded._keras_mask
    assert L.Flatten()(embedded)._keras_mask is None
    with pytest.raises(TypeError, match="does not support masking"):
        L.Flatten().compute_mask(embedded, embedded._keras_mask)


def test_masked_steps_leave_the_state_alone():
    x = np.array([[[1.0], [2.0], [0.0]]], "float32")
    layer = L.SimpleRNN(1, kernel_initializer="ones", recurrent_initializer="ones", activation="linear")
    assert evaluate(layer(L.Masking()(tf.constant(x)))).tolist() == [[3.0]]


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: L.Dense(2, foo=1), TypeError),
        (lambda: L.Conv2D(2, 3)(tf.zeros([2, 3])), ValueError),
        (lambda: L.Dense(2)(tf.placeholder(tf.float32, [None, None])), ValueError),
        (lambda: L.Dense(2)(tf.zeros([2, 3], tf.int32)), TypeError),
        (lambda: L.Add()([tf.zeros([2, 3]), tf.zeros([2, 4])]), ValueError),
        (lambda: L.Concatenate()([tf.zeros([2, 3])]), ValueError),
        (lambda: L.Conv2D(2, (1, 2, 3)), ValueError),
        (lambda: L.ReLU(max_value=-1.0), ValueError),
        (lambda: L.LSTM(2, stateful=True)(tf.placeholder(tf.float32, [None, 3, 2])), ValueError),
        (lambda: L.RNN(L.Dense(2)), ValueError),
        (lambda: L.Dense(2).count_params(), ValueError),
        (lambda: L.Dense(2).output, AttributeError),
    ],
)
def test_what_cannot_be(call, error):
    with pytest.raises(error):
        call()


def test_a_stateful_layer_goes_on_where_it_stopped():
    model = tf.keras.Sequential([L.GRU(2, stateful=True, batch_input_shape=(1, 2, 1), kernel_initializer="ones")])
    x = np.ones((1, 2, 1), "float32")
    first, second = model.predict(x), model.predict(x)
    assert not np.allclose(first, second)
    model.reset_states()
    assert np.allclose(model.predict(x), first)


def test_cudnn_layers_exchange_weights_with_the_plain_ones(tmp_path):
    x = np.random.RandomState(0).normal(size=(2, 4, 3)).astype("float32")
    pairs = [
        (
            L.CuDNNLSTM(2, input_shape=(4, 3), name="a"),
            L.LSTM(2, recurrent_activation="sigmoid", input_shape=(4, 3), name="a"),
        ),
        (
            L.CuDNNGRU(2, input_shape=(4, 3), name="a"),
            L.GRU(2, recurrent_activation="sigmoid", reset_after=True, input_shape=(4, 3), name="a"),
        ),
    ]
    for fast, plain in pairs:
        fast, plain = tf.keras.Sequential([fast]), tf.keras.Sequential([plain])
        fast.set_weights([np.random.RandomState(1).uniform(-1, 1, w.shape) for w in fast.get_weights()])
        fast.save_weights(tmp_path / "w.h5")
        plain.load_weights(tmp_path / "w.h5")
        np.testing.assert_allclose(plain.predict(x), fast.predict(x), atol=1e-6)


def test_layers_of_tf_layers_are_layers_of_keras():
    assert issubclass(tf.layers.Dense, L.Dense) and issubclass(tf.nn.rnn_cell.LSTMCell, L.Layer)
    x = tf.keras.Input((3,))
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer())
    y = layer(x)
    assert layer.input is x and layer.output_shape == (None, 2)
    assert evaluate(y, {x: np.ones((1, 3))}).tolist() == [[3.0, 3.0]]
    with pytest.raises(TypeError, match="legacy"):
        tf.keras.Model(x, y)


EAGER = """
import numpy as np
import everflow as tf
tf.enable_eager_execution()
L = tf.keras.layers
layer = L.Dense(2, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.l2(0.5), activity_regularizer="l1")
assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
assert layer(tf.ones([1, 3])) is not None and len(layer.losses) == 2 and float(layer.losses[-1]) == 3.0
assert L.LSTM(3)(tf.ones([2, 4, 3])).shape == (2, 3)
bn = L.BatchNormalization(momentum=0.5)
bn(tf.constant([[1.0], [3.0]]), training=True)
assert bn.moving_mean.numpy().tolist() == [1.0]
x = tf.keras.Input((3,))
model = tf.keras.Model(x, L.Dense(1, kernel_initializer="ones")(L.Dropout(0.5)(x)))
assert model(tf.ones([1, 3])).numpy().tolist() == [[3.0]]
"""


def test_when_executing_eagerly():
    subprocess.run([sys.executable, "-c", EAGER], check=True)
