"""The optimizers' update rules: large variables go block by block, and bad rates are refused."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels import training


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.9),
        lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
        lambda: tf.train.AdadeltaOptimizer(0.5),
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        lambda: tf.train.AdagradOptimizer(0.1),
    ],
    ids=["rmsprop", "centered", "adadelta", "ftrl", "adagrad"],
)
def test_large_variables_are_updated_like_small_ones(make_optimizer, resource):
    rng = np.random.RandomState(0)
    start, slope = rng.randn(3, 50000).astype(np.float32), rng.randn(3, 50000).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        whole = tf.Variable(start, use_resource=resource)
        rows = [tf.Variable(row, use_resource=resource) for row in start]
        train = make_optimizer().apply_gradients(
            [(tf.constant(slope), whole), *zip([tf.constant(s) for s in slope], rows, strict=True)]
        )
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        np.testing.assert_allclose(sess.run(whole), np.stack(sess.run(rows)), rtol=1e-6)


def test_ftrl_refuses_a_rate_of_zero():
    with tf.Graph().as_default(), tf.Session() as sess:
        weights = tf.Variable([1.0, 2.0])
        train = tf.train.FtrlOptimizer(tf.placeholder_with_default(0.0, [])).minimize(tf.reduce_sum(weights))
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="lr is not a positive scalar"):
            sess.run(train)
        assert sess.run(weights).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("powers", [(1.0, 0.5), (0.5, 2.0), (1.0, 1.0)])
def test_powers_that_are_none_of_betas_give_no_numbers(powers):
    """As in TensorFlow: nothing is raised."""
    with np.errstate(all="ignore"):
        one, two = (np.float64(1) - p for p in powers)
        np.testing.assert_equal(training.corrected_rate(0.1, *powers), 0.1 * np.sqrt(two) / one)
