"""Parts of tf.contrib that programs import by their own paths: bayesflow, resampling, decays, small functions."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def _evaluate(*tensors):
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensors)


def test_expectations_by_sampling():
    from tensorflow.contrib.bayesflow.python.ops import monte_carlo

    z = tf.constant(np.random.RandomState(0).randn(4000, 2).astype(np.float32) * 2)
    p, q = tf.distributions.Normal([0.0, 1.0], 1.0), tf.distributions.Normal(0.0, 2.0)
    square = monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q, z)
    logs = monte_carlo.expectation_importance_sampler_logspace(lambda x: 2 * tf.log(tf.abs(x)), p.log_prob, q, z)
    score = monte_carlo.expectation(lambda x: x, z, q.log_prob, use_reparametrization=False)
    slope = tf.gradients(score[0], q.loc)[0]
    square, logs, slope = _evaluate(square, logs, slope)
    np.testing.assert_allclose(square, [1, 2], rtol=0.1)
    np.testing.assert_allclose(np.exp(logs), square, rtol=1e-3)
    np.testing.assert_allclose(slope, 1, rtol=0.1)
    with pytest.raises(ValueError, match="one of z"):
        monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q)


def test_periodic_resampling_and_its_gradient():
    from tensorflow.contrib.periodic_resample import periodic_resample

    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))
    y = periodic_resample(x, [4, 6, None])
    y, slope = _evaluate(y, tf.gradients(y * tf.stop_gradient(y), x)[0])
    assert y[..., 0].tolist()[:2] == [[0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]
    np.testing.assert_array_equal(slope, np.arange(24.0).reshape(2, 3, 4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        _evaluate(periodic_resample(x, [8, None, 12]))


def test_a_path_that_tensorflow_has_and_everflow_not_says_so():
    with pytest.raises(ModuleNotFoundError, match=r"in Everflow .*TensorFlow 1.15 has it"):
        import tensorflow.contrib.kafka.python.ops.kafka_dataset_ops  # noqa: F401


def test_decays_of_signs():
    from tensorflow.contrib.opt.python.training import sign_decay

    def at(fn, *steps):
        return [float(value) for value in _evaluate(*(fn(tf.constant(step, tf.int64)) for step in steps))]

    assert at(sign_decay.get_linear_decay_fn(10), 0, 5, 10, 12) == pytest.approx([1, 0.5, 0, 0])
    assert at(sign_decay.get_cosine_decay_fn(10), 0, 5, 10) == pytest.approx([1, 0.5, 0], abs=1e-6)
    assert at(sign_decay.get_cosine_decay_fn(10, 2, 1), 1, 3, 5, 7) == pytest.approx(
        [0.654508, 0.0954916, 0, 0], abs=1e-6
    )
    assert at(sign_decay.get_restart_decay_fn(10, 3, 2), 1, 3, 5, 7) == pytest.approx(
        [0.793893, 0.0244718, 0.5, 0], abs=1e-5
    )


def test_derivatives_along_a_direction():
    from tensorflow.contrib.nn.python.ops.fwd_gradients import fwd_gradients

    x = tf.constant([1.0, 2.0])
    along = fwd_gradients([x * x, tf.sin(x)], [x], [tf.constant([1.0, 0.5])])
    all_of_it = fwd_gradients([x * x], [x], assert_unused=True)
    np.testing.assert_allclose(
        np.concatenate(_evaluate(*along, *all_of_it)), [2, 2, np.cos(1), np.cos(2) / 2, 2, 4], rtol=1e-6
    )
    assert fwd_gradients([tf.constant(1.0)], [x]) == [None]
    with pytest.raises(ValueError, match="2 directions"):
        fwd_gradients([x * x], [x], [x, x])


def test_small_functions_of_layers():
    from tensorflow.contrib.layers.python.layers.layers import poincare_normalize
    from tensorflow.contrib.layers.python.ops.bucketization_op import bucketize
    from tensorflow.contrib.layers.python.ops.sparse_ops import sparse_row_envelope

    sparse = tf.SparseTensor([[0, 0], [2, 0], [2, 2]], [1, 2, 3], [3, 3])
    inside, buckets, ends, swapped = _evaluate(
        poincare_normalize(tf.constant([[0.3, 0.4], [3.0, 4.0]])),
        bucketize(tf.constant([-5, 10000, 10]), [0, 10, 100]),
        sparse_row_envelope(sparse),
        sparse_row_envelope(sparse, 1, 0),
    )
    np.testing.assert_allclose(inside, [[0.3, 0.4], [0.599994, 0.799992]], rtol=1e-6)
    assert buckets.tolist() == [0, 3, 2] and ends.tolist() == [1, 0, 3] and swapped.tolist() == [3, 0, 3]
