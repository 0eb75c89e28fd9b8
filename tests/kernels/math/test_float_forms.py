"""The shorter functions for floats give what the general kernels give, and leave what they can't do to these."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.math.float_forms import _FLOAT_FORMS, square_root
from everflow.kernels.registry import function_of

RANDOM = np.random.RandomState(3)


@pytest.mark.parametrize("op_type", _FLOAT_FORMS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_same_as_the_general_kernel(op_type, dtype):
    x = torch.from_numpy(np.concatenate([RANDOM.rand(50) * 3, [0.0, np.inf, np.nan]])).to(dtype)
    inputs = (x, x.flip(0)) if op_type in ("Add", "Sub") else (x,)
    torch.testing.assert_close(
        _FLOAT_FORMS[op_type](*inputs), function_of(op_type)(*inputs), rtol=0, atol=0, equal_nan=True
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_roots_of_many_values(sess, dtype):
    values = np.concatenate([np.zeros(3000), RANDOM.rand(3000), [-1.0, np.inf, np.nan]]).astype(dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sess.run(tf.sqrt(tf.placeholder_with_default(values, [None]))), np.sqrt(values))


def test_roots_of_scalars_and_of_complex_numbers():
    assert square_root(torch.tensor(4.0)).shape == ()
    assert square_root(torch.tensor([-4 + 0j])).tolist() == [2j]


def test_a_sum_of_two_still_looks_at_their_shapes(sess):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    total = tf.add_n([x, y])
    assert sess.run(total, {x: [1.0], y: [2.0]}).tolist() == [3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same size and shape"):
        sess.run(total, {x: [1.0], y: [[2.0]]})


@pytest.mark.parametrize(
    ("resource", "error"), [(False, tf.errors.FailedPreconditionError), (True, tf.errors.InternalError)]
)
def test_a_step_of_constant_rate_is_checked_like_any(sess, resource, error):
    weights = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=resource)
    slope = tf.placeholder(tf.float32)
    step = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(slope, weights)])
    with pytest.raises(error):
        sess.run(step, {slope: [1.0, 1.0]})
    sess.run(tf.global_variables_initializer())
    sess.run(step, {slope: [1.0, -1.0]})
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(step, {slope: [1.0, 1.0, 1.0]})
    assert sess.run(weights).tolist() == [0.5, 2.5]
