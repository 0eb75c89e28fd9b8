"""Classes drawn by their log-probabilities: frequencies, classes without weight, and large batches in parts."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.random import categorical as module
from everflow.kernels.random.philox import Philox
from tests.kernels.feeding import fed

INF = float("inf")
PLACE = Philox.from_seeds(3, 4)


def test_frequencies_are_those_of_the_weights():
    weights = np.array([0.1, 0.2, 0.7])
    drawn = module.categorical(PLACE, np.log(weights)[None] + 50, 20000)
    np.testing.assert_allclose(np.bincount(drawn[0], minlength=3) / 20000, weights, atol=0.02)


def test_classes_without_weight_are_not_drawn():
    logits = np.array([[-INF, 0.0, -INF], [0.0, -INF, np.nan], [1000.0, 0.0, 0.0]])
    drawn = module.categorical(PLACE, logits, 200)
    assert [set(row.tolist()) for row in drawn] == [{1}, {0}, {0}]


def test_at_once_and_row_by_row_agree(monkeypatch):
    logits = np.random.RandomState(0).randn(7, 11)
    whole = module.categorical(PLACE, logits, 50)
    monkeypatch.setattr(module, "_AT_ONCE", 0)
    np.testing.assert_array_equal(module.categorical(PLACE, logits, 50), whole)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_types_and_sizes(sess, dtype):
    drawn = sess.run(tf.multinomial(fed([[0.0, 1.0]] * 3), fed(5), seed=1, output_dtype=dtype))
    assert drawn.dtype == dtype.as_numpy_dtype and drawn.shape == (3, 5)
    assert sess.run(tf.multinomial(fed([[0.0, 1.0]]), fed(0))).shape == (1, 0)
    assert sess.run(tf.multinomial(fed(np.zeros([0, 2], np.float32)), 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("logits", "samples"),
    [([0.0, 1.0], 1), ([[0.0, 1.0]], [1]), ([[0.0, 1.0]], -1), (np.zeros([2, 0], np.float32), 1)],
)
def test_what_can_not_be(sess, logits, samples):
    drawn = tf.raw_ops.Multinomial(logits=fed(logits), num_samples=fed(samples))
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(drawn)


@pytest.mark.parametrize("rows", [1, 5, 100, 10**6])
@pytest.mark.parametrize("cost", [1.0, 10**4, 10**7])
def test_tasks_have_some_rows_each(rows, cost):
    assert 1 <= module._rows_per_task(rows, cost) <= rows
