"""Which number types the math kernels take, and how unsigned ones are carried that torch can't compute with."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import op_defs
from everflow.kernels import registry as kernels
from everflow.kernels.math import dtypes as math_dtypes


def test_refused_types_are_those_of_the_definitions():
    for op_type, refused in math_dtypes._refused_by_op.items():
        assert kernels.lookup(op_type) is not None
        for attribute, types in refused:
            allowed = op_defs.get(op_type).attr_by_name[attribute].allowed
            assert {tf.as_dtype(t) for t in types} & set(allowed)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.acos(tf.constant([1])), tf.errors.InvalidArgumentError),
        (lambda: tf.less(tf.constant([1], tf.uint16), tf.constant([2], tf.uint16)), tf.errors.InvalidArgumentError),
        (lambda: tf.argmax(tf.constant([1j])), tf.errors.InvalidArgumentError),
        (lambda: tf.cumsum(tf.constant([1], tf.uint32)), tf.errors.InvalidArgumentError),
        (lambda: tf.acos(tf.constant([1j])), tf.errors.UnimplementedError),
    ],
)
def test_a_type_without_a_kernel_is_told_when_it_runs(sess, build, error):
    result = build()
    with pytest.raises(error):
        sess.run(result)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int32])
def test_order_is_kept_there_and_back(dtype):
    limits = torch.iinfo(dtype)
    values = [limits.min, 0, 1, limits.max // 2, limits.max // 2 + 1, limits.max]
    x = torch.from_numpy(np.array(values, str(dtype).split(".")[1]))
    carried = math_dtypes.comparable(x)
    assert carried.tolist() == sorted(carried.tolist())
    back = math_dtypes.from_comparable(carried, dtype)
    assert back.dtype is dtype and back.tolist() == values


def test_what_is_computed_in_a_wider_type_wraps_on_the_way_back():
    double = math_dtypes.widened(lambda x, y: x + y)
    for dtype, high in ((torch.uint16, 2**16 - 1), (torch.uint32, 2**32 - 1)):
        x = torch.tensor([high], dtype=dtype)
        total = double(x, x)
        assert total.dtype is dtype and total.tolist() == [high - 1]
    floats = torch.tensor([0.5])
    assert double(floats, floats).tolist() == [1.0]


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.float16, torch.float32])
def test_limits_are_finite_and_the_ends(dtype):
    low, high = (torch.tensor(f(dtype), dtype=dtype) for f in (math_dtypes.lowest, math_dtypes.highest))
    assert bool(torch.isfinite(low)) and bool(torch.isfinite(high))
    numpy_dtype = np.dtype(str(dtype).split(".")[1])
    limits = np.finfo(numpy_dtype) if dtype.is_floating_point else np.iinfo(numpy_dtype)
    assert low.item() == limits.min and high.item() == limits.max
