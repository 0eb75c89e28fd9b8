"""tf.keras.losses: values, weights and reductions, names, and the logits behind probabilities."""

import numpy as np
import pytest

import everflow as tf

K, L = tf.keras.backend, tf.keras.losses
TRUE = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype="f")
PRED = np.array([[0.1, 0.8, 0.1], [0.3, 0.6, 0.1]], dtype="f")


def value(loss, *args, **kwargs):
    return K.eval(loss(*map(K.constant, args), **kwargs))


@pytest.mark.parametrize(
    "name, expected",
    [
        ("mse", ((TRUE - PRED) ** 2).mean(-1)),
        ("mae", abs(TRUE - PRED).mean(-1)),
        ("categorical_crossentropy", -(TRUE * np.log(PRED)).sum(-1)),
        ("categorical_hinge", [0.3, 1.3]),
        ("poisson", (PRED - TRUE * np.log(PRED + 1e-7)).mean(-1)),
        ("logcosh", np.log(np.cosh(PRED - TRUE)).mean(-1)),
        ("hinge", np.maximum(1 - (2 * TRUE - 1) * PRED, 0).mean(-1)),
        ("cosine_proximity", (TRUE * PRED).sum(-1) / np.linalg.norm(PRED, axis=-1)),
    ],
)
def test_functions(name, expected):
    np.testing.assert_allclose(value(L.get(name), TRUE, PRED), expected, rtol=1e-4)


def test_objects_weigh_and_reduce():
    each = ((TRUE - PRED) ** 2).mean(-1)
    assert value(L.MeanSquaredError(), TRUE, PRED) == pytest.approx(each.mean())
    assert value(L.MeanSquaredError(reduction="sum"), TRUE, PRED) == pytest.approx(each.sum())
    weighted = value(L.MeanSquaredError(reduction="none"), TRUE, PRED, sample_weight=K.constant([1.0, 3.0]))
    np.testing.assert_allclose(weighted, each * [1, 3], rtol=1e-5)
    with pytest.raises(ValueError, match="Invalid Reduction Key"):
        L.MeanSquaredError(reduction="most")


def test_probabilities_of_a_softmax_are_scores_again():
    logits = np.array([[100.0, 0.0], [0.0, 100.0]], dtype="f")
    labels = np.array([[0.0, 1.0], [0.0, 1.0]], dtype="f")
    got = K.eval(L.categorical_crossentropy(K.constant(labels), tf.nn.softmax(K.constant(logits))))
    np.testing.assert_allclose(got, [100.0, 0.0], atol=1e-4)
    got = K.eval(L.sparse_categorical_crossentropy(K.constant([1, 1]), tf.nn.softmax(K.constant(logits))))
    np.testing.assert_allclose(got, [100.0, 0.0], atol=1e-4)


def test_label_smoothing():
    smooth = TRUE * 0.9 + 0.1 / 3
    expected = -(smooth * np.log(PRED)).sum(-1)
    np.testing.assert_allclose(value(L.categorical_crossentropy, TRUE, PRED, label_smoothing=0.1), expected, rtol=1e-4)


def test_as_data():
    loss = L.deserialize(L.serialize(L.Huber(delta=2.0, reduction="sum")))
    assert loss.get_config() == {"reduction": "sum", "name": "huber_loss", "delta": 2.0}
    assert L.get(None) is None
    assert L.get("mse") is L.mean_squared_error
    with pytest.raises(ValueError, match="Unknown loss function:nothing"):
        L.get("nothing")


def test_a_loss_of_ones_own():
    class Cubic(L.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred) ** 3, axis=-1)

    assert value(Cubic(), TRUE, PRED) == pytest.approx((abs(TRUE - PRED) ** 3).mean())
