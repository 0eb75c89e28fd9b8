"""tf.keras.metrics: state over batches, weights, thresholds, and metrics of one's own."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode

K, M = tf.keras.backend, tf.keras.metrics
TRUE = np.array([0.0, 1.0, 1.0, 0.0], dtype="f")
PRED = np.array([0.2, 0.9, 0.4, 0.6], dtype="f")


@pytest.fixture(autouse=True)
def fresh():
    K.clear_session()


def after(metric, *batches, **kwargs):
    """The result after each of several batches."""
    tensors = [K.placeholder(np.shape(one)) for one in batches[0]]
    update, result = metric.update_state(*tensors, **kwargs), metric.result()
    session = K.get_session()
    results = []
    for batch in batches:
        session.run(update, dict(zip(tensors, batch)))
        results.append(session.run(result))
    return results


def test_mean_over_batches_and_reset():
    metric = M.Mean()
    assert after(metric, ([1.0, 3.0],), ([5.0, 7.0],)) == [2.0, 4.0]
    metric.reset_states()
    assert K.eval(metric.result()) == 0.0


def test_weights_of_samples():
    metric = M.MeanSquaredError()
    (got,) = after(metric, ([[1.0], [2.0]], [[2.0], [4.0]]), sample_weight=K.constant([3.0, 1.0]))
    assert got == pytest.approx((1 * 3 + 4 * 1) / 4)


def test_call_gives_the_result_after_the_update():
    metric = M.Sum()
    result = metric(K.constant([1.0, 2.0]))
    session = K.get_session()
    assert [session.run(result), session.run(result)] == [3.0, 6.0]
    assert result._metric_obj is metric


@pytest.mark.parametrize(
    "metric, expected",
    [
        (lambda: M.TruePositives(), 1),
        (lambda: M.FalsePositives(), 1),
        (lambda: M.TrueNegatives(thresholds=[0.1, 0.5]), [0, 1]),
        (lambda: M.FalseNegatives(), 1),
        (lambda: M.Precision(), 0.5),
        (lambda: M.Recall(thresholds=[0.3, 0.5]), [1.0, 0.5]),
        (lambda: M.BinaryAccuracy(), 0.5),
        (lambda: M.AUC(), 0.75),
        (lambda: M.SensitivityAtSpecificity(1.0), 0.5),
    ],
)
def test_thresholds(metric, expected):
    np.testing.assert_allclose(after(metric(), (TRUE, PRED))[0], expected, atol=1e-4)


def test_classes():
    labels, scores = [[2.0], [0.0]], [[0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]
    assert after(M.SparseCategoricalAccuracy(), (labels, scores)) == [0.5]
    assert after(M.SparseTopKCategoricalAccuracy(k=2), ([2.0, 0.0], scores)) == [1.0]
    (iou,) = after(M.MeanIoU(num_classes=2), ([0, 0, 1, 1], [0, 1, 0, 1]))
    assert iou == pytest.approx(1 / 3)
    np.testing.assert_allclose(after(M.MeanTensor(), ([1.0, 2.0],), ([3.0, 6.0],))[1], [2.0, 4.0])


def test_a_metric_of_ones_own_may_return_nothing():
    class Largest(M.Metric):
        def __init__(self, name="largest", **kwargs):
            super().__init__(name=name, **kwargs)
            self.largest = self.add_weight("largest", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.largest.assign(tf.maximum(self.largest, tf.reduce_max(abs(y_true - y_pred))))

        def result(self):
            return self.largest

    metric = Largest()
    np.testing.assert_allclose(after(metric, (TRUE, PRED), (TRUE, TRUE)), [0.6, 0.6], rtol=1e-6)
    assert metric.weights[0].name == "largest:0"


def test_as_data():
    metric = M.deserialize(M.serialize(M.AUC(curve="PR", thresholds=[0.2, 0.8], name="area")))
    assert metric.get_config()["thresholds"] == [0.2, 0.8]
    assert (metric.name, metric.curve.name) == ("area", "PR")
    with pytest.raises(ValueError, match=r"Threshold values must be in \[0, 1\]"):
        M.Precision(thresholds=1.5)


def test_labels_and_predictions_may_be_ragged():
    with eager_mode():
        metric = tf.keras.metrics.BinaryAccuracy()
        metric.update_state(tf.ragged.constant([[1.0], [0.0, 1.0]]), tf.ragged.constant([[0.9], [0.1, 0.2]]))
        assert abs(float(metric.result()) - 2 / 3) < 1e-6
        with pytest.raises(ValueError, match="both be ragged"):
            metric.update_state(tf.ragged.constant([[1.0]]), tf.constant([[0.9]]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            metric.update_state(tf.ragged.constant([[1.0], [0.0, 1.0]]), tf.ragged.constant([[0.9, 0.1], [0.2]]))
