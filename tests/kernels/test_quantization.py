"""Integers that stand for floats: ranges, ops on them, and ranges and bits that can't be."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels import quantization
from tests.kernels.feeding import fed
from tests.kernels.old_graphs import old_graph

X = np.float32([-1.5, -1.0, -0.3, 0.0, 0.1, 0.5, 1.0, 3.0])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32])
def test_floats_through_integers_come_back_within_a_step(dtype):
    low, high = torch.tensor(-2.0), torch.tensor(4.0)
    values = torch.from_numpy(X)
    integers = quantization.float_to_quantized(values, low, high, dtype)
    back = quantization.quantized_to_float(integers, low, high)
    assert integers.dtype is dtype
    step = 6.0 / (2.0 ** (8 * dtype.itemsize) - 1)
    torch.testing.assert_close(back, values, atol=max(step, 2e-6), rtol=0)


def test_what_is_outside_of_the_range_is_cut():
    low, high = torch.tensor(0.0), torch.tensor(1.0)
    assert quantization.float_to_quantized(torch.tensor([-5.0, 5.0]), low, high, torch.uint8).tolist() == [0, 255]


def bytes_of(values, low=-1.0, high=1.0):
    return tf.quantize_v2(tf.constant(values, tf.float32), low, high, tf.quint8)


def reals(sess, found):
    values, low, high = sess.run(list(found))
    levels = {np.uint8: 255, np.int32: 2**32 - 1}[
        np.asarray(values).dtype.type if values.dtype.names is None else values.dtype[0].type
    ]
    offset = 0 if levels == 255 else -(2.0**31)
    return low + (values.astype(np.float64) - offset) * (float(high) - float(low)) / levels


@pytest.mark.parametrize(("op", "function"), [("QuantizedAdd", np.add), ("QuantizedMul", np.multiply)])
def test_sums_and_products(sess, op, function):
    a, b = np.float32([-1.0, -0.5, 0.25, 1.0]), np.float32([0.5, 0.5, -1.0, 1.0])
    x, y = bytes_of(a), bytes_of(b)
    found = getattr(tf.raw_ops, op)(x=x[0], y=y[0], min_x=x[1], max_x=x[2], min_y=y[1], max_y=y[2])
    np.testing.assert_allclose(reals(sess, found), function(a, b), atol=0.02)


@pytest.mark.parametrize(
    ("op", "options", "function"),
    [
        ("QuantizedRelu", {}, lambda x: np.maximum(x, 0)),
        ("QuantizedRelu6", {}, lambda x: np.clip(x, 0, 6)),
        ("QuantizedReluX", {"max_value": tf.float32}, lambda x: np.clip(x, 0, 2)),
    ],
)
def test_activations_keep_the_range(sess, op, options, function):
    values = np.float32([-4, -0.5, 0.5, 3, 8])
    x, low, high = bytes_of(values, -8.0, 8.0)
    options = {key: tf.constant(2.0, dtype) for key, dtype in options.items()}
    found = getattr(tf.raw_ops, op)(features=x, min_features=low, max_features=high, **options)
    np.testing.assert_allclose(reals(sess, found), function(values), atol=0.07)


def test_joined_parts_have_the_widest_range(sess):
    a, b = bytes_of([[0.5]], -1.0, 1.0), bytes_of([[-3.0]], -4.0, 0.0)
    found = tf.raw_ops.QuantizedConcat(
        concat_dim=0, values=[a[0], b[0]], input_mins=[a[1], b[1]], input_maxes=[a[2], b[2]]
    )
    np.testing.assert_allclose(reals(sess, found), [[0.5], [-3.0]], atol=0.03)
    assert [float(v) for v in sess.run(list(found)[1:])] == [-4.0, 1.0]


@pytest.mark.parametrize("bits", [2, 4, 8, 16])
@pytest.mark.parametrize("narrow", [False, True])
def test_fake_quantization_is_a_grid_with_a_zero(sess, bits, narrow):
    found = sess.run(tf.fake_quant_with_min_max_vars(fed(X), -1.0, 2.0, num_bits=bits, narrow_range=narrow))
    step = 3.0 / (2**bits - 1 - narrow)
    assert found[3] == 0 and np.abs(found / step - np.round(found / step)).max() < 1e-2
    np.testing.assert_allclose(found, np.clip(X, -1, 2), atol=step * 1.01)


def test_a_range_of_nothing_gives_zeros(sess):
    assert sess.run(tf.fake_quant_with_min_max_vars(fed(X), 0.0, 0.0)).tolist() == [0.0] * len(X)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.quantize_v2(fed(X), fed(1.0), fed(0.0), tf.quint8), "input_max_range must be larger"),
        (lambda: tf.fake_quant_with_min_max_args(fed(X), num_bits=17), "num_bits must be between 2 and 16"),
        (
            lambda: tf.quantization.quantize_and_dequantize(fed(X), fed(1.0), fed(0.0), range_given=True),
            "Invalid range",
        ),
        (lambda: tf.quantization.quantize_and_dequantize(fed(X), 0.0, 1.0, num_bits=63), "num_bits is out of range"),
    ],
)
def test_what_can_not_be(sess, build, message):
    found = build()
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(found)


def test_the_first_form_of_rounding_to_bits(sess):
    with old_graph().as_default(), tf.Session() as old:
        found = old.run(tf.raw_ops.QuantizeAndDequantize(input=[1.0, 2.0, 0.3]))
    np.testing.assert_allclose(
        found, sess.run(tf.quantization.quantize_and_dequantize([1.0, 2.0, 0.3], 0.0, 0.0, range_given=False))
    )


def bytes_as_they_are(*values):
    return tf.constant(np.array(values, np.uint8).astype(tf.quint8.as_numpy_dtype), tf.quint8)


def test_a_sum_counts_in_whole_steps_of_the_wider_range_but_for_a_lone_number(sess):
    x, zero = bytes_as_they_are(0, 1, 100, 255), bytes_as_they_are(0)
    several = bytes_as_they_are(0, 0, 0, 0)
    found = sess.run(tf.raw_ops.QuantizedAdd(x=x, y=several, min_x=-5.0, max_x=5.0, min_y=-5.0, max_y=5.0)[0])
    assert np.array(found.tolist()).ravel().tolist() == [-261116, -260088, -158316, 1024]
    lone = sess.run(tf.raw_ops.QuantizedAdd(x=zero, y=zero, min_x=0.0, max_x=1.0, min_y=0.0, max_y=1.0)[0])
    assert np.array(lone.tolist()).ravel().tolist() == [0]


def test_a_sum_needs_ranges(sess):
    x = bytes_as_they_are(0, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger than min_x"):
        sess.run(tf.raw_ops.QuantizedAdd(x=x, y=x, min_x=0.0, max_x=0.0, min_y=0.0, max_y=1.0))


def test_ranges_of_channels_have_one_end_for_each(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="ends for 2 channels"):
        sess.run(
            tf.quantization.fake_quant_with_min_max_vars_per_channel(
                fed(np.ones((2, 2), np.float32)), fed(np.float32([-1.0])), fed(np.float32([1.0]))
            )
        )
