"""Names of TensorFlow's modules of numbers that its own tests take: constants, parts of functions, test cases."""

import unittest

import numpy as np
import pytest

import everflow as tf
from everflow.legacy.inner.ops import arithmetic, arrays, ctc, random_numbers, spectra
from everflow.legacy.inner.ops.testing import bijector_cases, parallel_cases

bijectors = tf.contrib.distributions.bijectors


def test_axes_are_counted_from_the_first():
    assert [arrays.get_positive_axis(axis, 3) for axis in (0, 2, -1)] == [0, 2, 2]
    assert arrays.get_positive_axis(4, None) == 4
    for axis, rank, error in ((3, 3, ValueError), (-4, 3, ValueError), (-1, None, ValueError), ("0", 3, TypeError)):
        with pytest.raises(error):
            arrays.get_positive_axis(axis, rank)


def test_integers_are_cast_and_other_numbers_are_not():
    assert arrays.convert_to_int_tensor([1, 2], "sizes", tf.int64).dtype == tf.int64
    with pytest.raises(TypeError, match="sizes must be an integer tensor"):
        arrays.convert_to_int_tensor([1.0], "sizes")
    with tf.Session() as sess:
        assert sess.run(arrays.listdiff([1, 2, 3], [2])).out.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("axes", "shape"), [([0], [1, 5, 10]), ([-1], [2, 5, 1]), ([0, 2], [1, 5, 1]), ([], [2, 5, 10])]
)
def test_shapes_of_sums_keep_their_axes(axes, shape):
    with tf.Session() as sess:
        assert sess.run(arithmetic.reduced_shape([2, 5, 10], axes)).tolist() == shape


def test_division_under_a_name():
    dividend = arithmetic.DivideDelegateWithName(tf.constant(7.0), "half")
    quotients = [dividend / 2.0, dividend // 2.0, dividend.__div__(2.0)]
    assert [t.op.name for t in quotients] == ["half", "half_1", "half_2"]
    with tf.Session() as sess:
        assert sess.run(quotients) == [3.5, 3.0, 3.5]
    assert arithmetic.tensor_equals(dividend.x, None) is False
    assert arithmetic.tensor_not_equals(dividend.x, None) is True
    assert arithmetic.tensor_equals(dividend.x, dividend.x) is True


def test_how_gradients_of_broadcasts_are_summed():
    told = arithmetic.SmartBroadcastGradientArgs(tf.ones([2, 1]), tf.ones([3]), tf.ones([2, 3]))
    assert told == (((2, 1), (1,), True), ((3,), (0,), True))
    (shape, axes, reduce), _ = arithmetic.SmartBroadcastGradientArgs(
        tf.placeholder(tf.float32), tf.ones([3]), tf.ones([2, 3])
    )
    assert reduce and shape.dtype == axes.dtype == tf.int32


def test_the_ctc_loss_in_parts():
    logits, labels = tf.ones([3, 2, 4]), tf.constant([[1, 2], [3, 0]])
    loss, gradient = ctc.ctc_loss_and_grad(logits, labels, tf.constant([2, 1]), tf.constant([3, 2]))
    dense = ctc.ctc_loss_dense(labels, logits, tf.constant([2, 1]), tf.constant([3, 2]))
    start, end = ctc.ctc_state_log_probs(tf.constant([2, 1]), 4)
    sparse = ctc.dense_labels_to_sparse(labels, tf.constant([2, 1]))
    with tf.Session() as sess:
        loss, gradient, dense, start, end, sparse = sess.run([loss, gradient, dense, start, end, sparse])
    np.testing.assert_allclose(loss, [2.549445, 1.673976], rtol=1e-5)
    np.testing.assert_allclose(dense, loss)
    np.testing.assert_allclose(gradient[0, 0], [0.05, -0.55, 0.25, 0.25], rtol=1e-4)
    assert np.argwhere(start == 0).tolist() == [[0, 0], [1, 0]]
    assert np.argwhere(end == 0).tolist() == [[0, 2], [0, 7], [1, 1], [1, 6]]
    assert sparse.indices.tolist() == [[0, 0], [0, 1], [1, 0]] and sparse.values.tolist() == [1, 2, 3]


def test_the_numbers_of_generators():
    assert random_numbers.SEED_MAX == 2**63 - 1 and random_numbers.SEED_BIT_MASK == 2**64 - 1
    assert np.zeros(2, random_numbers.STATE_TYPE).dtype == np.int64
    assert random_numbers.DEFAULT_ALGORITHM != random_numbers.RNG_ALG_THREEFRY
    made = tf.random.experimental.Generator.from_seed(1)
    tf.random.experimental.set_global_generator(made)
    assert random_numbers.global_generator is made


def test_transforms_run_with_the_kernels_there_are():
    with spectra.fft_kernel_label_map():
        assert tf.signal.fft(tf.constant([1 + 0j], tf.complex64)).op.name == "FFT"


def test_bijectors_are_held_to_what_they_are():
    with tf.Session():
        for bijector in (bijectors.Exp(), bijectors.Sigmoid(), bijectors.AffineScalar(scale=-2.0)):
            bijector_cases.assert_scalar_congruency(bijector, 0.2, 2.0)
            bijector_cases.assert_bijective_and_finite(
                bijector, np.array([0.1, 0.5], np.float32), np.array([0.2, 0.6], np.float32), event_ndims=0
            )
        wrong = bijectors.Inline(
            forward_fn=tf.exp,
            inverse_fn=tf.log,
            forward_log_det_jacobian_fn=lambda x: x + 1.0,
            inverse_log_det_jacobian_fn=lambda y: -tf.log(y),
            forward_min_event_ndims=0,
        )
        with pytest.raises(AssertionError):
            bijector_cases.assert_scalar_congruency(wrong, 0.2, 2.0)
        with pytest.raises(AssertionError):
            bijector_cases.assert_bijective_and_finite(
                wrong, np.array([0.1], np.float32), np.array([0.2], np.float32), event_ndims=0
            )
    with pytest.raises(AssertionError, match="not all finite"):
        bijector_cases.assert_finite(np.array([1.0, np.inf]))


def test_loops_at_once_are_held_against_loops_one_by_one():
    class Case(parallel_cases.PForTestCase):
        def test_same(self):
            x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
            self._test_loop_fn(lambda i: [tf.gather(x, i) * 2, i], 3, loop_fn_dtypes=[tf.float32, tf.int32])

        def test_other(self):
            self.run_and_assert_equal([tf.ones([2])], [tf.zeros([2])])

    result = unittest.TestResult()
    for name in ("test_same", "test_other"):
        Case(name).run(result)
    assert not result.errors and [test._testMethodName for test, _ in result.failures] == ["test_other"]
