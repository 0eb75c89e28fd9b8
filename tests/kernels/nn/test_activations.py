"""Activations and their gradients, biases, and the largest entries of rows."""

import numpy as np
import pytest

import everflow as tf
from tests.kernels.feeding import fed

RANDOM = np.random.RandomState(0)
INF = float("inf")


@pytest.mark.parametrize(
    "rows",
    [
        RANDOM.randn(30, 100).astype(np.float32),
        RANDOM.randint(-5, 5, (3, 4, 100)).astype(np.float32),
        RANDOM.randint(-50, 50, 300).astype(np.int32),
        np.where(RANDOM.rand(4, 64) > 0.5, 0.0, -0.0).astype(np.float32),
        np.float32([[np.inf, -np.inf, 1e-35, -1e-35] * 20]),
        np.array([[2**31 - 1, -(2**31)] * 30], np.int32),
        RANDOM.randn(5, 70),
        RANDOM.randn(2, 3, 5000).astype(np.float32),
        RANDOM.randint(-5, 5, (2, 4100)).astype(np.float32),
        RANDOM.randint(0, 3, (2, 4096)),
        np.where(np.arange(9000) < 10, 1.0, -np.inf)[None],
    ],
)
def test_equal_values_keep_their_order(sess, rows):
    length = rows.shape[-1]
    for k in (1, 3, length // 2, length):
        values, indices = sess.run(tf.nn.top_k(rows, k))
        wanted = np.argsort(-rows.astype(np.float64), -1, kind="stable")[..., :k]
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(rows, wanted, -1))
    np.testing.assert_array_equal(sess.run(tf.sort(rows, direction="DESCENDING")), np.sort(rows)[..., ::-1])


def test_a_row_whose_sum_is_too_large_is_still_judged(sess):
    predictions = np.float32([[3e38, 2e38, 1e38], [np.inf, 1, 2], [1, 2, 3], [np.nan, 1, 2]])
    assert sess.run(tf.nn.in_top_k(predictions, [1, 1, 2, 1], 2)).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (tf.nn.relu, [-1.0, -0.0, 2.0, INF], [0, 0, 2, INF]),
        (tf.nn.relu6, [-1.0, 6.5, INF], [0, 6, 6]),
        (tf.nn.elu, [-INF, -0.0, 5.0], [-1, 0, 5]),
        (tf.nn.selu, [-INF, 1.0], [-1.7580993408473766, 1.0507009873554805]),
        (tf.nn.softplus, [-800.0, 0.0, 800.0], [0, np.log(2), 800]),
        (tf.nn.softsign, [-1.0, 3.0], [-0.5, 0.75]),
        (lambda x: tf.nn.leaky_relu(x, 0.25), [-4.0, 4.0], [-1, 4]),
        (lambda x: tf.nn.leaky_relu(x, 3.0), [-4.0, 4.0], [-12, 4]),
        (tf.nn.softmax, [1000.0, 1000.0, -INF], [0.5, 0.5, 0]),
        (tf.nn.log_softmax, [1000.0, 1000.0], [-np.log(2), -np.log(2)]),
    ],
)
def test_far_from_zero(sess, function, x, expected):
    np.testing.assert_allclose(sess.run(function(fed(x, tf.float64))), expected, rtol=1e-12, atol=1e-200)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "float16"])
def test_whole_numbers_are_cut_too(sess, dtype):
    x = np.array([0, 3, 100]).astype(dtype)
    cut, grad = sess.run([tf.nn.relu6(fed(x)), tf.raw_ops.ReluGrad(gradients=fed(x), features=fed(x[::-1].copy()))])
    assert cut.dtype == dtype and cut.tolist() == [0, 3, 6]
    assert grad.tolist() == [0, 3, 0]
    assert sess.run(tf.nn.relu(fed(x))).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("op", "values", "slopes"),
    [
        ("Relu6Grad", [0.0, 6.0, 3.0, 7.0], [0, 0, 1, 0]),
        ("EluGrad", [-0.5, 2.0], [0.5, 1]),
        ("SoftplusGrad", [0.0, -800.0], [0.5, 0]),
        ("SoftsignGrad", [1.0, -3.0], [0.25, 0.0625]),
        ("SeluGrad", [2.0], [1.0507009873554805]),
    ],
)
def test_slopes(sess, op, values, slopes):
    name = "outputs" if op in ("EluGrad", "SeluGrad") else "features"
    grad = getattr(tf.raw_ops, op)(gradients=np.full(len(values), 2.0), **{name: np.float64(values)})
    np.testing.assert_allclose(sess.run(grad), 2 * np.float64(slopes), atol=1e-300)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.float64])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_biases_and_their_gradient(sess, dtype, data_format):
    shape = (2, 3, 4) if data_format == "NHWC" else (2, 4, 3)
    x, bias = RANDOM.randint(0, 5, shape).astype(dtype), np.arange(4).astype(dtype)
    column = bias if data_format == "NHWC" else bias[:, None]
    total, grad = sess.run(
        [
            tf.raw_ops.BiasAdd(value=fed(x), bias=fed(bias), data_format=data_format),
            tf.raw_ops.BiasAddGrad(out_backprop=fed(x), data_format=data_format),
        ]
    )
    np.testing.assert_array_equal(total, x + column)
    np.testing.assert_array_equal(grad, x.sum((0, 1) if data_format == "NHWC" else (0, 2)).astype(dtype))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.nn.bias_add(fed([1.0]), fed([1.0])), "Input tensor must be at least 2D"),
        (lambda: tf.nn.bias_add(fed([[1.0]]), fed([[1.0]])), "Biases must be 1D"),
        (lambda: tf.nn.bias_add(fed([[1.0]]), fed([1.0, 2.0])), "Must provide as many biases"),
        (lambda: tf.raw_ops.BiasAddGrad(out_backprop=fed([1.0])), "Input tensor must be at least 2D"),
        (lambda: tf.raw_ops.Softmax(logits=fed(1.0)), "logits must have >= 1 dimension"),
        (lambda: tf.nn.top_k(fed([1.0, 2.0]), 3), "input must have at least k columns"),
        (lambda: tf.nn.top_k(fed([1.0, 2.0]), fed(-1)), "Need k >= 0, got -1"),
        (lambda: tf.nn.top_k(fed(1.0), 1), "input must be >= 1-D"),
        (lambda: tf.contrib.nn.nth_element(fed([1.0, 2.0]), fed(2)), "at least n\\+1 columns"),
        (lambda: tf.nn.in_top_k(fed([1.0]), fed([0]), 1), "predictions must be 2-dimensional"),
        (lambda: tf.nn.in_top_k(fed([[1.0]]), fed([0, 0]), 1), "must match length of targets"),
    ],
)
def test_what_does_not_fit(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "uint16", "int64", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_elements_by_their_rank(sess, dtype, reverse):
    x = RANDOM.randint(0, 100, (3, 9)).astype(dtype)
    ranked = np.sort(x)[:, ::-1] if reverse else np.sort(x)
    for n in (0, 4, 8):
        assert sess.run(tf.contrib.nn.nth_element(fed(x), n, reverse)).tolist() == ranked[:, n].tolist()


def test_the_largest_unsorted_lie_as_in_a_heap(sess):
    x = np.float32([[3, 9, 1, 7, 5, 8, 2]])
    values, places = sess.run(tf.nn.top_k(fed(x), 4, sorted=False))
    np.testing.assert_array_equal(x[0, places[0]], values[0])
    assert values[0].tolist() == [5, 7, 9, 8]


def test_targets_tie_with_the_last_of_the_top(sess):
    scores = fed([[0.2, 0.5, 0.5], [0.1, 0.1, 0.8]])
    assert sess.run(tf.nn.in_top_k(scores, fed([2, 0]), 1)).tolist() == [True, False]
    assert sess.run(tf.nn.in_top_k(scores, fed([3, -1]), 3)).tolist() == [False, False]
