"""Losses of tf.contrib.boosted_trees, with TensorFlow 1.15.5's numbers."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.boosted_trees import losses

LABELS, WEIGHTS = np.float32([[0], [1], [1]]), np.ones([3, 1], np.float32)
PREDICTIONS = np.float32([[0.4105985], [0.14404357], [1.4542735]])


@pytest.mark.parametrize(
    "name, options, expected",
    [
        ("logistic", {}, [0.91937, 0.62372, 0.20991]),
        ("squared", {}, [0.16859, 0.73266, 0.20636]),
        ("exp", {}, [2.71828, 0.69803, 0.36788]),
        ("full_exp", {}, [1.50772, 0.86585, 0.23357]),
        ("quantile_regression", {"quantile": 0.3}, [0.08261, 0.06594, 0.10112]),
    ],
)
def test_losses_of_numbers(name, options, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        loss, update = getattr(losses, f"per_example_{name}_loss")(LABELS, WEIGHTS, tf.constant(PREDICTIONS), **options)
        assert session.run(update) is None
        np.testing.assert_allclose(session.run(loss)[:, 0], expected, atol=1e-4)


def test_a_mean_squared_and_classes():
    with tf.Graph().as_default(), tf.Session() as session:
        hinge, _ = losses.per_example_squared_hinge_loss(tf.constant(LABELS), WEIGHTS, tf.constant(PREDICTIONS))
        assert session.run(hinge) == pytest.approx(0.57081, abs=1e-4)
        logits = np.random.RandomState(0).randn(3, 3).astype(np.float32)
        loss, _ = losses.per_example_maxent_loss(np.float32([[0], [1], [2]]), WEIGHTS, logits, 3)
        np.testing.assert_allclose(session.run(loss)[:, 0], [0.53745, 0.92057, 1.5728], atol=1e-4)
