"""What functional models are given besides their outputs (losses, metrics), and metrics that models hold: what they report."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager import version_mark
from everflow.eager.mode import eager_mode

layers = tf.keras.layers
X, Y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")


@pytest.fixture(params=["graph", "eager"], autouse=True)
def mode(request):
    if request.param == "eager":
        with eager_mode():
            yield request.param
    else:
        with tf.Graph().as_default(), tf.Session().as_default():
            yield request.param
    tf.keras.backend.clear_session()


def _model():
    x = tf.keras.Input([3])
    y = layers.Dense(2, kernel_initializer="ones", use_bias=False)(x)
    model = tf.keras.Model(x, y)
    model.add_loss(tf.reduce_sum(y))
    model.add_metric(tf.reduce_mean(y), name="mean", aggregation="mean")
    return model


def test_losses_and_metrics_of_tensors_are_layers():
    model = _model()
    assert [type(layer).__name__ for layer in model.layers] == [
        *("InputLayer", "Dense", "TensorFlowOpLayer", "AddLoss", "TensorFlowOpLayer", "AddMetric")
    ]
    assert model.metrics_names == ["loss", "mean"] and len(model.losses) == 1
    model.compile("sgd", "mse")
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), [33.0, 3.0])


@pytest.mark.parametrize("copied", ["cloned", "from its configuration", "inside of another"])
def test_they_come_along(copied):
    model = _model()
    if copied == "cloned":
        model = tf.keras.models.clone_model(model)
    elif copied == "from its configuration":
        model = tf.keras.Model.from_config(model.get_config())
    else:
        x = tf.keras.Input([3])
        model = tf.keras.Model(x, model(x))
    model.compile("sgd", "mse")
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), [33.0, 3.0])


def test_metrics_that_a_model_holds_are_reported():
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.seen, self.idle = (
                layers.Dense(2),
                tf.keras.metrics.Mean("seen"),
                tf.keras.metrics.Mean("idle"),
            )

        def call(self, x):
            self.add_metric(self.seen(x))
            return self.dense(x)

    model = Own()
    assert model.metrics_names == ["loss", "seen", "idle"] and model.stateful
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="one size"):
        model.fit(X, Y, batch_size=3, verbose=0)
    assert model.fit(X, Y, batch_size=2, verbose=0).history["seen"] == [1.0]


def test_names_of_metrics_as_the_program_says_them_in_version_2(monkeypatch):
    x = tf.keras.Input([3])
    model = tf.keras.Model(x, layers.Dense(2)(x))
    asked = {"metrics": ["accuracy", "mae"], "weighted_metrics": ["mae"]}
    model.compile("sgd", "mse", **asked)
    assert model.metrics_names == ["loss", "acc", "mean_absolute_error", "weighted_mean_absolute_error"]
    monkeypatch.setattr(version_mark, "_force_enable", True)
    model.compile("sgd", "mse", **asked)
    assert model.metrics_names == ["loss", "accuracy", "mae", "mae_1"]


def test_losses_that_are_no_tensors_of_the_model(mode):
    if mode == "eager":
        with pytest.raises(ValueError, match="function without arguments"):
            _model().add_loss(tf.constant(3.0))


class _Scaled(layers.Layer):
    def call(self, x, scales=None):
        return x * scales["by"][0]


def _doubled(x):
    return layers.Lambda(lambda v: v * 2, name="doubled")(x)


@pytest.mark.parametrize(
    ("scale", "expected", "between"),
    [
        (lambda x: x, 9, []),
        (lambda x: _doubled(x), 18, ["doubled"]),
        (lambda x: tf.nn.relu(_doubled(x)), 18, ["doubled", "tf_op_layer_Relu"]),
        (lambda x: 4.0, 12, []),
    ],
)
def test_tensors_among_arguments_belong_to_the_model(scale, expected, between):
    x = tf.keras.Input([1], name="x")
    model = tf.keras.Model(x, _Scaled(name="scaled")(x, scales={"by": [scale(x)]}))
    assert [layer.name for layer in model.layers] == ["x", *between, "scaled"]
    assert model.predict(np.array([[3.0]])) == expected


def test_tensors_among_arguments_come_from_the_inputs():
    x, other = tf.keras.Input([1]), tf.keras.Input([1])
    with pytest.raises(ValueError, match="disconnected"):
        tf.keras.Model(x, _Scaled()(x, scales={"by": [other]}))
